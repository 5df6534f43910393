/* Products with weights of few bits, for tests of kinds that compute them. */
#ifndef TESTS_SUPPORT_NARROW_H
#define TESTS_SUPPORT_NARROW_H

#include "tests/support/quantized.h"

static inline value_id
of_halves(value_id v)
{
	graph_value(m.graph, v)->type.dtype = DT_FLOAT16;
	return v;
}

static inline value_id
halves(value_id v)
{
	const struct tensor *t = graph_value(m.graph, v)->constant;
	struct tensor *h = arena_new(&arena, struct tensor, 1);
	uint16_t *to = arena_new(&arena, uint16_t, t->count);

	for (size_t i = 0; i < t->count; i++)
		to[i] = f32_to_f16(((const float *)t->data)[i]);
	*h = tensor_view(DT_FLOAT16, t->rank, t->dim, to);
	return graph_add_constant(
	    m.graph, arena_printf(&arena, "h%u", (unsigned)v), h);
}

/* A product of rows by weights [depth][columns] in blocks of `block` codes, in halves
 * or not; zero points are none, codes, numbers. */
struct block_product {
	int64_t bits, block, rows, depth, columns;
	bool half;
	int zeros;
};

static inline void
make_blocks(const struct block_product *p)
{
	const int64_t blocks = (p->depth + p->block - 1) / p->block;
	const struct attr attr[] = {ATTR_OF_INT("K", p->depth),
	    ATTR_OF_INT("N", p->columns), ATTR_OF_INT("bits", p->bits),
	    ATTR_OF_INT("block_size", p->block)};
	value_id x = make_input(&m, DIMS(1, p->rows, p->depth));
	value_id w = codes(DIMS(p->columns, blocks, p->block * p->bits / 8));
	value_id s = make_constant(&m, DIMS(p->columns * blocks), 0.01f, 0.1f);
	value_id z = VALUE_NONE, b = make_constant(&m, DIMS(p->columns), -1, 1);

	if (p->zeros == 1)
		z = codes(DIMS(p->columns * ((blocks * p->bits + 7) / 8)));
	if (p->zeros == 2)
		z = make_constant(&m, DIMS(p->columns * blocks), 3, 9);
	if (p->half) {
		x = of_halves(x);
		s = halves(s);
		b = halves(b);
		z = p->zeros == 2 ? halves(z) : z;
	}
	x = MAKE_WITH(&m, MATMULNBITS, attr, x, w, s, z, VALUE_NONE, b);
	make_output(&m, p->half ? of_halves(x) : x);
}

#endif
