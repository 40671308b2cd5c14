/* Texts for people pass through _(); tables mark theirs with N_(). Errors of the engine, JSON and file formats stay English. */
#ifndef MESHPLAN_CLI_I18N_H
#define MESHPLAN_CLI_I18N_H

#include "i18n_mark.h"

#include <libintl.h>

#define _(text) gettext(text)

#endif
