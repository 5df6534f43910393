/* The oneDNN backend: rules, and composites compiled to primitives. */
#include <string.h>

#include "targets/byte_product.h"
#include "targets/cores.h"
#include "targets/dnnl/accept.h"
#include "targets/dnnl/integer.h"
#include "targets/dnnl/layer.h"
#include "targets/dnnl/reorder.h"
#include "targets/dnnl/nan.h"
#include "targets/dnnl/nan_mark.h"
#include "targets/dnnl/ways.h"
#include "targets/dynamic.h"
#include "targets/guarded.h"
#include "targets/loaded.h"
#include "targets/need.h"
#include "targets/pieces.h"
#include "targets/target.h"
#include "targets/threads.h"
#include "targets/tiling.h"

extern const struct target_kind target_dnnl;

#define MATRICES EITHER(NODE(MATMUL, ANY, ANY), NODE(MATMUL, ANY, DEQUANTIZED))
#define CONV_OF(p) \
	MAYBE(BATCHNORMALIZATION, NODE(CONV, p, CONSTANT, REST), CONSTANT, \
	    CONSTANT, CONSTANT, CONSTANT)
#define ACTED(p) EITHER(CLAMPED(p), SPELLED(SWISH, p))
#define GELU_OF(p) EITHER(SPELLED(GELU, p), SPELLED(GELU_TANH, p))
#define LAYER_NORM \
	EITHER(NODE(LAYERNORMALIZATION, ANY, CONSTANT, REST), \
	    SPELLED(LAYER_NORM, ANY))
#define GROUP_NORM \
	EITHER(NODE(INSTANCENORMALIZATION, ANY, CONSTANT, CONSTANT), \
	    NODE(GROUPNORMALIZATION, ANY, CONSTANT, CONSTANT), \
	    EITHER(SPELLED(GROUP_NORM, ANY), SPELLED(INSTANCE_NORM, ANY)))
#define ACTIVATION \
	EITHER(NODE(RELU, ANY), NODE(LEAKYRELU, ANY), NODE(ELU, ANY), \
	    NODE(SIGMOID, ANY), NODE(TANH, ANY), NODE(CLIP, ANY, REST))
#define FUNCTION \
	EITHER(NODE(HARDSWISH, ANY), NODE(GELU, ANY), NODE(MISH, ANY), \
	    EITHER(NODE(SOFTPLUS, ANY), NODE(EXP, ANY), NODE(LOG, ANY), \
	        NODE(SQRT, ANY), NODE(ABS, ANY), NODE(ROUND, ANY)), \
	    EITHER(NODE(SWISH, ANY), NODE(NEG, ANY), NODE(RECIPROCAL, ANY)))
static const struct rule rules[] = {
#define RULE(n, p, a, w, b) {.name = "dnnl." n, .pattern = p, .accepts = a},
#include "targets/dnnl/rules.def"
#undef RULE
};

static const struct {
	uint32_t (*ways)(const struct match_in *m, struct formats *f,
	    struct implementation *out, uint32_t max);
	bool (*build)(struct build *b);
} family[] = {
#define RULE(n, p, a, w, b) {w, b},
#include "targets/dnnl/rules.def"
#undef RULE
};

#define NRULES ((uint32_t)(sizeof rules / sizeof *rules))

static uint32_t
implementations(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	uint32_t n = family[m->rule].ways(m, f, out, max);

	if (makes_halves(m))
		n = ways_of_halves(m, out, n);
	nan_mark(m, out, n);
	return n;
}

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	struct dnnl_layer *l = k->state;

	for (uint32_t i = 0; i < l->nargs; i++) {
		struct argument *how = &l->how[i];
		union {
			const void *in;
			void *out;
		} bytes;

		if (how->port < 0)
			continue;
		bytes.in = how->is_output ? out[how->port] : in[how->port];
		if (bytes.in == how->bound)
			continue;
		dnnl_memory_set_data_handle(l->arg[i].memory, bytes.out);
		how->bound = bytes.in;
	}
	if (l->residual >= 0 && in[l->residual] != out[0])
		memcpy(out[0], in[l->residual], l->residual_bytes);
	if (dnnl_primitive_execute(
	        l->primitive, l->stream, (int)l->nargs, l->arg)
	        != dnnl_success
	    || dnnl_stream_wait(l->stream) != dnnl_success)
		err_set(k->fault, ERR_UNSUPPORTED,
		    "oneDNN: a primitive cannot be executed");
}

