/* Every kernel library on operators that read constants where activations are
 * usual: each subset of an operator's inputs is made constant in turn. */
#include <stdio.h>

#include "costmodel/reference.h"
#include "costmodel/trial.h"
#include "targets/candidates.h"
#include "targets/host/host.h"
#include "tests/support/make.h"
#include "tests/support/support.h"

extern const struct target_kind target_dnnl, target_xnnpack, target_blas,
    target_host;
static const struct target_kind *const kinds[] = {
    &target_dnnl, &target_xnnpack, &target_blas, &target_host};

static struct arena arena;
static struct maker m;

/* An operator over tensors; shape lists end with 0, the list with NULL. */
struct form {
	enum op op;
	const int64_t *shape[4];
	struct attr attr[2];
	uint32_t nattrs;
};

#define AXIS(x) .attr = {ATTR_OF_INT("axis", x)}, .nattrs = 1
#define IMAGE DIMS(1, 16, 9, 9)

static const struct form form[] = {
    {.op = OP_ADD, .shape = {IMAGE, IMAGE}},
    {.op = OP_SUB, .shape = {IMAGE, DIMS(16, 1, 1)}},
    {.op = OP_MUL, .shape = {DIMS(8, 32), DIMS(32)}},
    {.op = OP_DIV, .shape = {DIMS(8, 32), DIMS(8, 32)}},
    {.op = OP_MAX, .shape = {DIMS(8, 32), DIMS(8, 1)}},
    {.op = OP_RELU, .shape = {IMAGE}},
    {.op = OP_GELU, .shape = {DIMS(8, 32)}},
    {.op = OP_SIGMOID, .shape = {IMAGE}},
    {.op = OP_TANH, .shape = {DIMS(8, 32)}},
    {.op = OP_ABS, .shape = {IMAGE}},
    {.op = OP_EXP, .shape = {DIMS(8, 32)}},
    {.op = OP_MATMUL, .shape = {DIMS(8, 32), DIMS(32, 24)}},
    {.op = OP_MATMUL, .shape = {DIMS(2, 8, 32), DIMS(2, 32, 24)}},
    {.op = OP_GEMM, .shape = {DIMS(8, 32), DIMS(32, 24), DIMS(24)}},
    {.op = OP_GEMM,
        .shape = {DIMS(8, 32), DIMS(24, 32), DIMS(8, 24)},
        .attr = {ATTR_OF_INT("transB", 1)},
        .nattrs = 1},
    {.op = OP_CONV, .shape = {IMAGE, DIMS(8, 16, 3, 3), DIMS(8)}},
    {.op = OP_CONV,
        .shape = {IMAGE, DIMS(16, 1, 3, 3)},
        .attr = {ATTR_OF_INT("group", 16)},
        .nattrs = 1},
    {.op = OP_CONVTRANSPOSE, .shape = {IMAGE, DIMS(16, 8, 3, 3), DIMS(8)}},
    {.op = OP_MAXPOOL,
        .shape = {IMAGE},
        .attr = {ATTR_OF_INTS("kernel_shape", 2, 2)},
        .nattrs = 1},
    {.op = OP_AVERAGEPOOL,
        .shape = {IMAGE},
        .attr = {ATTR_OF_INTS("kernel_shape", 3, 3)},
        .nattrs = 1},
    {.op = OP_GLOBALAVERAGEPOOL, .shape = {IMAGE}},
    {.op = OP_BATCHNORMALIZATION, .shape = {IMAGE, DIMS(16), DIMS(16)}},
    {.op = OP_LAYERNORMALIZATION, .shape = {DIMS(8, 32), DIMS(32), DIMS(32)}},
    {.op = OP_INSTANCENORMALIZATION, .shape = {IMAGE, DIMS(16), DIMS(16)}},
    {.op = OP_SOFTMAX, .shape = {DIMS(8, 32)}, AXIS(-1)},
    {.op = OP_LOGSOFTMAX, .shape = {DIMS(8, 32)}, AXIS(1)},
    {.op = OP_REDUCEMEAN,
        .shape = {IMAGE},
        .attr = {ATTR_OF_INTS("axes", 2, 3)},
        .nattrs = 1},
    {.op = OP_TRANSPOSE,
        .shape = {IMAGE},
        .attr = {ATTR_OF_INTS("perm", 0, 2, 3, 1)},
        .nattrs = 1},
    {.op = OP_CONCAT, .shape = {IMAGE, IMAGE}, AXIS(1)},
    {.op = OP_FLATTEN, .shape = {IMAGE}, AXIS(1)},
    {.op = OP_PRELU, .shape = {IMAGE, DIMS(16, 1, 1)}},
};

