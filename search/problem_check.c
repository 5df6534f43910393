#include "search/problem_check.h"

#include <inttypes.h>

#include "ir/base/arena.h"
#include "search/mask.h"

/* All formats there are, as a mask. */
static uint32_t
formats_of(const struct problem *p)
{
	return p->nformats == FORMATS_MAX ? UINT32_MAX
	                                  : (UINT32_C(1) << p->nformats) - 1;
}

static bool
check_value(const struct problem *p, uint32_t v, struct err *err)
{
	const struct problem_value *value = &p->value[v];

	if (value->producer != NO_NODE && value->producer >= p->nnodes)
		return err_set(err, ERR_INPUT,
		    "value %" PRIu32 ": producer %" PRIu32 " of %" PRIu32
		    " nodes",
		    v, value->producer, p->nnodes);
	if (value->class != NO_CLASS && value->class >= p->nclasses)
		return err_set(err, ERR_INPUT,
		    "value %" PRIu32 ": class %" PRIu32 " of %" PRIu32, v,
		    value->class, p->nclasses);
	if ((value->initial | value->required) & ~formats_of(p))
		return err_set(err, ERR_INPUT,
		    "value %" PRIu32 ": a format beyond the %" PRIu32
		    " there are",
		    v, p->nformats);
	if ((value->initial | value->required) & p->local)
		return err_set(err, ERR_INPUT,
		    "value %" PRIu32
		    ": the caller cannot have it in a local format",
		    v);
	if ((value->producer == NO_NODE) != (value->initial != 0))
		return err_set(err, ERR_INPUT,
		    "value %" PRIu32
		    ": needs either a producer or initial formats",
		    v);
	return true;
}

static bool
check_node(const struct problem *p, uint32_t n, struct err *err)
{
	const struct problem_node *node = &p->node[n];

	for (uint32_t i = 0; i < node->ninputs; i++) {
		uint32_t v = node->input[i];

		if (v >= p->nvalues)
			return err_set(err, ERR_INPUT,
			    "node %" PRIu32 ": input %" PRIu32 " of %" PRIu32
			    " values",
			    n, v, p->nvalues);
		if (p->value[v].producer != NO_NODE
		    && p->value[v].producer >= n)
			return err_set(err, ERR_INPUT,
			    "node %" PRIu32 ": input %" PRIu32
			    " is produced later, by node %" PRIu32,
			    n, v, p->value[v].producer);
	}
	for (uint32_t i = 0; i < node->noutputs; i++)
		if (node->output[i] >= p->nvalues
		    || p->value[node->output[i]].producer != n)
			return err_set(err, ERR_INPUT,
			    "node %" PRIu32 ": output %" PRIu32
			    " has another producer",
			    n, node->output[i]);
	return true;
}

static bool
check_target(const struct problem *p, uint32_t t, struct err *err)
{
	const struct problem_target *x = &p->target[t];

	if (x->part_of
	    && (x->part_of > p->ntargets || x->part_of == t + 1
	        || p->target[x->part_of - 1].part_of))
		return err_set(err, ERR_INPUT,
		    "target %" PRIu32 ": part of target %" PRIu32
		    ", which is none or itself a part",
		    t, x->part_of - 1);
	if (x->part_of && x->capacity != UINT64_MAX)
		return err_set(err, ERR_INPUT,
		    "target %" PRIu32 ": a part has no capacity of its own", t);
	return true;
}

bool
problem_check_parts(const struct problem *p, struct err *err)
{
	if (p->nformats > FORMATS_MAX || p->ntargets > TARGETS_MAX)
		return err_set(err, ERR_UNSUPPORTED,
		    "%" PRIu32 " formats and %" PRIu32
		    " targets; at most %u and %u can be",
		    p->nformats, p->ntargets, FORMATS_MAX, TARGETS_MAX);
	if (p->local & ~formats_of(p))
		return err_set(err, ERR_INPUT,
		    "a local format is beyond the %" PRIu32 " there are",
		    p->nformats);
	for (uint32_t t = 0; t < p->ntargets; t++)
		if (!check_target(p, t, err))
			return false;
	for (uint32_t v = 0; v < p->nvalues; v++)
		if (!check_value(p, v, err))
			return false;
	for (uint32_t n = 0; n < p->nnodes; n++)
		if (!check_node(p, n, err))
			return false;
	return true;
}

/* A candidate under scrutiny: which nodes and values are its own. */
struct scrutiny {
	const struct problem *p;
	uint32_t *node_of; /* [nnodes] candidate + 1 that last held it */
	uint32_t *seen; /* [nvalues] candidate + 1 whose port last named it */
	uint32_t *read; /* [nvalues] candidate + 1 whose node last read it */
	uint32_t *reached; /* [nnodes] candidate + 1 that last led there */
};

