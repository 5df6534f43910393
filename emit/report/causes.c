#include "emit/report/causes.h"

#include <stdlib.h>
#include <string.h>

#include "emit/report/text.h"

uint32_t
accelerator_of(const struct page_view *v)
{
	uint32_t other = PAGE_NONE;

	for (uint32_t t = v->ntargets; t-- > 0;) {
		if (v->target[t].is_host)
			continue;
		if (other == PAGE_NONE || v->target[t].launch_source
		    || strcmp(v->target[t].prices, "measured") != 0
		    || (!v->target[other].launch_source
		        && strcmp(v->target[other].prices, "measured") == 0))
			other = t;
	}
	return other;
}

static bool
can_run(const struct page_view *v, uint32_t composite, uint32_t target)
{
	for (uint32_t i = v->others_of.start[composite];
	     i < v->others_of.start[composite + 1]; i++) {
		const struct page_other *o = &v->other[v->others_of.item[i]];

		if (o->target == target && o->state != PAGE_FAILED)
			return true;
	}
	return false;
}

static struct cause
cause_of_node(const struct page_view *v, uint32_t node, uint32_t target)
{
	struct cause c = {.condition = "", .required = "", .actual = ""};
	const struct page_refusal *r;

	if (can_run(v, v->node[node].composite, target)) {
		c.kind = CAUSE_DEARER;
	} else if ((r = node_refusal(v, node, target))) {
		c.kind = CAUSE_REFUSED;
		c.condition = r->condition;
		c.required = r->required;
		c.actual = r->actual;
	} else {
		c.kind = CAUSE_NO_RULE;
		c.condition = v->node[node].op;
	}
	return c;
}

static void
find_causes(struct causes *c, const struct page_view *v)
{
	uint32_t cap = 0;
	struct map seen;

	map_init(&seen, v->arena);
	for (uint32_t i = 0; i < v->nnodes; i++) {
		struct cause one;
		const char *key;
		uint32_t at;

		c->of[i] = PAGE_NONE;
		if (v->node[i].composite == PAGE_NONE
		    || v->composite[v->node[i].composite].target == c->target)
			continue;
		one = cause_of_node(v, i, c->target);
		key = arena_printf(v->arena, "%d %s\n%s", (int)one.kind,
		    one.condition, one.required);
		at = map_add(&seen, key, strlen(key), c->n);
		if (at == c->n) {
			c->item = arena_grow(
			    v->arena, c->item, &cap, c->n + 1, sizeof *c->item);
			one.first = i;
			c->item[c->n++] = one;
		}
		c->item[at].nnodes++;
		c->item[at].varies |=
		    strcmp(one.actual, c->item[at].actual) != 0;
		c->of[i] = at;
	}
}

static int
more_nodes_first(const void *a, const void *b)
{
	const struct cause_op *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return strcmp(x->op, y->op);
}

void
ops_sort(struct cause_op *op, uint32_t n)
{
	if (n)
		qsort(op, n, sizeof *op, more_nodes_first);
}

struct cause_op *
count_ops(
    const struct page_view *v, const uint32_t *node, uint32_t n, uint32_t *nops)
{
	struct cause_op *op = NULL;
	uint32_t cap = 0;
	struct map seen;

	*nops = 0;
	map_init(&seen, v->arena);
	for (uint32_t i = 0; i < n; i++) {
		const char *name = v->node[node[i]].op;
		uint32_t at = map_add(&seen, name, strlen(name), *nops);

		if (at == *nops) {
			op = arena_grow(
			    v->arena, op, &cap, *nops + 1, sizeof *op);
			op[(*nops)++] = (struct cause_op){name, 0};
		}
		op[at].n++;
	}
	ops_sort(op, *nops);
	return op;
}

/* Conversions in a list, each once for a cause. */
static uint64_t
sum_moves(const struct page_view *v, const struct page_index *list,
    uint32_t composite, uint32_t *stamp, uint32_t mark)
{
	uint64_t sum = 0;

	for (uint32_t i = list->start[composite];
	     i < list->start[composite + 1]; i++) {
		uint32_t k = list->item[i];

		if (stamp[k] == mark)
			continue;
		stamp[k] = mark;
		sum += v->conversion[k].ns;
	}
	return sum;
}

/* What was counted for which cause: each composite and conversion once. */
struct tallied {
	uint32_t *composite, *conversion;
};

