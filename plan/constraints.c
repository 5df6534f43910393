#include "plan/constraints.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/nearest.h"

void
constraints_add(struct constraints *s, struct constraint c, struct arena *a)
{
	s->item = arena_grow(a, s->item, &s->cap, s->n + 1, sizeof *s->item);
	s->item[s->n++] = c;
}

static bool
stems_from(const struct graph *g, const struct node *n, const char *name)
{
	if (strcmp(n->name, name) == 0)
		return true;
	for (uint32_t i = 0; g->origin_table && i < n->norigins; i++)
		if (strcmp(g->origin_table->node[n->origin[i].onnx].name, name)
		    == 0)
			return true;
	return false;
}

static bool
is_meant(const struct graph *g, node_id id, const char *text, struct arena *a)
{
	const struct node *n = &g->node[id];
	char *end;
	unsigned long number;

	if (strncmp(text, "op:", 3) == 0)
		return strcmp(n->op_type, text + 3) == 0;
	if (text[0] == '#' && text[1] >= '0' && text[1] <= '9') {
		number = strtoul(text + 1, &end, 10);
		return *end == '\0' && number == id;
	}
	return text[0] != '\0'
	    && (stems_from(g, n, text)
	        || strcmp(node_label(g, id, a), text) == 0);
}

static const char *
near_node(const struct graph *g, const char *text, struct arena *a)
{
	struct nearest n = {.word = text};

	for (node_id id = 0; id < g->nnodes; id++)
		nearest_try(&n, node_label(g, id, a));
	return nearest_text(&n, a);
}

/* A node of that name that is in the model and no longer in the graph. */
static const struct onnx_node *
find_gone(const struct graph *g, const char *text)
{
	for (uint32_t i = 0; g->origin_table && i < g->origin_table->n; i++) {
		const struct onnx_node *n = &g->origin_table->node[i];

		if (n->fate != FATE_COVERED && text[0] != '\0'
		    && (strcmp(n->name, text) == 0
		        || (n->name[0] == '\0' && n->noutputs > 0
		            && strcmp(n->outputs[0], text) == 0)))
			return n;
	}
	return NULL;
}

bool
constraint_nodes(struct constraint *c, const char *text, const struct graph *g,
    struct arena *a, struct err *err)
{
	node_id *node = arena_new(a, node_id, g->nnodes);
	const struct onnx_node *gone;

	for (node_id n = 0; n < g->nnodes; n++)
		if (is_meant(g, n, text, a))
			node[c->nnodes++] = n;
	c->node = node;
	if (c->nnodes > 0)
		return true;
	if ((gone = find_gone(g, text)))
		return err_set(err, ERR_USAGE,
		    "node '%s' (%s) was %s before planning%s%s; nothing runs it",
		    text, gone->op_type,
		    gone->fate == FATE_FOLDED ? "folded into a constant"
		                              : "dropped",
		    gone->why ? ": " : "", gone->why ? gone->why : "");
	return err_set(err, ERR_USAGE,
	    "no node of the model is called '%s'%s (a name, #ID or op:TYPE)",
	    text, near_node(g, text, a));
}

/* "xnnpack, dnnl, host" */
static const char *
target_names(const struct mix *m, struct arena *a)
{
	const char *list = "";

	for (uint32_t t = 0; t < m->n; t++)
		list = arena_printf(
		    a, "%s%s%s", list, t ? ", " : "", m->target[t].text);
	return list;
}

bool
constraint_targets(struct constraint *c, const char *text, const struct mix *m,
    struct arena *a, struct err *err)
{
	struct nearest near = {.word = text};

	for (uint32_t t = 0; t < m->n; t++)
		if (strcmp(m->target[t].text, text) == 0
		    || strcmp(m->target[t].kind->name, text) == 0)
			c->targets |= UINT64_C(1) << t;
	if (c->targets)
		return true;
	for (uint32_t t = 0; t < m->n; t++)
		nearest_try(&near, m->target[t].kind->name);
	return err_set(err, ERR_USAGE,
	    "no target of the mix is called '%s'%s (%s)", text,
	    nearest_text(&near, a), target_names(m, a));
}

