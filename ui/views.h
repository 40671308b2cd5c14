/* The views, one row each. A row makes VIEW_MEMORY, the bindings CONTEXT_MEMORY, and `struct view_kind view_memory`, which stands
 * at the end of ui/view_memory.c; its title names the bindings in the help. VIEW rows also make the action UI_MEMORY that opens
 * the view above the main screen: its key, its word in the last line, its line and its group in the help. INNER rows are reached
 * from another view. */
#ifndef MESHPLAN_VIEWS_H
#define MESHPLAN_VIEWS_H

/* clang-format off */
#define VIEW_TABLE(VIEW, INNER) \
	INNER(MAIN, main, N_("settings")) \
	VIEW(MEMORY, memory, N_("memory ledger"), 'm', N_("memory"), N_("memory ledger"), GROUP_VIEWS) \
	VIEW(PIPELINE, pipeline, N_("pipeline"), 'p', N_("pipeline"), N_("pipeline diagram"), GROUP_VIEWS) \
	VIEW(TIME, time, N_("time"), 't', N_("time"), N_("step time, throughput"), GROUP_VIEWS) \
	VIEW(COST, cost, N_("cost"), '$', N_("cost"), N_("cost of the run"), GROUP_VIEWS) \
	VIEW(COMPARE, compare, N_("differences"), 'd', N_("differences"), N_("differences from the pin"), GROUP_VIEWS) \
	VIEW(PRESETS, presets, N_("presets"), 'b', N_("presets"), N_("browse presets"), GROUP_VIEWS) \
	VIEW(ADVICE, advice, N_("advice"), 'a', N_("advice"), N_("advice: what would help"), GROUP_ASK) \
	VIEW(SPACE, space, N_("layouts"), 'f', N_("layouts"), N_("find whole layouts"), GROUP_ASK) \
	INNER(HELP, help, N_("help")) \
	INNER(EXPLAIN, explain, N_("explain")) \
	INNER(LIST, list, N_("list of values")) \
	INNER(COMMAND, command, N_("command line")) \
	VIEW(LABS, labs, N_("laboratory"), 'E', N_("labs"), N_("experiments: the labs"), GROUP_VIEWS) \
	INNER(LAB, lab, N_("run of a lab"))
/* clang-format on */

#define VIEW_ID(id, ...) VIEW_##id,
enum view_id { VIEW_TABLE(VIEW_ID, VIEW_ID) VIEW_COUNT };
#undef VIEW_ID

#endif
