/* `make bench`: from a key to the last byte on an off-screen terminal, for every view and two sizes; from a resize to the full
 * screen. */
#include "config.h"
#include "support.h"

#include "ui_screen.h"

#include <time.h>

enum { ROUNDS = 60, TIMES_MAX = 4096 };

/* Of the processor: the screen goes to a file, so nothing is waited for, and what other programs take meanwhile is not ours. */
static double now_ms(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

struct times {
	double ms[TIMES_MAX];
	size_t n;
};

static void report(struct times *t, const char *what, int w, int h, double budget)
{
	qsort(t->ms, t->n, sizeof(t->ms[0]), by_value);
	printf("%-10s %3dx%-3d median %6.2f ms  p99 %6.2f ms  (budget %.0f)\n", what, w, h, t->ms[t->n / 2],
		t->ms[t->n * 99 / 100], budget);
}

static void press(struct fixture *f, uint32_t key, struct times *t)
{
	const double start = now_ms();
	(void)fixture_key(f, key);
	(void)present(f);
	if (t != NULL && t->n < TIMES_MAX)
		t->ms[t->n++] = now_ms() - start;
}

static void time_view(struct fixture *f, uint32_t open, const char *name, const char *keys, double budget)
{
	static struct times t;
	t.n = 0;
	press(f, open, NULL);
	while (app_busy(&f->app))
		(void)app_work(&f->app);
	for (int i = 0; i < ROUNDS; i++) {
		for (const char *key = keys; *key != '\0'; key++)
			press(f, (uint32_t)(unsigned char)*key, &t);
	}
	report(&t, name, f->app.w, f->app.h, budget);
	press(f, INPUT_ESCAPE, NULL);
}

static void time_resize(struct fixture *f, int w, int h)
{
	static struct times t;
	t.n = 0;
	for (int i = 0; i < ROUNDS; i++) {
		fixture_resize(f, w - i % 2, h);
		const double start = now_ms();
		ck_assert(canvas_resize(&canvas, f->app.w, f->app.h));
		term_repaint();
		(void)present(f);
		t.ms[t.n++] = now_ms() - start;
	}
	fixture_resize(f, w, h);
	ck_assert(canvas_resize(&canvas, w, h));
	report(&t, "resize", w, h, 10);
}

/* Every lab, forth and back, and the widest all-reduce. */
static void time_labs(struct fixture *f)
{
	for (size_t i = 0; lab_table[i] != NULL; i++) {
		const bool wide = strcmp(lab_table[i]->id, "allreduce") == 0;
		f->app.labs.on_params = false;
		fixture_text(f, "Eg");
		for (size_t k = 0; k < i; k++)
			(void)fixture_key(f, 'j');
		(void)fixture_key(f, INPUT_TAB);
		if (wide) {
			fixture_text(f, "=1024");
			(void)fixture_key(f, INPUT_ENTER);
		}
		time_view(f, INPUT_ENTER, lab_table[i]->id, "...G,jkg", 2);
		(void)fixture_key(f, INPUT_ESCAPE);
	}
}

static void time_size(int w, int h, double budget)
{
	static const struct {
		uint32_t open;
		const char *name, *keys;
	} views[] = { { INPUT_ESCAPE, "main", "hlju" }, { INPUT_TAB, "figures", "jklh" }, { 'm', "memory", "jlkh" },
		{ 'p', "pipeline", "+l-z.vF" }, { 'd', "compare", "jx" }, { 'b', "presets", "jjk" }, { 'a', "advice", "jk" },
		{ 'f', "layouts", "jjko" }, { '?', "help", "jk" } };
	char columns[16], lines[16];
	struct fixture *f = fixture_new(w, h);
	(void)snprintf(columns, sizeof(columns), "%d", w);
	(void)snprintf(lines, sizeof(lines), "%d", h);
	(void)setenv("COLUMNS", columns, 1);
	(void)setenv("LINES", lines, 1);
	if (!open_screen("xterm-256color", NULL))
		return;
	ck_assert(canvas_resize(&canvas, w, h));
	(void)fixture_key(f, 'c');
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		time_view(f, views[i].open, views[i].name, views[i].keys, budget);
	time_labs(f);
	time_resize(f, w, h);
	fixture_text(f, ":model llama3.1-405b gpus 1024 pp 64 tp 8 pp-split auto global-batch 2048");
	(void)fixture_key(f, INPUT_ENTER);
	time_view(f, 'p', "p64 m1024", "..v+j-zs", 5);
	term_close();
	free(f);
}

START_TEST(keys)
{
	time_size(80, 24, 2);
	time_size(200, 60, 4);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("bench_ui");
	TCase *c = tcase_create("bench");
	tcase_set_timeout(c, 0);
	tcase_add_test(c, keys);
	suite_add_tcase(s, c);
	return test_run(s);
}
