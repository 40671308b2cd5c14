/* Prints the generated parts of the manual pages, in mdoc, and the completion for bash, from the tables of the program. For
 * maintainers: `make update-generated` puts the output into man/, tests/generated.sh checks that it is there. usage: gen PART,
 * gen --list, gen --bash */
#include "config.h"

#include "cli.h"

#include "field.h"
#include "help.h"
#include "input.h"
#include "lab.h"
#include "lab_report.h"
#include "memory.h"
#include "model_file.h"
#include "preset_keys.h"
#include "presets.h"
#include "profile.h"
#include "schedule.h"
#include "text.h"
#include "theme.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_COLS = 78 };

/* Text as mdoc, in lines of at most LINE_COLS from column `at`: no backslash, no line that begins like a macro, each sentence on
 * a line of its own. Returns the column behind it. */
static int wrapped(const char *s, int at)
{
	while (*s != '\0') {
		size_t len = strcspn(s, " ");
		bool ends = len > 1 && s[len] == ' ' && s[len - 1] == '.';

		if (at > 0 && at + 1 + (int)len > LINE_COLS) {
			putchar('\n');
			at = 0;
		} else if (at > 0) {
			at += printf(" ");
		}
		if (at == 0 && (*s == '.' || *s == '\''))
			fputs("\\&", stdout);
		for (size_t i = 0; i < len; i++)
			fputs(s[i] == '\\' ? "\\e" : (char[]){ s[i], '\0' }, stdout);
		at += (int)len;
		s += len + strspn(s + len, " ");
		if (ends) {
			putchar('\n');
			at = 0;
		}
	}
	return at;
}

static void text(const char *s)
{
	(void)wrapped(s, 0);
}

static void line(const char *s)
{
	text(s);
	putchar('\n');
}

/* The text as a sentence. */
static void sentence(const char *s)
{
	char buf[600];

	(void)snprintf(buf, sizeof buf, "%c%s%s", toupper((unsigned char)*s), *s != '\0' ? s + 1 : "", ".");
	line(buf);
}

/* "Label: text." */
static void labelled(const char *label, const char *s)
{
	char buf[600];

	(void)snprintf(buf, sizeof buf, "%s: %s.", label, s);
	line(buf);
}

/* One argument of a macro line: quoted, so that nothing in it is called. */
static void argument(const char *s)
{
	putchar('"');
	if (!isalnum((unsigned char)*s))
		fputs("\\&", stdout);
	for (; *s != '\0'; s++) {
		if (*s == '"')
			fputs("\\(dq", stdout);
		else if (*s == '\\')
			fputs("\\e", stdout);
		else
			putchar(*s);
	}
	putchar('"');
}

static void item(const char *macro, const char *name)
{
	printf(".It %s ", macro);
	argument(name);
}

static void begin_list(void)
{
	puts(".Bl -tag -width Ds -compact");
}

static void end_list(void)
{
	puts(".El");
}

static void gen_commands(void)
{
	begin_list();
	for (const struct command *c = command_table; c->name != NULL; c++) {
		item("Cm", c->name);
		if (*c->synopsis != '\0') {
			fputs(" Ar ", stdout);
			argument(c->synopsis);
		}
		putchar('\n');
		line(c->help);
	}
	end_list();
}

static void command_names(uint32_t bits)
{
	bool first = true;

	if (bits == COMMAND_ALL) {
		puts("All commands.");
		return;
	}
	for (const struct command *c = command_table; c->name != NULL; c++) {
		if ((c->bit & bits) == 0)
			continue;
		printf("%s%s", first ? "Commands: " : ", ", c->name);
		first = false;
	}
	puts(".");
}

static void gen_options(void)
{
	begin_list();
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option *o = &option_table[i];
		char name[64];

		(void)snprintf(name, sizeof name, "-%s", o->key);
		item("Fl", name);
		if (o->value != NULL) {
			fputs(" Ar ", stdout);
			argument(o->value);
		}
		putchar('\n');
		sentence(o->help);
		command_names(o->commands);
	}
	end_list();
}

static void knob_values(const struct knob *k)
{
	puts(".Pp");
	begin_list();
	for (int64_t v = 0; k->name_at(v) != NULL; v++) {
		const char *help = k->help_at != NULL ? k->help_at(v) : NULL;

		item("Cm", k->name_at(v));
		putchar('\n');
		if (help != NULL && *help != '\0')
			line(help);
	}
	end_list();
}