static bool
holds(const struct scrutiny *s, uint32_t c, uint32_t node)
{
	return node != NO_NODE && s->node_of[node] == c + 1;
}

static bool
used_outside(const struct scrutiny *s, uint32_t c, uint32_t v)
{
	const struct problem *p = s->p;

	if (p->value[v].required)
		return true;
	for (uint32_t i = p->user_start[v]; i < p->user_start[v + 1]; i++)
		if (!holds(s, c, p->user[i]))
			return true;
	return false;
}

static bool
check_nodes(struct scrutiny *s, uint32_t c, struct err *err)
{
	const struct problem_candidate *cand = &s->p->candidate[c];

	if (cand->target >= s->p->ntargets)
		return err_set(err, ERR_INPUT, "target %" PRIu32 " of %" PRIu32,
		    cand->target, s->p->ntargets);
	if (cand->nnodes == 0)
		return err_set(err, ERR_INPUT, "covers no node");
	for (uint32_t i = 0; i < cand->nnodes; i++) {
		if (cand->node[i] >= s->p->nnodes
		    || (i > 0 && cand->node[i] <= cand->node[i - 1]))
			return err_set(err, ERR_INPUT,
			    "node %" PRIu32 " is out of range or order",
			    cand->node[i]);
		s->node_of[cand->node[i]] = c + 1;
	}
	return true;
}

static bool
check_ports(struct scrutiny *s, uint32_t c, const struct problem_port *port,
    uint32_t n, bool inside, struct err *err)
{
	const struct problem *p = s->p;

	for (uint32_t i = 0; i < n; i++) {
		if (port[i].value >= p->nvalues
		    || port[i].format >= p->nformats)
			return err_set(err, ERR_INPUT,
			    "port %" PRIu32 ": value %" PRIu32
			    " or format %" PRIu32 " is out of range",
			    i, port[i].value, port[i].format);
		if (i > 0
		    && (port[i].value < port[i - 1].value
		        || (port[i].value == port[i - 1].value
		            && (inside
		                || port[i].format <= port[i - 1].format))))
			return err_set(err, ERR_INPUT,
			    "port %" PRIu32 ": value %" PRIu32
			    " is out of order",
			    i, port[i].value);
		if (holds(s, c, p->value[port[i].value].producer) != inside)
			return err_set(err, ERR_INPUT,
			    "value %" PRIu32 " is produced %s", port[i].value,
			    inside ? "outside" : "inside");
		s->seen[port[i].value] = c + 1;
	}
	return true;
}

/* Every value a port reads is read by a node inside: the search counts a value's
 * users among the nodes, and nothing would feed a port beyond them. */
static bool
check_fed(struct scrutiny *s, uint32_t c, struct err *err)
{
	const struct problem *p = s->p;
	const struct problem_candidate *cand = &p->candidate[c];

	for (uint32_t i = 0; i < cand->nnodes; i++) {
		const struct problem_node *n = &p->node[cand->node[i]];

		for (uint32_t k = 0; k < n->ninputs; k++)
			s->read[n->input[k]] = c + 1;
	}
	for (uint32_t i = 0; i < cand->ninputs; i++)
		if (s->read[cand->input[i].value] != c + 1)
			return err_set(err, ERR_INPUT,
			    "inputs[%" PRIu32 "]: value %" PRIu32
			    " is read by none of its nodes",
			    i, cand->input[i].value);
	return true;
}

/* Every value that goes in or out has a port. */
static bool
check_complete(const struct scrutiny *s, uint32_t c, struct err *err)
{
	const struct problem *p = s->p;
	const struct problem_candidate *cand = &p->candidate[c];

	for (uint32_t i = 0; i < cand->nnodes; i++) {
		const struct problem_node *n = &p->node[cand->node[i]];

		for (uint32_t k = 0; k < n->ninputs; k++)
			if (!holds(s, c, p->value[n->input[k]].producer)
			    && s->seen[n->input[k]] != c + 1)
				return err_set(err, ERR_INPUT,
				    "value %" PRIu32 " goes in without a port",
				    n->input[k]);
		for (uint32_t k = 0; k < n->noutputs; k++)
			if (s->seen[n->output[k]] != c + 1
			    && used_outside(s, c, n->output[k]))
				return err_set(err, ERR_INPUT,
				    "value %" PRIu32
				    " is used outside without a port",
				    n->output[k]);
	}
	return true;
}

/* Does no path leave the candidate and come back? Nodes are topological, so
 * only those between its first and its last can be on one. */
