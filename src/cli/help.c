#include "help.h"

#include "cli.h"
#include "i18n.h"
#include "lab.h"

#include <stdio.h>
#include <string.h>

enum { HELP_INDENT = 26 };

const char *const exit_code_help[EXIT_CODE_COUNT] = {
	[EXIT_YES] = N_("done; fit and plan: it fits"),
	[EXIT_NO] = N_("fit and plan: it does not fit"),
	[EXIT_USAGE] = N_("the command line or an input file cannot be used, or the answer is not known"),
	[EXIT_INTERNAL] = N_("an internal error, or output that cannot be written"),
};

void help_wrapped(const char *text, int64_t at, int64_t indent, struct sink *out)
{
	if (at > 0 && at >= indent) {
		sink_puts(out, "\n");
		at = 0;
	}
	sink_repeat(out, " ", indent - at);
	at = indent;
	while (*text != '\0') {
		size_t len = strcspn(text, " ");

		if (at > indent && at + 1 + (int64_t)len > HELP_COLS) {
			sink_puts(out, "\n");
			sink_repeat(out, " ", indent);
			at = indent;
		} else if (at > indent) {
			sink_puts(out, " ");
			at++;
		}
		sink_write(out, text, len);
		at += (int64_t)len;
		text += len + strspn(text + len, " ");
	}
	sink_puts(out, "\n");
}

static void write_names(const struct knob *k, char *buf, size_t cap)
{
	size_t len = 0;

	buf[0] = '\0';
	for (int64_t i = 0; k->name_at(i) != NULL && len < cap; i++) {
		int n = snprintf(buf + len, cap - len, "%s%s", i > 0 ? ", " : "", k->name_at(i));

		len += n > 0 ? (size_t)n : 0;
	}
}

char *help_knob_value(const struct knob *k, char *buf, size_t cap)
{
	static const char *const words[] = {
		[KNOB_INT] = "N",
		[KNOB_BYTES] = "SIZE",
		[KNOB_REAL] = "X",
		[KNOB_FLAG] = "on|off",
		[KNOB_ENUM] = "WORD",
		[KNOB_PRESET] = "NAME",
		[KNOB_PARAMS] = "N",
		[KNOB_DP] = "N",
		[KNOB_STAGES] = "N,N,...",
		[KNOB_BIAS] = "on|off",
		[KNOB_DROPOUT] = "X",
		[KNOB_CAPACITY] = "SIZE",
	};

	if (k->type == KNOB_ENUM && k->name_at != NULL)
		write_names(k, buf, cap);
	else
		(void)snprintf(buf, cap, "%s", words[k->type]);
	return buf;
}

static void write_flag(const char *key, const char *value, const char *help, struct sink *out)
{
	char head[64];
	int n = snprintf(head, sizeof head, "  --%s%s%s", key, value != NULL ? " " : "", value != NULL ? value : "");

	sink_puts(out, head);
	help_wrapped(help, n, HELP_INDENT, out);
}

/* " (default 1)", or that the automatic choice decides, or nothing: a preset or a rule does. */
static char *describe_default(const struct knob *k, char *buf, size_t cap)
{
	if (k->flags & KNOB_F_AUTO)
		(void)snprintf(buf, cap, " (%s)", _("chosen unless given"));
	else if (k->dflt != NULL)
		(void)snprintf(buf, cap, " (%s %s)", _("default"), k->dflt);
	else
		buf[0] = '\0';
	return buf;
}

/* One knob: flag, help, the names of an enum, default. */
static void write_knob(const struct knob *k, struct sink *out)
{
	bool words = k->type == KNOB_ENUM;
	char value[400], help[600], end[80];

	(void)help_knob_value(k, value, sizeof value);
	(void)snprintf(help, sizeof help, "%s%s%s%s", _(k->help), words ? ": " : "", words ? value : "",
		describe_default(k, end, sizeof end));
	write_flag(k->key, words ? "WORD" : value, help, out);
}

/* What only models of one's own need: the flags alone. */
static bool is_of_shape(const struct knob *k)
{
	return (k->flags & KNOB_F_SHAPE) != 0 && (k->flags & KNOB_F_MAIN) == 0;
}

