#include "plan/plan.h"

#include <assert.h>
#include <string.h>

#include "ir/base/cost.h"
#include "search/cover.h"

static struct paid
paid_by(const struct plan *p, uint32_t candidate)
{
	return (struct paid){
	    .price = plan_pays(p, prices_candidate(p->prices, candidate)),
	    .ncomposites = 1,
	    .nnodes = p->candidates->candidate[candidate].nnodes};
}

static const struct price *
conversion_price_of(const struct plan *p, const struct plan_conversion *c)
{
	uint32_t class = p->prices->value_class[c->value];

	return &conversion_at(p->prices, class, c->from, c->to)->price;
}

cost_ns
plan_candidate_cost(const struct plan *p, uint32_t candidate)
{
	const struct paid paid = paid_by(p, candidate);

	return objective_cost(PART_COMPOSITE, &paid);
}

cost_ns
plan_conversion_cost(const struct plan *p, const struct plan_conversion *c)
{
	const struct paid paid = {
	    .price = plan_pays(p, conversion_price_of(p, c))};

	return objective_cost(PART_CONVERSION, &paid);
}

/* Targets that do not launch launch for nothing. */
cost_ns
plan_launch_cost(const struct plan *p, uint32_t target)
{
	const struct paid paid = {
	    .price = plan_pays(p, prices_launch(p->prices, target))};

	return p->mix->target[target].kind->launches
	    ? objective_cost(PART_LAUNCH, &paid)
	    : 0;
}

struct plan_sums
plan_sums_of(const struct plan *p)
{
	struct plan_sums sum = {0};
	struct paid paid = {0};

	for (uint32_t i = 0; i < p->nconversions; i++) {
		paid.price =
		    plan_pays(p, conversion_price_of(p, &p->conversion[i]));
		objective_split(
		    sum.ns, PART_CONVERSION, p->conversion[i].cost, &paid);
	}
	for (uint32_t i = 0; i < p->nregions; i++) {
		const struct plan_region *r = &p->region[i];

		paid.price = plan_pays(p, prices_launch(p->prices, r->target));
		if (p->mix->target[r->target].kind->launches)
			objective_split(sum.ns, PART_LAUNCH, r->launch, &paid);
	}
	for (uint32_t i = 0; i < p->ncomposites; i++) {
		paid = paid_by(p, p->composite[i].candidate);
		objective_split(
		    sum.ns, PART_COMPOSITE, p->composite[i].cost, &paid);
	}
	return sum;
}

/* What the parts cost one by one; false: not all of it is simulated. */
static bool
sum_of_parts(
    const struct plan *p, const uint32_t *candidate, uint32_t n, cost_ns *sum)
{
	bool simulated = true;

	*sum = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct price *price =
		    prices_candidate(p->prices, candidate[i]);

		simulated &= price->state == PRICE_KNOWN
		    && price->source == PRICE_SIMULATED;
		*sum = cost_add(*sum, plan_candidate_cost(p, candidate[i]));
	}
	return simulated;
}

struct region
plan_region_of(const struct plan *p, uint32_t region, struct arena *a)
{
	const struct plan_region *r = &p->region[region];
	const struct candidate **list =
	    arena_new(a, const struct candidate *, r->ncomposites);

	for (uint32_t i = 0; i < r->ncomposites; i++)
		list[i] =
		    &p->candidates
		         ->candidate[p->composite[r->first + i].candidate];
	return (struct region){.target = &p->mix->target[r->target],
	    .graph = p->graph,
	    .ncandidates = r->ncomposites,
	    .candidate = list,
	    .ninputs = r->ninputs,
	    .noutputs = r->noutputs,
	    .input = r->input,
	    .output = r->output};
}

static bool
simulate_region(
    const struct plan *p, const uint32_t *candidate, uint32_t n, cost_ns *price)
{
	const struct candidate *all = p->candidates->candidate, **list;
	const struct target *t = &p->mix->target[all[candidate[0]].target];
	struct estimate simulated;
	struct region region;
	struct arena scratch;
	bool known;

	if (!t->kind->simulate)
		return false;
	arena_init(&scratch);
	list = arena_new(&scratch, const struct candidate *, n);
	for (uint32_t i = 0; i < n; i++)
		list[i] = &all[candidate[i]];
	region = region_of(t, p->graph, list, n);
	known = t->kind->simulate(&region, &simulated);
	arena_release(&scratch);
	if (known)
		*price = simulated.ns;
	return known;
}