static bool
check_convex(struct scrutiny *s, uint32_t c, struct err *err)
{
	const struct problem *p = s->p;
	const struct problem_candidate *cand = &p->candidate[c];
	uint32_t last = cand->node[cand->nnodes - 1];

	if (last - cand->node[0] + 1 == cand->nnodes)
		return true;
	for (uint32_t n = cand->node[0]; n <= last; n++) {
		bool inside = holds(s, c, n);

		if (inside && s->reached[n] == c + 1)
			return err_set(err, ERR_INPUT,
			    "is not convex: a path leaves it and returns at "
			    "node %" PRIu32,
			    n);
		if (!inside && s->reached[n] != c + 1)
			continue;
		for (uint32_t k = 0; k < p->node[n].noutputs; k++) {
			uint32_t v = p->node[n].output[k];

			for (uint32_t i = p->user_start[v];
			     i < p->user_start[v + 1]; i++)
				if (!inside || !holds(s, c, p->user[i]))
					s->reached[p->user[i]] = c + 1;
		}
	}
	return true;
}

static bool
crosses_mark(const struct scrutiny *s, uint32_t c)
{
	const struct problem *p = s->p;
	const struct problem_candidate *cand = &p->candidate[c];

	for (uint32_t i = 0; i < cand->nnodes; i++)
		for (uint32_t k = 0; k < p->node[cand->node[i]].ninputs; k++) {
			uint32_t v = p->node[cand->node[i]].input[k];

			if (p->value[v].mark
			    && holds(s, c, p->value[v].producer))
				return true;
		}
	return false;
}

/* Marks what no constraint of its target lets through. */
static void
mark_hopeless(const struct scrutiny *s, uint32_t c)
{
	struct problem_candidate *cand = &s->p->candidate[c];
	const struct problem_target *t = &s->p->target[cand->target];
	uint32_t owner = target_owner(s->p, cand->target);

	cand->hopeless = crosses_mark(s, c)
	    || cand->resource > s->p->target[owner].capacity
	    || cand->nnodes > t->max_run_nodes || t->max_runs == 0
	    || t->launch == COST_NEVER;
}

static bool
check_candidates(struct problem *p, struct arena *a, struct err *err)
{
	struct scrutiny s = {p, arena_new(a, uint32_t, p->nnodes),
	    arena_new(a, uint32_t, p->nvalues),
	    arena_new(a, uint32_t, p->nvalues),
	    arena_new(a, uint32_t, p->nnodes)};

	for (uint32_t c = 0; c < p->ncandidates; c++) {
		const struct problem_candidate *cand = &p->candidate[c];

		if (!check_nodes(&s, c, err)
		    || !check_ports(
		        &s, c, cand->input, cand->ninputs, false, err)
		    || !check_ports(
		        &s, c, cand->output, cand->noutputs, true, err)
		    || !check_fed(&s, c, err) || !check_complete(&s, c, err)
		    || !check_convex(&s, c, err))
			return err_in(err, "candidate %" PRIu32, c);
		mark_hopeless(&s, c);
	}
	return true;
}

/* Who has brought a value into a local format knows it by the way in, and may be
 * asked for that format again: one more than are asked for at most. */
static uint32_t
count_demands(const struct problem *p, uint32_t asked)
{
	return mask_count(asked) + (asked & p->local ? 1 : 0);
}

static bool
check_demands(const struct problem *p, struct arena *a, struct err *err)
{
	uint32_t *asked = arena_new(a, uint32_t, p->nvalues);

	for (uint32_t v = 0; v < p->nvalues; v++)
		asked[v] = p->value[v].required;
	for (uint32_t c = 0; c < p->ncandidates; c++)
		for (uint32_t i = 0; i < p->candidate[c].ninputs; i++)
			asked[p->candidate[c].input[i].value] |= UINT32_C(1)
			    << p->candidate[c].input[i].format;
	for (uint32_t v = 0; v < p->nvalues; v++)
		if (count_demands(p, asked[v]) > DEMANDS_MAX)
			return err_set(err, ERR_UNSUPPORTED,
			    "value %" PRIu32 " is asked for in %" PRIu32
			    " formats%s; at most %u can be",
			    v, count_demands(p, asked[v]),
			    asked[v] & p->local ? ", a way in included" : "",
			    DEMANDS_MAX);
	return true;
}

bool
problem_check_candidates(struct problem *p, struct err *err)
{
	struct arena space;
	bool ok;

	arena_init(&space);
	ok = check_candidates(p, &space, err) && check_demands(p, &space, err);
	arena_release(&space);
	return ok;
}