static void gen_knob(const struct knob *k)
{
	char name[64], value[400];

	(void)snprintf(name, sizeof name, "-%s", k->key);
	item("Fl", name);
	fputs(" Ar ", stdout);
	argument(k->type == KNOB_ENUM ? "word" : help_knob_value(k, value, sizeof value));
	putchar('\n');
	sentence(k->help);
	if (k->alias != NULL)
		printf("Also spelt\n.Fl -%s .\n", k->alias);
	if (k->unit != NULL && *k->unit != '\0')
		labelled("Unit", k->unit);
	if (k->flags & KNOB_F_AUTO)
		puts("Chosen unless given.");
	else if (k->dflt != NULL)
		labelled("Default", k->dflt);
	if (k->cite != NULL && *k->cite != '\0')
		labelled("Source", k->cite);
	if (k->type == KNOB_ENUM && k->name_at != NULL)
		knob_values(k);
}

static void gen_knobs(void)
{
	for (int g = 0; g < KNOB_GROUP_COUNT; g++) {
		printf(".Ss %c%s\n", toupper((unsigned char)knob_group_names[g][0]), knob_group_names[g] + 1);
		puts(".Bl -tag -width Ds");
		for (size_t i = 0; i < knob_count(); i++)
			if ((int)knob_at(i)->group == g)
				gen_knob(knob_at(i));
		end_list();
	}
}

static void gen_exit(void)
{
	puts(".Bl -tag -width 3n -compact");
	for (int i = 0; i < EXIT_CODE_COUNT; i++)
		printf(".It %d\n%s\n", i, exit_code_help[i]);
	end_list();
}

static void gen_keys(void)
{
	for (int g = 0; g < GROUP_COUNT; g++) {
		printf(".Ss %c%s\n", toupper((unsigned char)action_group_names[g][0]), action_group_names[g] + 1);
		puts(".Bl -tag -width 16n -compact");
		for (int a = 0; a < UI_ACTION_COUNT; a++) {
			char keys[96] = "";

			if (ui_action_table[a].help == NULL || (int)ui_action_table[a].group != g)
				continue;
			for (int c = 0; c < CONTEXT_COUNT && keys[0] == '\0'; c++)
				(void)input_keys_of((enum context)c, (enum ui_action)a, keys, sizeof keys);
			if (keys[0] == '\0')
				continue;
			item("Ic", keys);
			putchar('\n');
			line(ui_action_table[a].help);
		}
		end_list();
	}
}

static void gen_fields(const struct field_table *t)
{
	static const char *const types[] = {
		[FIELD_TEXT] = "text",
		[FIELD_INT] = "integer",
		[FIELD_BYTES] = "bytes",
		[FIELD_REAL] = "number",
		[FIELD_FLAG] = "true or false",
		[FIELD_NAME] = "one of",
	};

	begin_list();
	for (size_t i = 0; i < t->n; i++) {
		const struct field *f = &t->rows[i];

		item("Cm", f->key);
		printf(" Pq %s", types[f->type]);
		if (f->names == coefficient_names)
			printf(" the coefficients below");
		for (size_t k = 0; f->type == FIELD_NAME && f->names != coefficient_names && f->names[k] != NULL; k++)
			printf("%s %s", k > 0 ? " ," : "", f->names[k]);
		if (f->unit != NULL && *f->unit != '\0' && f->type != FIELD_BYTES) {
			fputs(" , ", stdout);
			argument(f->unit);
		}
		puts(f->required ? " , required" : "");
		if (f->help != NULL)
			line(f->help);
	}
	end_list();
}

static void gen_categories(void)
{
	begin_list();
	for (int i = 0; i < MEMORY_CATEGORY_COUNT; i++) {
		const struct memory_category_info *c = &memory_category_table[i];

		item("Cm", c->key);
		printf(" Pq %c\n", c->letter);
		sentence(c->help);
		labelled("Source", c->cite);
	}
	end_list();
}

static void gen_terms(void)
{
	puts(".Bl -tag -width Ds");
	for (int i = 0; i < TERM_COUNT; i++) {
		const struct memory_term_info *t = &memory_term_table[i];

		item("Cm", t->key);
		printf(" Pq %s , %s\n", t->symbol, memory_category_table[t->category].key);
		line(t->formula);
		labelled("Source", t->source);
	}
	end_list();
}

static void gen_choices(const struct choice_info *rows, int n)
{
	begin_list();
	for (int i = 0; i < n; i++) {
		item("Cm", rows[i].key);
		putchar('\n');
		line(rows[i].help);
	}
	end_list();
}

