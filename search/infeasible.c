/* The irreducible infeasible subset is found by deletion: drop a part of the
 * constraints; if there is still no cover they are not needed. Parts are halved
 * down to single constraints. */
#include "search/infeasible.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "search/budget.h"
#include "search/convert.h"
#include "search/problem_index.h"

/* TUNING: bytes of labels of one relaxation; one that needs more counts as
 * feasible, which keeps its constraints. */
#define RELAXATION_BYTES (UINT64_C(64) << 20)
#define NAMED_MAX 6 /* constraints, or candidates of a node, that are named */

enum constraint_kind {
	CONSTRAINT_BAN, /* id: a candidate */
	CONSTRAINT_MARK, /* id: a value */
	CONSTRAINT_CAPACITY, /* id: a target, as all below */
	CONSTRAINT_MAX_RUNS,
	CONSTRAINT_MAX_NODES,
	CONSTRAINT_FED_ONLY,
	CONSTRAINT_LAUNCH,
};

struct iis_member {
	enum constraint_kind kind;
	uint32_t id;
	bool kept;
};

struct iis_search {
	const struct problem *p;
	const struct search_options *o;
	struct iis_member *all;
	uint32_t n, cap;
	struct arena *arena;
	char *text;
	size_t used;
};

static void __attribute__((format(printf, 2, 3)))
say(struct iis_search *q, const char *format, ...)
{
	size_t left = INFEASIBLE_TEXT - q->used;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(q->text + q->used, left, format, args);
	va_end(args);
	assert(n >= 0);
	q->used += (size_t)n < left ? (size_t)n : left - 1;
}

static void
say_node(struct iis_search *q, uint32_t node)
{
	const char *name = q->p->node[node].name;

	if (name)
		say(q, "node '%s' (#%" PRIu32 ")", name, node);
	else
		say(q, "node %" PRIu32, node);
}

/* ---- nodes without a candidate ---- */

static void
say_why_unusable(struct iis_search *q, uint32_t candidate)
{
	const struct problem_candidate *c = &q->p->candidate[candidate];
	const struct problem_target *t = &q->p->target[c->target];
	uint64_t capacity =
	    q->p->target[target_owner(q->p, c->target)].capacity;

	say(q, "candidate %" PRIu32, candidate);
	if (c->banned)
		say(q, " is banned");
	else if (c->cost == COST_NEVER)
		say(q, " has no cost");
	else if (t->launch == COST_NEVER)
		say(q, ": target '%s' cannot launch", t->name);
	else if (c->resource > capacity)
		say(q,
		    " needs %" PRIu64 " of target '%s' with capacity %" PRIu64,
		    c->resource, t->name, capacity);
	else if (t->max_runs == 0)
		say(q, ": target '%s' has max_runs 0", t->name);
	else if (c->nnodes > t->max_run_nodes)
		say(q,
		    " has %" PRIu32
		    " nodes, target '%s' max_run_nodes %" PRIu32,
		    c->nnodes, t->name, t->max_run_nodes);
	else
		say(q, " crosses a mark");
}

static void
say_uncovered(struct iis_search *q, uint32_t node)
{
	uint32_t n = 0;

	say_node(q, node);
	for (uint32_t c = 0; c < q->p->ncandidates; c++) {
		if (!candidate_holds(&q->p->candidate[c], node))
			continue;
		if (++n > NAMED_MAX)
			continue;
		say(q, n == 1 ? ": " : "; ");
		say_why_unusable(q, c);
	}
	if (n == 0)
		say(q, ": no candidate covers it");
	else if (n > NAMED_MAX)
		say(q, "; and %" PRIu32 " more cannot be chosen",
		    n - NAMED_MAX);
}

static bool
find_uncovered(struct iis_search *q)
{
	const struct problem *p = q->p;
	bool *covered = arena_new(q->arena, bool, p->nnodes);

	for (uint32_t c = 0; c < p->ncandidates; c++)
		for (uint32_t i = 0; candidate_usable(&p->candidate[c])
		     && i < p->candidate[c].nnodes;
		     i++)
			covered[p->candidate[c].node[i]] = true;
	for (uint32_t n = 0; n < p->nnodes; n++)
		if (!covered[n]) {
			say_uncovered(q, n);
			return true;
		}
	return false;
}

/* ---- values without a way to a format ---- */

