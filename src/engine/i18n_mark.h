/* N_() marks a text of an engine table for translation; the front ends translate when they print. */
#ifndef MESHPLAN_I18N_MARK_H
#define MESHPLAN_I18N_MARK_H

#define N_(text) text
/* Singular and plural of a text with a count, two arguments. */
#define NN_(one, many) one, many

#endif
