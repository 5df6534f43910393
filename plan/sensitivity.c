#include "plan/sensitivity.h"

#include <assert.h>
#include <math.h>

#include "ir/base/clock.h"
#include "plan/search.h"
#include "plan/shift.h"
#include "ir/base/cost.h"

/* The same question at other parameters. */
struct scene {
	struct plan_request r;
	struct mix mix;
	struct prices prices;
};

static void
take(struct price *p, const struct estimate *e)
{
	p->ns = p->bound = p->low = p->high = e->ns;
}

static void
price_candidates(struct scene *s, uint32_t target)
{
	const struct target *t = &s->mix.target[target];

	for (uint32_t i = 0; i < s->r.candidates->n; i++) {
		struct price *p = prices_candidate(&s->prices, i);
		const struct candidate *c = &s->r.candidates->candidate[i];
		const struct region r = region_of(t, s->r.graph, &c, 1);
		struct estimate e;

		if (c->target == target && p->state == PRICE_KNOWN
		    && p->source == PRICE_SIMULATED
		    && t->kind->simulate(&r, &e))
			take(p, &e);
	}
}

/* A value of each class stands for it. */
static const struct type **
class_types(const struct scene *s, struct arena *a)
{
	const struct type **type =
	    arena_new(a, const struct type *, s->prices.nclasses);

	for (value_id v = 0; v < s->r.graph->nvalues; v++)
		if (s->prices.value_class[v] < s->prices.nclasses)
			type[s->prices.value_class[v]] =
			    &s->r.graph->value[v].type;
	return type;
}

static bool
is_detour(const struct conversion_price *c, uint32_t from, uint32_t to)
{
	return c->via != to && c->via != from;
}

/* Direct ones first: detours are made of them, and stay what they are. */
static void
price_conversions(struct scene *s, uint32_t target, struct arena *a)
{
	const struct target *t = &s->mix.target[target];
	const struct format *f = s->mix.formats.format;
	const struct type **type = class_types(s, a);
	uint32_t n = s->prices.nformats;

	for (uint32_t pass = 0; pass < 2; pass++)
		for (uint32_t k = 0; k < s->prices.nclasses * n * n; k++) {
			uint32_t class = k / (n * n);
			format_id from = (format_id)(k / n % n);
			format_id to = (format_id)(k % n);
			struct conversion_price *c =
			    conversion_at(&s->prices, class, from, to);
			struct estimate e;

			if (c->price.state != PRICE_KNOWN || from == to
			    || is_detour(c, from, to) != (pass == 1))
				continue;
			if (pass == 1) {
				e.ns = cost_add(
				    price_least(&conversion_at(
				        &s->prices, class, from, c->via)
				                     ->price),
				    price_least(&conversion_at(
				        &s->prices, class, c->via, to)
				                     ->price));
				take(&c->price, &e);
			} else if (c->price.source == PRICE_SIMULATED
			    && t->kind->transfer(
			        t, f[from], f[to], type[class], &e))
				take(&c->price, &e);
		}
}

static void
set_scene(struct scene *s, const struct plan_request *r, struct target as,
    struct arena *a)
{
	struct target *list =
	    arena_copy(a, r->mix->target, r->mix->n * sizeof *list);

	assert(as.index < r->mix->n);
	list[as.index] = as;
	s->mix = *r->mix;
	s->mix.target = list;
	prices_copy(&s->prices, r->prices, a);
	s->r = *r;
	s->r.mix = &s->mix;
	s->r.prices = &s->prices;
	s->r.pricer = NULL;
	s->r.notes = NULL;
	s->r.no_baselines = true;
	take(prices_launch(&s->prices, as.index), &as.launch);
	price_candidates(s, as.index);
	price_conversions(s, as.index, a);
}

/* One more search; what has no plan there costs COST_NEVER. */
static bool
solve(struct plan *out, const struct plan_request *r, cost_ns *cost,
    struct arena *a, struct err *err)
{
	bool found;

	if (!plan_find(out, &found, r, a, err))
		return false;
	*cost = found ? out->cost : COST_NEVER;
	return true;
}

/* One assumption of one target, the plan in question, and where its scenes are
 * set. */
struct question {
	const struct plan *p;
	const struct plan_request *r;
	const struct target *target;
	uint32_t assumption;
	bool is_rate;
	struct arena *arena;
};

/* The best plan at a value, of all or of the candidates in `only`. It refers to
 * its scene, which therefore lives as long. */
static bool
solve_at(struct plan *out, const struct question *q, double value,
    const bool *only, cost_ns *cost, struct err *err)
{
	struct scene *s = arena_new(q->arena, struct scene, 1);

	set_scene(s, q->r,
	    q->target->kind->assume(q->target, q->assumption, value, q->arena),
	    q->arena);
	if (only)
		s->r.only = only;
	s->r.replay = s->r.replay || only;
	return solve(out, &s->r, cost, q->arena, err);
}

static bool *
candidates_of(const struct question *q, const struct plan *p)
{
	bool *only = arena_new(q->arena, bool, q->r->candidates->n);

	for (uint32_t i = 0; i < p->ncomposites; i++)
		only[p->composite[i].candidate] = true;
	return only;
}

/* Nodes that `other` runs on another target; the first one, and its target. */
static uint32_t
count_moved(
    const struct plan *p, const struct plan *other, node_id *node, uint32_t *to)
{
	uint32_t n = 0;

	for (node_id i = 0; i < p->graph->nnodes; i++) {
		uint32_t at = plan_target_of(other, i)->index;

		if (at == plan_target_of(p, i)->index)
			continue;
		if (n++ == 0) {
			*node = i;
			*to = at;
		}
	}
	return n;
}

/* ---- break points ---- */