static uint32_t
inputs_of(const struct form *f)
{
	uint32_t n = 0;

	while (n < 4 && f->shape[n])
		n++;
	return n;
}

/* The operator with the inputs of the mask constant; then an activation, so
 * that something may be fused behind. Variances are positive. */
static void
build(const struct form *f, uint32_t mask)
{
	value_id in[7];
	uint32_t n = inputs_of(f);
	value_id y;

	for (uint32_t i = 0; i < n; i++)
		in[i] = mask >> i & 1
		    ? make_constant(&m, f->shape[i], 0.25f, 1.5f)
		    : make_input(&m, f->shape[i]);
	if (f->op == OP_BATCHNORMALIZATION) {
		in[n++] = make_constant(&m, DIMS(16), -0.5f, 0.5f);
		in[n++] = make_constant(&m, DIMS(16), 0.5f, 1.5f);
	}
	in[n] = VALUE_LAST;
	y = make_node(&m, f->op, in, f->attr, f->nattrs);
	make_output(&m, MAKE(&m, RELU, y));
}

struct tally {
	uint32_t ran, failed;
};

static void
try_candidate(struct tally *t, const struct mix *mix, const struct candidate *c,
    struct reference *ref, const char *what)
{
	const struct target_kind *k = mix->target[c->target].kind;
	struct err err = {.kind = ERR_NONE};
	double error = 0, allowed = 0;
	struct trial trial;
	bool ok = trial_open(&trial, m.graph, mix, c, &arena, &err);

	if (!ok && err.kind == ERR_UNSUPPORTED)
		return;
	if (ok) {
		trial_run(&trial);
		ok = trial_check(&trial, ref, &error, &allowed, &arena, &err);
		trial_close(&trial);
	}
	t->ran++;
	if (ok && error <= allowed)
		return;
	t->failed++;
	printf("%s: %s %s: error %g of %g %s\n", what, k->rule[c->rule].name,
	    c->implementation_name, error, allowed,
	    err.kind == ERR_NONE ? "" : err.text);
}

static bool
try_graph(struct tally *t, const char *what)
{
	struct target target[4];
	struct mix mix = {.target = target};
	struct err err = {.kind = ERR_NONE};
	struct candidates found;
	struct reference ref;

	formats_init(&mix.formats);
	for (uint32_t i = 0; i < 4; i++)
		if (kinds[i]->lacks == NULL) {
			target[mix.n] = (struct target){.kind = kinds[i],
			    .text = kinds[i]->name,
			    .index = mix.n,
			    .formats = &mix.formats};
			mix.n++;
		}
	if (!candidates_find(&found, m.graph, &mix, NULL, &arena, &err)) {
		printf("%s: %s\n", what, err.text);
		return false;
	}
	reference_init(&ref, m.graph, host_eval);
	for (uint32_t i = 0; i < found.n; i++)
		try_candidate(t, &mix, &found.candidate[i], &ref, what);
	reference_release(&ref);
	return true;
}

int
main(void)
{
	struct tally t = {0};
	bool ok = true;

	for (size_t i = 0; i < sizeof form / sizeof *form; i++)
		for (uint32_t mask = 1; mask < 1u << inputs_of(&form[i]);
		     mask++) {
			arena_init(&arena);
			make_begin(&m, &arena);
			build(&form[i], mask);
			make_end(&m);
			ok = try_graph(&t,
			         arena_printf(&arena, "%s, constants %x",
			             op_get(form[i].op)->type, (unsigned)mask))
			    && ok;
			arena_release(&arena);
		}
	printf("%u ran, %u failed\n", (unsigned)t.ran, (unsigned)t.failed);
	return !ok || t.failed != 0 || t.ran == 0;
}
