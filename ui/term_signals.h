/* Signals as numbers to read, and the terminal restored where a crash leaves no time for it. Only term.c includes this. */
#ifndef MESHPLAN_TERM_SIGNALS_H
#define MESHPLAN_TERM_SIGNALS_H

/* Remembers the modes of the terminal for a crash, and catches what stops, suspends, resizes and kills. */
void term_signals_open(int in, int out);
/* What a crash has to send; after curses has opened the terminal. */
void term_signals_prepare(void);
/* Gives all of it back; harmless when it is not open. */
void term_signals_close(void);
/* What becomes readable with a signal; -1: closed. */
int term_signals_fd(void);
/* The next signal that came; 0: none. */
int term_signals_next(void);
/* Stops the process as if nothing were caught; returns when it is continued. */
void term_signals_stop(void);

#endif
