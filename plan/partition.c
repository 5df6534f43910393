#include "plan/partition.h"

#include <inttypes.h>

static bool
is_one_target(uint64_t targets)
{
	return targets && (targets & (targets - 1)) == 0;
}

/* A node of both lists, or NODE_NONE. Lists ascend. */
static node_id
common_node(const struct constraint *x, const struct constraint *y)
{
	uint32_t i = 0, k = 0;

	while (i < x->nnodes && k < y->nnodes)
		if (x->node[i] == y->node[k])
			return x->node[i];
		else if (x->node[i] < y->node[k])
			i++;
		else
			k++;
	return NODE_NONE;
}

static bool
is_apart(const struct constraints *s, const struct constraint *c,
    const struct graph *g, struct arena *a, struct err *err)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		node_id both;

		if (s->item[i].kind != CONSTRAIN_PARTITION)
			continue;
		n++;
		both = common_node(&s->item[i], c);
		if (both != NODE_NONE)
			return err_set(err, ERR_INPUT,
			    "node '%s' is in %s as well",
			    node_label(g, both, a), s->item[i].text);
	}
	if (n >= TARGETS_MAX / 2)
		return err_set(err, ERR_UNSUPPORTED,
		    "more than %u locked partitions", TARGETS_MAX / 2);
	return true;
}

bool
partition_add(struct constraints *s, struct constraint c, const struct graph *g,
    struct arena *a, struct err *err)
{
	struct uses uses = graph_uses(g, a);

	c.kind = CONSTRAIN_PARTITION;
	if (!is_one_target(c.targets))
		return err_set(err, ERR_INPUT,
		    "%s: several targets of the mix are meant; write the one "
		    "as in -t",
		    c.text);
	if (!is_apart(s, &c, g, a, err))
		return err_in(err, "%s", c.text);
	if (!nodes_are_convex(g, &uses, c.node, c.nnodes, a))
		return err_set(err, ERR_INPUT,
		    "%s: a path leaves its %" PRIu32
		    " nodes and comes back: it cannot run as one",
		    c.text, c.nnodes);
	constraints_add(s, c, a);
	return true;
}

static uint32_t
target_of(const struct constraint *k)
{
	uint32_t t = 0;

	while (!(k->targets >> t & 1))
		t++;
	return t;
}

/* The target of a partition: as the one it is part of, but for its own run. A
 * limit on the number of regions is shared, first come first served. */
static void
add_part(struct problem *p, const struct constraint *k)
{
	uint32_t owner = target_of(k);
	struct problem_target *whole = &p->target[owner];
	struct problem_target *part = &p->target[p->ntargets++];

	*part = *whole;
	part->name = k->text;
	part->max_runs = 1;
	part->capacity = UINT64_MAX;
	part->part_of = owner + 1;
	if (whole->max_runs == 0)
		part->max_runs = 0;
	else if (whole->max_runs != NO_LIMIT)
		whole->max_runs--;
}

/* Candidates inside move to the part; others that touch it go. */
static void
take_candidates(
    struct problem *p, const bool *inside, uint32_t owner, uint32_t part)
{
	for (uint32_t i = 0; i < p->ncandidates; i++) {
		struct problem_candidate *c = &p->candidate[i];
		uint32_t n = 0;

		for (uint32_t k = 0; k < c->nnodes; k++)
			n += inside[c->node[k]];
		if (n == 0)
			continue;
		if (n == c->nnodes && c->target == owner)
			c->target = part;
		else
			c->banned = true;
	}
}

void
partitions_apply(const struct constraints *s, const bool *skip,
    struct problem *p, struct arena *a)
{
	struct problem_target *target =
	    arena_new(a, struct problem_target, (size_t)p->ntargets + s->n);

	for (uint32_t t = 0; t < p->ntargets; t++)
		target[t] = p->target[t];
	p->target = target;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct constraint *k = &s->item[i];
		struct arena_mark mark = arena_mark(a);
		bool *inside;

		if (k->kind != CONSTRAIN_PARTITION || (skip && skip[i]))
			continue;
		inside = arena_new(a, bool, p->nnodes);
		for (uint32_t n = 0; n < k->nnodes; n++)
			inside[k->node[n]] = true;
		add_part(p, k);
		take_candidates(p, inside, target_of(k), p->ntargets - 1);
		arena_back(a, mark);
	}
}