static void write_shape(struct sink *out)
{
	char text[1000];
	struct sink flags;

	sink_init(&flags, text, sizeof text, NULL, NULL);
	sink_puts(&flags, _("a shape of your own, see meshplan(1):"));
	for (size_t i = 0; i < knob_count(); i++)
		if (is_of_shape(knob_at(i)))
			sink_printf(&flags, " --%s", knob_at(i)->key);
	help_wrapped(text, 0, 2, out);
}

static void write_knobs(struct sink *out)
{
	for (int g = 0; g < KNOB_GROUP_COUNT; g++) {
		sink_printf(out, "\n%s:\n", _(knob_group_names[g]));
		for (size_t i = 0; i < knob_count(); i++)
			if ((int)knob_at(i)->group == g && !is_of_shape(knob_at(i)))
				write_knob(knob_at(i), out);
		if (g == KNOB_GROUP_MODEL)
			write_shape(out);
	}
}

/* The labs with their own flags; the settings of a SCENARIO are those of every command. */
static void write_labs(struct sink *out)
{
	for (size_t i = 0; lab_table[i] != NULL; i++) {
		const struct lab *lab = lab_table[i];

		sink_printf(out, "\n%s: %s\n", lab->id, _(lab->help));
		for (size_t k = 0; k < lab->n_params; k++) {
			const struct lab_param *p = &lab->params[k];
			char help[300], value[40];

			if (p->type == LAB_PARAM_WORD)
				(void)snprintf(value, sizeof value, "%s", p->word((int64_t)p->dflt));
			else if (p->type == LAB_PARAM_FLAG)
				(void)snprintf(value, sizeof value, "%s", p->dflt > 0 ? "on" : "off");
			else
				(void)snprintf(value, sizeof value, "%.15g", p->dflt);
			(void)snprintf(help, sizeof help, "%s (%s %s)", _(p->help), _("default"), value);
			write_flag(p->key,
				p->type == LAB_PARAM_FLAG           ? "on|off"
					: p->type == LAB_PARAM_WORD ? "WORD"
								    : "N",
				help, out);
		}
	}
	sink_printf(out, "\n%s\n", _("Behind the name, a SCENARIO as for meshplan plan gives links and real sizes."));
}

void help_command(const struct command *cmd, struct sink *out)
{
	sink_printf(out, "%s meshplan %s%s%s\n\n%s\n", _("usage:"), cmd->name, *cmd->synopsis != '\0' ? " " : "", cmd->synopsis,
		_(cmd->help));
	if (cmd->bit != COMMAND_LAB && (cmd->bit & COMMAND_SCENARIO) != 0) {
		sink_printf(out, "\n%s\n", _("SCENARIO is a model and a cluster in free form, then flags:"));
		sink_puts(out, "  70B on 8xA100\n  llama3-70b 16xh100-sxm --zero 3 --seq 8192\n  path/config.json on 64 H100\n");
	}
	sink_printf(out, "\n%s\n", _("options:"));
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if ((option_table[i].commands & cmd->bit) != 0)
			write_flag(option_table[i].key, option_table[i].value, _(option_table[i].help), out);
	if (cmd->bit == COMMAND_LAB)
		write_labs(out);
	else if ((cmd->bit & COMMAND_SCENARIO) != 0)
		write_knobs(out);
}

void help_all(struct sink *out)
{
	sink_printf(out, "%s\n\n", _("meshplan: does a transformer fit on these GPUs, and with which parallel layout?"));
	sink_printf(out, "%s\n", _("usage:"));
	sink_printf(out, "  %-42s %s\n", "meshplan", _("the terminal UI"));
	for (const struct command *c = command_table; c->name != NULL; c++) {
		char line[80];

		(void)snprintf(line, sizeof line, "meshplan %s %s", c->name, c->synopsis);
		if (strlen(line) <= 42)
			sink_printf(out, "  %-42s %s\n", line, _(c->help));
		else
			sink_printf(out, "  %s\n  %-42s %s\n", line, "", _(c->help));
	}
	sink_printf(out, "\n%s\n", _("exit codes:"));
	for (int i = 0; i < EXIT_CODE_COUNT; i++)
		sink_printf(out, "  %d  %s\n", i, _(exit_code_help[i]));
	sink_printf(out, "\n%s\n", _("meshplan COMMAND --help lists its options; the rest is in meshplan(1)."));
}
