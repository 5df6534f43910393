/* Constraints nobody vouches for are refused, or speak of nodes and targets
 * that exist. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "ir/base/arena.h"
#include "plan/constraints.h"
#include "tests/support/build.h"
#include "tests/support/infile.h"

#define NNODES 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct graph *
chain(struct arena *a)
{
	struct graph *g = graph_new(a, "g");
	value_id v = build_input(g, "x", DT_FLOAT, DIMS(1, 4));

	for (node_id i = 0; i < NNODES; i++) {
		v = build_node(g, i % 2 ? OP_ABS : OP_RELU, 13, &v, 1);
		graph_node(g, i)->name = arena_printf(a, "n%u", (unsigned)i);
	}
	return g;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {.kind = ERR_NONE};
	struct constraints s = {.n = 0};
	const char *host = "host";
	struct arena a;
	struct mix mix;

	arena_init(&a);
	if (!mix_open(&mix, &host, 1, &a, &err))
		abort();
	if (constraints_read(&s, infile(data, size), chain(&a), &mix, &a, &err))
		for (uint32_t i = 0; i < s.n; i++) {
			const struct constraint *c = &s.item[i];

			for (uint32_t k = 0; k < c->nnodes; k++) {
				assert(c->node[k] < NNODES);
				assert(k == 0 || c->node[k - 1] < c->node[k]);
			}
			assert(c->targets >> mix.n == 0);
		}
	arena_release(&a);
	return 0;
}
