/* What app_update asks for and cannot do itself, because it touches files: save, open, import, write, list, keep the looks. */
#ifndef MESHPLAN_EFFECT_H
#define MESHPLAN_EFFECT_H

#include "app.h"

struct effect_env {
	const char *config_dir, *data_dir; /* of meshplan; NULL: nowhere to keep things */
	const char *version;
};

/* Does a->effect and says in the message line what became of it. */
void effect_run(struct app *a, const struct effect_env *env);

#endif