/* Times of a plan are nearly linear in this. */
static double
straight(const struct question *q, double value)
{
	return q->is_rate ? 1 / value : value;
}

/* How much another plan saves at a value; negative: it costs more. */
static bool
saves(double *out, const struct question *q, const bool *kept,
    const bool *other, double value, struct err *err)
{
	struct plan p;
	cost_ns mine, its;

	if (!solve_at(&p, q, value, kept, &mine, err)
	    || !solve_at(&p, q, value, other, &its, err))
		return false;
	*out = mine == COST_NEVER ? (double)its : (double)mine - (double)its;
	return true;
}

#define STEPS 60 /* of one root: halving alone needs no more */
#define TURNS 32 /* plans on the way from the end to the break point */

/* Where another plan becomes cheaper, between `low` where it is not and *at where
 * it is: false position, halving where that does not get on. */
static bool
find_root(double *at, double low, const struct question *q, const bool *kept,
    const bool *other, struct err *err)
{
	double a = straight(q, low), b = straight(q, *at), fa, fb;

	if (!saves(&fa, q, kept, other, low, err)
	    || !saves(&fb, q, kept, other, *at, err))
		return false;
	for (uint32_t i = 0; i < STEPS && fabs(b - a) > 1e-6 * fabs(b); i++) {
		double x = (a + b) / 2, f;

		if (i % 3 != 2 && fb > fa)
			x = a - fa * (b - a) / (fb - fa);
		/* a step past the root, for both ends to close in */
		x += (i % 3 == 1 ? 1e-7 : 0) * (b - a);
		if (!saves(&f, q, kept, other, straight(q, x), err))
			return false;
		if (f > 0) {
			b = x;
			fb = f;
		} else {
			a = x;
			fa = f;
		}
	}
	*at = straight(q, b);
	return true;
}

/* From the plan that is best at the end: where it starts to win, another may
 * have won already; the last of them is the break point. */
static bool
find_break(struct plan_end *end, const struct question *q, double value,
    const struct plan *best, const bool *kept, struct err *err)
{
	struct plan other = *best;

	end->breaks_at = end->value;
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		struct plan next;
		cost_ns mine, its;
		const bool *only = candidates_of(q, &other);

		end->nbroken = count_moved(q->p, &other, &end->node, &end->to);
		if (!find_root(&end->breaks_at, value, q, kept, only, err)
		    || !solve_at(&next, q, end->breaks_at, NULL, &its, err)
		    || !solve_at(&other, q, end->breaks_at, only, &mine, err))
			return false;
		if (its >= mine || its == COST_NEVER)
			break;
		other = next;
	}
	return true;
}

/* ---- the whole ---- */

static bool
look_at(struct plan_end *end, const struct question *q, double value,
    struct err *err)
{
	const bool *kept = candidates_of(q, q->p);
	struct plan same, best;

	if (!solve_at(&best, q, end->value, NULL, &end->best, err)
	    || !solve_at(&same, q, end->value, kept, &end->kept, err))
		return false;
	if (end->best != COST_NEVER)
		end->nmoved = count_moved(q->p, &best, &end->node, &end->to);
	if (end->best > end->kept)
		end->best = end->kept;
	end->flips = end->nmoved > 0 && end->best < end->kept;
	return !end->flips || find_break(end, q, value, &best, kept, err);
}

static bool
takes_a_node(const struct candidates *c, uint32_t target)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->candidate[i].target == target)
			return true;
	return false;
}

/* Assumptions of a target on which one of its prices can rest. */
static uint32_t
assumptions_of(const struct mix *m, const struct candidates *c, uint32_t target)
{
	return takes_a_node(c, target) ? m->target[target].nassumptions : 0;
}

uint32_t
plan_assumptions(const struct mix *m, const struct candidates *c)
{
	uint32_t n = 0;

	for (uint32_t t = 0; t < m->n; t++)
		n += assumptions_of(m, c, t);
	return n;
}

static bool
look_into(struct plan_assumption *x, const struct plan *p,
    const struct plan_request *r, uint32_t i, const struct cost_parameter *as,
    struct err *err)
{
	struct arena scratch;
	struct question q = {.p = p,
	    .r = r,
	    .target = &r->mix->target[x->target],
	    .assumption = i,
	    .is_rate = as->is_rate,
	    .arena = &scratch};
	bool ok = true;

	x->end[0].value = as->low;
	x->end[1].value = as->high;
	for (uint32_t e = 0; ok && e < 2; e++) {
		arena_init(&scratch);
		ok = look_at(&x->end[e], &q, as->value, err)
		    || err_in(err, "with %s at %g", x->name, x->end[e].value);
		arena_release(&scratch);
	}
	return ok;
}

static bool
is_late(const struct plan_request *r)
{
	return r->search.deadline_ns && clock_ns() >= r->search.deadline_ns;
}

bool
plan_sensitivity(struct sensitivity *out, const struct plan *p,
    const struct plan_request *r, struct arena *a, struct err *err)
{
	uint32_t all = plan_assumptions(r->mix, r->candidates), n = 0;
	struct plan_assumption *list =
	    arena_new(a, struct plan_assumption, all);

	for (uint32_t k = 0; k < r->mix->n; k++) {
		uint32_t known = assumptions_of(r->mix, r->candidates, k);

		for (uint32_t i = 0; !is_late(r) && i < known; i++) {
			const struct cost_parameter *as =
			    &r->mix->target[k].assumption[i];
			struct plan_assumption *x = &list[n];

			*x = (struct plan_assumption){.target = k,
			    .name = as->name,
			    .unit = as->unit,
			    .value = as->value};
			if (!look_into(x, p, r, i, as, err))
				return false;
			n += !is_late(r);
		}
	}
	*out = (struct sensitivity){n, all - n, list};
	return true;
}
