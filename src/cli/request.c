#include "config.h"

#include "request.h"

#include "i18n.h"
#include "model_file.h"
#include "scenario_file.h"
#include "search.h"

#include <string.h>
#include <sys/stat.h>

/* Presets fill many knobs, so they come first, in this order; then the rest as given. */
static const char *const filling_keys[] = { "model", "params", "node", "gpu", "profile", "framework" };

static bool is_filling_key(const char *key)
{
	for (size_t i = 0; i < sizeof filling_keys / sizeof filling_keys[0]; i++)
		if (strcmp(filling_keys[i], key) == 0)
			return true;
	return false;
}

static enum err_code add_word(struct args *a, const char *key, const char *value, struct err *e)
{
	const struct knob *k = knob_find(key);

	if (value[0] == '\0')
		return ERR_OK;
	if (k == NULL)
		return err_set(e, ERR_INTERNAL, key, _("no such knob"));
	return args_add(a, k, value, value, e);
}

/* Turns the words of the SCENARIO into rows like those of flags. */
static enum err_code add_words(struct cli *cli, size_t first, struct err *e)
{
	size_t n = cli->args.n_words > first ? cli->args.n_words - first : 0;
	struct words *w = &cli->args.said;
	enum err_code code = words_read(cli->args.words + first, n, cli->catalog, w, e);
	const struct {
		const char *key, *value;
	} said[] = { { "model", w->model }, { "params", w->params }, { "gpu", w->gpu }, { "node", w->node },
		{ "gpus-per-node", w->per_node }, { "gpus", w->gpus } };

	for (size_t i = 0; i < sizeof said / sizeof said[0] && code == ERR_OK; i++)
		code = add_word(&cli->args, said[i].key, said[i].value, e);
	return code;
}

/* A name ending in .json, or of something that exists, is a file; "org/name" alone is a preset's name. */
static bool is_path(const char *name)
{
	size_t len = strlen(name);
	struct stat st;

	return (len >= 5 && strcmp(name + len - 5, ".json") == 0) || stat(name, &st) == 0;
}

/* A model from a file fills the shape like a preset. */
static enum err_code set_model_file(const char *path, struct draft *d, const struct knob *k, struct err *e)
{
	char note[MODEL_FILE_NOTE_CAP];
	struct model m = { .id = "" };
	enum err_code code = model_file_read(path, &m, note, e);

	if (code != ERR_OK)
		return code;
	d->s.model = m;
	for (size_t i = 0; i < knob_count(); i++)
		if ((knob_at(i)->flags & KNOB_F_SHAPE) != 0)
			d->origin[i] = ORIGIN_PRESET;
	d->origin[knob_index(k)] = ORIGIN_FLAG;
	return ERR_OK;
}

static enum err_code set_knob(struct cli *cli, struct draft *d, const struct arg *x, struct err *e)
{
	if (strcmp(x->knob->key, "model") == 0 && is_path(x->value))
		return set_model_file(x->value, d, x->knob, e);
	return draft_set(d, cli->catalog, x->knob, x->value, ORIGIN_FLAG, e);
}

static enum err_code set_knobs(struct cli *cli, struct draft *d, struct err *e)
{
	enum err_code code = ERR_OK;

	for (size_t i = 0; i < sizeof filling_keys / sizeof filling_keys[0] && code == ERR_OK; i++) {
		const struct arg *x = args_knob(&cli->args, filling_keys[i]);

		if (x != NULL)
			code = set_knob(cli, d, x, e);
	}
	for (size_t i = 0; i < cli->args.n && code == ERR_OK; i++) {
		const struct arg *x = &cli->args.arg[i];

		if (x->knob != NULL && !is_filling_key(x->knob->key))
			code = set_knob(cli, d, x, e);
	}
	return code;
}

static bool names_model(const struct args *a)
{
	return args_knob(a, "model") != NULL || args_knob(a, "params") != NULL;
}

static bool names_gpu(const struct args *a)
{
	return args_knob(a, "gpu") != NULL || args_knob(a, "node") != NULL;
}

static bool names_anything(const struct args *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->arg[i].knob != NULL || a->arg[i].option == &option_table[OPTION_LOAD])
			return true;
	return false;
}

/* A shape needs a model that it changes: single sizes say neither what else there is nor what is off. */
static enum err_code check_complete(const struct draft *d, bool model_named, struct err *e)
{
	if (!model_named)
		return err_set(
			e, ERR_USAGE, "model", _("no model is named; for example: 70B, llama3-70b, or --model config.json"));
	if (d->s.cluster.gpu.id[0] == '\0')
		return err_set(e, ERR_USAGE, "gpu", _("no GPU is named; for example: 8xA100, or --gpu h100-sxm --gpus 64"));
	return ERR_OK;
}

static enum err_code make_draft(struct cli *cli, size_t first_word, bool complete, struct draft *d, struct err *e)
{
	const char *file = args_option(&cli->args, OPTION_LOAD);
	bool model_named;
	enum err_code code = add_words(cli, first_word, e);

	if (code != ERR_OK)
		return code;
	if (complete && file == NULL && (!names_model(&cli->args) || !names_gpu(&cli->args)))
		code = draft_init(d, cli->catalog, e);
	else
		draft_init_blank(d, cli->catalog);
	if (code == ERR_OK && file != NULL)
		code = scenario_file_read(file, cli->catalog, d, e);
	model_named = code == ERR_OK && (d->s.model.layers > 0 || names_model(&cli->args));
	if (code == ERR_OK)
		code = set_knobs(cli, d, e);
	if (code == ERR_OK)
		code = check_complete(d, model_named, e);
	if (code == ERR_OK)
		draft_settle(d, cli->catalog);
	return code;
}

enum err_code request_plan(struct cli *cli, size_t first_word, bool complete, struct draft *d, struct plan *p, struct err *e)
{
	enum err_code code = make_draft(cli, first_word, complete, d, e);

	if (code != ERR_OK)
		return code;
	if (!names_anything(&cli->args))
		return plan_evaluate(&d->s, p, e);
	return search_choose(d, cli->catalog, p, e);
}

int request_exit_code(const struct plan *p)
{
	if (!p->verdict.known)
		return EXIT_USAGE;
	return p->verdict.fits ? EXIT_YES : EXIT_NO;
}
