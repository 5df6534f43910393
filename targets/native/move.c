/* Moves of bytes, one or several: which byte goes where is found by moving numbers
 * of places with the host's kernels, and then read as loops. */
#include "targets/native/codes.h"
#include "targets/native/loops.h"
#include "targets/native/native.h"
#include "targets/native/places.h"
#include "targets/need.h"

#define NEED why_need

/* ---- what is taken ---- */

static bool
need_few(const struct match_in *m, struct why *why, value_id v)
{
	const struct type *t = matched_type(m, v);

	return need_size(m, why, v)
	    && NEED(why,
	        dtype_is_byte(t->dtype) && type_elements(t, 0) >= 1
	            && type_elements(t, 0) <= PLACES_MAX,
	        "bytes", "1..2^24", "'%s' has others", matched_name(m, v));
}

/* Bytes come out as they went in: one code for all (de)quantisers. */
static bool
need_one_code(const struct match_in *m, struct why *why)
{
	struct byte_code first = {0}, c;
	bool ok = true;

	for (uint32_t i = 0; i < m->match->nnodes; i++) {
		const struct node *n = graph_node(m->graph, m->match->node[i]);

		if (!is_quantiser(n))
			continue;
		ok = ok && byte_code_of(&c, m->graph, n);
		if (ok && first.scale == 0)
			first = c;
		ok = ok && c.scale == first.scale && c.zero == first.zero
		    && c.is_unsigned == first.is_unsigned;
	}
	return NEED(why, ok, "codes", "8 bits with one constant scale and zero",
	    "%s", ok ? "that" : "others");
}

bool
accept_byte_move(const struct match_in *m, struct why *why)
{
	const value_id x = match_value(m->match, "x");
	bool ok = need_one_code(m, why);

	ok = ok && need_few(m, why, x)
	    && need_few(m, why, matched_root(m)->output[0]);
	for (uint32_t i = 0; i < m->match->nnodes; i++) {
		const struct node *n = graph_node(m->graph, m->match->node[i]);

		ok = ok && (is_quantiser(n) || need_moves(m, why, n));
	}
	return ok;
}

uint32_t
native_ways_of_sides(struct formats *f, bool from, bool to,
    struct implementation *out, uint32_t max)
{
	static const char *const name[] = {
	    "plain", "to_nhwc", "to_plain", "nhwc"};
	const format_id id[2] = {0,
	    format_intern(
	        f, (struct format){SPACE_HOST, LAYOUT_NHWC, DT_UNDEFINED})};
	uint32_t n = 0;

	for (uint32_t i = 0; i < 4 && n < max; i++)
		if ((from || i < 2) && (to || i % 2 == 0))
			out[n++] = (struct implementation){.name = name[i],
			    .number = i,
			    .input = id[i / 2],
			    .output = id[i % 2]};
	return n;
}

/* Images may lie channels last on either side. */
uint32_t
ways_byte_move(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const bool from =
	    matched_type(m, match_value(m->match, "x"))->rank == 4;
	const bool to = matched_type(m, matched_root(m)->output[0])->rank == 4;

	return native_ways_of_sides(f, from, to, out, max);
}

/* ---- kernels ---- */

bool
layout_loops(
    struct move_loops *l, const struct type *t, uint32_t way, struct arena *a)
{
	const size_t n = type_elements(t, 0);
	struct arena scratch;
	uint32_t *order;

	if (way == 0 || way == 3)
		return false;
	arena_init(&scratch);
	order = arena_new(&scratch, uint32_t, n);
	for (size_t i = 0; i < n; i++)
		order[place_in(t, way % 2, i)] =
		    (uint32_t)place_in(t, way / 2, i);
	move_loops_find(l, order, n, a);
	arena_release(&scratch);
	return true;
}

struct move_kernel {
	struct move_loops loops;
};

static void
run_move(struct kernel *kernel, const void *const *in, void *const *out)
{
	const struct move_kernel *k = kernel->state;

	move_bytes(out[0], in[0], &k->loops);
}

bool
compile_byte_move(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct move_kernel *k = arena_new(a, struct move_kernel, 1);
	const value_id to = c->output[0].value;
	const size_t count = type_elements(&graph_value(g, to)->type, 0);
	struct arena scratch;
	uint32_t *order;
	bool ok;

	arena_init(&scratch);
	order = arena_new(&scratch, uint32_t, count);
	ok = places_find(order, t->formats, g, c, &scratch, err);
	for (size_t i = 0; ok && i < count; i++)
		order[i]--;
	if (ok)
		move_loops_find(&k->loops, order, count, a);
	arena_release(&scratch);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run_move, .state = k};
	return ok;
}
