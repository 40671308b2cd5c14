/* Errors as values: a code that is returned and a caller-owned record that says what, where and what is legal.
 * The engine never prints and never exits; the front ends turn records into messages and exit codes. */
#ifndef MESHPLAN_ERR_H
#define MESHPLAN_ERR_H

#if defined(__GNUC__)
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define NODISCARD __attribute__((warn_unused_result))
#else
#define PRINTF_LIKE(fmt, args)
#define NODISCARD
#endif

enum err_code {
	ERR_OK = 0,
	ERR_USAGE,    /* a value that cannot be parsed */
	ERR_RANGE,    /* outside the representable or allowed range, overflow */
	ERR_ILLEGAL,  /* legal alone, not together with the rest of the scenario */
	ERR_UNKNOWN,  /* no such name */
	ERR_FILE,     /* cannot be read, or is not what it claims to be */
	ERR_INTERNAL, /* our own fault */
};

enum { ERR_WHERE_CAP = 160, ERR_MSG_CAP = 400 };

/* One error. `where` is a knob key ("tp") or file:pointer ("m.json:/hidden_size"); `msg` is one English sentence
 * that holds the value and the nearest legal ones. */
struct err {
	enum err_code code;
	char where[ERR_WHERE_CAP];
	char msg[ERR_MSG_CAP];
};

/* Fills *e (when not NULL) and returns `code`, so that `return err_set(...)` reads well. Longer texts are cut, and
 * what cannot be shown is '?'. */
enum err_code err_set(struct err *e, enum err_code code, const char *where, const char *fmt, ...) PRINTF_LIKE(4, 5);

#endif
