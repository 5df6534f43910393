#include "targets/pattern.h"

#include <string.h>

const struct match *
match_keep(const struct match *m, struct arena *a)
{
	struct match *kept = arena_new(a, struct match, 1);

	*kept = *m;
	kept->node = (const node_id *)arena_copy(
	    a, m->node, m->nnodes * sizeof *m->node);
	kept->capture = (const struct capture_of *)arena_copy(
	    a, m->capture, m->ncaptures * sizeof *m->capture);
	return kept;
}

static const struct capture_of *
find_capture(const struct match *m, const char *name)
{
	for (uint32_t i = 0; i < m->ncaptures; i++)
		if (strcmp(m->capture[i].name, name) == 0)
			return &m->capture[i];
	return NULL;
}

node_id
match_node(const struct match *m, const char *name)
{
	const struct capture_of *c = find_capture(m, name);

	return c ? c->node : NODE_NONE;
}

value_id
match_value(const struct match *m, const char *name)
{
	const struct capture_of *c = find_capture(m, name);

	return c ? c->value : VALUE_NONE;
}

const struct idiom_match *
match_idiom(const struct match *m, uint32_t i)
{
	for (uint32_t k = 0; k < m->ncaptures; k++)
		if (m->capture[k].idiom && i-- == 0)
			return m->capture[k].idiom;
	return NULL;
}

/* The idiom that the whole match is. */
static const struct idiom_match *
match_as_idiom(const struct match *m)
{
	const struct idiom_match *found;

	for (uint32_t i = 0; (found = match_idiom(m, i)) != NULL; i++)
		if (found->root == m->root)
			return found;
	return NULL;
}

const struct node *
match_as_node(const struct match *m, const struct graph *g)
{
	const struct idiom_match *found = match_as_idiom(m);

	return found ? found->as : graph_node(g, m->root);
}

const struct graph *
match_graph(const struct match *m, const struct graph *g)
{
	const struct idiom_match *found = match_as_idiom(m);

	return found ? found->graph : g;
}

bool
match_has(const struct match *m, node_id n)
{
	uint32_t low = 0, high = m->nnodes;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (m->node[mid] == n)
			return true;
		if (m->node[mid] < n)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

/* Operators whose two inputs may be swapped without changing the result. */
bool
op_is_commutative(enum op op)
{
	switch (op) {
	case OP_ADD:
	case OP_MUL:
	case OP_AND:
	case OP_OR:
	case OP_XOR:
	case OP_EQUAL:
	case OP_MAX:
	case OP_MIN:
	case OP_MEAN:
	case OP_SUM:
	case OP_BITWISEAND:
	case OP_BITWISEOR:
	case OP_BITWISEXOR:
		return true;
	default:
		return false;
	}
}

void
pattern_roots(
    const struct pattern *p, const struct idioms *idioms, struct bitset ops)
{
	switch (p->kind) {
	case PATTERN_NODE:
		bitset_add(ops, p->op);
		break;
	case PATTERN_OPERATOR:
		for (uint32_t op = 0; op < NOP; op++)
			bitset_add(ops, op);
		break;
	case PATTERN_MAYBE:
		bitset_add(ops, p->op);
		pattern_roots(p->arg[0], idioms, ops);
		break;
	case PATTERN_EITHER:
	case PATTERN_AS:
		for (uint32_t i = 0; i < p->nargs; i++)
			pattern_roots(p->arg[i], idioms, ops);
		break;
	case PATTERN_IDIOM:
		idioms_roots(idioms, p->idiom, ops);
		break;
	default: /* a bare value has no root node */
		break;
	}
}
