#include "config.h"

#include "args.h"

#include "catalog.h"
#include "i18n.h"
#include "lab.h"
#include "text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* clang-format off */
const struct option option_table[OPTION_COUNT] = {
	[OPTION_LOAD] = { "load", "FILE", N_("read a scenario from a file; flags override it"), COMMAND_SCENARIO, false },
	[OPTION_PRESETS] = { "presets", "DIR", N_("add the presets of a directory; may be repeated"), COMMAND_ALL, true },
	[OPTION_JSON] = { "json", NULL, N_("one JSON document instead of text"), COMMAND_PRINTS, false },
	[OPTION_MARKDOWN] = { "markdown", NULL, N_("Markdown instead of text"), COMMAND_PLAN | COMMAND_COST | COMMAND_VALIDATE, false },
	[OPTION_COMPARE] = { "compare", NULL, N_("explain: other calculators side by side; pipeline: every schedule on the same ranks"), COMMAND_EXPLAIN | COMMAND_PIPELINE, false },
	[OPTION_MICROBATCHES] = { "microbatches", "N", N_("micro-batches per step; default: from the batch, else 8"), COMMAND_PIPELINE, false },
	[OPTION_TIMES] = { "times", "F,B", N_("or F,I,W: time of a forward and a backward chunk; default 1,1,1"), COMMAND_PIPELINE, false },
	[OPTION_COMM] = { "comm", "T", N_("latency between ranks, in the same unit; default 0"), COMMAND_PIPELINE, false },
	[OPTION_OVERLAP_TIME] = { "overlap-time", "T", N_("time of an overlapped forward and backward; default: both together"), COMMAND_PIPELINE, false },
	[OPTION_STAGE_TIMES] = { "stage-times", "FILE", N_("times of each stage: one line F,I,W or F,B per stage"), COMMAND_PIPELINE, false },
	[OPTION_ORDER_TIMES] = { "order-times", "F,I,W,C", N_("times that greedy schedules are planned with; default 1,1,1,0"), COMMAND_PIPELINE, false },
	[OPTION_IMPORT] = { "import", "FILE", N_("times and draws an order in PyTorch's CSV format: one line per rank"), COMMAND_PIPELINE, false },
	[OPTION_CSV] = { "csv", NULL, N_("the order in PyTorch's CSV format instead of text"), COMMAND_PIPELINE, false },
	[OPTION_TRACE] = { "trace", "FILE", N_("write a trace for chrome://tracing or Perfetto; - is standard output"), COMMAND_PIPELINE, false },
	[OPTION_SVG] = { "svg", "FILE", N_("write the drawing as SVG; - is standard output"), COMMAND_PIPELINE, false },
	[OPTION_STEPS] = { "steps", NULL, N_("every step: of a pipeline one line each, of a lab one table"), COMMAND_PIPELINE | COMMAND_LAB, false },
	[OPTION_WIDTH] = { "width", "N", N_("columns of the drawing; default 80"), COMMAND_PIPELINE, false },
	[OPTION_PREDICT] = { "predict", "VALUE", N_("your answer to the question of a lab; the report says how far off it is"), COMMAND_LAB, false },
	[OPTION_STEP] = { "step", "TIME", N_("seconds one step took, like 12.3s; may be repeated"), COMMAND_CALIBRATE, true },
	[OPTION_MEMORY] = { "memory", "SIZE", N_("peak that the allocator of the fullest GPU reserved"), COMMAND_CALIBRATE, false },
	[OPTION_NCCL] = { "nccl", "FILE", N_("output of nccl-tests (all_reduce_perf, ...); may be repeated"), COMMAND_CALIBRATE, true },
	[OPTION_MATMUL] = { "matmul", "FILE", N_("measured matrix multiplies: GFLOP or MxNxK, and TFLOP/s"), COMMAND_CALIBRATE, false },
	[OPTION_NAME] = { "name", "NAME", N_("name of the presets that are written; default my-cluster"), COMMAND_CALIBRATE, false },
	[OPTION_FILE] = { "file", "CSV", N_("a table of runs: instead of the shipped one; calibrate: measured steps of many scenarios"), COMMAND_VALIDATE | COMMAND_CALIBRATE, false },
	[OPTION_COEFFICIENTS] = { "coefficients", "NAME", N_("which fitted numbers predict: third (default) or shipped"), COMMAND_VALIDATE, false },
	[OPTION_SOURCE] = { "source", "NAME", N_("only the rows of one source"), COMMAND_VALIDATE, false },
	[OPTION_ASCII] = { "ascii", NULL, N_("draw with ASCII characters only"), COMMAND_ALL, false },
	[OPTION_UTF8] = { "utf8", NULL, N_("draw with UTF-8 characters whatever the locale says"), COMMAND_ALL, false },
	[OPTION_THEME] = { "theme", "NAME", N_("colours: auto, mono, dark, light, 256, high-contrast"), COMMAND_UI, false },
	[OPTION_BIG] = { "big", NULL, N_("big mode, for projecting"), COMMAND_UI, false },
	[OPTION_PLAIN] = { "plain", NULL, N_("lines instead of a screen, for screen readers and simple terminals"), COMMAND_UI, false },
	[OPTION_SCRIPT] = { "script", "FILE", N_("take events from a file instead of the keyboard"), COMMAND_UI, false },
	[OPTION_SIZE] = { "size", "WxH", N_("size of the screen in script mode; default 80x24"), COMMAND_UI, false },
	[OPTION_DUMP_SCREEN] = { "dump-screen", "FILE", N_("where script mode writes its frames; default: standard output"), COMMAND_UI, false },
	[OPTION_STYLE] = { "style", NULL, N_("add the map of styles to each frame, or with --theme of its looks"), COMMAND_UI, false },
	[OPTION_NO_COLOR] = { "no-color", NULL, N_("no colours, as with NO_COLOR in the environment"), COMMAND_ALL, false },
	[OPTION_HELP] = { "help", NULL, N_("this text"), COMMAND_ALL, false },
	[OPTION_VERSION] = { "version", NULL, N_("the version"), COMMAND_ALL, false },
};
/* clang-format on */

