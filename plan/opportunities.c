#include "plan/opportunities.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/buf.h"
#include "ir/base/clock.h"
#include "ir/base/cost.h"
#include "ir/base/map.h"
#include "plan/search.h"
#include "plan/shift.h"

/* TUNING: how many groups of a kind are searched, and the share of the plan's cost that
 * their nodes and what moves around them must take: less is not worth a reader's
 * time. */
#define SEARCHED 3u
#define WORTH_PERCENT 1u

/* TUNING: of one of these searches. Bytes decide, so that the same run says the same
 * again; the time is for models nobody has seen. */
#define SEARCH_BYTES (UINT64_C(16) << 20)
#define SEARCH_NODE_BYTES (UINT64_C(16) << 10)
#define SEARCH_NS UINT64_C(30000000000)

#define NONE UINT32_MAX

bool
refusal_names(const struct refusal *r, uint32_t i)
{
	const struct reason *at = &r->reason[i];

	for (uint32_t k = 0; k < i; k++)
		if (!r->reason[k].holds
		    && strcmp(r->reason[k].condition, at->condition) == 0
		    && strcmp(r->reason[k].required, at->required) == 0)
			return false;
	return !at->holds;
}

const char *
obstacle_text(enum obstacle o)
{
	static const char *const text[] = {
	    [OBSTACLE_REFUSED] = "refused",
	    [OBSTACLE_NO_RULE] = "no_rule",
	    [OBSTACLE_COST] = "costlier",
	};

	return text[o];
}

const char *
saving_text(enum saving s)
{
	static const char *const text[] = {
	    [SAVING_EXACT] = "exact",
	    [SAVING_AT_MOST] = "at_most",
	    [SAVING_ESTIMATED] = "estimated",
	    [SAVING_UNKNOWN] = "not_searched",
	};

	return text[s];
}

/* ---- groups ---- */

struct grouping {
	const struct plan *plan;
	struct arena *arena, *scratch;
	struct opportunity *item;
	uint32_t n, cap;
	struct map by_key;
	uint32_t *near; /* [nodes] the refusal of one target, or NONE */
	bool *legal; /* [nodes] of one target: a candidate has it */
	uint32_t *group_of; /* [nodes] of one target */
	uint32_t *seen; /* [composites] the group that counted it, + 1 */
	uint32_t *counted; /* [groups] the conversion it counted last, + 1 */
};

static const struct refusal *
refusal_at(const struct grouping *g, uint32_t id)
{
	return &g->plan->candidates->refusal[id];
}

static uint32_t
nfailed(const struct grouping *g, uint32_t id)
{
	const struct refusal *r = refusal_at(g, id);
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->nreasons; i++)
		n += !r->reason[i].holds;
	return n;
}

/* What is known of a target's candidates and refusals, by node. */
static void
look_at_target(struct grouping *g, uint32_t target)
{
	const struct candidates *c = g->plan->candidates;
	const uint32_t nnodes = g->plan->graph->nnodes;

	for (node_id i = 0; i < nnodes; i++) {
		g->near[i] = NONE;
		g->legal[i] = false;
	}
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t k = 0; k < c->candidate[i].nnodes
		     && c->candidate[i].target == target;
		     k++)
			g->legal[c->candidate[i].node[k]] = true;
	for (uint32_t i = 0; i < c->nrefusals; i++) {
		const struct refusal *r = &c->refusal[i];
		uint32_t *near = &g->near[r->match->root];

		if (r->target == target && nfailed(g, i) > 0
		    && (*near == NONE || nfailed(g, i) < nfailed(g, *near)))
			*near = i;
	}
}

static enum obstacle
obstacle_of(const struct grouping *g, node_id node)
{
	if (g->legal[node])
		return OBSTACLE_COST;
	return g->near[node] == NONE ? OBSTACLE_NO_RULE : OBSTACLE_REFUSED;
}

/* Equal for nodes of one group: the target, and what is in the way. */
static void
key_of(struct buf *b, const struct grouping *g, uint32_t target, node_id node)
{
	const enum obstacle obstacle = obstacle_of(g, node);
	const struct refusal *r;

	b->n = 0;
	buf_u32(b, target);
	buf_u32(b, obstacle);
	if (obstacle != OBSTACLE_REFUSED)
		return;
	r = refusal_at(g, g->near[node]);
	for (uint32_t i = 0; i < r->nreasons; i++)
		if (refusal_names(r, i))
			buf_printf(b, "%s\n%s\n", r->reason[i].condition,
			    r->reason[i].required);
}

