#include "cli/pace.h"

#include <assert.h>

static void
start(struct pace *p, uint64_t now_ns)
{
	p->began_ns = p->seen_ns = now_ns;
	p->done = p->most = p->limit_now = 0;
}

void
pace_begin(struct pace *p, uint64_t now_ns)
{
	assert(p->ended < p->units);
	start(p, now_ns);
}

void
pace_step(struct pace *p, uint32_t done, uint32_t most, uint64_t now_ns)
{
	assert(now_ns >= p->seen_ns);
	p->done = done;
	p->most = most < done ? done : most;
	p->seen_ns = now_ns;
	if (p->limit_now < p->most)
		p->limit_now = p->most;
}

void
pace_end(struct pace *p, bool ended, uint64_t now_ns)
{
	uint64_t took = now_ns - p->began_ns;

	p->spent_ns += took;
	p->measured += p->done;
	p->limit += p->limit_now;
	p->measuring_ns += p->done ? took : 0;
	p->ended += ended;
	start(p, now_ns);
}

static uint64_t
rounded(double x)
{
	return x > 0 ? (uint64_t)(x + 0.5) : 0;
}

/* What the unit that runs has still to measure. */
static double
measurements_here(const struct pace *p)
{
	double share = p->limit ? (double)p->measured / (double)p->limit : 1;

	return share * (p->most - p->done);
}

static uint32_t
units_after(const struct pace *p)
{
	return p->ended < p->units ? p->units - p->ended - 1 : 0;
}

uint64_t
pace_measurements(const struct pace *p)
{
	double here = measurements_here(p), each;

	if (p->ended == p->units)
		return 0;
	if (p->ended == 0 && p->done == 0)
		return PACE_UNKNOWN;
	each = p->ended ? (double)p->measured / p->ended : here + p->done;
	if (p->most == 0) /* nothing is known of this one yet */
		here = each;
	return rounded(here + each * units_after(p));
}

/* At the last measurement that ended, the unit that runs needed so long. */
static double
time_here(const struct pace *p)
{
	double took = (double)(p->seen_ns - p->began_ns);

	if (p->done == 0)
		return (double)p->spent_ns / p->ended;
	return measurements_here(p) * ((double)p->measuring_ns + took)
	    / ((double)p->measured + p->done);
}

uint64_t
pace_left_ns(const struct pace *p, uint64_t now_ns)
{
	double took = (double)(p->seen_ns - p->began_ns), here, each;

	if (p->ended == p->units)
		return 0;
	if (p->ended == 0 && p->done == 0)
		return PACE_UNKNOWN;
	here = time_here(p);
	each = p->ended ? (double)p->spent_ns / p->ended : took + here;
	here -= (double)(now_ns - p->seen_ns);
	return rounded((here > 0 ? here : 0) + each * units_after(p));
}
