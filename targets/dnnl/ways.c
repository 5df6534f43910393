#include "targets/dnnl/ways.h"

#include <assert.h>
#include <stdatomic.h>

#include "targets/need.h"
#include "targets/pieces.h"
#include "targets/tiling.h"
#include "targets/window.h"

enum way_number {
	WAY_PLAIN,
	WAY_NHWC,
	WAY_BLOCKED,
	WAY_NHWC_SECOND,
	WAY_WINOGRAD,
	WAY_PLAIN_BLOCKED,
	WAY_NHWC_SUM,
	WAY_BLOCKED_SUM,
	WAY_WINOGRAD_SUM,
	WAY_PLAIN_SUM,
	WAY_NHWC_BINARY,
	WAY_BLOCKED_BINARY,
	WAY_MATMUL_SUM,
	WAY_MATMUL_BINARY,
	WAY_BLOCKED_IN_PLACE,
	WAY_PLAIN_SECOND,
	NWAYS
};

/* clang-format off */
static const struct way way[NWAYS] = {
	[WAY_PLAIN] = {"plain", "plain" "/nan", LAYOUT_PLAIN, LAYOUT_PLAIN, DIRECT, RESIDUAL_NONE},
	[WAY_NHWC] = {"nhwc", "nhwc" "/nan", LAYOUT_NHWC, LAYOUT_NHWC, DIRECT, RESIDUAL_NONE},
	[WAY_BLOCKED] = {"blocked", "blocked" "/nan", LAYOUT_BLK16, LAYOUT_BLK16, DIRECT, RESIDUAL_NONE},
	[WAY_NHWC_SECOND] = {"nhwc/second", "nhwc/second" "/nan", LAYOUT_NHWC, LAYOUT_NHWC, DIRECT_SECOND, RESIDUAL_NONE},
	[WAY_WINOGRAD] = {"winograd/blocked", "winograd/blocked" "/nan", LAYOUT_BLK16, LAYOUT_BLK16, WINOGRAD, RESIDUAL_NONE},
	[WAY_PLAIN_BLOCKED] = {"plain>blocked", "plain>blocked" "/nan", LAYOUT_PLAIN, LAYOUT_BLK16, DIRECT, RESIDUAL_NONE},
	[WAY_NHWC_SUM] = {"nhwc+sum", "nhwc+sum" "/nan", LAYOUT_NHWC, LAYOUT_NHWC, DIRECT, RESIDUAL_SUM},
	[WAY_BLOCKED_SUM] = {"blocked+sum", "blocked+sum" "/nan", LAYOUT_BLK16, LAYOUT_BLK16, DIRECT, RESIDUAL_SUM},
	[WAY_WINOGRAD_SUM] = {"winograd/blocked+sum", "winograd/blocked+sum" "/nan", LAYOUT_BLK16, LAYOUT_BLK16, WINOGRAD, RESIDUAL_SUM},
	[WAY_PLAIN_SUM] = {"plain+sum", "plain+sum" "/nan", LAYOUT_PLAIN, LAYOUT_PLAIN, DIRECT, RESIDUAL_SUM},
	[WAY_NHWC_BINARY] = {"nhwc+binary", "nhwc+binary" "/nan", LAYOUT_NHWC, LAYOUT_NHWC, DIRECT, RESIDUAL_BINARY},
	[WAY_BLOCKED_BINARY] = {"blocked+binary", "blocked+binary" "/nan", LAYOUT_BLK16, LAYOUT_BLK16, DIRECT, RESIDUAL_BINARY},
	[WAY_MATMUL_SUM] = {"plain+sum", "plain+sum" "/nan", LAYOUT_PLAIN, LAYOUT_PLAIN, DIRECT, RESIDUAL_SUM},
	[WAY_MATMUL_BINARY] = {"plain+binary", "plain+binary" "/nan", LAYOUT_PLAIN, LAYOUT_PLAIN, DIRECT, RESIDUAL_BINARY},
	[WAY_PLAIN_SECOND] = {"plain/second", "plain/second" "/nan", LAYOUT_PLAIN, LAYOUT_PLAIN, DIRECT_SECOND, RESIDUAL_NONE},
	[WAY_BLOCKED_IN_PLACE] = {"blocked in place", "blocked in place" "/nan", LAYOUT_BLK16, LAYOUT_BLK16, IN_PLACE, RESIDUAL_NONE},
};
/* clang-format on */

