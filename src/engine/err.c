#include "err.h"

#include "text.h"

#include <stdarg.h>
#include <stdio.h>

enum err_code err_set(struct err *e, enum err_code code, const char *where, const char *fmt, ...)
{
	va_list ap;

	if (e == NULL)
		return code;
	e->code = code;
	(void)snprintf(e->where, sizeof e->where, "%s", where == NULL ? "" : where);
	va_start(ap, fmt);
	(void)vsnprintf(e->msg, sizeof e->msg, fmt, ap);
	va_end(ap);
	/* Names and values in it come from files and command lines. */
	text_make_printable(e->where);
	text_make_printable(e->msg);
	return code;
}
