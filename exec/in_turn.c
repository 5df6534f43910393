#include "exec/in_turn.h"

#include <math.h>
#include <stdlib.h>

#include "ir/base/order.h"

struct turns {
	const struct in_turn_options *o;
	const struct in_turn_runner *r;
	uint64_t ratio[IN_TURN_MOST], self[IN_TURN_MOST];
	cost_ns a[IN_TURN_MOST], b[IN_TURN_MOST];
	uint32_t n, dropped;
	cost_ns spent;
	bool disturbed; /* was any of them? */
};

struct taken {
	cost_ns took;
	bool disturbed;
};

static bool
run(struct turns *t, uint32_t which, struct taken *out, struct err *err)
{
	if (!t->r->run(t->r->context, which, &out->took, &out->disturbed, err))
		return false;
	if (out->took == 0)
		out->took = 1;
	t->spent += out->took;
	t->disturbed |= out->disturbed;
	return true;
}

static bool
is_stopped(const struct turns *t)
{
	return t->o->stop && atomic_load(t->o->stop);
}

/* TUNING: a neighbour that stays is part of the machine. */
#define DROPPED_MOST 20

/* Undisturbed ones are waited for as long again as all may take. */
static bool
is_kept(const struct turns *t, const struct taken x[3])
{
	return t->spent >= 2 * t->o->budget || t->dropped == DROPPED_MOST
	    || !(x[0].disturbed || x[1].disturbed || x[2].disturbed);
}

static void
keep(struct turns *t, const struct taken x[3])
{
	const cost_ns about = x[0].took / 2 + x[2].took / 2 + 1;

	t->ratio[t->n] = about * IN_TURN_ONE / x[1].took + 1;
	t->self[t->n] = x[0].took * IN_TURN_ONE / x[2].took + 1;
	t->a[t->n] = x[2].took;
	t->b[t->n] = x[1].took;
	t->n++;
}

static void
conclude(struct in_turn *out, struct turns *t)
{
	const uint32_t n = t->n;

	*out = (struct in_turn){.pairs = n};
	if (n == 0)
		return;
	qsort(t->ratio, n, sizeof *t->ratio, by_u64);
	qsort(t->self, n, sizeof *t->self, by_u64);
	qsort(t->a, n, sizeof *t->a, by_u64);
	qsort(t->b, n, sizeof *t->b, by_u64);
	out->ratio = (t->ratio[(n - 1) / 2] + t->ratio[n / 2]) / 2;
	out->self_low = t->self[n / 4];
	out->self_high = t->self[n * 3 / 4];
	out->a = t->a[n / 2];
	out->b = t->b[n / 2];
}

/* SOURCE: of normal noise the median of n has a standard error of 1.2533 sigma / sqrt(n),
 * and half the distance of quartiles is 0.6745 sigma. */
#define ERROR (1.2533 / 0.6745)

/* TUNING: quartiles of few may lie together by chance. */
#define FEW 10
#define NOISE_LEAST ((double)IN_TURN_ONE / 200)

static double
noise_of(const struct in_turn *t)
{
	const double noise = ((double)t->self_high - (double)t->self_low) / 2;

	return t->pairs < FEW && noise < NOISE_LEAST ? NOISE_LEAST : noise;
}

/* Is the median further from one than so many of its errors? */
static bool
is_beyond(const struct in_turn *t, double errors)
{
	const double gain = (double)IN_TURN_ONE - (double)t->ratio;
	const double most = errors * ERROR * noise_of(t);

	return gain * gain * t->pairs > most * most;
}

static bool
is_apart(const struct in_turn *t, double errors)
{
	return t->pairs >= IN_TURN_LEAST_SLOW && is_beyond(t, errors);
}

/* TUNING: each five pairs, what is clear is clear: four errors; of few eight. */
#define CLEAR_STEP 5
#define CLEAR 4
#define CLEAR_EARLY 8

static struct in_turn
so_far(const struct turns *t)
{
	struct turns now = *t;
	struct in_turn out;

	conclude(&out, &now);
	return out;
}

static bool
is_clear(const struct turns *t)
{
	struct in_turn now;

	if (t->n == 0 || t->n % CLEAR_STEP != 0)
		return false;
	now = so_far(t);
	return is_apart(&now, t->n < FEW ? CLEAR_EARLY : CLEAR);
}

/* Two errors are hardly chance. */
#define SURE 2

/* TUNING: what is not half an error faster has little hope of two. */
#define HOPE 0.5

/* Will A hardly be the faster one, whatever more pairs say? */
static bool
is_lost(const struct in_turn *now)
{
	return now->ratio >= IN_TURN_ONE || !is_beyond(now, HOPE);
}

/* What is not sure when the budget is spent has as much again: of a plan that is a per
 * cent faster one tuning would say so, and the next would not. Beside neighbours nobody knows
 * what is clear or lost. */
static bool
is_spent(const struct turns *t)
{
	struct in_turn now;

	if (t->n < IN_TURN_LEAST_SLOW || t->spent < t->o->budget)
		return false;
	now = so_far(t);
	if (!t->disturbed && is_lost(&now))
		return true;
	if (t->n < IN_TURN_LEAST)
		return !t->disturbed && is_apart(&now, CLEAR);
	return t->spent / 2 >= t->o->budget || is_apart(&now, SURE);
}

static bool
is_enough(const struct turns *t)
{
	return t->n == IN_TURN_MOST || is_clear(t) || is_spent(t);
}

bool
in_turn_run(struct in_turn *out, const struct in_turn_options *o,
    const struct in_turn_runner *r, struct err *err)
{
	struct turns t = {.o = o, .r = r};
	struct taken x[3];

	if (!run(&t, 0, &x[0], err) || !run(&t, 1, &x[1], err))
		return false;
	t.spent = 0; /* that was to warm up */
	t.disturbed = false;
	if (!run(&t, 0, &x[0], err))
		return false;
	while (!is_enough(&t) && !is_stopped(&t)) {
		if (!run(&t, 1, &x[1], err) || !run(&t, 0, &x[2], err))
			return false;
		if (is_kept(&t, x))
			keep(&t, x);
		else
			t.dropped++;
		x[0] = x[2];
	}
	conclude(out, &t);
	out->stopped = t.n < IN_TURN_LEAST && !is_enough(&t);
	return true;
}

uint64_t
in_turn_least_gain(uint32_t pairs)
{
	const double error = ERROR * NOISE_LEAST / sqrt(pairs ? pairs : 1);

	return pairs < FEW ? (uint64_t)(SURE * error) : 0;
}

bool
in_turn_wins(const struct in_turn *t)
{
	return !t->stopped && t->ratio < IN_TURN_ONE && is_apart(t, SURE);
}