/* A region that is priced as a unit is one composite made of many. */
static cost_ns
unit_cost(
    const struct plan *p, const uint32_t *candidate, uint32_t n, cost_ns price)
{
	struct paid paid = {.price = price, .ncomposites = n};

	for (uint32_t i = 0; i < n; i++)
		paid.nnodes += p->candidates->candidate[candidate[i]].nnodes;
	return objective_cost(PART_COMPOSITE, &paid);
}

bool
plan_region_cost(
    const struct plan *p, const uint32_t *candidate, uint32_t n, cost_ns *out)
{
	const struct price *told = prices_region(p->prices, candidate, n);
	cost_ns sum, apart;
	bool simulated = sum_of_parts(p, candidate, n, &sum);

	if (n < 2)
		return false;
	if (told)
		*out = plan_pays(p, told);
	else if (!simulated || !simulate_region(p, candidate, n, out))
		return false;
	*out = unit_cost(p, candidate, n, *out);
	/* each part was rounded by half a nanosecond at most, and so is this */
	apart = *out > sum ? *out - sum : sum - *out;
	return apart > (n + 1) / 2;
}

uint32_t
cover_region(const struct cover *c, uint32_t from, uint32_t *candidate)
{
	uint32_t n = 0;

	assert(from < c->nsteps);
	while (from + n < c->nsteps
	    && c->step[from + n].run == c->step[from].run) {
		candidate[n] = c->step[from + n].candidate;
		n++;
	}
	return n;
}

static struct plan_composite *
put_composites(struct plan *out, const struct cover *cover, struct arena *a)
{
	struct plan_composite *list =
	    arena_new(a, struct plan_composite, cover->nsteps);
	uint32_t *at = arena_new(a, uint32_t, out->graph->nnodes);

	for (uint32_t i = 0; i < cover->nsteps; i++) {
		uint32_t id = cover->step[i].candidate;
		const struct candidate *c = &out->candidates->candidate[id];

		list[i] = (struct plan_composite){
		    id, cover->step[i].run, plan_candidate_cost(out, id)};
		for (uint32_t k = 0; k < c->nnodes; k++)
			at[c->node[k]] = i;
	}
	out->composite = list;
	out->ncomposites = cover->nsteps;
	out->composite_of = at;
	return list;
}

uint32_t
plan_unpriced(const struct plan *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->ncomposites; i++)
		n += prices_candidate(p->prices, p->composite[i].candidate)
		         ->state
		    == PRICE_BOUND;
	for (uint32_t i = 0; i < p->nconversions; i++)
		n += conversion_price_of(p, &p->conversion[i])->state
		    == PRICE_BOUND;
	return n;
}

/* Sizes of a tensor that only a run tells, and steps or branches that only a run
 * counts, are not in an estimate. */
static bool
is_unsized(const struct plan *p, value_id v)
{
	return !type_is_static(&graph_value(p->graph, v)->type);
}

static bool
rests_on_run(const struct plan *p, uint32_t candidate)
{
	const struct candidate *c = &p->candidates->candidate[candidate];
	bool rests = false;

	if (strcmp(price_basis(prices_candidate(p->prices, candidate), false),
	        "estimated")
	    != 0)
		return false;
	for (uint32_t i = 0; i < c->ninputs; i++)
		rests = rests || is_unsized(p, c->input[i].value);
	for (uint32_t i = 0; i < c->noutputs; i++)
		rests = rests || is_unsized(p, c->output[i].value);
	for (uint32_t i = 0; i < c->nnodes; i++) {
		const enum op op = graph_node(p->graph, c->node[i])->op;

		rests = rests || op == OP_IF || op == OP_LOOP || op == OP_SCAN
		    || op == OP_SEQUENCEMAP;
	}
	return rests;
}

uint32_t
plan_among(const struct plan *p)
{
	return p->among ? p->candidates->nregions : 0;
}

uint32_t
plan_unsized(const struct plan *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->ncomposites; i++)
		n += rests_on_run(p, p->composite[i].candidate);
	return n;
}

/* The target a composite is on; mix->n: there is none. */
static uint32_t
target_at(const struct plan *p, uint32_t at)
{
	return at < p->ncomposites ? plan_candidate(p, at)->target : p->mix->n;
}

/* Is the memory of the target at an end of it? */
static bool
is_its_own(
    const struct plan *p, const struct plan_conversion *c, uint32_t target)
{
	const struct format *f = p->mix->formats.format;
	const struct space *own =
	    target < p->mix->n ? p->mix->target[target].kind->space : NULL;

	return own && (f[c->from].space == own || f[c->to].space == own);
}

