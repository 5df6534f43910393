#include "plan/locks.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/order.h"
#include "plan/partition.h"

void
locks_init(struct locks *l, struct arena *a)
{
	*l = (struct locks){.arena = a};
	map_init(&l->by_name, a);
}

bool
locks_join(struct locks *l, const struct lock *how, const node_id *node,
    uint32_t n, struct err *err)
{
	uint32_t at = map_add(&l->by_name, how->name, strlen(how->name), l->n);
	struct lock *to;

	if (at == l->n) {
		l->lock = arena_grow(
		    l->arena, l->lock, &l->cap, l->n + 1, sizeof *l->lock);
		l->lock[l->n++] = *how;
	}
	to = &l->lock[at];
	if (to->targets != how->targets)
		return err_set(err, ERR_INPUT,
		    "its partition is on another target: %s '%s'", to->key,
		    to->value);
	to->node = arena_grow(
	    l->arena, to->node, &to->cap, to->nnodes + n, sizeof *to->node);
	for (uint32_t i = 0; i < n; i++)
		to->node[to->nnodes++] = node[i];
	return true;
}

/* The targets of a mask, as the user wrote them. */
static const char *
target_words(const struct mix *m, uint64_t targets, struct arena *a)
{
	const char *text = "";

	for (uint32_t t = 0; t < m->n; t++)
		if (targets >> t & 1)
			text = arena_printf(a, "%s%s%s", text, *text ? " " : "",
			    m->target[t].text);
	return text;
}

bool
locks_close(const struct locks *l, struct constraints *s, const struct graph *g,
    const struct mix *m, struct err *err)
{
	for (uint32_t i = 0; i < l->n; i++) {
		struct lock *from = &l->lock[i];
		struct constraint c = {.node = from->node,
		    .targets = from->targets,
		    .text = arena_printf(l->arena, "partition '%s' on %s",
		        from->name, target_words(m, from->targets, l->arena))};

		qsort(from->node, from->nnodes, sizeof *from->node, by_u32);
		for (uint32_t n = 0; n < from->nnodes; n++)
			if (n == 0 || from->node[n] != from->node[c.nnodes - 1])
				from->node[c.nnodes++] = from->node[n];
		if (!partition_add(s, c, g, l->arena, err))
			return false;
	}
	return true;
}