const struct way *
way_get(uint32_t number)
{
	number &= ~(WAY_KEEPS_NAN | WAY_GUARDED);
	assert(number < NWAYS);
	return &way[number];
}

uint32_t
way_direct(uint32_t number)
{
	return number == WAY_WINOGRAD    ? WAY_BLOCKED
	    : number == WAY_WINOGRAD_SUM ? WAY_BLOCKED_SUM
	                                 : number;
}

uint32_t
way_nth(const struct way *w)
{
	return w->algorithm == DIRECT_SECOND;
}

struct ways {
	struct formats *formats;
	struct implementation *out;
	uint32_t n, max;
};

/* Asked for once: it does not change, and each answer takes the library 4,000
 * instructions. */
static bool
has_bits(unsigned isa)
{
	static atomic_uint known;
	unsigned all = atomic_load(&known);

	if (!all) {
		all = (unsigned)dnnl_get_effective_cpu_isa();
		atomic_store(&known, all);
	}
	return (all & isa) == isa;
}

/* The bits mean other things on each architecture; the library's header names
 * those of x86 alone. */
#ifdef __aarch64__
static bool
has_isa(dnnl_cpu_isa_t isa)
{
	(void)isa;
	return false;
}

bool
dnnl_has_halves(void)
{
	return false;
}

/* SVE of 512 bits. SOURCE: oneDNN, cpu/aarch64/cpu_isa_traits.hpp. */
static bool
has_wide_vectors(void)
{
	return has_bits(0x1f);
}

/* Without those convolutions are matrix products, or the reference. SOURCE: seen in
 * oneDNN 2.6.3 under qemu: theirs take a hard swish wrong. */
static bool
has_direct_kernels(const struct fused *f)
{
	for (uint32_t i = 0; i < f->nsteps; i++)
		if (f->step[i].kind == STEP_HARDSWISH)
			return false;
	return has_wide_vectors();
}
#else
static bool
has_isa(dnnl_cpu_isa_t isa)
{
	return has_bits((unsigned)isa);
}

bool
dnnl_has_halves(void)
{
	return library_halves && has_bits(library_halves);
}

static bool
has_wide_vectors(void)
{
	return has_isa(dnnl_cpu_isa_avx512_core);
}

static bool
has_direct_kernels(const struct fused *f)
{
	(void)f;
	return true;
}
#endif

/* Channels per block of the layouts this CPU's kernels want. */
static enum layout
blocked(void)
{
	return has_wide_vectors() ? LAYOUT_BLK16 : LAYOUT_BLK8;
}

static format_id
intern(struct ways *w, enum layout layout)
{
	if (layout == LAYOUT_PLAIN)
		return FORMAT_PLAIN;
	if (layout == LAYOUT_BLK16)
		layout = blocked();
	return format_intern(
	    w->formats, (struct format){SPACE_HOST, layout, DT_UNDEFINED});
}

static void
offer(struct ways *w, enum way_number number)
{
	if (w->n < w->max)
		w->out[w->n++] = (struct implementation){
		    .name = way[number].name,
		    .number = number,
		    .input = intern(w, way[number].in),
		    .output = intern(w, way[number].out),
		    .in_place = way[number].algorithm == IN_PLACE,
		    .transforms = way[number].algorithm == WINOGRAD,
		};
}

/* Would every other reader of v have run before the match in any legal order?
 * Then v dies with it and its buffer can be the output's. True when each such
 * reader reaches the match; the walk goes backwards from it. */