uint32_t
plan_payer(const struct plan *p, const struct plan_conversion *c)
{
	const node_id made = p->graph->value[c->value].producer;
	const uint32_t reader = target_at(p, c->before);
	const uint32_t maker =
	    made == NODE_NONE ? p->mix->n : target_at(p, p->composite_of[made]);

	if (is_its_own(p, c, reader))
		return reader;
	if (is_its_own(p, c, maker))
		return maker;
	for (uint32_t t = 0; t < p->mix->n; t++)
		if (is_its_own(p, c, t))
			return t;
	if (reader < p->mix->n)
		return reader;
	return maker < p->mix->n ? maker : 0;
}

/* The weaker of two: bounds, then what says so of itself, in the order of
 * sources. */
static const struct price *
weaker(const struct price *a, const struct price *b)
{
	if (a->state != b->state)
		return a->state == PRICE_BOUND ? a : b;
	return a->source > b->source ? a : b;
}

const char *
plan_basis(const struct plan *p)
{
	const struct price nothing = {.state = PRICE_KNOWN},
	                   *weakest = &nothing;

	for (uint32_t i = 0; i < p->ncomposites; i++)
		weakest = weaker(weakest,
		    prices_candidate(p->prices, p->composite[i].candidate));
	for (uint32_t i = 0; i < p->nconversions; i++)
		weakest =
		    weaker(weakest, conversion_price_of(p, &p->conversion[i]));
	for (uint32_t i = 0; i < p->nregions; i++)
		if (p->region[i].launch)
			weakest = weaker(weakest,
			    prices_launch(p->prices, p->region[i].target));
	return price_basis(weakest, p->at_least);
}

bool
plan_ratio(double *ratio, const struct plan *p, const struct plan_baseline *b)
{
	if (b->cost == COST_NEVER || p->cost == 0
	    || (b->bound && plan_unpriced(p)))
		return false;
	*ratio = (double)b->cost / (double)p->cost;
	return true;
}

const char *
plan_target_basis(const struct plan *p, uint32_t target)
{
	const struct price *weakest = NULL;

	for (uint32_t i = 0; i < p->ncomposites; i++) {
		uint32_t id = p->composite[i].candidate;
		const struct price *price = prices_candidate(p->prices, id);

		if (p->candidates->candidate[id].target == target)
			weakest = weakest ? weaker(weakest, price) : price;
	}
	return weakest ? price_basis(weakest, p->at_least) : "";
}

static void
put_conversions(struct plan *out, const struct cover *cover, struct arena *a)
{
	struct plan_conversion *list =
	    arena_new(a, struct plan_conversion, cover->nconversions);

	for (uint32_t i = 0; i < cover->nconversions; i++) {
		const struct cover_conversion *c = &cover->conversion[i];

		list[i] = (struct plan_conversion){c->value, (format_id)c->from,
		    (format_id)c->to, 0, c->before};
		list[i].cost = plan_conversion_cost(out, &list[i]);
	}
	out->conversion = list;
	out->nconversions = cover->nconversions;
}

/* The region a node runs in; UINT32_MAX for what no node makes. */
static uint32_t
made_in(const struct plan *p, node_id n)
{
	return n == NODE_NONE ? UINT32_MAX
	                      : p->composite[p->composite_of[n]].region;
}

static bool
leaves_region(const struct plan *p, const struct uses *u, value_id v)
{
	const struct value *value = &p->graph->value[v];

	if (value->flags & VALUE_OUTPUT)
		return true;
	for (uint32_t i = u->start[v]; i < u->start[v + 1]; i++)
		if (made_in(p, u->user[i]) != made_in(p, value->producer))
			return true;
	return false;
}

/* What goes into and out of a region, and in which formats. */
static void
put_boundary(struct plan *p, struct plan_region *r, uint32_t id,
    const struct uses *u, struct arena *a)
{
	struct port *in = NULL, *out = NULL;
	uint32_t nin = 0, nout = 0, in_cap = 0, out_cap = 0;

	for (uint32_t i = r->first; i < r->first + r->ncomposites; i++) {
		const struct candidate *c = plan_candidate(p, i);

		in = arena_grow(a, in, &in_cap, nin + c->ninputs, sizeof *in);
		out = arena_grow(
		    a, out, &out_cap, nout + c->noutputs, sizeof *out);
		for (uint32_t k = 0; k < c->ninputs; k++)
			if (made_in(
			        p, p->graph->value[c->input[k].value].producer)
			    != id)
				in[nin++] = c->input[k];
		for (uint32_t k = 0; k < c->noutputs; k++)
			if (leaves_region(p, u, c->output[k].value))
				out[nout++] = c->output[k];
	}
	r->input = in;
	r->ninputs = ports_sort(in, nin);
	r->output = out;
	r->noutputs = ports_sort(out, nout);
}