static const struct option *option_find(const struct command *cmd, const char *key)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if ((option_table[i].commands & cmd->bit) != 0 && strcasecmp(option_table[i].key, key) == 0)
			return &option_table[i];
	return NULL;
}

static const char *name_at(const void *ctx, size_t i)
{
	return ((const char *const *)ctx)[i];
}

/* What other programs call a setting. */
static const struct {
	const char *theirs, *ours;
} synonyms[] = {
	{ "activation-checkpointing", "recompute" },
	{ "batch-size", "micro-batch, global-batch" },
	{ "bs", "micro-batch, global-batch" },
	{ "context", "seq" },
	{ "context-length", "seq" },
	{ "cpu-offload", "offload" },
	{ "data-parallel", "dp" },
	{ "dtype", "precision" },
	{ "expert-parallel", "ep" },
	{ "grad-accum", "global-batch, micro-batch" },
	{ "gradient-accumulation-steps", "global-batch, micro-batch" },
	{ "gradient-checkpointing", "recompute" },
	{ "max-length", "seq" },
	{ "max-seq-length", "seq" },
	{ "nodes", "gpus, gpus-per-node" },
	{ "num-gpus", "gpus" },
	{ "num-nodes", "gpus, gpus-per-node" },
	{ "per-device-train-batch-size", "micro-batch" },
	{ "pipeline-model-parallel-size", "pp" },
	{ "pipeline-parallel", "pp" },
	{ "seq-len", "seq" },
	{ "seq-length", "seq" },
	{ "sequence-length", "seq" },
	{ "tensor-model-parallel-size", "tp" },
	{ "tensor-parallel", "tp" },
	{ "train-batch-size", "global-batch" },
};

static const char *synonym(const char *key)
{
	for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++)
		if (strcasecmp(synonyms[i].theirs, key) == 0)
			return synonyms[i].ours;
	return NULL;
}

