#include "plan/tree.h"

#include <assert.h>
#include <stdlib.h>

#include "ir/base/order.h"
#include "search/cover.h"
#include "search/problem_index.h"

static bool
is_of_kind(const struct tree *t, uint32_t target)
{
	return t->mix->target[target].kind == t->kind;
}

/* What candidates need by themselves. False: nothing of the kind keeps anything,
 * or needs more than there is. */
static bool
read_memory(struct tree *t, const struct graph *g)
{
	bool any = false;

	t->limit = UINT64_MAX;
	for (uint32_t i = 0; i < t->candidates->n; i++) {
		const struct candidate *c = &t->candidates->candidate[i];
		const struct region r =
		    region_of(&t->mix->target[c->target], g, &c, 1);
		struct memory m;

		if (!is_of_kind(t, c->target))
			continue;
		t->kind->memory(&r, &m);
		t->scratch[i] = m.scratch;
		t->limit = m.limit < t->limit ? m.limit : t->limit;
		any |= c->resident > 0 || m.scratch > m.limit;
	}
	return any;
}

/* Those that need more than there is are in no plan: above all levels. */
static void
list_levels(struct tree *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->candidates->n; i++)
		if (is_of_kind(t, t->candidates->candidate[i].target)
		    && t->scratch[i] <= t->limit)
			t->level[n++] = t->scratch[i];
	qsort(t->level, n, sizeof *t->level, by_u64);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || t->level[i] != t->level[i - 1])
			t->level[t->nlevels++] = t->level[i];
	t->nlevels += n == 0; /* the level 0, of plans without the device */
}

void
tree_init(struct tree *t, const struct plan *about, const struct problem *p,
    struct arena *a)
{
	bool *banned = arena_new(a, bool, p->ncandidates);

	*t = (struct tree){.mix = about->mix,
	    .candidates = about->candidates,
	    .banned = banned,
	    .arena = a};
	for (uint32_t c = 0; c < p->ncandidates; c++)
		banned[c] = p->candidate[c].banned;
	for (uint32_t i = 0; i < t->mix->n && !t->kind; i++)
		if (t->mix->target[i].kind->memory)
			t->kind = t->mix->target[i].kind;
	if (!t->kind)
		return;
	t->scratch = arena_new(a, uint64_t, t->candidates->n);
	t->level = arena_new(a, uint64_t, t->candidates->n);
	if (read_memory(t, about->graph))
		list_levels(t);
	else
		t->kind = NULL;
}

void
tree_put(struct tree *t, struct plan_node node)
{
	assert(node.whole || node.low <= node.high);
	assert(node.whole || node.alone || node.high < t->nlevels);
	assert(!node.guess || node.capacity);
	t->open = arena_grow(
	    t->arena, t->open, &t->open_cap, t->nopen + 1, sizeof *t->open);
	t->open[t->nopen++] = node;
}

bool
tree_take(struct tree *t, struct plan_node *out)
{
	uint32_t best = 0;

	if (t->nopen == 0)
		return false;
	for (uint32_t i = 1; i < t->nopen; i++)
		if (t->open[i].guess > t->open[best].guess
		    || (t->open[i].guess == t->open[best].guess
		        && t->open[i].bound < t->open[best].bound))
			best = i;
	*out = t->open[best];
	t->open[best] = t->open[--t->nopen];
	return true;
}

void
tree_close(struct tree *t, struct plan_node node, uint64_t fell)
{
	assert(!node.guess); /* (X2) */
	assert(node.fell <= fell);
	t->closed = arena_grow(t->arena, t->closed, &t->closed_cap,
	    t->nclosed + 1, sizeof *t->closed);
	if (!node.whole) { /* that one is bounded anew, not searched */
		node.bound = node_bound(&node, fell);
		node.fell = fell;
	}
	t->closed[t->nclosed++] = node;
}

bool
tree_reopen(struct tree *t, uint64_t fell)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < t->nclosed; i++) {
		struct plan_node n = t->closed[i];

		if (n.fell == fell) {
			t->closed[kept++] = n;
			continue;
		}
		n.quick = true;
		tree_put(t, n);
	}
	t->nclosed = kept;
	return t->nopen > 0;
}

void
tree_limit(
    const struct tree *t, const struct plan_node *node, struct problem *p)
{
	const bool levels = t->kind && !node->whole && !node->alone;

	for (uint32_t i = 0; i < t->mix->n; i++) {
		struct problem_target *to = &p->target[i];
		uint64_t room =
		    levels ? t->limit - t->level[node->low] : UINT64_MAX;

		if (levels && is_of_kind(t, i) && to->capacity > room)
			to->capacity = room;
		if (node->alone && is_of_kind(t, i) && to->max_runs > 1)
			to->max_runs = 1;
		assert(!node->guess || node->capacity);
		if (node->guess && node->capacity[i] < to->capacity)
			to->capacity = node->capacity[i];
	}
	for (uint32_t c = 0; c < p->ncandidates; c++)
		p->candidate[c].banned = t->banned[c]
		    || (levels && t->scratch[c] > t->level[node->high]);
}

bool
tree_overfull(const struct tree *t, const struct problem *p,
    const struct cover *c, struct device_use *use)
{
	*use = (struct device_use){.kind = t->kind, .limit = t->limit};
	for (uint32_t i = 0; i < c->nsteps; i++) {
		uint32_t id = c->step[i].candidate;

		if (!is_of_kind(t, t->candidates->candidate[id].target))
			continue;
		use->resident += p->candidate[id].resource;
		if (t->scratch[id] > use->scratch)
			use->scratch = t->scratch[id];
	}
	return use->resident > t->limit
	    || use->scratch > t->limit - use->resident;
}

/* At `cut` and above the memory left is too little for what the cover keeps;
 * below, what needs most in it is banned. Of such cuts, the middle one. */
void
tree_split(
    struct tree *t, const struct plan_node *node, const struct device_use *use)
{
	struct plan_node below = *node, above;
	uint32_t first = node->low + 1, last = node->high;

	assert(node->low < node->high && !node->alone && !node->whole);
	while (last > first && t->level[last] > use->scratch)
		last--;
	while (first < last && t->limit - t->level[first] >= use->resident)
		first++;
	below.quick = true;
	above = below;
	below.high = (first + last) / 2 - 1;
	above.low = (first + last) / 2;
	assert(below.low <= below.high && above.low == below.high + 1);
	tree_put(t, below);
	tree_put(t, above);
}

static bool
is_light(const struct tree *t, const struct problem *p, uint32_t candidate)
{
	return is_of_kind(t, t->candidates->candidate[candidate].target)
	    && p->candidate[candidate].resource == 0;
}

bool
tree_relax_alone(const struct tree *t, const struct problem *p,
    struct problem *out, cost_ns *launch, struct err *err)
{
	uint32_t n = p->ncandidates;

	*launch = COST_NEVER;
	problem_derive_more(out, p, n, 1, t->arena);
	out->target[out->ntargets++] =
	    (struct problem_target){.name = t->kind->name,
	        .max_runs = NO_LIMIT,
	        .max_run_nodes = NO_LIMIT,
	        .capacity = UINT64_MAX};
	for (uint32_t c = 0; c < n; c++) {
		if (!is_light(t, p, c))
			continue;
		if (p->target[p->candidate[c].target].launch < *launch)
			*launch = p->target[p->candidate[c].target].launch;
		out->candidate[out->ncandidates] = p->candidate[c];
		out->candidate[out->ncandidates++].target = p->ntargets;
	}
	return problem_index(out, t->arena, err)
	    || err_in(err, "search problem of one region");
}