static bool
dies_here(const struct match_in *m, value_id v)
{
	const struct graph *g = m->graph;
	const struct value *value = graph_value(g, v);
	uint32_t from = m->uses->start[v], to = m->uses->start[v + 1];
	uint32_t left = 0;
	node_id lowest = value->producer;
	struct arena scratch;
	struct bitset seen;

	if (lowest == NODE_NONE || (value->flags & VALUE_OUTPUT) != 0)
		return false;
	arena_init(&scratch);
	seen = bitset_new(&scratch, m->match->root + 1 - lowest);
	for (uint32_t i = 0; i < m->match->nnodes; i++)
		if (m->match->node[i] >= lowest)
			bitset_add(seen, m->match->node[i] - lowest);
	for (node_id n = m->match->root; n > lowest; n--) {
		const struct node *node = graph_node(g, n);

		if (!bitset_has(seen, n - lowest))
			continue;
		for (uint32_t i = 0; i < node->ninputs + node->nimplicit; i++) {
			node_id p = node->input[i] == VALUE_NONE
			    ? NODE_NONE
			    : graph_value(g, node->input[i])->producer;

			if (p != NODE_NONE && p >= lowest)
				bitset_add(seen, p - lowest);
		}
	}
	for (uint32_t i = from; i < to; i++) {
		node_id u = m->uses->user[i];

		if (u > m->match->root || !bitset_has(seen, u - lowest))
			left++;
	}
	arena_release(&scratch);
	return left == 0;
}

/* Is v, the first step's operand, also read by the anchor or a later step? Then
 * it must stay whole while the result is written. */
static bool
is_read_twice(const struct fused *f, value_id v)
{
	for (uint32_t i = 0; f->anchor && i < f->anchor->ninputs; i++)
		if (f->anchor->input[i] == v)
			return true;
	for (uint32_t i = 1; i < f->nsteps; i++)
		if (f->step[i].other == v)
			return true;
	return false;
}

/* What second tensors the steps read. */
struct residual_facts {
	bool tensor; /* any at all */
	bool sum; /* the first step adds one of the result's shape, which is
	           * free to be overwritten */
	bool uniform; /* each is full, a scalar or has a value per channel */
};

static struct residual_facts
residual_of(const struct match_in *m, const struct fused *f)
{
	const struct type *out = &graph_value(m->graph, f->end)->type, *t;
	const struct step *s = &f->step[0];
	struct residual_facts r = {.uniform = true};

	for (uint32_t i = 0; i < f->nsteps; i++) {
		if (!step_is_binary(f->step[i].kind))
			continue;
		t = &graph_value(m->graph, f->step[i].other)->type;
		r.tensor = true;
		r.uniform = r.uniform && form_of(t, out) != FORM_OTHER;
	}
	if (f->nsteps == 0 || s->kind != STEP_ADD)
		return r;
	t = &graph_value(m->graph, s->other)->type;
	r.sum = same_shape(t, out) && !is_read_twice(f, s->other)
	    && dies_here(m, s->other);
	return r;
}

static bool
is_pointwise(const struct window *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->kernel[i] != 1 || w->stride[i] != 1 || w->before[i] != 0
		    || w->after[i] != 0)
			return false;
	return true;
}

/* Whole blocks of channels go in, and groups share none; one pixel by itself
 * may be less. SOURCE: found by building random convolutions: else the library
 * has a reference loop only. */
static bool
takes_blocks(const struct window *w, int64_t group, int64_t in, int64_t out)
{
	const int64_t block = blocked() == LAYOUT_BLK16 ? 16 : 8;

	if (group == 1)
		return in >= block || is_pointwise(w);
	return (group == in && group == out)
	    || (in / group % block == 0 && out / group % block == 0);
}

/* Does a direct kernel take the window? SOURCE: oneDNN 2.6.3: some element of the
 * image lies under every kernel that reaches into padding, and padding beside an
 * image is no wider than what is unrolled: columns of the result, three at most
 * without AVX-512. */
static bool
takes_window(const struct window *w, int64_t columns)
{
	const bool wide = has_wide_vectors();
	const int64_t most = wide || columns < 3 ? columns : 3;
	const uint32_t last = w->n - 1;

	for (uint32_t i = 0; i < w->n; i++) {
		const int64_t reach = (w->kernel[i] - 1) * w->dilation[i] + 1;

		if (w->before[i] >= reach || w->after[i] >= reach)
			return false;
	}
	return w->before[last] <= most && w->after[last] <= most
	    && (wide || w->kernel[last] <= 7 || w->stride[last] == 1);
}

/* Does a direct kernel take the channels? Where not, matrix products convolve
 * channels-last images, and behind those is a reference loop only. SOURCE: found
 * by building random convolutions, as above. */
