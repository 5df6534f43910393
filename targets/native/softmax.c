/* Softmax and LogSoftmax along any dimension, and of bytes along the last. */
#include "ir/base/common_scratch.h"
#include "targets/axes.h"
#include "targets/lanes.h"
#include "targets/native/codes.h"
#include "targets/native/native.h"
#include "targets/need.h"
#include "targets/threads.h"

#define NEED why_need

/* TUNING: numbers of a thread at once, of which each is an exponential function. */
#define PART_LEAST ((size_t)4096)

bool
accept_lines(const struct match_in *m, struct why *why)
{
	const value_id x = matched_root(m)->input[0];

	return need_all_tensors(m, why) && need_size(m, why, x)
	    && need_rank_in(m, why, x, 1, UINT32_MAX);
}

/* Before opset 13 everything from the axis on is one line. */
static bool
is_flat(const struct node *n)
{
	return n->opset < 13;
}

static uint32_t
axis_in(const struct node *n, uint32_t rank)
{
	return axes_one(n, is_flat(n) ? 1 : -1, rank);
}

/* Over an image's channels also where those are last. */
uint32_t
ways_lines(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const format_id nhwc = format_intern(
	    f, (struct format){SPACE_HOST, LAYOUT_NHWC, DT_UNDEFINED});
	const struct node *n = matched_root(m);
	const uint32_t rank = matched_type(m, n->output[0])->rank;

	if (max < 2)
		return 0;
	out[0] = (struct implementation){.name = "plain"};
	out[1] = (struct implementation){
	    .name = "nhwc", .number = 1, .input = nhwc, .output = nhwc};
	return rank == 4 && !is_flat(n) && axis_in(n, rank) == 1 ? 2 : 1;
}

static struct softmax_form
form_in(const struct node *n, const struct type *t, uint32_t way)
{
	const uint32_t axis = axis_in(n, t->rank);
	struct softmax_form s = {1, 1, 1, n->op == OP_LOGSOFTMAX};

	for (uint32_t i = 0; i < t->rank; i++)
		if (i < axis)
			s.outer *= (size_t)t->dim[i];
		else if (i == axis || is_flat(n))
			s.n *= (size_t)t->dim[i];
		else
			s.inner *= (size_t)t->dim[i];
	if (way == 1) {
		s.outer *= s.inner;
		s.inner = 1;
	}
	return s;
}

struct softmax_kernel {
	struct softmax_form form;
	softmax_run *run;
	size_t units, part; /* so many at once */
	const float *x;
	float *y;
};

static void
run_part(void *of, size_t first, size_t count)
{
	const struct softmax_kernel *k = of;

	k->run(&k->form, k->x, k->y, first, first + count);
}

static void
run_softmax(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct softmax_kernel *k = kernel->state;

	k->x = in[0];
	k->y = out[0];
	lanes_parts(k->units, k->part, run_part, k);
}

bool
compile_lines(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	const struct native_version *v = native_version_of(t);
	struct softmax_kernel *k = arena_new(a, struct softmax_kernel, 1);
	size_t each;

	(void)err;
	k->form = form_in(graph_node(g, c->match->root),
	    &graph_value(g, c->output[0].value)->type, c->implementation);
	k->run = v->softmax;
	k->units = v->softmax_units(&k->form);
	each = k->form.n * v->width;
	k->part = (PART_LEAST + each - 1) / each;
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run_softmax, .state = k};
	return true;
}

/* ---- between quantisers ---- */

/* TUNING: a thread's numbers are in a private cache. */
#define LINE_MOST ((size_t)1 << 14)

bool
accept_byte_lines(const struct match_in *m, struct why *why)
{
	const struct node *n = byte_enclosed_of(m->graph, m->match).middle;
	struct softmax_form s;

	if (!need_byte_codes(m, why))
		return false;
	s = form_in(n, matched_type(m, n->output[0]), 0);
	return NEED(why, s.inner == 1, "axis", "the last", "another")
	    && NEED(
	        why, s.n <= LINE_MOST, "line", "of at most 16384", "%zu", s.n);
}

/* Some lines at a time are numbers. */
struct byte_lines_kernel {
	struct softmax_form form;
	struct byte_code from_code, to_code;
	const struct native_version *version;
	size_t part; /* lines of it */
	const uint8_t *from;
	uint8_t *to;
	uint32_t threads;
	float *scratch; /* [threads][part * form.n] */
};

static void
run_byte_part(void *of, uint32_t lane, size_t i)
{
	const struct byte_lines_kernel *k = of;
	const size_t first = i * k->part, left = k->form.outer - first;
	const struct softmax_form form = {
	    left < k->part ? left : k->part, k->form.n, 1, k->form.log};
	const size_t at = first * form.n, n = form.outer * form.n;
	float *x = k->scratch + lane * k->part * form.n;

	k->version->dequantize(x, k->from + at, n, &k->from_code);
	k->version->softmax(&form, x, x, 0, k->version->softmax_units(&form));
	k->version->quantize(k->to + at, x, n, &k->to_code);
}

static void
run_byte_lines(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct byte_lines_kernel *k = kernel->state;

	k->from = in[0];
	k->to = out[0];
	lanes_each((k->form.outer + k->part - 1) / k->part, k->threads,
	    run_byte_part, k);
}

bool
compile_byte_lines(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	const struct byte_enclosed b = byte_enclosed_of(g, c->match);
	struct byte_lines_kernel *k = arena_new(a, struct byte_lines_kernel, 1);
	size_t each;

	(void)err;
	k->version = native_version_of(t);
	k->form =
	    form_in(b.middle, &graph_value(g, b.middle->output[0])->type, 0);
	each = k->form.n * k->version->width;
	k->part = (PART_LEAST + each - 1) / each * k->version->width;
	byte_code_of(&k->from_code, g, graph_producer(g, b.middle->input[0]));
	byte_code_of(&k->to_code, g, b.quantiser);
	k->threads = target_threads();
	k->scratch = common_scratch_or(
	    k->threads * k->part * k->form.n * sizeof *k->scratch, a);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run_byte_lines, .state = k};
	return true;
}
