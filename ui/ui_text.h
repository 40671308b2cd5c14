/* Texts that people read. The user interface translates when it draws; tables mark their texts with N_(). */
#ifndef MESHPLAN_UI_TEXT_H
#define MESHPLAN_UI_TEXT_H

#include "i18n_mark.h"

#include <libintl.h>

#ifndef _
#define _(s) gettext(s)
#endif

#endif