static bool
takes_channels(int64_t group, int64_t in, int64_t out)
{
	const int64_t block = blocked() == LAYOUT_BLK16 ? 16 : 8;
	const bool whole = in / group % block == 0 && out / group % block == 0;

	return whole || (group > 1 && group == in && group == out)
	    || has_isa(dnnl_cpu_isa_avx512_core)
	    || (group == 1 && has_isa(dnnl_cpu_isa_avx2));
}

/* One element an image: channels-last and plain are one layout then. */
static bool
is_one_element(const struct type *t)
{
	return t->dim[1] == 1 && t->dim[2] == 1 && t->dim[3] == 1;
}

/* SOURCE: seen in oneDNN 2.6.3: channels-last kernels take another tensor wrong
 * when it is broadcast along some of the image's dimensions, or when groups
 * share a block of channels; convolutions by matrix products (below AVX2
 * and on Arm all but depthwise ones, elsewhere of one element an image) take any
 * wrong, but right in the plain layout. */
static bool
takes_binary_last(const struct residual_facts *r, int64_t group, int64_t in,
    const struct type *result)
{
	const int64_t block = blocked() == LAYOUT_BLK16 ? 16 : 8;
	const int64_t out = result->dim[1];
	const bool depthwise = group > 1 && group == in && group == out;

	return r->uniform && (depthwise || has_isa(dnnl_cpu_isa_avx2))
	    && !is_one_element(result)
	    && (group == 1 || depthwise || out / group % block == 0);
}

/* Winograd has code for sums and rectifiers only. */
static bool
takes_winograd_steps(const struct fused *f)
{
	for (uint32_t i = 0; i < f->nsteps; i++)
		if (f->step[i].kind != STEP_ADD
		    && (f->step[i].kind != STEP_RELU || f->step[i].alpha != 0))
			return false;
	return true;
}

/* oneDNN's Winograd: AVX-512, 3x3, stride 1, dense, padded by one at most, over
 * whole blocks of channels. SOURCE: measured; it is refused or slower elsewhere. */
static bool
takes_winograd(const struct window *w, int64_t channels, int64_t group)
{
	bool ok = library_winograd && w->n == 2 && group == 1 && channels >= 16
	    && has_isa(dnnl_cpu_isa_avx512_core);

	for (uint32_t i = 0; i < 2; i++)
		ok = ok && w->kernel[i] == 3 && w->stride[i] == 1
		    && w->dilation[i] == 1 && w->before[i] <= 1
		    && w->after[i] <= 1;
	return ok;
}

/* SOURCE: its tiles with AVX-512 are of 4x4 outputs. */
static bool
is_winograd_worth(const struct match_in *m, const struct node *anchor)
{
	const struct tiling t = tiling_of(&node_in(m->graph, anchor, 0)->type,
	    &node_out(m->graph, anchor, 0)->type, 3, 1);

	return tiling_is_worth(&t, 4, tiling_effort(&t, 2), m->target);
}

static int64_t
kernel_size(const struct window *w)
{
	int64_t size = 1;

	for (uint32_t i = 0; i < w->n; i++)
		size *= w->kernel[i];
	return size;
}

/* Plain convolutions: in between reorders of its own the library takes a kernel for
 * channels-last images first; what multiplies matrices comes behind that and is
 * faster of few channels. SOURCE: seen in oneDNN 3.7.2 with AVX-512. */
static bool
wraps_plain(void)
{
	const dnnl_version_t *v = dnnl_version();

	return (v->major > 3 || (v->major == 3 && v->minor >= 7))
	    && has_isa(dnnl_cpu_isa_avx512_core);
}

static void
offer_plain(struct ways *w)
{
	offer(w, WAY_PLAIN);
	if (wraps_plain())
		offer(w, WAY_PLAIN_SECOND);
}

/* TUNING: matrix products of groups are refused for the memory that they take with
 * a larger kernel; seen of 8x8. */
#define GROUPED_MOST 49