static bool
starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static bool
ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* The longest name of a target that `text` starts ("NAME:") or ends ("=NAME")
 * with; target names may hold ':' and '=' themselves. NULL: none. */
static const char *
target_in(const char *text, bool at_end, const struct mix *m, struct arena *a)
{
	const char *best = NULL;

	for (uint32_t i = 0; i < 2 * m->n; i++) {
		const struct target *t = &m->target[i / 2];
		const char *name = i % 2 ? t->kind->name : t->text;
		bool is = at_end
		    ? ends_with(text, arena_printf(a, "=%s", name))
		    : starts_with(text, arena_printf(a, "%s:", name));

		if (is && (!best || strlen(name) > strlen(best)))
			best = name;
	}
	return best;
}

uint64_t
constraint_prefix(
    const char *text, const struct mix *m, const char **rest, struct arena *a)
{
	const char *name = target_in(text, false, m, a);
	struct constraint c = {.nnodes = 0};
	struct err none = {.kind = ERR_NONE};

	*rest = text;
	if (!name || !constraint_targets(&c, name, m, a, &none))
		return 0;
	*rest = text + strlen(name) + 1;
	return c.targets;
}

bool
constraints_pin(struct constraints *s, const char *text, const struct graph *g,
    const struct mix *m, struct arena *a, struct err *err)
{
	const char *target = target_in(text, true, m, a), *node;
	struct constraint c = {.kind = CONSTRAIN_PIN};

	if (!target)
		return err_set(err, ERR_USAGE,
		    "pin '%s': want NODE=TARGET, with a target of the mix (%s)",
		    text, target_names(m, a));
	node = arena_strn(a, text, strlen(text) - strlen(target) - 1);
	c.text = arena_printf(a, "pin %s", text);
	if (!constraint_nodes(&c, node, g, a, err)
	    || !constraint_targets(&c, target, m, a, err))
		return err_in(err, "pin '%s'", text);
	constraints_add(s, c, a);
	return true;
}

bool
constraints_forbid(struct constraints *s, const char *text,
    const struct graph *g, const struct mix *m, struct arena *a,
    struct err *err)
{
	const char *target = target_in(text, false, m, a);
	struct constraint c = {.kind = CONSTRAIN_FORBID};

	if (!target)
		return err_set(err, ERR_USAGE,
		    "forbid '%s': want TARGET:NODE, with a target of the mix "
		    "(%s)",
		    text, target_names(m, a));
	c.text = arena_printf(a, "forbid %s", text);
	if (!constraint_nodes(&c, text + strlen(target) + 1, g, a, err)
	    || !constraint_targets(&c, target, m, a, err))
		return err_in(err, "forbid '%s'", text);
	constraints_add(s, c, a);
	return true;
}

bool
constraints_stop(struct constraints *s, const char *text, const struct graph *g,
    struct arena *a, struct err *err)
{
	struct constraint c = {.kind = CONSTRAIN_STOP};

	c.text = arena_printf(a, "stop-fusion %s", text);
	if (!constraint_nodes(&c, text, g, a, err))
		return err_in(err, "stop-fusion '%s'", text);
	constraints_add(s, c, a);
	return true;
}

/* The nodes of a prefix that are left out: names separated by commas. */
static bool
leave_out(struct constraints *s, const struct constraint *of, const char *list,
    const struct graph *g, struct arena *a, struct err *err)
{
	for (const char *at = list, *end; at; at = *end ? end + 1 : NULL) {
		struct constraint c = {
		    .kind = CONSTRAIN_FORBID, .targets = of->targets};
		const char *node;

		end = strchr(at, ',');
		if (!end)
			end = at + strlen(at);
		node = arena_strn(a, at, (size_t)(end - at));
		c.text = arena_printf(a, "%s without %s", of->text, node);
		if (!constraint_nodes(&c, node, g, a, err))
			return false;
		constraints_add(s, c, a);
	}
	return true;
}

