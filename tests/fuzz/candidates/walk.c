#include "tests/fuzz/candidates/walk.h"

#include <stdio.h>
#include <string.h>

#include "targets/target.h"
#include "tests/fuzz/candidates/generate.h"
#include "tests/fuzz/candidates/values.h"

/* ---- operators ---- */

/* Operators a pattern names, as bits. */
static void
add_operators(const struct pattern *p, struct bitset ops)
{
	if (p->kind == PATTERN_NODE || p->kind == PATTERN_MAYBE)
		bitset_add(ops, p->op);
	for (uint32_t i = 0; i < p->nargs; i++)
		add_operators(p->arg[i], ops);
}

static struct bitset
library_operators(struct arena *a)
{
	struct bitset ops = bitset_new(a, NOP);
	uint32_t nkinds;
	const struct target_kind *const *kind = target_kinds(&nkinds);

	for (uint32_t i = 0; i < nkinds; i++)
		for (uint32_t r = 0;
		     strcmp(kind[i]->name, "host") != 0 && r < kind[i]->nrules;
		     r++)
			add_operators(kind[i]->rule[r].pattern, ops);
	return ops;
}

static bool
has_row(enum op op, const char *name)
{
	for (uint32_t i = 0; i < nvalues; i++)
		if (values[i].op == op && strcmp(values[i].name, name) == 0)
			return true;
	return false;
}

const char *
attribute_without_values(struct arena *a)
{
	static const struct {
		const char *op, *name;
		uint32_t last;
	} schema[] = {
#define ATTR(o, text, kind, first, final, required) {o, text, final},
#include "ir/schema.def"
	};
	const struct bitset ops = library_operators(a);

	for (size_t i = 0; i < sizeof schema / sizeof *schema; i++)
		for (uint32_t op = 0; op < NOP; op++)
			if (bitset_has(ops, op) && schema[i].last == 0
			    && strcmp(op_get(op)->type, schema[i].op) == 0
			    && !has_row((enum op)op, schema[i].name))
				return arena_printf(a, "%s of %s",
				    schema[i].name, schema[i].op);
	return NULL;
}

/* ---- what there is to see ---- */

#define VALUES_MOST 8u /* of one attribute */
#define OUTPUTS_MOST 8u

/* Models in which it occurred; what is enough. */
#define ENOUGH 2

struct seen {
	uint32_t (*value)[VALUES_MOST]; /* [nvalues] */
	uint32_t (*output)[OUTPUTS_MOST]; /* [NOP] */
};

/* True when there was less than enough of it. */
static bool
see(uint32_t *count)
{
	return ++*count <= ENOUGH;
}

static bool
see_attr(struct seen *s, const struct node *n, const struct attr *attr)
{
	bool is_news = false;

	for (uint32_t i = 0; i < nvalues; i++) {
		if (values[i].op != n->op
		    || strcmp(values[i].name, attr->name) != 0)
			continue;
		for (uint32_t k = 0; k < (values[i].n ? values[i].n : 1); k++)
			if (values_match(&values[i], k, attr))
				is_news |= see(&s->value[i][k]);
	}
	return is_news;
}

static bool
see_model(struct seen *s, const struct graph *g)
{
	bool is_news = false;

	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = graph_node(g, id);

		for (uint32_t i = 0; i < n->nattrs; i++)
			is_news |= see_attr(s, n, &n->attr[i]);
		for (uint32_t i = 1; i < n->noutputs && i < OUTPUTS_MOST; i++)
			if (n->output[i] != VALUE_NONE)
				is_news |= see(&s->output[n->op][i]);
	}
	return is_news;
}

/* ---- what was not seen ---- */

/* Outputs that no model of ours has, and why. */
static const struct {
	enum op op;
	const char *why;
} unread[] = {
    {OP_BATCHNORMALIZATION, "its further outputs are of training"},
};

static bool
has_reason(enum op op)
{
	for (size_t i = 0; i < sizeof unread / sizeof *unread; i++)
		if (unread[i].op == op)
			return true;
	return false;
}

static uint32_t
count_missing(const struct seen *s, struct bitset ops)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < nvalues; i++)
		for (uint32_t k = 0; k < (values[i].n ? values[i].n : 1); k++) {
			if (s->value[i][k] || !bitset_has(ops, values[i].op))
				continue;
			printf("value %u of %s of %s is in no model\n", k,
			    values[i].name, op_get(values[i].op)->type);
			n++;
		}
	for (uint32_t op = 0; op < NOP; op++)
		for (uint32_t i = 1; bitset_has(ops, op) && i < OUTPUTS_MOST
		     && i < op_get((enum op)op)->max_outputs;
		     i++) {
			if (s->output[op][i] || has_reason((enum op)op))
				continue;
			printf("output %u of %s is in no model\n", i,
			    op_get((enum op)op)->type);
			n++;
		}
	return n;
}

/* TUNING: the rarest value comes up in one of some thousand. */
#define SEEDS 20000u

const uint32_t *
walk_seeds(uint32_t *n, uint32_t *missing, struct arena *a)
{
	struct seen s = {arena_alloc(a, nvalues * sizeof *s.value),
	    arena_alloc(a, NOP * sizeof *s.output)};
	uint32_t *seed = NULL, cap = 0;

	memset(s.value, 0, nvalues * sizeof *s.value);
	memset(s.output, 0, NOP * sizeof *s.output);
	*n = 0;
	for (uint32_t i = 0; i < SEEDS; i++) {
		struct generator g;
		struct arena model;

		arena_init(&model);
		if (generate(&g, i, &model) && see_model(&s, g.m.graph)) {
			seed = arena_grow(a, seed, &cap, *n + 1, sizeof *seed);
			seed[(*n)++] = i;
		}
		arena_release(&model);
	}
	*missing = count_missing(&s, library_operators(a));
	return seed;
}
