#include "plan/sensitivity.h"

#include "plan/shift.h"
#include "search/cost.h"
#include "targets/mrvl/assume.h"

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
		struct price *p = &s->prices.candidate[i];
		struct estimate e;

		if (s->r.candidates->candidate[i].target == target
		    && p->state == PRICE_KNOWN && p->source == PRICE_SIMULATED
		    && t->kind->simulate(
		        t, s->r.graph, &s->r.candidates->candidate[i], &e))
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
	const struct prices *p = r->prices;
	size_t nconversions = (size_t)p->nclasses * p->nformats * p->nformats;
	struct target *list =
	    arena_copy(a, r->mix->target, r->mix->n * sizeof *list);
	struct price *launch =
	    arena_copy(a, p->launch, r->mix->n * sizeof *launch);
	struct estimate e = {.ns = 0};

	list[as.index] = as;
	s->mix = *r->mix;
	s->mix.target = list;
	s->prices = *p;
	s->prices.candidate = arena_copy(
	    a, p->candidate, r->candidates->n * sizeof *p->candidate);
	s->prices.conversion =
	    arena_copy(a, p->conversion, nconversions * sizeof *p->conversion);
	s->prices.launch = launch;
	s->r = *r;
	s->r.mix = &s->mix;
	s->r.prices = &s->prices;
	s->r.pricer = NULL;
	s->r.notes = NULL;
	s->r.no_baselines = true;
	e.ns = as.kind->launch_ns(&as, &e);
	take(&launch[as.index], &e);
	price_candidates(s, as.index);
	price_conversions(s, as.index, a);
}

/* One more search; what has no plan there costs COST_NEVER. */
static bool
solve(struct plan *out, const struct plan_request *r, cost_ns *cost,
    struct arena *a, struct err *err)
{
	*cost = COST_NEVER;
	if (plan_search(out, r, a, err)) {
		*cost = out->cost;
		return true;
	}
	if (err->kind != ERR_NO_COVER)
		return false;
	err_clear(err);
	return true;
}

static bool
look_at(struct plan_end *end, const struct plan *p,
    const struct plan_request *r, struct target as, struct arena *a,
    struct err *err)
{
	bool *only = arena_new(a, bool, r->candidates->n);
	struct plan kept, best;
	struct scene s;

	set_scene(&s, r, as, a);
	if (!solve(&best, &s.r, &end->best, a, err))
		return false;
	for (uint32_t i = 0; i < p->ncomposites; i++)
		only[p->composite[i].candidate] = true;
	s.r.only = only;
	if (!solve(&kept, &s.r, &end->kept, a, err))
		return false;
	for (node_id n = 0; end->best != COST_NEVER && n < p->graph->nnodes;
	     n++)
		end->nmoved += plan_target_of(&best, n)->index
		    != plan_target_of(p, n)->index;
	if (end->best > end->kept)
		end->best = end->kept;
	end->flips = end->nmoved > 0 && end->best < end->kept;
	return true;
}

bool
plan_sensitivity(struct sensitivity *out, const struct plan *p,
    const struct plan_request *r, struct arena *a, struct err *err)
{
	struct plan_assumption *list =
	    arena_new(a, struct plan_assumption, (size_t)r->mix->n * NPARAM);
	uint32_t n = 0;

	for (uint32_t k = 0; k < r->mix->n * NPARAM; k++) {
		const struct target *t = &r->mix->target[k / NPARAM];
		enum param param = (enum param)(k % NPARAM);
		struct plan_assumption *x = &list[n];
		struct param_value value;

		if (!mrvl_assumes(t, param, &value))
			continue;
		*x = (struct plan_assumption){.target = k / NPARAM,
		    .name = param_info(param)->name,
		    .unit = param_info(param)->unit,
		    .value = value.value};
		x->end[0].value = value.low;
		x->end[1].value = value.high;
		n++;
		for (uint32_t e = 0; e < 2; e++)
			if (!look_at(&x->end[e], p, r,
			        mrvl_assume(t, param, x->end[e].value, a), a,
			        err))
				return err_in(err, "with %s at %g", x->name,
				    x->end[e].value);
	}
	*out = (struct sensitivity){n, list};
	return true;
}
