/* Makers of products with weights in blocks of few bits. */
#include "tests/fuzz/candidates/generate.h"

/* Zero points are none, codes, or numbers. */
static value_id
zeros(struct generator *g, int64_t columns, int64_t blocks, int64_t bits)
{
	const uint32_t k = rng_below(&g->r, 3);

	if (k == 0)
		return VALUE_NONE;
	if (k == 1)
		return make_uint8(
		    &g->m, DIMS(columns * ((blocks * bits + 7) / 8)));
	return new_constant(g, (int64_t[]){columns * blocks}, 1, 0, 15);
}

void
make_narrow(struct generator *g)
{
	const value_id x = take(g, one_in(g, 2) ? 3 : 2);
	const struct type *t = type_of(g, x);
	const int64_t bits = one_in(g, 3) ? 8 : 4;
	const int64_t block = INT64_C(16) << rng_below(&g->r, 4);
	const int64_t depth = t->dim[t->rank - 1], columns = any_channels(g);
	const int64_t blocks = (depth + block - 1) / block;
	struct attributes at = {.n = 0};
	value_id in[7] = {x};

	add_int(g, &at, "K", depth);
	add_int(g, &at, "N", columns);
	add_int(g, &at, "bits", bits);
	add_int(g, &at, "block_size", block);
	in[1] = make_uint8(&g->m, DIMS(columns, blocks, block * bits / 8));
	in[2] =
	    new_constant(g, (int64_t[]){columns * blocks}, 1, 0.001f, 0.01f);
	in[3] = zeros(g, columns, blocks, bits);
	in[4] = VALUE_NONE;
	in[5] = one_in(g, 2) ? VALUE_NONE
	                     : new_constant(g, (int64_t[]){columns}, 1, -1, 1);
	in[6] = VALUE_LAST;
	add_node(g, OP_MATMULNBITS, in, &at);
}