static void gen_phases(void)
{
	gen_choices(memory_phase_choices, PHASE_COUNT);
}

static void gen_instants(void)
{
	gen_choices(memory_instant_choices, INSTANT_COUNT);
}

static void gen_optimizers(void)
{
	begin_list();
	for (int i = 0; i < OPTIMIZER_COUNT; i++) {
		const struct optimizer_info *o = &optimizer_table[i];
		char buf[400];

		item("Cm", o->key);
		(void)snprintf(buf, sizeof buf, "%s: %g bytes per parameter, %g under pure-bf16%s%s.", o->help, o->moment_bytes,
			o->pure_bf16_moment_bytes, o->needs_master ? ", with an fp32 master copy" : "",
			o->paged ? ", paged from host memory" : "");
		putchar('\n');
		line(buf);
		if (*o->cite != '\0')
			labelled("Source", o->cite);
	}
	end_list();
}

static void gen_schedules(void)
{
	begin_list();
	for (int i = 0; i < SCHEDULE_COUNT; i++) {
		item("Cm", schedule_table[i].key);
		putchar('\n');
		sentence(schedule_table[i].help);
		labelled("Shape", schedule_table[i].rule);
		labelled("In flight on rank r", schedule_table[i].peak_formula);
		labelled("Makespan", schedule_table[i].makespan_formula);
		labelled("Source", schedule_table[i].cite);
	}
	end_list();
}

static void saved_rows(const char *title, const struct scenario *s, bool moe)
{
	struct saved_tensor rows[SAVED_TENSOR_MAX];
	size_t n = memory_saved_tensors(s, moe, rows, SAVED_TENSOR_MAX);

	printf(".Ss %s\n", title);
	begin_list();
	for (size_t i = 0; i < n; i++) {
		char buf[300];

		fputs(".It ", stdout);
		argument(rows[i].name);
		putchar('\n');
		(void)snprintf(buf, sizeof buf, "%s, %g byte%s each; divided by %s; %s%s.", rows[i].shape,
			rows[i].bytes_per_element, rows[i].bytes_per_element > 1 ? "s" : "",
			*rows[i].divided_by == '-' ? "nothing" : rows[i].divided_by,
			*rows[i].dropped_by == '-' ? "always kept" : "dropped by recompute ",
			*rows[i].dropped_by == '-' ? "" : rows[i].dropped_by);
		line(buf);
	}
	end_list();
}

/* The table depends on the model and the kernels; four scenarios show all of its rows. */
static void gen_saved(void)
{
	static const struct {
		const char *title, *model;
		bool classic, moe;
	} shown[] = {
		{ "Llama 3 70B: GQA, gated MLP, RMS norm, flash attention", "llama3-70b", false, false },
		{ "GPT-2: MHA, GELU, LayerNorm, dropout, attention not fused", "gpt2-1.5b", true, false },
		{ "DeepSeek-V3, dense layer: MLA", "deepseek-v3", false, false },
		{ "DeepSeek-V3, layer with experts", "deepseek-v3", false, true },
	};
	struct preset_store *store;
	struct draft d;
	struct err e;

	if (preset_store_new(&store, &e) != ERR_OK || draft_init(&d, preset_store_catalog(store), &e) != ERR_OK)
		exit(EXIT_INTERNAL);
	for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
		const struct model *m;

		if (catalog_model(preset_store_catalog(store), shown[i].model, &m, &e) != ERR_OK) {
			fprintf(stderr, "gen: %s\n", e.msg);
			exit(EXIT_INTERNAL);
		}
		d.s.model = *m;
		d.s.training.attention = shown[i].classic ? ATTENTION_KERNEL_UNFUSED : ATTENTION_KERNEL_FLASH;
		d.s.training.dropout = d.s.training.attention_dropout = shown[i].classic ? 0.1 : 0;
		saved_rows(shown[i].title, &d.s, shown[i].moe);
	}
	preset_store_free(store);
}

static void gen_lab_param(const struct lab_param *p)
{
	char name[64], words[400] = "";

	(void)snprintf(name, sizeof name, "-%s", p->key);
	item("Fl", name);
	putchar('\n');
	sentence(p->help);
	for (int64_t v = 0; p->type == LAB_PARAM_WORD && p->word(v) != NULL; v++)
		text_join(words, sizeof words, ", ", p->word(v));
	if (p->type == LAB_PARAM_WORD)
		labelled("One of", words);
	else if (p->type == LAB_PARAM_FLAG)
		printf("Default: %s.\n", p->dflt > 0 ? "on" : "off");
	else
		printf("From %.10g to %.10g, default %.10g.\n", p->min, p->max, p->dflt);
}

