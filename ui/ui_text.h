/* Texts that people read. The user interface translates when it draws; tables mark their texts with N_(). */
#ifndef MESHPLAN_UI_TEXT_H
#define MESHPLAN_UI_TEXT_H

#include "i18n_mark.h"

#include <libintl.h>
#include <stddef.h>

#ifndef _
#define _(s) gettext(s)
#endif

/* A text of a table, translated; gettext would answer the empty text with the header of the catalogue. */
static inline const char *ui_text(const char *text)
{
	return text == NULL || text[0] == '\0' ? "" : gettext(text);
}

#endif
