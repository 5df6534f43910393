#include "costmodel/roofline.h"

#include <assert.h>
#include <string.h>

#include "targets/widened.h"

/* TUNING: above the boost clock of any core sold (2026: 6.2 GHz). */
#define CLOCK_GHZ 6.5
/* SOURCE: two 512-bit fused multiply-adds a cycle is the widest vector unit of
 * x86 and ARM server cores; the same for two 256-bit ones without AVX-512. */
#define FLOPS_PER_CYCLE_WIDE 64.0
#define FLOPS_PER_CYCLE_NARROW 32.0
/* SOURCE: two 64-byte loads a cycle from the first cache. Anything larger than
 * that cache is slower, which a lower bound may ignore. */
#define BYTES_PER_CYCLE 128.0
/* SOURCE: Winograd F(6x6,3x3), the largest tile kernel libraries use, spends
 * 64 multiplications where the definition has 324. */
#define WINOGRAD_SAVING 5.0625
/* SOURCE: tile units (AMX) do 16 times the bf16 work of two vector units;
 * 8-bit doubles that. Half-width vectors double or quadruple. */
#define NARROW_TYPE_SAVING 32.0

static double
flops_per_cycle(void)
{
#if defined(__GNUC__) && defined(__x86_64__)
	if (!__builtin_cpu_supports("avx512f"))
		return FLOPS_PER_CYCLE_NARROW;
#endif
	return FLOPS_PER_CYCLE_WIDE;
}

static struct roofline
roofline_of(double flops, uint32_t threads)
{
	if (threads == 0)
		threads = 1;
	return (struct roofline){
	    .flops_per_ns = flops * CLOCK_GHZ * threads,
	    .bytes_per_ns = BYTES_PER_CYCLE * CLOCK_GHZ * threads,
	};
}

struct roofline
roofline_of_machine(uint32_t threads)
{
	return roofline_of(flops_per_cycle(), threads);
}

struct roofline
roofline_of_any(uint32_t threads)
{
	return roofline_of(FLOPS_PER_CYCLE_WIDE, threads);
}

static uint64_t
saturating_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Elements of a static tensor type as a double: only for dividing. 0 when it
 * is not static. */
static double
elements(const struct value *v)
{
	double n = 1;

	if (!v || v->type.kind != TYPE_TENSOR || !type_is_static(&v->type))
		return 0;
	for (uint32_t i = 0; i < v->type.rank; i++)
		n *= (double)v->type.dim[i];
	return n;
}

static double
dim_or_zero(const struct value *v, uint32_t i)
{
	if (!v || v->type.kind != TYPE_TENSOR || v->type.rank == RANK_UNKNOWN
	    || i >= v->type.rank || v->type.dim[i] < 0)
		return 0;
	return (double)v->type.dim[i];
}

/* How many times the work of the widest vector unit's best algorithm a kind
 * has to do per operation counted. */
static double
slowness(const struct target_kind *kind)
{
	assert(kind->flops_per_cycle <= FLOPS_PER_CYCLE_WIDE);
	if (kind->flops_per_cycle == 0
	    || kind->flops_per_cycle >= flops_per_cycle())
		return 1;
	return flops_per_cycle() / kind->flops_per_cycle;
}

/* May a fast algorithm be used for this convolution: 3x3, stride 1? */
static bool
suits_winograd(const struct node *n, const struct value *w)
{
	uint32_t count;
	const int64_t *stride = attr_ints(n, "strides", &count);

	for (uint32_t i = 0; i < count; i++)
		if (stride[i] != 1)
			return false;
	return dim_or_zero(w, 2) >= 3 && dim_or_zero(w, 3) >= 3;
}

/* [M, C/group, k...] weights: every output element sums C/group * k... */
static double
flops_of_conv(const struct graph *g, const struct node *n, bool as_defined)
{
	const struct value *w = node_in(g, n, 1);
	double rows = dim_or_zero(w, 0);
	double flops;

	if (rows < 1)
		return 0;
	flops = 2 * elements(node_out(g, n, 0)) * elements(w) / rows;
	return !as_defined && suits_winograd(n, w) ? flops / WINOGRAD_SAVING
	                                           : flops;
}

static double
flops_of_conv_transpose(const struct graph *g, const struct node *n)
{
	const struct value *w = node_in(g, n, 1);
	double rows = dim_or_zero(w, 0);

	/* Every input element is spread over M/group * k... outputs. */
	if (rows < 1)
		return 0;
	return 2 * elements(node_in(g, n, 0)) * elements(w) / rows;
}

/* Output elements times the length they are summed over: the last dimension
 * of A, or the first when it is transposed. */
static double
flops_of_product(const struct graph *g, const struct node *n)
{
	const struct value *a = node_in(g, n, 0);
	uint32_t rank = a ? a->type.rank : 0;
	double length;

	if (!a || rank == RANK_UNKNOWN || rank == 0)
		return 0;
	length = n->op == OP_GEMM && attr_int_or(n, "transA", 0)
	    ? dim_or_zero(a, 0)
	    : dim_or_zero(a, rank - 1);
	return 2 * elements(node_out(g, n, 0)) * length;
}

static double
type_saving(const struct value *v)
{
	uint32_t bits = v ? dtype_bits(v->type.dtype) : 0;

	return bits >= 32 ? 1 : NARROW_TYPE_SAVING;
}

