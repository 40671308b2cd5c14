/* From the arguments to a draft and its plan: default < preset < scenario file < flags, then the automatic choice for what is
 * open. */
#ifndef MESHPLAN_REQUEST_H
#define MESHPLAN_REQUEST_H

#include "cli.h"
#include "knobs.h"
#include "plan.h"

/* Builds the draft, chooses what is open and evaluates. `first_word`: words before it are not part of the SCENARIO. A command
 * that starts from the default scenario where no model or no GPU is named says so by `complete`; the others get an error then. A
 * draft that is exactly the default scenario is evaluated as it stands. */
enum err_code request_plan(
	struct cli *cli, size_t first_word, bool complete, struct draft *d, struct plan *p, struct err *e) NODISCARD;
/* Exit code of a verdict. */
int request_exit_code(const struct plan *p);

#endif