bool
constraints_prefix(struct constraints *s, const char *text,
    const struct graph *g, const struct mix *m, struct arena *a,
    struct err *err)
{
	struct constraint c = {.kind = CONSTRAIN_REGIONS, .amount = 1};
	struct err whole = {.kind = ERR_NONE};
	const char *target = text, *list = NULL;

	if (!constraint_targets(&c, text, m, a, &whole)) {
		target = target_in(text, false, m, a);
		if (!target)
			return err_set(err, ERR_USAGE,
			    "prefix '%s': want TARGET or TARGET:NODE,..., with "
			    "a target of the mix",
			    text);
		list = text + strlen(target) + 1;
		constraint_targets(&c, target, m, a, err);
	}
	c.text = arena_printf(a, "prefix on %s", target);
	constraints_add(s, c, a);
	if (!leave_out(s, &c, list, g, a, err))
		return err_in(err, "prefix '%s'", text);
	c.kind = CONSTRAIN_INPUTS;
	c.text = arena_printf(a, "prefix on %s, fed by the model", target);
	constraints_add(s, c, a);
	return true;
}

static bool
covers(const struct problem_candidate *c, const struct constraint *k)
{
	uint32_t i = 0, n = 0;

	while (i < c->nnodes && n < k->nnodes)
		if (c->node[i] == k->node[n])
			return true;
		else if (c->node[i] < k->node[n])
			i++;
		else
			n++;
	return false;
}

static void
ban(const struct constraint *k, struct problem *p, bool inside)
{
	for (uint32_t i = 0; i < p->ncandidates; i++) {
		struct problem_candidate *c = &p->candidate[i];

		if ((k->targets >> c->target & 1) == inside && covers(c, k))
			c->banned = true;
	}
}

static void
mark(const struct constraint *k, const struct graph *g, struct problem *p)
{
	for (uint32_t i = 0; i < k->nnodes; i++) {
		const struct node *n = &g->node[k->node[i]];

		for (uint32_t o = 0; o < n->noutputs; o++)
			if (n->output[o] != VALUE_NONE)
				p->value[n->output[o]].mark = true;
	}
}

static uint32_t
lower(uint32_t limit, uint64_t amount)
{
	return amount < limit ? (uint32_t)amount : limit;
}

static void
limit(const struct constraint *k, struct problem_target *t)
{
	switch (k->kind) {
	case CONSTRAIN_REGIONS:
		t->max_runs = lower(t->max_runs, k->amount);
		break;
	case CONSTRAIN_REGION_NODES:
		t->max_run_nodes = lower(t->max_run_nodes, k->amount);
		break;
	case CONSTRAIN_INPUTS:
		t->fed_only = true;
		break;
	case CONSTRAIN_CAPACITY:
		if (k->amount < t->capacity)
			t->capacity = k->amount;
		break;
	case CONSTRAIN_PIN:
	case CONSTRAIN_FORBID:
	case CONSTRAIN_STOP:
	case CONSTRAIN_PARTITION:
		break;
	}
}

void
constraints_apply(const struct constraints *s, const bool *skip,
    const struct graph *g, struct problem *p)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct constraint *k = &s->item[i];

		if (skip && skip[i])
			continue;
		if (k->kind == CONSTRAIN_PIN || k->kind == CONSTRAIN_FORBID)
			ban(k, p, k->kind == CONSTRAIN_FORBID);
		else if (k->kind == CONSTRAIN_STOP)
			mark(k, g, p);
		else
			for (uint32_t t = 0; t < p->ntargets; t++)
				if (k->targets >> t & 1)
					limit(k, &p->target[t]);
	}
}