static uint32_t
group_of(struct grouping *g, struct buf *key, uint32_t target, node_id node)
{
	const uint32_t id = map_find(&g->by_key, key->data, key->n);
	struct opportunity *o;

	if (id != MAP_NONE)
		return id;
	g->item =
	    arena_grow(g->arena, g->item, &g->cap, g->n + 1, sizeof *g->item);
	o = &g->item[g->n];
	*o = (struct opportunity){
	    .target = target,
	    .obstacle = obstacle_of(g, node),
	    .saving = SAVING_UNKNOWN,
	    .at_most = COST_NEVER,
	    .why_not = "not searched",
	};
	if (o->obstacle == OBSTACLE_REFUSED)
		o->refusal = refusal_at(g, g->near[node]);
	map_put(
	    &g->by_key, arena_copy(g->arena, key->data, key->n), key->n, g->n);
	return g->n++;
}

/* Of the nodes a target does not run. */
static void
group_nodes(struct grouping *g, uint32_t target)
{
	const uint32_t nnodes = g->plan->graph->nnodes, first = g->n;
	struct buf key;

	buf_init(&key);
	look_at_target(g, target);
	for (node_id i = 0; i < nnodes; i++) {
		g->group_of[i] = NONE;
		if (plan_target_of(g->plan, i)->index == target)
			continue;
		key_of(&key, g, target, i);
		g->group_of[i] = group_of(g, &key, target, i);
		g->item[g->group_of[i]].nnodes++;
	}
	buf_release(&key);
	for (uint32_t i = first; i < g->n; i++) {
		g->item[i].node =
		    arena_new(g->arena, node_id, g->item[i].nnodes);
		g->item[i].nnodes = 0;
	}
}

/* Its nodes, and the composites they are in. */
static void
fill_groups(struct grouping *g)
{
	for (node_id i = 0; i < g->plan->graph->nnodes; i++) {
		uint32_t at = g->plan->composite_of[i], id = g->group_of[i];
		struct opportunity *o;

		if (id == NONE)
			continue;
		o = &g->item[id];
		o->node[o->nnodes++] = i;
		if (g->seen[at] == id + 1)
			continue;
		g->seen[at] = id + 1;
		o->now = cost_add(o->now, g->plan->composite[at].cost);
	}
}

/* A conversion that a composite waits for, or that its output goes through: once for
 * each group. */
static void
count_move(struct grouping *g, uint32_t conversion, uint32_t composite)
{
	const struct candidate *c;

	if (composite >= g->plan->ncomposites)
		return;
	c = &g->plan->candidates
	         ->candidate[g->plan->composite[composite].candidate];
	for (uint32_t i = 0; i < c->nnodes; i++) {
		const uint32_t id = g->group_of[c->node[i]];

		if (id == NONE || g->counted[id] == conversion + 1)
			continue;
		g->counted[id] = conversion + 1;
		g->item[id].moves = cost_add(
		    g->item[id].moves, g->plan->conversion[conversion].cost);
	}
}

static void
count_moves(struct grouping *g)
{
	const struct plan *p = g->plan;

	g->counted = arena_new(g->scratch, uint32_t, g->n);
	for (uint32_t i = 0; i < p->nconversions; i++) {
		const node_id made =
		    p->graph->value[p->conversion[i].value].producer;

		count_move(g, i, p->conversion[i].before);
		if (made != NODE_NONE)
			count_move(g, i, p->composite_of[made]);
	}
}

/* What its nodes take, and what is moved around them. */
static cost_ns
at_stake(const struct opportunity *o)
{
	return cost_add(o->now, o->moves);
}

static int
by_cost(const void *a, const void *b)
{
	const struct opportunity *x = a, *y = b;

	if (at_stake(x) != at_stake(y))
		return at_stake(x) < at_stake(y) ? 1 : -1;
	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	return x->node[0] < y->node[0] ? -1 : 1;
}

void
opportunities_find(
    struct opportunities *out, const struct plan *p, struct arena *a)
{
	const uint32_t nnodes = p->graph->nnodes;
	struct arena scratch;
	struct grouping g = {.plan = p, .arena = a, .scratch = &scratch};

	arena_init(&scratch);
	map_init(&g.by_key, &scratch);
	g.near = arena_new(&scratch, uint32_t, nnodes);
	g.legal = arena_new(&scratch, bool, nnodes);
	g.group_of = arena_new(&scratch, uint32_t, nnodes);
	g.seen = arena_new(&scratch, uint32_t, p->ncomposites);
	for (uint32_t t = 0; t < p->mix->n; t++)
		if (!target_is_host(&p->mix->target[t])) {
			group_nodes(&g, t);
			fill_groups(&g);
			count_moves(&g);
		}
	if (g.n > 0)
		qsort(g.item, g.n, sizeof *g.item, by_cost);
	*out = (struct opportunities){g.n, g.item};
	arena_release(&scratch);
}

/* ---- the search without what is in the way ---- */