static void
layer_release(struct dnnl_layer *l)
{
	for (uint32_t i = 0; i < l->nargs; i++)
		memory_release(l->arg[i].memory);
	if (l->primitive)
		dnnl_primitive_destroy(l->primitive);
	if (l->stream)
		dnnl_stream_destroy(l->stream);
	if (l->engine)
		dnnl_engine_destroy(l->engine);
}

static void
release(struct kernel *k)
{
	layer_release(k->state);
}

static void
guard(struct kernel *k, const struct target *t, const struct graph *g,
    struct arena *a)
{
	const struct candidate *c = k->candidate;
	struct candidate *keeps;

	guard_kernel(k, t, g, a);
	if (!nan_can_stay(g, c->match))
		return;
	keeps = arena_new(a, struct candidate, 1);
	*keeps = *c;
	keeps->implementation =
	    way_direct(c->implementation - WAY_GUARDED) + WAY_KEEPS_NAN;
	guard_otherwise(k, t, keeps, a);
}

static void
release_inner(struct kernel *k)
{
	struct around *around = k->state;

	around->inner.release(&around->inner);
}

static void
put_around(struct kernel *k, struct around *around)
{
	around->inner = *k;
	*k = (struct kernel){.kind = k->kind,
	    .candidate = k->candidate,
	    .run = around->run,
	    .release = release_inner,
	    .state = around};
}

static bool
compile(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct dnnl_layer *l = arena_new(a, struct dnnl_layer, 1);
	struct arena scratch;
	struct build b = {
	    t, g, c, .layer = l, .arena = a, .scratch = &scratch, .err = err};
	const char *fault;
	bool ok;

	if (c->in_place) {
		pieces_compile(t, g, c, a, out);
		return true;
	}
	target_threads_apply();
	/* The library's iterator looks a further implementation up in this
	 * cache, where one has the key of the other: in a process that made
	 * the first, the second would be the first again. */
	dnnl_set_primitive_cache_capacity(0);
	l->residual = -1;
	/* What is no such chain has a reading of its own. */
	fused_read(&b.fused, g, c->match, &fault);
	if (c->implementation & WAY_KEEPS_NAN)
		nan_kept(&b.fused, &b.end);
	arena_init(&scratch);
	ok = check(&b, dnnl_engine_create(&l->engine, dnnl_cpu, 0), "engine")
	    && check(&b,
	        dnnl_stream_create(
	            &l->stream, l->engine, dnnl_stream_default_flags),
	        "stream")
	    && family[c->rule].build(&b);
	arena_release(&scratch);
	if (b.attr)
		dnnl_primitive_attr_destroy(b.attr);
	if (!ok) {
		layer_release(l);
		return false;
	}
	*out = (struct kernel){.kind = &target_dnnl,
	    .candidate = c,
	    .run = run,
	    .release = release,
	    .in_place = (uint32_t)(l->residual + 1),
	    .state = l};
	if (b.around)
		put_around(out, b.around);
	if (b.end.needed)
		bound_kernel(out, t, g, &b.end, a);
	if (c->implementation & WAY_GUARDED)
		guard(out, t, g, a);
	return true;
}

static void
environment(const struct target *t, struct buf *b)
{
	const dnnl_version_t *v = dnnl_version();

	(void)t;
	buf_printf(b, "onednn=%d.%d.%d\nonednn_build=%s\nonednn_isa=%#x\n",
	    v->major, v->minor, v->patch, v->hash,
	    (unsigned)dnnl_get_effective_cpu_isa());
	loaded_build(b, "onednn_library_build", "libdnnl");
}

static const struct target_option options[] = {TILING_MEMORY, {.name = NULL}};

const struct target_kind target_dnnl = {
    .name = "dnnl",
    .kernel_library = "oneDNN",
    .summary = "oneDNN: blocked and channels-last kernels with fusion",
    .option = options,
    .rule = rules,
    .nrules = NRULES,
    .source = PRICE_MEASURED,
    .needs_input = true,
    .widens = true,
    .implementations = implementations,
    .compile = compile,
    .converter = reorder_new,
    .environment = environment,
};
