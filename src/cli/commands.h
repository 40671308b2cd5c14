/* The subcommands, one row each, in the order of the help. A row makes the bit COMMAND_FIT, by which options say who takes them, the
 * row of command_table, and the prototype of cmd_fit, which stands in cmd_fit.c. */
#ifndef MESHPLAN_COMMANDS_H
#define MESHPLAN_COMMANDS_H

/* What a subcommand takes: a SCENARIO, with a flag for every knob; the options of whatever prints, such as --json. */
enum { TAKES_SCENARIO = 1, TAKES_PRINTING = 2, TAKES_BOTH = 3 };

/* clang-format off */
#define COMMAND_TABLE(ROW) \
	ROW(UI, ui, TAKES_SCENARIO, "[SCENARIO]", N_("the terminal UI: sliders, memory bars, pipeline, verdict")) \
	ROW(FIT, fit, TAKES_BOTH, "SCENARIO", N_("does it fit? the verdict in one screen, and what would help")) \
	ROW(PLAN, plan, TAKES_BOTH, "[SCENARIO]", N_("the training plan: layout, memory, communication, speed, cost")) \
	ROW(COST, cost, TAKES_BOTH, "[SCENARIO]", N_("what the run costs: days, GPU hours, dollars, energy")) \
	ROW(PIPELINE, pipeline, TAKES_BOTH, "[SCENARIO]", N_("what each rank does when: diagram, bubble, in-flight activations")) \
	ROW(LAB, lab, TAKES_BOTH, "[NAME] [SCENARIO]", N_("a simulation with real numbers on virtual GPUs, step by step, with proof")) \
	ROW(EXPLAIN, explain, TAKES_BOTH, "[QUANTITY] [SCENARIO]", N_("the formula behind a number, with the numbers put in")) \
	ROW(PRESETS, presets, TAKES_PRINTING, "[models|gpus|nodes|frameworks|...|show ID|import FILE]", N_("what is built in, with its sources")) \
	ROW(CALIBRATE, calibrate, TAKES_BOTH, "SCENARIO", N_("learn from measured steps: presets of your own cluster")) \
	ROW(VALIDATE, validate, TAKES_PRINTING, "", N_("predictions beside published measurements, with the errors"))

#define COMMAND_NUMBER(ID, ...) COMMAND_NUMBER_##ID,
#define COMMAND_BIT(ID, ...) COMMAND_##ID = 1 << COMMAND_NUMBER_##ID,
#define OR_IF_SCENARIO(ID, name, takes, ...) | (((takes) & TAKES_SCENARIO) != 0 ? COMMAND_##ID : 0)
#define OR_IF_PRINTING(ID, name, takes, ...) | (((takes) & TAKES_PRINTING) != 0 ? COMMAND_##ID : 0)
enum { COMMAND_TABLE(COMMAND_NUMBER) COMMAND_COUNT };
enum command_bit {
	COMMAND_TABLE(COMMAND_BIT)
	COMMAND_SCENARIO = 0 COMMAND_TABLE(OR_IF_SCENARIO),
	COMMAND_PRINTS = 0 COMMAND_TABLE(OR_IF_PRINTING),
	COMMAND_ALL = (1 << COMMAND_COUNT) - 1,
};
#undef COMMAND_NUMBER
#undef COMMAND_BIT
#undef OR_IF_SCENARIO
#undef OR_IF_PRINTING
/* clang-format on */

#endif