/* Can a value be had in all formats required, whoever makes it? */
static bool
is_provided(struct converter_memo *memo, const struct problem *p, uint32_t v,
    const uint32_t *made)
{
	const struct problem_value *x = &p->value[v];
	uint32_t from = x->initial ? x->initial : made[v];

	return convert_cost(memo, x->class, from, x->required) != COST_NEVER;
}

static bool
find_unprovided(struct iis_search *q)
{
	const struct problem *p = q->p;
	uint32_t *made = arena_new(q->arena, uint32_t, p->nvalues);
	struct converter_memo memo;

	convert_init(&memo, p, q->arena);
	for (uint32_t c = 0; c < p->ncandidates; c++)
		for (uint32_t i = 0; candidate_usable(&p->candidate[c])
		     && i < p->candidate[c].noutputs;
		     i++)
			made[p->candidate[c].output[i].value] |= UINT32_C(1)
			    << p->candidate[c].output[i].format;
	for (uint32_t v = 0; v < p->nvalues; v++)
		if (p->value[v].required && !is_provided(&memo, p, v, made)) {
			say(q,
			    "value %" PRIu32
			    ": no conversion leads to the format required",
			    v);
			return true;
		}
	return false;
}

/* ---- the irreducible infeasible subset ---- */

static void
add(struct iis_search *q, enum constraint_kind kind, uint32_t id)
{
	q->all =
	    arena_grow(q->arena, q->all, &q->cap, q->n + 1, sizeof *q->all);
	q->all[q->n++] = (struct iis_member){kind, id, true};
}

/* Those of one target or kind stand together, so that they are dropped together. */
static void
list_constraints(struct iis_search *q)
{
	const struct problem *p = q->p;

	for (uint32_t t = 0; t < p->ntargets; t++) {
		const struct problem_target *x = &p->target[t];

		if (x->launch == COST_NEVER)
			add(q, CONSTRAINT_LAUNCH, t);
		if (x->max_runs != NO_LIMIT)
			add(q, CONSTRAINT_MAX_RUNS, t);
		if (x->max_run_nodes != NO_LIMIT)
			add(q, CONSTRAINT_MAX_NODES, t);
		if (x->fed_only)
			add(q, CONSTRAINT_FED_ONLY, t);
		if (x->capacity != UINT64_MAX)
			add(q, CONSTRAINT_CAPACITY, t);
	}
	for (uint32_t v = 0; v < p->nvalues; v++)
		if (p->value[v].mark)
			add(q, CONSTRAINT_MARK, v);
	for (uint32_t c = 0; c < p->ncandidates; c++)
		if (p->candidate[c].banned)
			add(q, CONSTRAINT_BAN, c);
}

static void
drop(struct problem *p, const struct iis_member *c)
{
	switch (c->kind) {
	case CONSTRAINT_BAN:
		p->candidate[c->id].banned = false;
		break;
	case CONSTRAINT_MARK:
		p->value[c->id].mark = false;
		break;
	case CONSTRAINT_CAPACITY:
		p->target[c->id].capacity = UINT64_MAX;
		break;
	case CONSTRAINT_MAX_RUNS:
		p->target[c->id].max_runs = NO_LIMIT;
		break;
	case CONSTRAINT_MAX_NODES:
		p->target[c->id].max_run_nodes = NO_LIMIT;
		break;
	case CONSTRAINT_FED_ONLY:
		p->target[c->id].fed_only = false;
		break;
	case CONSTRAINT_LAUNCH:
		p->target[c->id].launch = 0;
		break;
	}
}

/* The problem with the constraints that are kept; no copy when `p` is freed. */
static bool
relaxation(const struct iis_search *q, struct problem *p, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};

	problem_derive(
	    p, q->p, EDIT_CANDIDATES | EDIT_TARGETS | EDIT_VALUES, a);
	for (uint32_t i = 0; i < q->n; i++)
		if (!q->all[i].kept)
			drop(p, &q->all[i]);
	return problem_index(p, a, &err);
}

static bool
is_infeasible(
    const struct problem *p, const struct search_options *o, struct arena *a)
{
	struct search_options some = search_turn(o);
	struct err err = {.kind = ERR_NONE};
	struct search_result r;

	if (!some.memory_budget || some.memory_budget > RELAXATION_BYTES)
		some.memory_budget = RELAXATION_BYTES;
	return search_exact(&r, p, &some, a, &err) && !r.found && r.proven;
}