static struct plan_region *
put_regions(struct plan *p, const struct cover *cover, struct arena *a)
{
	struct arena space;
	struct uses u;
	struct plan_region *list =
	    arena_new(a, struct plan_region, cover->nruns);

	arena_init(&space);
	u = graph_uses(p->graph, &space);
	p->nregions = cover->nruns;
	for (uint32_t i = 0; i < p->ncomposites; i++) {
		struct plan_region *r = &list[p->composite[i].region];

		if (r->ncomposites++ == 0)
			r->first = i;
		r->target = plan_candidate(p, i)->target;
		r->cost += p->composite[i].cost;
	}
	for (uint32_t i = 0; i < p->nregions; i++) {
		struct plan_region *r = &list[i];

		assert(r->ncomposites > 0);
		assert(r->first
		    == (i ? list[i - 1].first + list[i - 1].ncomposites : 0));
		put_boundary(p, r, i, &u, a);
		r->launch = plan_launch_cost(p, r->target);
	}
	p->region = list;
	arena_release(&space);
	return list;
}

/* The price of a region, shared out in proportion to its composites' own. */
static void
share_out(struct plan_composite *c, uint32_t n, cost_ns sum, cost_ns whole)
{
	cost_ns before = 0, given = 0;

	for (uint32_t i = 0; i < n; i++) {
		cost_ns upto;

		before += c[i].cost;
		upto = sum
		    ? (cost_ns)((double)before / (double)sum * (double)whole)
		    : 0;
		if (i == n - 1 || upto > whole)
			upto = whole;
		assert(upto >= given);
		c[i].cost = upto - given;
		given = upto;
	}
}

static void
price_regions(
    struct plan *p, struct plan_composite *list, struct plan_region *region)
{
	struct arena space;
	uint32_t *run;

	arena_init(&space);
	run = arena_new(&space, uint32_t, p->ncomposites);

	for (uint32_t i = 0; i < p->nregions; i++) {
		struct plan_region *r = &region[i];
		cost_ns whole;

		for (uint32_t k = 0; k < r->ncomposites; k++)
			run[k] = list[r->first + k].candidate;
		if (!plan_region_cost(p, run, r->ncomposites, &whole)
		    || whole == r->cost)
			continue;
		if (whole != COST_NEVER)
			share_out(
			    &list[r->first], r->ncomposites, r->cost, whole);
		r->cost = whole;
	}
	arena_release(&space);
}

/* The sum of the parts. */
static void
add_up(struct plan *p)
{
	p->cost = 0;
	for (uint32_t i = 0; i < p->nregions; i++)
		p->cost = cost_add(
		    p->cost, cost_add(p->region[i].cost, p->region[i].launch));
	for (uint32_t i = 0; i < p->nconversions; i++)
		p->cost = cost_add(p->cost, p->conversion[i].cost);
}

cost_ns
plan_cost_now(const struct plan *p)
{
	struct arena scratch;
	uint32_t *run;
	cost_ns sum = 0;

	arena_init(&scratch);
	run = arena_new(&scratch, uint32_t, p->ncomposites);
	for (uint32_t i = 0; i < p->nregions; i++) {
		const struct plan_region *r = &p->region[i];
		cost_ns parts = 0, whole;

		for (uint32_t k = 0; k < r->ncomposites; k++) {
			run[k] = p->composite[r->first + k].candidate;
			parts = cost_add(parts, plan_candidate_cost(p, run[k]));
		}
		if (!plan_region_cost(p, run, r->ncomposites, &whole))
			whole = parts;
		sum = cost_add(
		    sum, cost_add(whole, plan_launch_cost(p, r->target)));
	}
	for (uint32_t i = 0; i < p->nconversions; i++)
		sum = cost_add(sum, plan_conversion_cost(p, &p->conversion[i]));
	arena_release(&scratch);
	return sum;
}

void
plan_build(struct plan *out, const struct cover *cover, struct arena *a)
{
	struct plan_composite *composite = put_composites(out, cover, a);

	assert(cover->nruns <= cover->nsteps); /* none: all is folded */
	put_conversions(out, cover, a);
	price_regions(out, composite, put_regions(out, cover, a));
	add_up(out);
}