uint32_t
ways_conv(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	struct ways w = {f, out, 0, max};
	struct fused fused;
	struct window window;
	const char *fault;
	const struct type *in, *result;
	struct residual_facts residual;
	int64_t group;
	bool winograd, blocks, unrolls, direct;

	if (!fused_read(&fused, m->graph, m->match, &fault)
	    || !window_resolve(&window, m->graph, fused.anchor, &fault))
		return 0;
	in = &node_in(m->graph, fused.anchor, 0)->type;
	result = &node_out(m->graph, fused.anchor, 0)->type;
	group = attr_int_or(fused.anchor, "group", 1);
	fused_take_bias(&fused, m->graph, 1);
	residual = residual_of(m, &fused);
	if (window.n != 2) {
		if (residual.tensor)
			offer(&w, WAY_MATMUL_BINARY);
		else
			offer_plain(&w);
		return w.n;
	}
	winograd = takes_winograd(&window, in->dim[1], group)
	    && takes_winograd_steps(&fused)
	    && is_winograd_worth(m, fused.anchor);
	unrolls =
	    has_direct_kernels(&fused) && takes_window(&window, result->dim[3]);
	direct = unrolls && takes_channels(group, in->dim[1], result->dim[1]);
	blocks =
	    direct && takes_blocks(&window, group, in->dim[1], result->dim[1]);
	if (residual.tensor) {
		if (direct
		    && takes_binary_last(&residual, group, in->dim[1], result))
			offer(&w, WAY_NHWC_BINARY);
		else if (residual.uniform && group == 1
		    && !is_one_element(result) && !has_isa(dnnl_cpu_isa_avx2))
			offer(&w, WAY_MATMUL_BINARY);
		if (residual.uniform && blocks)
			offer(&w, WAY_BLOCKED_BINARY);
		if (residual.sum)
			offer(&w, WAY_NHWC_SUM);
		if (residual.sum && blocks)
			offer(&w, WAY_BLOCKED_SUM);
		if (residual.sum && winograd)
			offer(&w, WAY_WINOGRAD_SUM);
		if (residual.sum && group == 1)
			offer(&w, WAY_PLAIN_SUM);
		return w.n;
	}
	offer(&w, WAY_NHWC);
	if (direct)
		offer(&w, WAY_NHWC_SECOND);
	if (in->dim[1] <= 4 && group == 1 && unrolls)
		offer(&w, WAY_PLAIN_BLOCKED);
	else if (blocks)
		offer(&w, WAY_BLOCKED);
	if (winograd)
		offer(&w, WAY_WINOGRAD);
	if (group == 1
	    || (group < in->dim[1] && kernel_size(&window) <= GROUPED_MOST))
		offer_plain(&w);
	return w.n;
}

/* SOURCE: oneDNN: without these instructions pairs of products saturate at 16
 * bits. */
bool
ways_sum_bytes(void)
{
	return has_isa(dnnl_cpu_isa_avx512_core_vnni)
	    || has_isa(dnnl_cpu_isa_avx2_vnni);
}

uint32_t
ways_last(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	struct ways w = {f, out, 0, max};

	(void)m;
	offer(&w, WAY_NHWC);
	return w.n;
}

uint32_t
ways_bytes(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	struct ways w = {f, out, 0, max};

	(void)m;
	offer(&w, WAY_NHWC);
	offer(&w, WAY_NHWC_SECOND);
	return w.n;
}

uint32_t
ways_integer_product(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	struct ways w = {f, out, 0, max};

	(void)m;
	offer(&w, WAY_PLAIN);
	offer(&w, WAY_PLAIN_SECOND);
	return w.n;
}

uint32_t
ways_depthwise(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	struct ways w = {f, out, 0, max};
	const struct type *t = matched_type(m, matched_root(m)->output[0]);

	/* SOURCE: seen in oneDNN 3.7.2 with AVX-512: where channels-last is the
	 * plain layout too, it takes it for that and forgets the second. */
	if (t->dim[1] > 1 && t->dim[2] * t->dim[3] > 1)
		offer(&w, WAY_NHWC);
	offer(&w, WAY_BLOCKED);
	return w.n;
}

/* Is a Gemm's C, if any, one value per column? The library's second choice takes
 * no other. */
static bool
has_row(const struct graph *g, const struct node *n)
{
	const struct type *t, *out = &node_out(g, n, 0)->type;

	if (n->op != OP_GEMM || n->ninputs < 3 || n->input[2] == VALUE_NONE)
		return true;
	t = &node_in(g, n, 2)->type;
	return is_bias_row(t, out);
}