/* The flags that a subcommand takes, each once. */
struct flag_names {
	size_t n;
	const char *name[512];
};

static void add_name(struct flag_names *flags, const char *name)
{
	for (size_t i = 0; i < flags->n; i++)
		if (strcmp(flags->name[i], name) == 0)
			return;
	if (flags->n < sizeof flags->name / sizeof flags->name[0])
		flags->name[flags->n++] = name;
}

/* "did you mean" list over the options, knobs and lab parameters of a subcommand. Returns buf. */
static char *nearest_option(const struct command *cmd, const char *key, char *buf, size_t cap)
{
	struct flag_names flags = { .n = 0 };

	for (size_t i = 0; i < OPTION_COUNT; i++)
		if ((option_table[i].commands & cmd->bit) != 0)
			add_name(&flags, option_table[i].key);
	for (size_t i = 0; (cmd->bit & COMMAND_SCENARIO) != 0 && i < knob_count(); i++)
		add_name(&flags, knob_at(i)->key);
	for (size_t i = 0; cmd->bit == COMMAND_LAB && lab_table[i] != NULL; i++)
		for (size_t k = 0; k < lab_table[i]->n_params; k++)
			add_name(&flags, lab_table[i]->params[k].key);
	return catalog_nearest(key, flags.n, name_at, flags.name, buf, cap);
}

static enum err_code unknown_flag(const struct command *cmd, const char *key, struct err *e)
{
	bool takes_knobs = (cmd->bit & COMMAND_SCENARIO) != 0;
	const char *ours = takes_knobs ? synonym(key) : NULL;
	char near[160];

	if (takes_knobs && knob_hint(key, near, sizeof near)[0] != '\0')
		return err_set(e, ERR_USAGE, "", _("there is no option --%s here; did you mean %s?"), key, near);
	return err_set(e, ERR_USAGE, "", _("there is no option --%s here; nearest: %s"), key,
		ours != NULL ? ours : nearest_option(cmd, key, near, sizeof near));
}

/* "none|cpu|nvme" where the values have names. */
static const char *value_of(const struct arg *x, char *buf, size_t cap)
{
	if (x->option != NULL)
		return x->option->value;
	if (x->knob == NULL || x->knob->name_at == NULL)
		return "VALUE";
	buf[0] = '\0';
	for (int64_t v = 0; x->knob->name_at(v) != NULL; v++)
		text_join(buf, cap, "|", x->knob->name_at(v));
	return buf;
}

static const char *command_name(const void *ctx, size_t i)
{
	const struct command *table = ctx;

	return table[i].name;
}