/* The same question with more candidates, or with moves that cost nothing. */
struct concession {
	struct plan_request r;
	struct mix mix;
	struct candidates candidates;
	struct prices prices;
	struct pricer *pricer;
	struct free_moves free;
	struct arena *arena;
};

/* Targets refer to the formats of their mix, which may become more. */
static void
copy_mix(struct concession *w, const struct mix *m)
{
	struct target *list =
	    arena_copy(w->arena, m->target, m->n * sizeof *list);

	w->mix = *m;
	w->mix.target = list;
	for (uint32_t t = 0; t < m->n; t++)
		if (list[t].formats == &m->formats)
			list[t].formats = &w->mix.formats;
}

/* Its conditions hold. */
static void
assume_held(struct candidate_options *options, const struct opportunity *o,
    struct arena *a)
{
	const struct refusal *why = o->refusal;
	struct assumption *assume =
	    arena_new(a, struct assumption, why->nreasons);

	options->assume = assume;
	for (uint32_t i = 0; i < why->nreasons; i++)
		if (!why->reason[i].holds)
			assume[options->nassume++] = (struct assumption){
			    why->reason[i].condition, UINT64_C(1) << o->target};
}

/* The formats of what a target's candidates make and read, as masks. */
static void
find_formats(
    uint32_t *made, uint32_t *used, const struct candidates *c, uint32_t target)
{
	*made = *used = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct candidate *x = &c->candidate[i];

		if (x->target != target)
			continue;
		for (uint32_t k = 0; k < x->noutputs; k++)
			*made |= UINT32_C(1) << x->output[k].format;
		for (uint32_t k = 0; k < x->ninputs; k++)
			*used |= UINT32_C(1) << x->input[k].format;
	}
}

/* Every mix has one. */
static uint32_t
host_of(const struct mix *m)
{
	uint32_t t = 0;

	while (!target_is_host(&m->target[t]))
		t++;
	assert(t < m->n);
	return t;
}

/* From the host to the target and back, as "free:host..TARGET" and
 * "free:TARGET..host" are of `marq explain --what-if`: [from * formats + to]. */
static const bool *
free_pairs(const struct mix *m, const struct candidates *c, uint32_t target,
    struct arena *a)
{
	const uint32_t n = m->formats.n;
	bool *pair = arena_new(a, bool, (size_t)n *n);
	uint32_t made, used, host_made, host_used;

	find_formats(&made, &used, c, target);
	find_formats(&host_made, &host_used, c, host_of(m));
	for (uint32_t f = 0; f < n; f++)
		for (uint32_t t = 0; t < n; t++)
			pair[(size_t)f * n + t] = f != t
			    && ((host_made >> f & 1 && used >> t & 1)
			        || (made >> f & 1 && host_used >> t & 1));
	return pair;
}

static bool
find_more(struct concession *w, const struct opportunity *o,
    const struct plan_request *r, const struct candidate_options *like,
    struct err *err)
{
	struct candidate_options options = {.keep_nan = like->keep_nan,
	    .exact = like->exact,
	    .exact_halves = like->exact_halves};

	copy_mix(w, r->mix);
	if (o->obstacle == OBSTACLE_REFUSED)
		assume_held(&options, o, w->arena);
	if (options.nassume == like->nassume && options.nassume == 0)
		w->candidates = *r->candidates; /* the same again */
	else if (!candidates_find(&w->candidates, r->graph, &w->mix, &options,
	             w->arena, err))
		return false;
	if (!pricer_open_like(
	        &w->pricer, r->pricer, &w->mix, &w->candidates, w->arena, err))
		return false;
	if (o->obstacle == OBSTACLE_COST) {
		w->free.conversion =
		    free_pairs(&w->mix, &w->candidates, o->target, w->arena);
		pricer_free_moves(w->pricer, &w->free);
	}
	return pricer_begin(w->pricer, &w->prices, err);
}

static void
set_request(struct concession *w, const struct plan_request *r)
{
	const uint64_t bytes =
	    SEARCH_BYTES + r->graph->nnodes * SEARCH_NODE_BYTES;
	const uint64_t late = clock_ns() + SEARCH_NS;

	w->r = *r;
	w->r.mix = &w->mix;
	w->r.candidates = &w->candidates;
	w->r.prices = &w->prices;
	w->r.pricer = NULL;
	w->r.notes = NULL;
	w->r.trace = NULL;
	w->r.no_baselines = true;
	if (!r->search.memory_budget || r->search.memory_budget > bytes)
		w->r.search.memory_budget = bytes;
	if (!r->search.deadline_ns || r->search.deadline_ns > late)
		w->r.search.deadline_ns = late;
}

static uint32_t
count_taken(const struct plan *p, const struct plan *other, uint32_t target)
{
	uint32_t n = 0;

	for (node_id i = 0; i < p->graph->nnodes; i++)
		n += plan_target_of(other, i)->index == target
		    && plan_target_of(p, i)->index != target;
	return n;
}

