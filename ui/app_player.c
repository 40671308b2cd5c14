#include "app_internal.h"

#include "num.h"
#include "view.h"

enum { SCROLL_TICKS = 8 };

/* Ticks a second by speed. */
static const int speeds[] = { 0, 1, 2, 3, 4, 6, 10, 15, 25, 50 };

int app_ticks_per_s(const struct app *a)
{
	return speeds[a->player.speed];
}

int app_wait_ms(const struct app *a)
{
	const struct view_clock *clock = view_kinds[a->view]->clock;
	return clock != NULL && clock->playing(a) && a->prompt.kind == PROMPT_NONE ? 1000 / app_ticks_per_s(a) : -1;
}

void player_follow(struct app *a)
{
	const int64_t span = view_pipeline_span(a), now = a->player.now;
	if (a->zoom == 0 || (now >= a->tick && now < a->tick + span))
		return;
	a->tick = num_max(0, now < a->tick ? now - span + 1 : now);
	if (a->tick + span > a->player.ticks)
		a->tick = num_max(0, a->player.ticks - span);
}

static void move_by(struct app *a, int64_t by)
{
	struct player *p = &a->player;
	p->now = num_max(0, num_min(p->now + by, p->ticks - 1));
	player_follow(a);
}

static bool is_playing(const struct app *a)
{
	return a->player.playing;
}

static void play(struct app *a)
{
	struct player *p = &a->player;
	p->playing = !p->playing;
	if (p->playing && p->now == p->ticks - 1)
		move_by(a, -p->ticks);
}

static void go(struct app *a, int64_t by)
{
	a->player.playing = false;
	move_by(a, by);
}

void player_set_speed(struct app *a, int speed)
{
	if (speed == 0)
		a->player.playing = false;
	else
		a->player.speed = speed;
}

static void tick(struct app *a)
{
	move_by(a, 1);
	if (a->player.now == a->player.ticks - 1)
		a->player.playing = false;
}

const struct view_clock player_clock = { is_playing, play, go, tick };

void player_sideways(struct app *a, int by)
{
	if (a->zoom == 0)
		a->zoom = 1;
	a->tick = num_max(0, num_min(a->tick + (int64_t)by * SCROLL_TICKS, a->player.ticks - 1));
}

static bool same_pipeline(const struct pipeline *x, const struct pipeline *y)
{
	const struct order_costs *c = &x->costs, *d = &y->costs;
	return x->schedule == y->schedule && x->p == y->p && x->m == y->m && x->v == y->v && x->group == y->group &&
		c->forward == d->forward && c->input == d->input && c->weight == d->weight && c->comm == d->comm;
}

void player_check(struct app *a)
{
	struct player *p = &a->player;
	if (a->view != VIEW_PIPELINE)
		return;
	if (p->ticks == 0 || !same_pipeline(&p->of, &a->plan.pipeline)) {
		exact_drop(a);
		p->of = a->plan.pipeline;
		p->ticks = num_max(1, view_pipeline_ticks(a));
	}
	p->now = num_min(p->now, p->ticks - 1);
	a->tick = num_min(a->tick, p->ticks - 1);
}
