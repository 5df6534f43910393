/* The order of the steps, innermost bodies first. */
#include "ir/normalize/tidy.h"

#include <string.h>

/* Forget implicit inputs that no body captures any more. */
static void
narrow_captures(struct graph *g, struct node *n, struct arena *scratch)
{
	uint32_t *slot = arena_new(scratch, uint32_t, n->nimplicit);
	uint32_t kept = 0;
	struct graph *body;
	value_id *input;

	for (uint32_t k = 0; (body = node_body(n, k)) != NULL; k++)
		for (uint32_t i = 0; i < body->ncaptures; i++)
			slot[body->capture[i].slot] = 1;
	input = arena_new(g->arena, value_id, n->ninputs + n->nimplicit);
	if (n->ninputs)
		memcpy(input, n->input, n->ninputs * sizeof *input);
	for (uint32_t i = 0; i < n->nimplicit; i++)
		if (slot[i]) {
			input[n->ninputs + kept] = n->input[n->ninputs + i];
			slot[i] = kept++;
		}
	n->input = input;
	n->nimplicit = kept;
	for (uint32_t k = 0; (body = node_body(n, k)) != NULL; k++) {
		struct capture *c =
		    arena_new(body->arena, struct capture, body->ncaptures);

		for (uint32_t i = 0; i < body->ncaptures; i++)
			c[i] = (struct capture){slot[body->capture[i].slot],
			    body->capture[i].inner};
		body->capture = c;
	}
}

/* Recursion is as deep as bodies nest, which the reader limits. */
static void
tidy_within(struct graph *g, const struct frame *around)
{
	struct arena scratch;

	if (g->as_read)
		return;
	arena_init(&scratch);
	for (node_id id = 0; id < g->nnodes; id++) {
		struct frame here = {g, &g->node[id], around};
		struct graph *body;

		/* what nobody knows may look at its bodies in its own way */
		for (uint32_t k = 0; g->node[id].op != OP_CUSTOM
		     && (body = node_body(&g->node[id], k)) != NULL;
		     k++)
			tidy_within(body, &here);
		if (g->node[id].nimplicit)
			narrow_captures(g, &g->node[id], &scratch);
	}
	inline_ifs(g, around, &scratch);
	sweep(g, drop_identities(g, around, &scratch), &scratch);
	arena_release(&scratch);
}

void
tidy_graph(struct graph *g)
{
	tidy_within(g, NULL);
}