/* Is there no cover with the constraints that are kept? */
static bool
is_infeasible_still(const struct iis_search *q)
{
	struct problem p;
	struct arena a;
	bool none;

	arena_init(&a);
	none = relaxation(q, &p, &a) && is_infeasible(&p, q->o, &a);
	arena_release(&a);
	return none;
}

/* Drop constraints from..to unless that lets a cover in. */
static void
try_without(struct iis_search *q, uint32_t from, uint32_t to)
{
	bool *was = arena_new(q->arena, bool, (size_t)to - from);
	bool any = false;

	assert(from < to && to <= q->n);
	for (uint32_t i = from; i < to; i++) {
		any |= was[i - from] = q->all[i].kept;
		q->all[i].kept = false;
	}
	if (any && !search_is_over(q->o) && is_infeasible_still(q))
		return;
	for (uint32_t i = from; i < to; i++)
		q->all[i].kept = was[i - from];
}

static void
reduce(struct iis_search *q)
{
	uint32_t part = q->n;

	for (; part > 0; part /= 2)
		for (uint32_t i = 0; i < q->n; i += part)
			try_without(q, i, part < q->n - i ? i + part : q->n);
}

static void
say_constraint(struct iis_search *q, const struct iis_member *c)
{
	const struct problem_target *t =
	    c->kind < CONSTRAINT_CAPACITY ? NULL : &q->p->target[c->id];

	switch (c->kind) {
	case CONSTRAINT_BAN:
		say(q, "candidate %" PRIu32 " is banned", c->id);
		break;
	case CONSTRAINT_MARK:
		say(q, "value %" PRIu32 " has a mark", c->id);
		break;
	case CONSTRAINT_CAPACITY:
		say(q, "target '%s' has capacity %" PRIu64, t->name,
		    t->capacity);
		break;
	case CONSTRAINT_MAX_RUNS:
		say(q, "target '%s' has max_runs %" PRIu32, t->name,
		    t->max_runs);
		break;
	case CONSTRAINT_MAX_NODES:
		say(q, "target '%s' has max_run_nodes %" PRIu32, t->name,
		    t->max_run_nodes);
		break;
	case CONSTRAINT_FED_ONLY:
		say(q, "target '%s' is fed_only", t->name);
		break;
	case CONSTRAINT_LAUNCH:
		say(q, "target '%s' cannot launch", t->name);
		break;
	}
}

static void
say_kept(struct iis_search *q)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < q->n; i++) {
		if (!q->all[i].kept || ++n > NAMED_MAX)
			continue;
		say(q, n == 1 ? "no cover while " : " and ");
		say_constraint(q, &q->all[i]);
	}
	if (n > NAMED_MAX)
		say(q, " and %" PRIu32 " more constraints hold", n - NAMED_MAX);
}

/* Is there a cover that only costs too much to be added up? */
static bool
is_too_expensive(const struct iis_search *q)
{
	struct problem p;
	struct arena a;
	bool none;

	arena_init(&a);
	problem_derive(
	    &p, q->p, EDIT_CANDIDATES | EDIT_TARGETS | EDIT_CONVERSIONS, &a);
	for (uint32_t c = 0; c < p.ncandidates; c++)
		if (p.candidate[c].cost != COST_NEVER)
			p.candidate[c].cost = 0;
	for (uint32_t t = 0; t < p.ntargets; t++)
		if (p.target[t].launch != COST_NEVER && p.target[t].launch > 1)
			p.target[t].launch = 1;
	for (size_t k = 0; k < (size_t)p.nclasses * p.nformats * p.nformats;
	     k++)
		if (p.conversion[k] != COST_NEVER)
			p.conversion[k] = 0;
	problem_reindex(&p, &a);
	none = is_infeasible(&p, q->o, &a);
	arena_release(&a);
	return !none;
}

void
infeasible_explain(char text[INFEASIBLE_TEXT], const struct problem *p,
    const struct search_options *o, struct arena *a)
{
	struct iis_search q = {.p = p, .o = o, .arena = a, .text = text};

	text[0] = '\0';
	if (find_uncovered(&q) || find_unprovided(&q))
		return;
	assert(q.used == 0);
	list_constraints(&q);
	if (is_too_expensive(&q)) {
		say(&q, "every cover costs 2^64 ns or more");
		return;
	}
	reduce(&q);
	say_kept(&q);
	if (q.used == 0)
		say(&q,
		    "no conversions give every candidate the formats it "
		    "reads, whichever are chosen");
}
