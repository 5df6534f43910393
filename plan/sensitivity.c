#include "plan/sensitivity.h"

#include <assert.h>
#include <math.h>

#include "ir/base/clock.h"
#include "plan/memory.h"
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

/* `only`: of these candidates; NULL: of all. */
static void
price_candidates(struct scene *s, uint32_t target, const bool *only)
{
	const struct target *t = &s->mix.target[target];

	for (uint32_t i = 0; i < s->r.candidates->n; i++) {
		struct price *p = prices_candidate(&s->prices, i);
		const struct candidate *c = &s->r.candidates->candidate[i];
		const struct region r = region_of(t, s->r.graph, &c, 1);
		struct estimate e;

		if (c->target == target && (!only || only[i])
		    && p->state == PRICE_KNOWN && p->source == PRICE_SIMULATED
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
			    && t->kind->space
			    && t->kind->space->transfer(
			        t, &f[from], &f[to], type[class], &e))
				take(&c->price, &e);
		}
}

static void
set_scene(struct scene *s, const struct plan_request *r, struct target as,
    const bool *only, struct arena *a)
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
	price_candidates(s, as.index, only);
	price_conversions(s, as.index, a);
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

/* The best plan at a value. It refers to its scene, which therefore lives as
 * long. COST_NEVER: there is none. */
static bool
solve_at(struct plan *out, const struct question *q, double value,
    cost_ns *cost, struct err *err)
{
	struct scene *s = arena_new(q->arena, struct scene, 1);
	bool found;

	set_scene(s, q->r,
	    q->target->kind->assume(q->target, q->assumption, value, q->arena),
	    NULL, q->arena);
	if (!plan_find(out, &found, &s->r, q->arena, err))
		return false;
	*cost = found ? out->cost : COST_NEVER;
	return true;
}

static const bool *
candidates_of(
    const struct plan *p, const struct candidates *all, struct arena *a)
{
	bool *only = arena_new(a, bool, all->n);

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

/* What a plan costs at a value as it is: its composites, their order and the
 * conversions stay. COST_NEVER: it would not fit its device. */
static cost_ns
cost_at(const struct question *q, const struct plan *p, double value)
{
	struct plan now = *p;
	struct arena scratch;
	struct scene s;
	struct device_use use;
	cost_ns cost;

	arena_init(&scratch);
	set_scene(&s, q->r,
	    q->target->kind->assume(q->target, q->assumption, value, &scratch),
	    candidates_of(p, q->r->candidates, &scratch), &scratch);
	now.mix = &s.mix;
	now.prices = &s.prices;
	cost =
	    plan_fits(&now, &use, &scratch) ? plan_cost_now(&now) : COST_NEVER;
	arena_release(&scratch);
	return cost;
}

/* How much another plan saves at a value; negative: it costs more. */
static double
saves(const struct question *q, const struct plan *other, double value)
{
	const cost_ns mine = cost_at(q, q->p, value);
	const cost_ns its = cost_at(q, other, value);

	return mine == COST_NEVER ? (double)its : (double)mine - (double)its;
}

#define STEPS 60 /* of one root: halving alone needs no more */
#define TURNS 32 /* plans on the way from the end to the break point */

/* Where another plan becomes cheaper, between `low` where it is not and `high`
 * where it is: false position, halving where that does not get on. */
static double
find_root(
    const struct question *q, const struct plan *other, double low, double high)
{
	double a = straight(q, low), b = straight(q, high);
	double fa = saves(q, other, low), fb = saves(q, other, high);

	for (uint32_t i = 0; i < STEPS && fabs(b - a) > 1e-6 * fabs(b); i++) {
		double x = (a + b) / 2, f;

		if (i % 3 != 2 && fb > fa)
			x = a - fa * (b - a) / (fb - fa);
		/* a step past the root, for both ends to close in */
		x += (i % 3 == 1 ? 1e-7 : 0) * (b - a);
		f = saves(q, other, straight(q, x));
		if (f > 0) {
			b = x;
			fb = f;
		} else {
			a = x;
			fa = f;
		}
	}
	return straight(q, b);
}

/* From the plan that is best at the end: where it starts to win, another may
 * have won already; the last of them is the break point. */
static bool
find_break(struct plan_end *end, const struct question *q, double value,
    const struct plan *best, struct err *err)
{
	struct plan other = *best;

	end->breaks_at = end->value;
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		struct plan next;
		cost_ns its;

		end->nbroken = count_moved(q->p, &other, &end->node, &end->to);
		end->breaks_at = find_root(q, &other, value, end->breaks_at);
		if (!solve_at(&next, q, end->breaks_at, &its, err))
			return false;
		if (its == COST_NEVER
		    || its >= cost_at(q, &other, end->breaks_at))
			break;
		other = next;
	}
	return true;
}

/* ---- the whole ---- */

/* *known: what is said of the end is so, for no other plan is better there, or
 * for there is one that is. */