/* The parameters of every lab. */
static void gen_labs(void)
{
	for (size_t i = 0; lab_table[i] != NULL; i++) {
		const struct lab *lab = lab_table[i];

		printf(".Ss %s\n", lab->id);
		begin_list();
		for (size_t k = 0; k < lab->n_params; k++)
			gen_lab_param(&lab->params[k]);
		end_list();
	}
}

static bool write_literal(void *ctx, const char *s, size_t len)
{
	bool *at_start = ctx;

	for (size_t i = 0; i < len; i++) {
		if (*at_start && (s[i] == '.' || s[i] == '\''))
			fputs("\\&", stdout);
		fputs(s[i] == '\\' ? "\\e" : (char[]){ s[i], '\0' }, stdout);
		*at_start = s[i] == '\n';
	}
	return true;
}

/* One lab with its defaults on the default scenario, as the command prints it. */
static void gen_lab(const struct lab *lab)
{
	struct preset_store *store;
	struct draft d;
	struct lab_input in;
	struct lab_size size;
	struct lab_run run;
	struct lab_report_options o = { .steps = false };
	struct sink out;
	struct err e;
	char buf[4096];
	bool at_start = true;
	void *workspace = NULL;

	if (preset_store_new(&store, &e) != ERR_OK || draft_init(&d, preset_store_catalog(store), &e) != ERR_OK)
		exit(EXIT_INTERNAL);
	lab_input_init(&in, lab, &d.s);
	if (lab_workspace_size(&in, &size, &e) == ERR_OK)
		workspace = malloc((size_t)size.bytes);
	if (workspace == NULL || lab_run(&in, workspace, size.bytes, &run, &e) != ERR_OK)
		exit(EXIT_INTERNAL);
	sink_init(&out, buf, sizeof buf, write_literal, &at_start);
	printf(".Bd -literal\n$ meshplan lab %s\n", lab->id);
	lab_report_text(&run, &o, &out);
	(void)sink_finish(&out);
	puts(".Ed");
	free(workspace);
	preset_store_free(store);
}

static const struct part {
	const char *name;
	void (*print)(void);
	const struct field_table *fields; /* instead of a function */
} parts[] = {
	{ "commands", gen_commands, NULL },
	{ "options", gen_options, NULL },
	{ "knobs", gen_knobs, NULL },
	{ "exit", gen_exit, NULL },
	{ "keys", gen_keys, NULL },
	{ "model-fields", NULL, &model_fields },
	{ "gpu-fields", NULL, &gpu_fields },
	{ "node-fields", NULL, &node_fields },
	{ "profile-fields", NULL, &profile_fields },
	{ "family-fields", NULL, &gpu_family_fields },
	{ "coefficients-fields", NULL, &coefficients_fields },
	{ "source-fields", NULL, &preset_source_fields },
	{ "price-fields", NULL, &gpu_price_fields },
	{ "published-fields", NULL, &preset_published_fields },
	{ "categories", gen_categories, NULL },
	{ "terms", gen_terms, NULL },
	{ "phases", gen_phases, NULL },
	{ "instants", gen_instants, NULL },
	{ "optimizers", gen_optimizers, NULL },
	{ "schedules", gen_schedules, NULL },
	{ "saved", gen_saved, NULL },
	{ "labs", gen_labs, NULL },
};

static void bash_names(const char *(*name_at)(int64_t))
{
	for (int64_t v = 0; name_at(v) != NULL; v++)
		printf("%s ", name_at(v));
}

/* Whether no knob and no earlier lab has this flag. */
static bool is_new_param(size_t lab, const char *key)
{
	for (size_t i = 0; i < lab; i++)
		if (lab_param_find(lab_table[i], key) != NULL)
			return false;
	return knob_find(key) == NULL;
}

/* What may stand behind a flag: "	*:--framework) words='auto ddp fsdp ' ;;". Names of presets come from the program, so that
 * the user's own are among them. */
