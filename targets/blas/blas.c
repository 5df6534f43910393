/* The BLAS backend: convolution and products through OpenBLAS's sgemm. */
#include "targets/blas/buffers.h"
#include "targets/blas/integer.h"
#include "targets/blas/kernel.h"
#include "targets/blas/library.h"
#include "targets/cores.h"
#include "targets/need.h"
#include "targets/target.h"
#include "targets/threads.h"

extern const struct target_kind target_blas;

#define NEED why_need

static bool
need_finish(const struct match_in *m, struct why *why, const struct fused *f)
{
	struct finish finish;
	bool ok = finish_of(&finish, f, m->graph, NULL);

	return NEED(why, ok, "finish",
	    "at most a tensor of the result's shape added, then clamped", "%s",
	    ok ? "that" : "another step");
}

static bool
accept_window_product(const struct match_in *m, struct why *why)
{
	struct fused f;
	struct window w;
	int64_t group;
	bool ok = need_all_tensors(m, why);

	if (!ok || !need_chain(m, why, &f) || !f.anchor)
		return false;
	fused_take_bias(&f, m->graph, 1);
	group = attr_int_or(f.anchor, "group", 1);
	ok = need_rank_in(m, why, f.anchor->input[0], 4, 4)
	    && need_window(m, why, f.anchor, &w);
	ok = need_constant(m, why, f.anchor, 1, "weights") && ok;
	ok = need_constant(m, why, f.anchor, 2, "bias") && ok;
	ok =
	    NEED(why,
	        group == 1 || node_in(m->graph, f.anchor, 1)->type.dim[1] > 1,
	        "channels_per_group", "more than one", "group = %d", (int)group)
	    && ok;
	ok = need_finish(m, why, &f) && ok;
	return ok && (!f.norm || need_inference(why, f.norm));
}

/* Both sides have as many matrices, or the right one a single one. */
static bool
need_batches(const struct match_in *m, struct why *why, const struct node *n)
{
	const struct type *l = matched_type(m, n->input[0]);
	const struct type *r = matched_type(m, n->input[1]);
	bool one = true, same = l->rank == r->rank;

	for (uint32_t i = 0; i + 2 < r->rank; i++) {
		one &= r->dim[i] == 1;
		same = same && l->dim[i] == r->dim[i];
	}
	return NEED(why, (one && l->rank >= r->rank) || same, "batches",
	    "equal, or one matrix on the right", "they broadcast otherwise");
}

static bool
accept_product(const struct match_in *m, struct why *why)
{
	const struct node *n;
	struct fused f;
	bool ok = need_all_tensors(m, why);

	if (!ok || !need_chain(m, why, &f) || !f.anchor)
		return false;
	n = f.anchor;
	if (n->op != OP_GEMM || n->ninputs < 3 || n->input[2] == VALUE_NONE)
		fused_take_bias(&f, m->graph, matched_type(m, f.end)->rank - 1);
	ok = need_rank_in(m, why, n->input[0], 2, 12)
	    && need_rank_in(m, why, n->input[1], 2, 12)
	    && need_batches(m, why, n);
	ok = NEED(why, graph_value(m->graph, n->input[0])->constant == NULL,
	         "left_operand", "not a constant", "a constant")
	    && ok;
	ok = need_constant(m, why, n, 2, "bias") && ok;
	ok = need_bias_row(m, why, n) && ok;
	/* the library does not look at the operands then: NaN is lost */
	ok = NEED(why, n->op != OP_GEMM || attr_float_or(n, "alpha", 1) != 0,
	         "alpha", "other than 0", "0")
	    && ok;
	return need_finish(m, why, &f) && ok;
}

enum { CONV, GEMM, MATMUL, NARROW, INTEGER };

static const struct rule rules[] = {
    [CONV] = {.name = "blas.conv",
        .pattern = CLAMPED(PLUS(CONV_NORM)),
        .accepts = accept_window_product},
    [GEMM] = {.name = "blas.gemm",
        .pattern = CLAMPED(PLUS(NODE(GEMM, ANY, ANY, REST))),
        .accepts = accept_product},
    [MATMUL] = {.name = "blas.matmul",
        .pattern = CLAMPED(PLUS(MAYBE(ADD, NODE(MATMUL, ANY, ANY), ANY))),
        .accepts = accept_product},
    [NARROW] = {.name = "blas.narrow",
        .pattern = EITHER(NODE(MATMUL, VARIABLE, CONSTANT),
            NODE(MATMULNBITS, VARIABLE, CONSTANT, CONSTANT, REST)),
        .accepts = need_narrow},
    [INTEGER] = {.name = "blas.integer",
        .pattern = EITHER(NODE(CONVINTEGER, VARIABLE, CONSTANT, REST),
            NODE(MATMULINTEGER, VARIABLE, CONSTANT, REST),
            NODE(QLINEARCONV, VARIABLE, ANY, ANY, CONSTANT, REST),
            NODE(QLINEARMATMUL, VARIABLE, ANY, ANY, CONSTANT, REST)),
        .accepts = accept_integer},
};

static uint32_t
implementations(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	format_id last;

	out[0] = (struct implementation){.name = "plain"};
	if (m->rule != CONV || max < 2)
		return 1;
	last = format_intern(
	    f, (struct format){SPACE_HOST, LAYOUT_NHWC, DT_UNDEFINED});
	out[1] = (struct implementation){
	    .name = "nhwc", .number = 1, .input = last, .output = last};
	return 2;
}

static bool
compile(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct fused f;
	const char *fault;
	bool ok;

	if (!buffers_take(target_threads(), err))
		return false;
	*out = (struct kernel){.kind = &target_blas, .candidate = c};
	if (c->rule == NARROW) {
		compile_narrow(g, c, a, out);
		return true;
	}
	if (c->rule == INTEGER)
		return compile_integer(g, c, a, out)
		    || err_set(err, ERR_UNSUPPORTED,
		        "BLAS: a scale or a bias is out of range");
	if (!fused_read(&f, g, c->match, &fault))
		return err_set(err, ERR_UNSUPPORTED, "BLAS: %s", fault);
	ok = c->rule == CONV ? compile_conv(t, g, c, &f, a, out)
	                     : compile_product(g, c, &f, a, out);
	return ok
	    || err_set(err, ERR_UNSUPPORTED,
	        "BLAS: the composite cannot be laid out as products");
}

static void
environment(const struct target *t, struct buf *b)
{
	(void)t;
	library_facts(b);
}

const struct target_kind target_blas = {
    .name = "blas",
    .kernel_library = "OpenBLAS",
    .summary = "OpenBLAS: convolutions and products through sgemm",
    .rule = rules,
    .nrules = (uint32_t)(sizeof rules / sizeof *rules),
    .source = PRICE_MEASURED,
    .needs_input = true,
    .widens = true,
    .flops_per_cycle = 64, /* of the widest vectors: products of floats */
    .implementations = implementations,
    .compile = compile,
    .environment = environment,
    .reach = blas_there,
    .load = blas_ready,
};