static void
sum_cause(struct cause *one, const struct page_view *v, const uint32_t *node,
    const struct tallied *t, uint32_t mark)
{
	one->op = count_ops(v, node, one->nnodes, &one->nops);
	for (uint32_t k = 0; k < one->nnodes; k++) {
		uint32_t id = v->node[node[k]].composite;

		if (t->composite[id] == mark)
			continue;
		t->composite[id] = mark;
		one->work += v->composite[id].work;
		one->moves += sum_moves(v, &v->read_by, id, t->conversion, mark)
		    + sum_moves(v, &v->made_by, id, t->conversion, mark);
	}
}

static struct tallied
tallied_new(const struct page_view *v)
{
	return (struct tallied){arena_new(v->arena, uint32_t, v->ncomposites),
	    arena_new(v->arena, uint32_t, v->nconversions)};
}

static void
sum_causes(struct causes *c, const struct page_view *v)
{
	const struct tallied t = tallied_new(v);

	for (uint32_t i = 0; i < c->n; i++)
		sum_cause(&c->item[i], v, &c->nodes.item[c->nodes.start[i]], &t,
		    i + 1);
}

struct cause
causes_joined(
    const struct causes *c, const struct page_view *v, enum cause_kind kind)
{
	const struct tallied t = tallied_new(v);
	uint32_t *node = arena_new(v->arena, uint32_t, v->nnodes);
	struct cause all = {.kind = kind,
	    .condition = "",
	    .required = "",
	    .actual = "",
	    .varies = true};

	for (uint32_t i = 0; i < v->nnodes; i++)
		if (c->of[i] != PAGE_NONE && c->item[c->of[i]].kind == kind)
			node[all.nnodes++] = i;
	all.first = all.nnodes ? node[0] : 0;
	sum_cause(&all, v, node, &t, 1);
	return all;
}

static int
costlier_cause_first(const void *a, const void *b)
{
	const struct cause *x = a, *y = b;

	if (x->work + x->moves != y->work + y->moves)
		return x->work + x->moves > y->work + y->moves ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

void
causes_init(struct causes *c, const struct page_view *v, uint32_t target)
{
	uint32_t *place;

	*c = (struct causes){.target = target};
	c->of = arena_new(v->arena, uint32_t, v->nnodes);
	if (v->has_others) {
		find_causes(c, v);
	} else {
		for (uint32_t i = 0; i < v->nnodes; i++)
			c->of[i] = PAGE_NONE;
	}
	c->nodes = page_index_new(v->arena, c->of, v->nnodes, c->n);
	sum_causes(c, v);
	if (c->n)
		qsort(c->item, c->n, sizeof *c->item, costlier_cause_first);
	place = arena_new(v->arena, uint32_t, c->n);
	for (uint32_t i = 0; i < c->n; i++)
		place[c->of[c->item[i].first]] = i;
	for (uint32_t i = 0; i < v->nnodes; i++)
		if (c->of[i] != PAGE_NONE)
			c->of[i] = place[c->of[i]];
	c->nodes = page_index_new(v->arena, c->of, v->nnodes, c->n);
}

/* Where nodes fail it in different ways: "feeds flatten: needs ...". */
static void
put_condition(FILE *f, const struct cause *c)
{
	char word[2] = "";

	for (const char *s = c->condition; *s; s++) {
		*word = *s == '_' ? ' ' : *s;
		html(f, "%s", word);
	}
	html(f, ": needs %s", c->required);
}

void
put_cause(FILE *f, const struct cause *c)
{
	if (c->kind == CAUSE_DEARER)
		html(f, "legal, costlier");
	else if (c->kind == CAUSE_NO_RULE)
		html(f, "no rule for %s", c->condition);
	else if (!c->varies && !strchr(c->actual, '\''))
		html(f, "%s, must be %s", c->actual, c->required);
	else
		put_condition(f, c);
}

void
put_ops(FILE *f, const struct cause_op *op, uint32_t n, uint32_t shown)
{
	uint32_t rest = 0;

	for (uint32_t i = 0; i < n; i++)
		if (i < shown)
			html(f, "%r%n %s", i ? ", " : "", op[i].n, op[i].op);
		else
			rest += op[i].n;
	if (rest)
		html(f, " and %n more", rest);
}
