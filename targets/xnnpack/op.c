#include "targets/xnnpack/op.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/huge_blocks.h"
#include "targets/xnnpack/halves.h"
#include "targets/window.h"

/* ERR_UNSUPPORTED with the library's reason in words. */
static bool
status_ok(struct xnn_build *b, enum xnn_status s, const char *what)
{
	const char *words = "refused by the library (invalid parameter)";

	if (s == xnn_status_success)
		return true;
	if (s == xnn_status_unsupported_parameter)
		words = "not implemented by the library";
	else if (s == xnn_status_unsupported_hardware)
		words = "not available on this processor";
	else if (s == xnn_status_out_of_memory)
		words = "out of memory";
	return err_set(b->err, ERR_UNSUPPORTED, "XNNPACK: %s: %s", what, words);
}

/* ---- its memory: that of large blocks, or as it takes it itself ---- */

static void *
allocate(void *context, size_t bytes)
{
	(void)context;
	return malloc(bytes);
}

static void *
reallocate(void *context, void *block, size_t bytes)
{
	(void)context;
	return realloc(block, bytes);
}

static void
deallocate(void *context, void *block)
{
	(void)context;
	free(block);
}

static void *
allocate_aligned(void *context, size_t alignment, size_t bytes)
{
	void *block = alignment <= 64 ? huge_block_new(bytes) : NULL;

	(void)context;
	if (!block && posix_memalign(&block, alignment, bytes) != 0)
		return NULL;
	return block;
}

static void
deallocate_aligned(void *context, void *block)
{
	(void)context;
	if (!huge_block_free(block))
		free(block);
}

bool
library_ready(struct err *err)
{
	static const struct xnn_allocator memory = {
	    .allocate = allocate,
	    .reallocate = reallocate,
	    .deallocate = deallocate,
	    .aligned_allocate = allocate_aligned,
	    .aligned_deallocate = deallocate_aligned,
	};

	return xnn_initialize(&memory) == xnn_status_success
	    || err_set(err, ERR_UNSUPPORTED,
	        "XNNPACK cannot be initialised on this processor");
}

static float
clamped(float x, float low, float high)
{
	return x < low ? low : x > high ? high : x;
}

bool
clamp_of(const struct fused *f, uint32_t first, float *low, float *high)
{
	*low = -INFINITY;
	*high = INFINITY;
	for (uint32_t i = first; i < f->nsteps; i++) {
		const struct step *s = &f->step[i];
		float from = 0, to = INFINITY;

		if (s->kind == STEP_CLIP) {
			from = s->alpha;
			to = s->beta;
		} else if (s->kind != STEP_RELU || s->alpha != 0) {
			return false;
		}
		*low = clamped(*low, from, to);
		*high = clamped(*high, from, to);
	}
	return true;
}

bool
is_channels_last(const struct xnn_build *b)
{
	const struct format *f = b->target->formats->format;

	return f[b->candidate->output[0].format].layout == LAYOUT_NHWC;
}

/* Constants of rank 4, `width` bytes a number, come in C order; channels go
 * last. */
static const void *
channels_last(
    struct xnn_build *b, const char *from, const size_t *d, size_t width)
{
	const size_t area = d[2] * d[3];
	char *to = arena_alloc(b->arena, (d[0] * d[1] * area + 16) * width);

	for (size_t n = 0; n < d[0]; n++)
		for (size_t c = 0; c < d[1]; c++)
			for (size_t p = 0; p < area; p++)
				memcpy(to + ((n * area + p) * d[1] + c) * width,
				    from + ((n * d[1] + c) * area + p) * width,
				    width);
	return to;
}

struct extents
operand_of(struct xnn_build *b, value_id v, uint32_t rank, struct operand *out)
{
	const struct value *value = graph_value(b->graph, v);
	uint32_t skip = rank - value->type.rank;
	struct extents x = {.rank = rank};
	size_t channels;

	*out = (struct operand){.port = candidate_input(b->candidate, v)};
	for (uint32_t i = 0; i < rank; i++)
		x.size[i] = i < skip ? 1 : (size_t)value->type.dim[i - skip];
	if (out->port < 0)
		out->constant = tensor_data(value->constant, b->arena);
	if (!is_channels_last(b) || rank != 4)
		return x;
	if (out->port < 0)
		out->constant = channels_last(b, out->constant, x.size,
		    dtype_bits(value->type.dtype) / 8);
	channels = x.size[1];
	x.size[1] = x.size[2];
	x.size[2] = x.size[3];
	x.size[3] = channels;
	return x;
}

void
read_image(struct xnn_build *b, value_id v)
{
	const int64_t *dim = graph_value(b->graph, v)->type.dim;
	struct operator* o = & b->layer->what;

	operand_of(b, v, 4, &b->layer->left);
	o->batch = (size_t)dim[0];
	o->in = (size_t)dim[1];
	o->height = (size_t)dim[2];
	o->width = (size_t)dim[3];
}

struct sides
sides_of(const struct window *w)
{
	struct sides s;

	for (uint32_t i = 0; i < 2; i++) {
		s.before[i] = (uint32_t)w->before[i];
		s.after[i] = (uint32_t)w->after[i];
		s.kernel[i] = (uint32_t)w->kernel[i];
		s.stride[i] = (uint32_t)w->stride[i];
		s.dilation[i] = (uint32_t)w->dilation[i];
	}
	return s;
}

bool
create_operator(struct xnn_build *b, struct operator* o, struct instance *i,
    const char *what)
{
	const struct port *p = &b->candidate->output[0];

	o->halves = graph_value(b->graph, p->value)->type.dtype == DT_FLOAT16;
	if (o->halves && o->weights)
		o->flags |= XNN_FLAG_FP32_STATIC_WEIGHTS;
	if (o->halves && !halves_are_right(o))
		return err_set(b->err, ERR_UNSUPPORTED,
		    "XNNPACK: %s: float16 of 64 columns comes out wrong on this "
		    "processor",
		    what);
	if (status_ok(b, instance_create(i, o), what))
		return true;
	instance_release(i);
	*i = (struct instance){.op = NULL};
	return false;
}

bool
create(struct xnn_build *b, const char *what)
{
	return create_operator(b, &b->layer->what, &b->layer->instance, what);
}

void
layer_release(struct xnn_layer *l)
{
	instance_release(&l->instance);
	for (uint32_t i = 0; i < l->nmore; i++)
		instance_release(&l->more[i].instance);
}
