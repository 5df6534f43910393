/* Functions of single elements, and moves of blocks. */
#include <math.h>
#include <string.h>

#include "targets/idiom_write.h"

/* If a Clip was caught, has it these bounds? */
static bool
clip_is(const struct idiom_writer *w, const char *name, double want)
{
	const struct node *n = caught_node(w, name);
	double low, high;

	return n == NULL
	    || (clip_bounds(w, n, &low, &high) && low == 0 && high == want);
}

static bool
write_hard_sigmoid(struct idiom_writer *w)
{
	double alpha = 1 / 6., beta = 0.5;

	if (caught(w, "to_1") != VALUE_NONE
	    && (!caught_number(w, "alpha", &alpha)
	        || !caught_number(w, "beta", &beta)))
		return false;
	write_float(w, "alpha", alpha);
	write_float(w, "beta", beta);
	return true;
}

static bool
gate_is(const struct idiom_writer *w)
{
	const struct node *n = caught_node(w, "gate");

	return n == NULL
	    || (fabsf(attr_float_or(n, "alpha", 0.2f) - 1 / 6.f) < 1e-6f
	        && fabsf(attr_float_or(n, "beta", 0.5f) - 0.5f) < 1e-6f);
}

static bool
write_alpha(struct idiom_writer *w)
{
	double alpha = 1;

	if (caught(w, "alpha") != VALUE_NONE
	    && !caught_number(w, "alpha", &alpha))
		return false;
	write_float(w, "alpha", alpha);
	return true;
}

bool
write_function(struct idiom_writer *w)
{
	write_input(w, 0, w->x);
	if (!clip_is(w, "to_6", 6) || !clip_is(w, "to_1", 1) || !gate_is(w))
		return false;
	switch (w->kind) {
	case IDIOM_GELU_TANH:
		write_text(w, "approximate", "tanh");
		return true;
	case IDIOM_SWISH:
		return write_alpha(w);
	case IDIOM_HARD_SIGMOID:
		return write_hard_sigmoid(w);
	default:
		return true;
	}
}

/* ---- moves ---- */

/* How a tensor [n, c, h, w] is cut up and put together: what each dimension of
 * the cut one is, and in which order they are put. */
enum part { N, C, H, W, B, G, HW, NPARTS }; /* blocks; groups; an image */
static const struct block_move {
	enum idiom kind;
	uint32_t rank;
	enum part cut[6];
	int64_t perm[6];
	const char *mode; /* where blocks stand among channels */
} move[] = {
    {IDIOM_PIXEL_SHUFFLE, 6, {N, C, B, B, H, W}, {0, 1, 4, 2, 5, 3}, "CRD"},
    {IDIOM_PIXEL_SHUFFLE, 6, {N, B, B, C, H, W}, {0, 3, 4, 1, 5, 2}, "DCR"},
    {IDIOM_PIXEL_UNSHUFFLE, 6, {N, C, H, B, W, B}, {0, 3, 5, 1, 2, 4}, "DCR"},
    {IDIOM_PIXEL_UNSHUFFLE, 6, {N, C, H, B, W, B}, {0, 1, 3, 5, 2, 4}, "CRD"},
    {IDIOM_CHANNEL_SHUFFLE, 5, {N, G, C, H, W}, {0, 2, 1, 3, 4}, NULL},
    {IDIOM_CHANNEL_SHUFFLE, 4, {N, G, C, HW}, {0, 2, 1, 3}, NULL},
};
#define NMOVES (sizeof move / sizeof *move)

/* What each part measures: x, cut and the result must agree on it. */
static bool
read_sizes(const struct block_move *m, const struct type *x,
    const struct type *cut, int64_t size[NPARTS])
{
	for (uint32_t p = 0; p < NPARTS; p++)
		size[p] = 0;
	for (uint32_t i = 0; i < m->rank; i++) {
		int64_t *s = &size[m->cut[i]];

		if (*s != 0 && *s != cut->dim[i])
			return false;
		*s = cut->dim[i];
	}
	return size[N] == x->dim[0] && size[C] > 0
	    && (size[B] > 1 || size[G] > 1);
}

/* Does the move make `from` of `to`: depth of space? */
static bool
shapes_fit(const struct block_move *m, const struct type *x,
    const struct type *y, const int64_t size[NPARTS])
{
	const int64_t b = size[B] ? size[B] : 1, g = size[G] ? size[G] : 1;
	const bool shrinks = m->kind == IDIOM_PIXEL_UNSHUFFLE;
	const int64_t deep[4] = {
	    size[N], size[C] * b * b * g, size[H], size[W]};
	const int64_t wide[4] = {
	    size[N], size[C] * g, size[H] * b, size[W] * b};

	if (size[HW])
		return size[HW] == x->dim[2] * x->dim[3]
		    && x->dim[1] == size[G] * size[C] && dims_are(y, 4, x->dim);
	return dims_are(x, 4, shrinks ? wide : deep)
	    && dims_are(y, 4, shrinks ? deep : wide);
}

static bool
perm_is(const struct node *n, uint32_t rank, const int64_t *want)
{
	uint32_t count;
	const int64_t *perm = attr_ints(n, "perm", &count);

	return perm && count == rank
	    && memcmp(perm, want, rank * sizeof *want) == 0;
}

/* Which channel each channel of the result is. */
static void
write_order(struct idiom_writer *w, int64_t groups, int64_t each)
{
	const int64_t n = groups * each;
	int64_t *from = arena_new(w->arena, int64_t, (size_t)n);
	int64_t *dim = (int64_t *)arena_copy(w->arena, &n, sizeof n);

	for (int64_t i = 0; i < n; i++)
		from[i] = i % groups * each + i / groups;
	write_input(
	    w, 1, write_constant(w, tensor_view(DT_INT64, 1, dim, from)));
	write_int(w, "axis", 1);
}

static void
write_move(struct idiom_writer *w, const struct block_move *m,
    const int64_t size[NPARTS])
{
	w->kind = m->kind;
	write_input(w, 0, w->x);
	if (m->kind == IDIOM_CHANNEL_SHUFFLE)
		write_order(w, size[G], size[C]);
	else
		write_int(w, "blocksize", size[B]);
	if (m->mode)
		write_text(w, "mode", m->mode);
}

bool
write_moves(struct idiom_writer *w)
{
	const struct type *x = &graph_value(w->graph, w->x)->type;
	const struct type *cut = caught_type(w, "split");
	const struct type *y = &graph_value(w->graph, w->output[0])->type;
	int64_t size[NPARTS];

	if (!type_is_static(x) || !type_is_static(cut) || !type_is_static(y)
	    || x->rank != 4)
		return false;
	for (size_t i = 0; i < NMOVES; i++)
		if (cut->rank == move[i].rank
		    && perm_is(
		        caught_node(w, "swapped"), move[i].rank, move[i].perm)
		    && read_sizes(&move[i], x, cut, size)
		    && shapes_fit(&move[i], x, y, size)) {
			write_move(w, &move[i], size);
			return true;
		}
	return false;
}
