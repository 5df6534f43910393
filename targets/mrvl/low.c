#include "targets/mrvl/low.h"

#include <assert.h>
#include <string.h>

low_id
low_add(struct lowered *l, const struct low *op)
{
	l->op = (struct low *)arena_grow(
	    l->arena, l->op, &l->cap, l->n + 1, sizeof *op);
	l->op[l->n] = *op;
	l->op[l->n].in = (const low_id *)arena_copy(
	    l->arena, op->in, op->nin * sizeof *op->in);
	return l->n++;
}

const struct low *
low_get(const struct lowered *l, low_id id)
{
	assert(id < l->n);
	return &l->op[id];
}

bool
low_is_const(const struct lowered *l, low_id id)
{
	return low_get(l, id)->kind == LOW_CONST;
}

low_id
low_const(struct lowered *l, const struct packed *k)
{
	struct low op = {.kind = LOW_CONST,
	    .name = "constant",
	    .node = NODE_NONE,
	    .dtype = k->tensor->dtype,
	    .dims = k->dims,
	    .value = VALUE_NONE};

	op.packed = (const struct packed *)arena_copy(l->arena, k, sizeof *k);
	return low_add(l, &op);
}

low_id
low_with_inputs(struct lowered *l, low_id id, const low_id *in)
{
	struct low op = *low_get(l, id);

	if (memcmp(op.in, in, op.nin * sizeof *in) == 0)
		return id;
	op.in = in;
	return low_add(l, &op);
}

/* ---- walking ---- */

struct low_frame {
	low_id id;
	uint32_t next; /* argument to visit */
};

const low_id *
low_order(const struct lowered *l, uint32_t *n, struct arena *a)
{
	struct bitset seen = bitset_new(a, l->n + 1);
	low_id *order = arena_new(a, low_id, l->n);
	struct low_frame *stack =
	    arena_new(a, struct low_frame, (size_t)l->n + 1);
	uint32_t top = 0;

	*n = 0;
	for (uint32_t o = 0; o < l->noutputs; o++) {
		if (bitset_has(seen, l->output[o]))
			continue;
		bitset_add(seen, l->output[o]);
		stack[top++] = (struct low_frame){l->output[o], 0};
		while (top > 0) {
			struct low_frame *f = &stack[top - 1];
			const struct low *op = low_get(l, f->id);

			if (f->next == op->nin) {
				order[(*n)++] = f->id;
				top--;
				continue;
			}
			low_id in = op->in[f->next++];
			if (!bitset_has(seen, in)) {
				bitset_add(seen, in);
				stack[top++] = (struct low_frame){in, 0};
			}
		}
	}
	return order;
}

void
low_rewrite(struct lowered *l,
    low_id (*step)(
        struct lowered *l, low_id old, const low_id *in, void *context),
    void *context)
{
	struct arena scratch;
	uint32_t n, before = l->n;
	const low_id *order;
	low_id *new_id;

	arena_init(&scratch);
	order = low_order(l, &n, &scratch);
	new_id = arena_new(&scratch, low_id, before);
	for (uint32_t i = 0; i < n; i++) {
		const struct low *op = low_get(l, order[i]);
		low_id *in = arena_new(&scratch, low_id, op->nin);

		for (uint32_t k = 0; k < op->nin; k++)
			in[k] = new_id[op->in[k]];
		new_id[order[i]] = step(l, order[i], in, context);
	}
	for (uint32_t o = 0; o < l->noutputs; o++)
		l->output[o] = new_id[l->output[o]];
	arena_release(&scratch);
}