static void bash_values(void)
{
	static const char *const lists[] = { [PRESET_MODEL] = "models",
		[PRESET_GPU] = "gpus",
		[PRESET_NODE] = "nodes",
		[PRESET_PROFILE] = "frameworks",
		[PRESET_COEFFICIENTS] = "coefficients",
		[PRESET_PRICE] = NULL };

	for (size_t i = 0; i < knob_count(); i++) {
		const struct knob *k = knob_at(i);

		if (k->type == KNOB_PRESET && lists[k->preset] != NULL) {
			printf("\t*:--%s) words=$(meshplan presets %s 2>/dev/null | sed '1d; s/ .*//') ;;\n", k->key,
				lists[k->preset]);
		} else if (k->name_at != NULL) {
			printf("\t*:--%s) words='", k->key);
			bash_names(k->name_at);
			puts("' ;;");
		}
	}
	fputs("\t*:--theme) words='auto ", stdout);
	for (size_t i = 0; theme_names[i] != NULL; i++)
		printf("%s ", theme_names[i]);
	puts("' ;;");
	for (size_t i = 0; lab_table[i] != NULL; i++)
		for (size_t k = 0; k < lab_table[i]->n_params; k++) {
			const struct lab_param *p = &lab_table[i]->params[k];

			if (p->type != LAB_PARAM_WORD || !is_new_param(i, p->key))
				continue;
			printf("\t*:--%s) words='", p->key);
			bash_names(p->word);
			puts("' ;;");
		}
}

/* The words of each command and its flags. */
static void bash_commands(void)
{
	for (const struct command *c = command_table; c->name != NULL; c++) {
		printf("\t%s) words='", c->name);
		for (int k = 0; c->bit == COMMAND_PRESETS && k < PRESET_KIND_COUNT; k++)
			printf("%s ", preset_kind_names[k]);
		if (c->bit == COMMAND_PRESETS)
			fputs("show import ", stdout);
		for (size_t i = 0; c->bit == COMMAND_LAB && lab_table[i] != NULL; i++) {
			printf("%s ", lab_table[i]->id);
			for (size_t k = 0; k < lab_table[i]->n_params; k++)
				if (is_new_param(i, lab_table[i]->params[k].key))
					printf("--%s ", lab_table[i]->params[k].key);
		}
		for (size_t i = 0; i < OPTION_COUNT; i++)
			if ((option_table[i].commands & c->bit) != 0)
				printf("--%s ", option_table[i].key);
		puts((c->bit & COMMAND_SCENARIO) != 0 ? "'$knobs ;;" : "' ;;");
	}
}

/* Completion for bash. */
static void gen_bash(void)
{
	puts("# bash completion of meshplan: commands, flags, values that have names. Made by tools/gen from the tables of the "
	     "program.");
	puts("_meshplan()\n{");
	puts("\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words= knobs=");
	puts("\tif [ \"$word\" = = ]; then word=; elif [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi");
	fputs("\tknobs='", stdout);
	for (size_t i = 0; i < knob_count(); i++)
		printf("--%s ", knob_at(i)->key);
	puts("'\n\tcase $COMP_CWORD:$before in");
	bash_values();
	fputs("\t1:*) words='", stdout);
	for (const struct command *c = command_table; c->name != NULL; c++)
		printf("%s ", c->name);
	puts("--help --version' ;;\n\t*) case ${COMP_WORDS[1]} in");
	bash_commands();
	puts("\tesac ;;\n\tesac\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}");
	puts("complete -o default -F _meshplan meshplan");
}

/* Prints the part of that name; false if there is none. */
static bool print_part(const char *name)
{
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		if (strcmp(name, parts[i].name) != 0)
			continue;
		if (parts[i].fields != NULL)
			gen_fields(parts[i].fields);
		else
			parts[i].print();
		return true;
	}
	if (strncmp(name, "lab-", 4) != 0 || lab_find(name + 4) == NULL)
		return false;
	gen_lab(lab_find(name + 4));
	return true;
}

static void list_parts(void)
{
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		puts(parts[i].name);
	for (size_t i = 0; lab_table[i] != NULL; i++)
		printf("lab-%s\n", lab_table[i]->id);
}

int main(int argc, char **argv)
{
	bool good = argc == 2;

	if (good && strcmp(argv[1], "--list") == 0)
		list_parts();
	else if (good && strcmp(argv[1], "--bash") == 0)
		gen_bash();
	else if (good)
		good = print_part(argv[1]);
	if (!good)
		fprintf(stderr, "usage: gen PART, gen --list, gen --bash\n");
	return good && fflush(stdout) == 0 ? EXIT_YES : EXIT_USAGE;
}
