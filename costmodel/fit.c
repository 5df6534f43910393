#include "costmodel/fit.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define MILLION 1e6

/* SOURCE: prices of one session of a shared machine differ by this much from another's. */
#define PRICE_ERROR 0.02
/* SOURCE: ratios of equal kernels in turn differ by up to 1.1 % on a quiet machine. */
#define TIED 0.01
#define TURNS_ERROR (TIED / 2)

/* A line through x[a] and x[b]: x[b] - x[a] is `apart`. */
struct spring {
	uint32_t a, b;
	double apart, weight;
};

/* Logarithms of prices, held where they were measured and at distances from each
 * other. */
struct net {
	double *x, *home, *weight; /* [n] */
	uint32_t n;
	const struct spring *spring;
	uint32_t *at; /* springs of i: at[from[i]] up to at[from[i + 1]] */
	uint32_t *from; /* [n + 1] */
};

/* Both ends of each spring know it. */
static void
hang_up(struct net *net, uint32_t nsprings, struct arena *scratch)
{
	net->at = arena_new(scratch, uint32_t, (size_t)nsprings * 2);
	net->from = arena_new(scratch, uint32_t, (size_t)net->n + 1);
	for (uint32_t k = 0; k < nsprings; k++) {
		net->from[net->spring[k].a]++;
		net->from[net->spring[k].b]++;
	}
	/* sums are where each ends, and filled from behind where it begins */
	for (uint32_t i = 1; i <= net->n; i++)
		net->from[i] += net->from[i - 1];
	for (uint32_t k = nsprings; k-- > 0;) {
		net->at[--net->from[net->spring[k].a]] = k;
		net->at[--net->from[net->spring[k].b]] = k;
	}
}

static uint64_t
inverse(uint64_t ratio)
{
	return ratio ? (uint64_t)(MILLION * MILLION / (double)ratio) : 0;
}

struct fit_pair
fit_turned(const struct fit_pair *p)
{
	return (struct fit_pair){p->b, p->a, inverse(p->high), inverse(p->low)};
}

bool
fit_is_tie(const struct fit_pair *p)
{
	return (double)p->low <= MILLION * (1 + TIED)
	    && (double)p->high >= MILLION * (1 - TIED);
}

static double
weight_of(double error)
{
	return 1 / (error * error);
}

static struct spring
spring_of(const struct fit_pair *p)
{
	const double low = log((double)p->low / MILLION);
	const double high = log((double)p->high / MILLION);
	const double error = (high - low) / 2;

	return (struct spring){p->a, p->b, (low + high) / 2,
	    weight_of(error > TURNS_ERROR ? error : TURNS_ERROR)};
}

/* Where x[i] would be best, everything else staying. */
static double
best_place(const struct net *net, uint32_t i)
{
	double sum = net->home[i] * net->weight[i], weight = net->weight[i];

	for (uint32_t k = net->from[i]; k < net->from[i + 1]; k++) {
		const struct spring *s = &net->spring[net->at[k]];

		sum += (s->a == i ? net->x[s->b] - s->apart
		                  : net->x[s->a] + s->apart)
		    * s->weight;
		weight += s->weight;
	}
	return sum / weight;
}

#define CLOSE 1e-7
#define SWEEPS_MOST 2000

/* Least squares by Gauss and Seidel: prices are held at home, so it settles. */
static void
settle(struct net *net)
{
	double moved = 1;

	for (uint32_t sweep = 0; moved > CLOSE && sweep < SWEEPS_MOST;
	     sweep++) {
		moved = 0;
		for (uint32_t i = 0; i < net->n; i++) {
			const double to = best_place(net, i);
			const double by = fabs(to - net->x[i]);

			moved = by > moved ? by : moved;
			net->x[i] = to;
		}
	}
}

/* ---- what is tied costs the same ---- */

struct tie {
	double apart;
	uint32_t a, b;
};

static int
by_nearness(const void *a, const void *b)
{
	const struct tie *x = a, *y = b;

	if (x->apart != y->apart)
		return x->apart < y->apart ? -1 : 1;
	return x->a != y->a ? (x->a < y->a ? -1 : 1)
	                    : (x->b > y->b) - (x->b < y->b);
}

struct clusters {
	uint32_t *of; /* [n] the least member of each one's cluster */
	const double *x;
	uint32_t n;
};

/* From the least to the largest of both. */
static double
span(const struct clusters *c, uint32_t a, uint32_t b)
{
	double least = HUGE_VAL, most = -HUGE_VAL;

	for (uint32_t i = 0; i < c->n; i++) {
		if (c->of[i] != a && c->of[i] != b)
			continue;
		least = c->x[i] < least ? c->x[i] : least;
		most = c->x[i] > most ? c->x[i] : most;
	}
	return most - least;
}

static void
join(struct clusters *c, uint32_t a, uint32_t b)
{
	const uint32_t to = a < b ? a : b, from = a < b ? b : a;

	for (uint32_t i = 0; i < c->n; i++)
		if (c->of[i] == from)
			c->of[i] = to;
}

static double
mean_of(const struct clusters *c, uint32_t cluster)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		sum += c->of[i] == cluster ? c->x[i] : 0;
		n += c->of[i] == cluster;
	}
	return sum / n;
}

/* Nearest pairs first; none is joined with what is more than a per cent away. */
static void
join_ties(struct clusters *c, const struct fit_pair *pair, uint32_t npairs,
    struct arena *scratch)
{
	struct tie *tie = arena_new(scratch, struct tie, npairs);
	uint32_t n = 0;

	for (uint32_t i = 0; i < npairs; i++)
		if (fit_is_tie(&pair[i]))
			tie[n++] = (struct tie){
			    fabs(c->x[pair[i].a] - c->x[pair[i].b]), pair[i].a,
			    pair[i].b};
	qsort(tie, n, sizeof *tie, by_nearness);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t a = c->of[tie[i].a], b = c->of[tie[i].b];

		if (a != b && span(c, a, b) <= TIED)
			join(c, a, b);
	}
}

static double
error_of(cost_ns ns, cost_ns spread)
{
	const double error = (double)spread / (double)ns;

	return error > PRICE_ERROR ? error : PRICE_ERROR;
}

void
fit_prices(cost_ns *ns, const cost_ns *spread, uint32_t n,
    const struct fit_pair *pair, uint32_t npairs, struct arena *scratch)
{
	struct spring *spring = arena_new(scratch, struct spring, npairs);
	struct net net = {arena_new(scratch, double, n),
	    arena_new(scratch, double, n), arena_new(scratch, double, n), n,
	    spring, NULL, NULL};
	struct clusters c = {arena_new(scratch, uint32_t, n), net.x, n};

	for (uint32_t i = 0; i < n; i++) {
		assert(ns[i] > 0 && ns[i] != COST_NEVER);
		net.x[i] = net.home[i] = log((double)ns[i]);
		net.weight[i] = weight_of(error_of(ns[i], spread[i]));
		c.of[i] = i;
	}
	for (uint32_t i = 0; i < npairs; i++) {
		assert(pair[i].a < n && pair[i].b < n);
		assert(pair[i].a != pair[i].b && pair[i].low > 0);
		spring[i] = spring_of(&pair[i]);
	}
	hang_up(&net, npairs, scratch);
	settle(&net);
	join_ties(&c, pair, npairs, scratch);
	for (uint32_t i = 0; i < n; i++)
		ns[i] = (cost_ns)(exp(mean_of(&c, c.of[i])) + 0.5);
	for (uint32_t i = 0; i < n; i++)
		ns[i] = ns[i] ? ns[i] : 1;
}