const struct command *command_find(const char *name)
{
	for (const struct command *c = command_table; c->name != NULL; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

char *command_nearest(const char *name, char *buf, size_t cap)
{
	size_t n = 0;

	while (command_table[n].name != NULL)
		n++;
	return catalog_nearest(name, n, command_name, command_table, buf, cap);
}

static bool same_flag(const struct arg *a, const struct arg *b)
{
	return a->option == b->option && a->knob == b->knob && a->param == b->param;
}

static enum err_code push(struct args *a, const struct arg *x, struct err *e)
{
	const char *key = x->option != NULL ? x->option->key : x->knob != NULL ? x->knob->key : x->param->key;

	for (size_t i = 0; i < a->n; i++) {
		const struct arg *y = &a->arg[i];

		if (!same_flag(x, y) || (x->option != NULL && x->option->repeats))
			continue;
		if (x->value == NULL || y->value == NULL)
			return err_set(e, ERR_USAGE, key, _("given twice"));
		return err_set(e, ERR_USAGE, key, _("given twice: %.40s (%.40s) and %.40s (%.40s)"), y->value, y->text, x->value,
			x->text);
	}
	if (a->n == ARG_MAX)
		return err_set(e, ERR_USAGE, key, _("more than %d flags"), (int)ARG_MAX);
	a->arg[a->n++] = *x;
	return ERR_OK;
}

enum err_code args_add(struct args *a, const struct knob *k, const char *text, const char *value, struct err *e)
{
	return push(a, &(struct arg){ .knob = k, .text = text, .value = value }, e);
}

/* On or off; without a value: on. */
static bool is_switch(const struct arg *x)
{
	if (x->param != NULL)
		return x->param->type == LAB_PARAM_FLAG;
	return x->knob != NULL && (x->knob->type == KNOB_FLAG || x->knob->type == KNOB_BIAS);
}

/* The first lab's parameter of this name: which lab it is may be known only after the flags. */
static const struct lab_param *any_lab_param(const char *key)
{
	const struct lab_param *p = NULL;

	for (size_t i = 0; lab_table[i] != NULL && p == NULL; i++)
		p = lab_param_find(lab_table[i], key);
	return p;
}

/* Reads the flag at argv[*i], and its value, and moves *i to the last of them. */
static enum err_code scan_flag(const struct command *cmd, int argc, char **argv, int *i, struct args *a, struct err *e)
{
	const char *text = argv[*i], *equals = strchr(text, '='), *next = *i + 1 < argc ? argv[*i + 1] : NULL;
	struct arg x = { .text = text };
	char key[64], value[200];
	int len = snprintf(key, sizeof key, "%.*s", equals != NULL ? (int)(equals - text - 2) : (int)sizeof key, text + 2);

	if (len < 0 || (size_t)len >= sizeof key)
		return err_set(e, ERR_USAGE, "", _("no option is as long as %.40s..."), text);
	x.option = option_find(cmd, key);
	if (x.option == NULL && cmd->bit == COMMAND_LAB)
		x.param = any_lab_param(key);
	if (x.option == NULL && x.param == NULL && (cmd->bit & COMMAND_SCENARIO) != 0)
		x.knob = knob_find(key);
	if (x.option == NULL && x.knob == NULL && x.param == NULL)
		return unknown_flag(cmd, key, e);
	if (equals != NULL) {
		if (x.option != NULL && x.option->value == NULL)
			return err_set(e, ERR_USAGE, key, _("takes no value, but \"%.60s\" is given"), equals + 1);
		x.value = equals + 1;
	} else if (is_switch(&x) && (next == NULL || strncmp(next, "--", 2) == 0)) {
		x.value = "on";
	} else if (x.option == NULL || x.option->value != NULL) {
		if (next == NULL || strncmp(next, "--", 2) == 0)
			return err_set(e, ERR_USAGE, key, _("wants a value: --%s %s"), key, value_of(&x, value, sizeof value));
		x.value = next;
		(*i)++;
	}
	return push(a, &x, e);
}

enum err_code args_scan(const struct command *cmd, int argc, char **argv, struct args *a, struct err *e)
{
	bool flags = true;

	*a = (struct args){ 0 };
	for (int i = 0; i < argc; i++) {
		enum err_code code = ERR_OK;

		if (flags && strcmp(argv[i], "--") == 0)
			flags = false;
		else if (flags && strncmp(argv[i], "--", 2) == 0)
			code = scan_flag(cmd, argc, argv, &i, a, e);
		else if (flags && argv[i][0] == '-' && argv[i][1] != '\0')
			code = err_set(e, ERR_USAGE, "", _("%.40s: options begin with two dashes, see --help"), argv[i]);
		else if (a->n_words == WORD_MAX)
			code = err_set(e, ERR_USAGE, "", _("more than %d words"), (int)WORD_MAX);
		else
			a->words[a->n_words++] = argv[i];
		if (code != ERR_OK)
			return code;
	}
	return ERR_OK;
}

const char *args_option(const struct args *a, enum option_id id)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->arg[i].option == &option_table[id])
			return a->arg[i].value != NULL ? a->arg[i].value : "";
	return NULL;
}

const struct arg *args_knob(const struct args *a, const char *key)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->arg[i].knob != NULL && strcmp(a->arg[i].knob->key, key) == 0)
			return &a->arg[i];
	return NULL;
}