static double
flops_of_node(const struct graph *g, const struct node *n, bool as_defined)
{
	double flops;

	switch (n->op) {
	case OP_CONV:
		flops = flops_of_conv(g, n, as_defined);
		break;
	case OP_CONVTRANSPOSE:
		flops = flops_of_conv_transpose(g, n);
		break;
	case OP_GEMM:
	case OP_MATMUL:
	case OP_MATMULNBITS:
		flops = flops_of_product(g, n);
		break;
	default:
		/* Memory decides for everything else. */
		return 0;
	}
	return as_defined ? flops : flops / type_saving(node_in(g, n, 0));
}

/* Does the operator have to look at every element of input `slot`? Gather or
 * Slice need not; a strided 1x1 convolution skips most of its input. */
static bool
reads_whole_input(const struct node *n, uint32_t slot)
{
	switch (n->op) {
	case OP_CONV:
	case OP_CONVTRANSPOSE:
		return slot == 1;
	case OP_GEMM:
	case OP_MATMUL:
	case OP_MATMULNBITS:
	case OP_SOFTMAX:
	case OP_LOGSOFTMAX:
	case OP_LAYERNORMALIZATION:
	case OP_GLOBALAVERAGEPOOL:
	case OP_GLOBALMAXPOOL:
		return slot < 2;
	default:
		return (op_get(n->op)->fusion == FUSE_ELEMWISE && slot == 0)
		    || op_get(n->op)->fusion == FUSE_REDUCTION;
	}
}

static uint64_t
bytes_in(const struct type *type, struct format f)
{
	if (type->kind != TYPE_TENSOR || !type_is_static(type))
		return 0;
	if (type->rank != 4)
		f.layout = LAYOUT_PLAIN;
	return format_bytes(f, type);
}

static bool
is_read_whole(const struct graph *g, const struct candidate *c, value_id v)
{
	for (uint32_t i = 0; i < c->nnodes; i++) {
		const struct node *n = graph_node(g, c->node[i]);

		for (uint32_t s = 0; s < n->ninputs; s++)
			if (n->input[s] == v && reads_whole_input(n, s))
				return true;
	}
	return false;
}

/* Weights, in the smallest form a kernel may have packed them into: a fourth
 * of their bytes covers 8-bit ones. */
static uint64_t
bytes_of_weights(const struct graph *g, const struct node *n)
{
	uint64_t bytes = 0;

	for (uint32_t s = 0; s < n->ninputs; s++) {
		const struct value *v = node_in(g, n, s);

		if (v && v->constant && v->constant->kind != TENSOR_FILL
		    && v->constant->kind != TENSOR_STRINGS
		    && reads_whole_input(n, s))
			bytes = saturating_add(bytes, v->constant->bytes / 4);
	}
	return bytes;
}

struct work
work_of_candidate(
    const struct graph *g, const struct mix *m, const struct candidate *of)
{
	const struct candidate *c = candidate_seen(of, &g);
	const struct target_kind *kind = m->target[c->target].kind;
	const double slower = slowness(kind);
	struct work w = {0, 0};
	double flops = 0;

	if (c->in_place)
		return w;
	for (uint32_t i = 0; i < c->nnodes; i++) {
		const struct node *n = graph_node(g, c->node[i]);

		flops +=
		    slower * flops_of_node(g, n, kind->flops_per_cycle != 0);
		w.bytes = saturating_add(w.bytes, bytes_of_weights(g, n));
	}
	for (uint32_t i = 0; i < c->ninputs; i++)
		if (is_read_whole(g, c, c->input[i].value))
			w.bytes = saturating_add(w.bytes,
			    bytes_in(&graph_value(g, c->input[i].value)->type,
			        m->formats.format[c->input[i].format]));
	for (uint32_t i = 0; i < c->noutputs; i++)
		w.bytes = saturating_add(w.bytes,
		    bytes_in(&graph_value(g, c->output[i].value)->type,
		        m->formats.format[c->output[i].format]));
	w.flops = flops < 9e18 ? (uint64_t)flops : UINT64_MAX;
	return w;
}

uint64_t
flops_in_region(const struct graph *g, node_id node)
{
	const double flops = flops_of_node(g, graph_node(g, node), false);

	return flops < 9e18 ? (uint64_t)flops : UINT64_MAX;
}

struct work
work_of_conversion(
    const struct type *type, struct format from, struct format to)
{
	return (struct work){
	    .bytes = saturating_add(bytes_in(type, from), bytes_in(type, to)),
	};
}

cost_ns
roofline_bound(const struct roofline *r, struct work w, double scale)
{
	double by_flops = (double)w.flops / r->flops_per_ns;
	double by_bytes = (double)w.bytes / r->bytes_per_ns;
	double ns = (by_flops > by_bytes ? by_flops : by_bytes) * scale;

	assert(r->flops_per_ns > 0 && r->bytes_per_ns > 0);
	assert(scale > 0 && scale <= 1); /* or nothing would be bounded */

	if (ns < 1)
		return 1;
	return ns < 9e18 ? (cost_ns)ns : (cost_ns)9e18;
}

/* TUNING: nine models took 0.16 to 0.26 of what there is, as counted here. */
#define REACHED 0.2

double
roofline_expect_ns(const struct graph *g, uint32_t threads)
{
	double flops = 0;

	for (node_id i = 0; i < g->nnodes; i++)
		flops += (double)flops_in_region(g, i);
	return flops / roofline_of_machine(threads).flops_per_ns / REACHED;
}