static bool
look_at(struct plan_end *end, const struct question *q, double value,
    bool *known, struct err *err)
{
	struct plan best;

	if (!solve_at(&best, q, end->value, &end->best, err))
		return false;
	end->kept = cost_at(q, q->p, end->value);
	if (end->best != COST_NEVER)
		end->nmoved = count_moved(q->p, &best, &end->node, &end->to);
	if (end->best > end->kept)
		end->best = end->kept;
	end->flips = end->nmoved > 0 && end->best < end->kept;
	*known = end->flips || best.proven || !q->p->proven;
	return !end->flips || find_break(end, q, value, &best, err);
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

/* One to look into, and how far it moves the plan's cost. */
struct variation {
	uint32_t target, assumption;
	struct cost_parameter as;
	double spread;
	bool passed_over;
};

static struct question
question_of(const struct variation *t, const struct plan *p,
    const struct plan_request *r, struct arena *a)
{
	return (struct question){.p = p,
	    .r = r,
	    .target = &r->mix->target[t->target],
	    .assumption = t->assumption,
	    .is_rate = t->as.is_rate,
	    .arena = a};
}

static uint32_t
list_variations(struct variation *list, const struct plan *p,
    const struct plan_request *r, struct arena *a)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < r->mix->n; k++) {
		const uint32_t known = assumptions_of(r->mix, r->candidates, k);

		for (uint32_t i = 0; i < known; i++) {
			struct variation *t = &list[n++];
			struct question q;

			t->as = r->mix->target[k].assumption[i];
			t->target = k;
			t->assumption = i;
			q = question_of(t, p, r, a);
			t->spread = fabs((double)cost_at(&q, p, t->as.high)
			    - (double)cost_at(&q, p, t->as.low));
		}
	}
	return n;
}

/* All but `most`: those that move the plan's cost least. */
static void
pass_over(struct variation *list, uint32_t n, uint32_t most)
{
	for (uint32_t left = n; left > most; left--) {
		uint32_t least = n;

		for (uint32_t i = 0; i < n; i++)
			if (!list[i].passed_over
			    && (least == n
			        || list[i].spread <= list[least].spread))
				least = i;
		list[least].passed_over = true;
	}
}

/* Both ends. *known: what is said of them is so. */
static bool
look_into(struct plan_assumption *x, const struct variation *t,
    const struct plan *p, const struct plan_request *r, bool *known,
    struct err *err)
{
	struct arena scratch;
	const struct question q = question_of(t, p, r, &scratch);
	bool ok = true, sure = true;

	*x = (struct plan_assumption){.target = t->target,
	    .name = t->as.name,
	    .unit = t->as.unit,
	    .value = t->as.value,
	    .end = {{.value = t->as.low}, {.value = t->as.high}}};
	*known = true;
	for (uint32_t e = 0; ok && e < 2; e++) {
		arena_init(&scratch);
		ok = look_at(&x->end[e], &q, t->as.value, &sure, err)
		    || err_in(err, "with %s at %g", x->name, x->end[e].value);
		*known &= sure;
		arena_release(&scratch);
	}
	return ok;
}

static bool
is_late(const struct plan_request *r)
{
	return r->search.deadline_ns && clock_ns() >= r->search.deadline_ns;
}

/* TUNING: bytes of labels of one search, whatever the graph and for each of its
 * nodes, and of all together. Bytes decide, so that the same run says the same again;
 * the time is for models nobody has seen. */
#define ONE_BYTES (UINT64_C(8) << 20)
#define ONE_NODE_BYTES (UINT64_C(8) << 10)
#define ALL_BYTES (UINT64_C(640) << 20)
#define QUICK_NS UINT64_C(120000000000)

/* How many assumptions there is time for. */
static uint32_t
hurry(struct plan_request *r)
{
	const uint64_t one = ONE_BYTES + r->graph->nnodes * ONE_NODE_BYTES;
	const uint64_t late = clock_ns() + QUICK_NS;

	if (!r->search.memory_budget || r->search.memory_budget > one)
		r->search.memory_budget = one;
	if (!r->search.deadline_ns || r->search.deadline_ns > late)
		r->search.deadline_ns = late;
	return (uint32_t)(ALL_BYTES / (2 * one));
}

bool
plan_sensitivity(struct sensitivity *out, const struct plan *p,
    const struct plan_request *request, bool quick, struct arena *a,
    struct err *err)
{
	struct search_hints hints = {.arena = a};
	struct plan_request r = *request;
	const uint32_t all = plan_assumptions(r.mix, r.candidates);
	struct plan_assumption *list =
	    arena_new(a, struct plan_assumption, all);
	struct variation *variation = arena_new(a, struct variation, all + 1);
	uint32_t n = 0;
	bool known = true;

	r.search.hints = &hints; /* all are nearly the same problem */
	list_variations(variation, p, &r, a);
	pass_over(variation, all, quick ? hurry(&r) : all);
	for (uint32_t i = 0; i < all && known && !is_late(&r); i++) {
		if (variation[i].passed_over)
			continue;
		if (!look_into(&list[n], &variation[i], p, &r, &known, err))
			return false;
		known |= !quick;
		n += known && !is_late(&r);
	}
	*out = (struct sensitivity){n, all - n, list};
	return true;
}