static cost_ns
less(cost_ns from, cost_ns what)
{
	return what < from ? from - what : 0;
}

static void
compare_plans(
    struct opportunity *o, const struct plan *p, const struct plan *other)
{
	const bool is_best = p->proven && other->proven;

	o->why_not = NULL;
	o->saves = less(p->cost, other->cost);
	o->at_most = less(p->cost, other->lower_bound);
	o->saving = !is_best || strcmp(plan_basis(other), "estimated") == 0
	    ? SAVING_ESTIMATED
	    : plan_unpriced(other) ? SAVING_AT_MOST
	                           : SAVING_EXACT;
	if (o->saves > 0)
		o->ntaken = count_taken(p, other, o->target);
}

/* The last that was searched. */
struct searched {
	struct arena arena; /* of all of it */
	struct concession w;
	struct plan plan;
	bool found, is_late;
};

static bool
searched_release(struct searched *last, struct err *err)
{
	const bool ok = !last->w.pricer || pricer_close(last->w.pricer, err);

	last->w = (struct concession){.arena = &last->arena};
	arena_release(&last->arena);
	return ok;
}

static bool
search_anew(struct searched *last, const struct opportunity *o,
    const struct plan_request *r, const struct candidate_options *like,
    struct err *err)
{
	if (!searched_release(last, err)
	    || !find_more(&last->w, o, r, like, err))
		return false;
	set_request(&last->w, r);
	if (!plan_find(
	        &last->plan, &last->found, &last->w.r, &last->arena, err))
		return false;
	last->is_late = clock_ns() >= last->w.r.search.deadline_ns;
	return true;
}

/* Targets whose tensors lie alike have the same moves for nothing. */
static bool
is_the_same(const struct searched *last, const struct opportunity *o)
{
	const struct concession *w = &last->w;
	const uint32_t n = w->mix.formats.n;
	struct arena scratch;
	bool same;

	if (o->obstacle != OBSTACLE_COST || !w->free.conversion)
		return false;
	arena_init(&scratch);
	same = memcmp(free_pairs(&w->mix, &w->candidates, o->target, &scratch),
	           w->free.conversion, (size_t)n * n * sizeof(bool))
	    == 0;
	arena_release(&scratch);
	return same;
}

static bool
search_one(struct opportunity *o, const struct plan *p,
    const struct plan_request *r, const struct candidate_options *like,
    struct searched *last, struct err *err)
{
	if (!is_the_same(last, o) && !search_anew(last, o, r, like, err))
		return false;
	if (last->is_late)
		o->why_not = "no time was left";
	else if (last->found)
		compare_plans(o, p, &last->plan);
	return true;
}

/* Why nobody need search a group, or NULL. */
static const char *
why_not(const struct opportunity *o, const struct plan *p)
{
	if (o->obstacle == OBSTACLE_NO_RULE)
		return "no rule of the target takes the operator";
	if (o->obstacle == OBSTACLE_REFUSED
	    && p->mix->target[o->target].kind->source == PRICE_MEASURED)
		return "there is no kernel to be timed";
	if (at_stake(o) < p->cost / 100 * WORTH_PERCENT)
		return "its nodes take less than 1 % of the plan";
	return NULL;
}

static bool
is_over(const struct plan_request *r)
{
	return (r->search.deadline_ns && clock_ns() >= r->search.deadline_ns)
	    || (r->search.stop && atomic_load(r->search.stop));
}

static bool
search_all(struct opportunities *out, const struct plan *p,
    const struct plan_request *r, const struct candidate_options *like,
    struct searched *last, struct err *err)
{
	uint32_t n[] = {[OBSTACLE_REFUSED] = 0, [OBSTACLE_COST] = 0};

	for (uint32_t i = 0; i < out->n; i++) {
		struct opportunity *o = &out->item[i];

		o->why_not = why_not(o, p);
		if (o->why_not)
			continue;
		if (r->only || !r->pricer)
			o->why_not = "the plan was given, or limited";
		else if (is_over(r))
			o->why_not = "no time was left";
		else if (n[o->obstacle]++ >= SEARCHED)
			o->why_not = "others take more";
		else if (!search_one(o, p, r, like, last, err))
			return false;
	}
	return true;
}

bool
opportunities_search(struct opportunities *out, const struct plan *p,
    const struct plan_request *r, const struct candidate_options *like,
    struct err *err)
{
	struct searched last = {.found = false};
	bool ok;

	arena_init(&last.arena);
	last.w.arena = &last.arena;
	ok = search_all(out, p, r, like, &last, err);
	ok = searched_release(&last, err) && ok;
	return ok || err_in(err, "looking for what could be saved");
}
