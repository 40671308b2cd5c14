/* The hot path - evaluating, stepping a knob, choosing a layout - allocates nothing. Linked with --wrap=malloc,calloc,realloc. */
#include "support.h"

#include "plan.h"
#include "search.h"

#include <stdlib.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

/* volatile: the C library declares malloc as a leaf, so the compiler believes that it cannot call back into this file. libcheck
 * allocates too, hence the counts are taken before the assertions. */
static volatile long allocations;

void *__wrap_malloc(size_t n)
{
	allocations++;
	return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	allocations++;
	return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	allocations++;
	return __real_realloc(p, n);
}

static const char *const scenario_lines[] = {
	"model=llama3-70b;gpu=H100;gpus=64;framework=megatron;tp=8;pp=4;zero=1;global-batch=128",
	"model=deepseek-v3;gpu=H100;gpus=512;framework=megatron;tp=4;pp=8;ep=16;etp=1;zero=1;global-batch=512;recompute=full",
	"model=llama3-8b;gpu=H100;gpus=8;framework=fsdp;zero=3;global-batch=64",
	"params=70B;gpu=A100;gpus=8;framework=deepspeed;zero=3;offload=cpu;global-batch=64",
	"params=70B;gpu=A100;gpus=8;framework=lesson;zero=3;offload=nvme;global-batch=64",
};

START_TEST(the_probe_sees_an_allocation)
{
	void *volatile p;
	long n;

	allocations = 0;
	p = malloc(10);
	n = allocations;
	ck_assert_int_eq(n, 1);
	free(p);
}
END_TEST

static enum err_code evaluate_without_heap(const struct draft *d)
{
	struct plan p;
	struct err e;
	enum err_code code;
	long n;

	allocations = 0;
	code = plan_evaluate(&d->s, &p, &e);
	n = allocations;
	ck_assert_int_eq(n, 0);
	return code;
}

START_TEST(evaluating_allocates_nothing)
{
	struct draft d;

	test_draft(&d, scenario_lines[_i]);
	ck_assert(evaluate_without_heap(&d) == ERR_OK);
}
END_TEST

START_TEST(an_illegal_scenario_allocates_nothing)
{
	struct draft d;

	test_draft(&d, scenario_lines[_i]);
	d.s.layout.tp = 7;
	ck_assert(evaluate_without_heap(&d) != ERR_OK);
}
END_TEST

START_TEST(stepping_every_knob_allocates_nothing)
{
	const struct catalog *c = test_catalog();
	struct draft d;
	int stepped = 0;
	long n;

	test_draft(&d, scenario_lines[_i]);
	allocations = 0;
	for (size_t i = 0; i < knob_count(); i++) {
		struct draft next = d;

		stepped += draft_step(&next, c, knob_at(i), 1, NULL, NULL) == ERR_OK;
	}
	n = allocations;
	ck_assert_int_gt(stepped, 20);
	ck_assert_int_eq(n, 0);
}
END_TEST

START_TEST(choosing_a_layout_allocates_nothing)
{
	const struct catalog *c = test_catalog();
	struct draft d;
	struct plan p;
	struct err e;
	enum err_code code;
	long n;

	test_draft(&d, "params=70B;gpu=A100;gpus=8");
	allocations = 0;
	code = search_choose(&d, c, &p, &e);
	n = allocations;
	ck_assert(code == ERR_OK);
	ck_assert_int_eq(n, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("alloc");
	TCase *t = tcase_create("hot path");
	int n = (int)(sizeof scenario_lines / sizeof scenario_lines[0]);

	tcase_add_test(t, the_probe_sees_an_allocation);
	tcase_add_loop_test(t, evaluating_allocates_nothing, 0, n);
	tcase_add_loop_test(t, an_illegal_scenario_allocates_nothing, 0, n);
	tcase_add_loop_test(t, stepping_every_knob_allocates_nothing, 0, n);
	tcase_add_test(t, choosing_a_layout_allocates_nothing);
	suite_add_tcase(s, t);
	return test_run(s);
}