uint32_t
ways_matmul(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	struct ways w = {f, out, 0, max};
	struct fused fused;
	const char *fault;
	struct residual_facts residual;

	if (!fused_read(&fused, m->graph, m->match, &fault))
		return 0;
	fused_take_bias(
	    &fused, m->graph, graph_value(m->graph, fused.end)->type.rank - 1);
	residual = residual_of(m, &fused);
	offer(&w, residual.tensor ? WAY_MATMUL_BINARY : WAY_PLAIN);
	if (!residual.tensor && has_row(m->graph, fused.anchor))
		offer(&w, WAY_PLAIN_SECOND);
	if (residual.sum)
		offer(&w, WAY_MATMUL_SUM);
	return w.n;
}

uint32_t
ways_plain(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	struct ways w = {f, out, 0, max};

	(void)m;
	offer(&w, WAY_PLAIN);
	return w.n;
}

/* Is every tensor the root reads and makes of rank 4 (constants apart), with
 * channels that fill blocks when several are joined? */
static void
layouts_fit(const struct match_in *m, bool *rank4, bool *blocks)
{
	const struct node *n = graph_node(m->graph, m->match->root);
	const struct type *out = &node_out(m->graph, n, 0)->type;
	const int64_t block = blocked() == LAYOUT_BLK16 ? 16 : 8;

	*rank4 = out->rank == 4;
	*blocks = true;
	if (n->op != OP_CONCAT || !*rank4)
		return;
	for (uint32_t i = 0; i < n->ninputs; i++)
		*blocks &= node_in(m->graph, n, i)->type.dim[1] % block == 0;
}

uint32_t
ways_layouts(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	struct ways w = {f, out, 0, max};
	bool rank4, blocks;

	layouts_fit(m, &rank4, &blocks);
	offer(&w, WAY_PLAIN);
	if (rank4)
		offer(&w, WAY_NHWC);
	if (rank4 && blocks)
		offer(&w, WAY_BLOCKED);
	return w.n;
}

/* SOURCE: oneDNN 2.6.3 for processors before AVX2 (or told to be one by
 * ONEDNN_MAX_CPU_ISA) puts nonsense into channels that do not fill a block when
 * something follows the operator. */
uint32_t
ways_binary(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const struct node *n = graph_node(m->graph, m->match->root);
	uint32_t nways = ways_layouts(m, f, out, max);
	const struct type *t = &node_out(m->graph, n, 0)->type;

	if (nways > 0 && out[nways - 1].number == WAY_BLOCKED
	    && m->match->nnodes > 1 && t->dim[1] % 8 != 0
	    && !has_isa(dnnl_cpu_isa_avx2))
		nways--;
	return nways;
}

/* SOURCE: seen in oneDNN 3.7.2: for blocks it has a reference loop only. */
uint32_t
ways_group_norm(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	struct ways w = {f, out, 0, max};

	offer(&w, WAY_PLAIN);
	if (matched_type(m, matched_root(m)->output[0])->rank == 4)
		offer(&w, WAY_NHWC);
	return w.n;
}

uint32_t
ways_reduction(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const struct node *n = matched_root(m);
	struct ways w = {f, out, 0, max};

	offer(&w, WAY_PLAIN);
	if (matched_type(m, n->input[0])->rank == 4
	    && matched_type(m, n->output[0])->rank == 4)
		offer(&w, WAY_NHWC);
	return w.n;
}

/* The library copies; whole blocks of a single image can stay where they were
 * made. In C order that is the host's to offer. */
uint32_t
ways_concat(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	struct ways w = {f, out, ways_layouts(m, f, out, max), max};

	if (pieces_fit(m, blocked()))
		offer(&w, WAY_BLOCKED_IN_PLACE);
	return w.n;
}

/* SOURCE: seen in oneDNN 3.7.2: the rest are reference loops. */
uint32_t
ways_of_halves(const struct match_in *m, struct implementation *out, uint32_t n)
{
	const struct graph *g = m->graph;
	bool convolves = false;
	uint32_t left = 0;

	for (uint32_t i = 0; i < m->match->nnodes; i++)
		convolves |= graph_node(g, m->match->node[i])->op == OP_CONV;
	for (uint32_t i = 0; i < n; i++) {
		const struct way *w = way_get(out[i].number);

		if (w->algorithm == DIRECT && w->in != LAYOUT_BLK16
		    && w->out != LAYOUT_BLK16
		    && (!convolves || w->in == LAYOUT_NHWC))
			out[left++] = out[i];
	}
	return left;
}
