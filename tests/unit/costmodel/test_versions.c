/* Versions of one model: an opset raised, a layer widened, a block added, made
 * from a model of the data in memory. What is not new is not measured again.
 * The measurer defined here takes the place of the real one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/machine_facts.h"
#include "costmodel/measure.h"
#include "costmodel/pricer.h"
#include "ir/normalize.h"
#include "ir/onnx_read.h"
#include "targets/candidates.h"
#include "tests/support/dbfile.h"
#include "tests/support/support.h"

struct measurer {
	uint32_t measured;
};
static struct measurer the_measurer;

uint32_t
measurer_workers(uint32_t workers, uint32_t threads)
{
	(void)threads;
	return workers ? workers : 1;
}

bool
measurer_open(struct measurer **m, const struct measure_options *o,
    struct arena *a, struct err *err)
{
	(void)o, (void)a, (void)err;
	*m = &the_measurer;
	return true;
}

bool
measurer_run(struct measurer *m, const struct measure_job *job, uint32_t n,
    void (*done)(void *context, uint32_t job, const struct sample *r),
    void *context, struct err *err)
{
	struct sample r = {
	    .n = 5,
	    .low = 1000000000,
	    .median = 1000000000,
	    .high = 1000000000,
	    .min = 1000000000,
	};

	(void)job, (void)err;
	for (uint32_t i = 0; i < n; i++)
		done(context, i, &r);
	m->measured += n;
	return true;
}

void
measurer_set_deadline(struct measurer *m, uint64_t deadline_ns)
{
	(void)m, (void)deadline_ns;
}

void
measurer_close(struct measurer *m)
{
	(void)m;
}

void
measure_environment(struct buf *b, uint32_t threads)
{
	buf_printf(b, "cpu.model=test\nthreads=%u\n", threads);
}

struct fixture {
	struct arena a;
	struct err err;
	struct notes notes;
	struct model model;
	const char *db;
};

static int
setup(void **state)
{
	const char *path =
	    shared_path("data/models/light_squeezenet/model.onnx");
	struct onnx_options none = {.ndims = 0};
	struct fixture *f = calloc(1, sizeof *f);

	*state = f;
	arena_init(&f->a);
	notes_init(&f->notes, &f->a);
	f->db = dbfile_path("versions", &f->a);
	if (!path || !onnx_read(&f->model, path, &none, &f->a, &f->err)) {
		print_message("no model: %s\n", path ? f->err.text : "absent");
		return -1;
	}
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	model_close(&f->model);
	dbfile_remove(f->db);
	arena_release(&f->a);
	free(f);
	return 0;
}

static void
must(struct fixture *f, bool ok)
{
	if (!ok)
		fail_msg("%s", f->err.text);
}

/* Search as far as prices go: everything measured that the database lacks. */
static struct pricer_counts
price(struct fixture *f)
{
	static const char *const text[] = {"host"};
	struct infer_options infer = {.notes = &f->notes};
	struct candidate_options nothing = {.assume = NULL};
	struct pricer_options o = {
	    .db = f->db,
	    .measure = true,
	    .notes = &f->notes,
	    .model = "squeezenet",
	};
	struct pricer_counts counts;
	struct candidates c;
	struct prices prices;
	struct pricer *p;
	struct mix mix;
	uint32_t *all;

	must(f, normalize(f->model.graph, &infer, &f->err));
	must(f, mix_open(&mix, text, 1, &f->a, &f->err));
	must(f,
	    candidates_find(
	        &c, f->model.graph, &mix, &nothing, &f->a, &f->err));
	all = arena_new(&f->a, uint32_t, c.n);
	for (uint32_t i = 0; i < c.n; i++)
		all[i] = i;
	must(f,
	    pricer_open(&p, f->model.graph, &mix, &c, &o, &f->a, &f->err)
	        && pricer_begin(p, &prices, &f->err));
	counts = pricer_counts(p);
	must(f, pricer_price(p, all, c.n, &f->err));
	counts.measured = pricer_counts(p).measured;
	must(f, pricer_close(p, &f->err));
	print_message("%u of %u reused; %u shape, %u attribute, %u operator "
	              "changed\n",
	    counts.reused, counts.stored, counts.shape_changed,
	    counts.attribute_changed, counts.operator_changed);
	return counts;
}

static struct node *
find_conv(struct fixture *f, uint32_t number)
{
	for (node_id i = 0; i < f->model.graph->nnodes; i++)
		if (f->model.graph->node[i].op == OP_CONV && number-- == 0)
			return &f->model.graph->node[i];
	fail_msg("no such convolution");
	return NULL;
}

/* The same constant with another size of dimension `at`. */
static void
resize_constant(struct fixture *f, value_id v, uint32_t at, int64_t size)
{
	struct value *value = graph_value(f->model.graph, v);
	const struct tensor *old = value->constant;
	int64_t *dim =
	    arena_copy(&f->a, old->dim, old->rank * sizeof *old->dim);
	struct tensor *t = arena_new(&f->a, struct tensor, 1);
	static const float zero;

	dim[at] = size;
	*t = tensor_fill(DT_FLOAT, old->rank, dim, &zero);
	value->constant = t;
	value->type.dim = dim;
}

static void
a_raised_opset_measures_nothing(void **state)
{
	struct fixture *f = *state;
	struct pricer_counts before = price(f), after;

	assert_int_equal(before.reused, 0);
	assert_int_equal(before.measured, before.stored);
	for (node_id i = 0; i < f->model.graph->nnodes; i++)
		f->model.graph->node[i].opset = 12;
	after = price(f);
	assert_int_equal(after.stored, before.stored);
	assert_int_equal(after.reused, after.stored);
	assert_int_equal(after.measured, 0);
}

/* The first squeeze layer gets 24 channels for 16: it, its Relu and the two
 * layers that read it have new shapes; all else is known. */
static void
a_widened_layer_is_all_that_is_measured(void **state)
{
	struct fixture *f = *state;
	struct pricer_counts before = price(f), after;
	struct node *squeeze = find_conv(f, 1);

	assert_int_equal(
	    graph_value(f->model.graph, squeeze->input[1])->constant->dim[0],
	    16);
	resize_constant(f, squeeze->input[1], 0, 24);
	resize_constant(f, squeeze->input[2], 0, 24);
	resize_constant(f, find_conv(f, 2)->input[1], 1, 24);
	resize_constant(f, find_conv(f, 3)->input[1], 1, 24);
	after = price(f);
	assert_int_equal(after.stored - after.reused, 4);
	assert_int_equal(after.shape_changed, 4);
	assert_int_equal(after.measured, 4);
	assert_true(after.reused > before.stored / 2);
}

/* Sigmoid after the first convolution: an operator the database never saw. */
static void
an_added_block_is_all_that_is_measured(void **state)
{
	struct fixture *f = *state;
	struct graph *g = f->model.graph;
	struct pricer_counts before = price(f), after;
	struct node *conv = find_conv(f, 0);
	value_id *port = arena_new(&f->a, value_id, 2);
	struct type type = graph_value(g, conv->output[0])->type;

	port[0] = conv->output[0];
	port[1] = graph_add_value(g, "added", &type);
	for (node_id i = 0; i < g->nnodes; i++)
		for (uint32_t k = 0; k < g->node[i].ninputs; k++)
			if (g->node[i].input[k] == port[0])
				g->node[i].input[k] = port[1];
	graph_add_node(g,
	    &(struct node){
	        .op = OP_SIGMOID,
	        .op_type = "Sigmoid",
	        .domain = "",
	        .name = "added",
	        .opset = 9,
	        .ninputs = 1,
	        .noutputs = 1,
	        .input = port,
	        .output = port + 1,
	        .norigins = g->node[0].norigins,
	        .origin = g->node[0].origin,
	    });
	must(f, graph_sort(g, &f->err));
	after = price(f);
	assert_int_equal(after.reused, before.stored);
	assert_int_equal(after.operator_changed, 1);
	assert_int_equal(after.measured, 1);
}

int
main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(a_raised_opset_measures_nothing),
	    T(a_widened_layer_is_all_that_is_measured),
	    T(an_added_block_is_all_that_is_measured),
	};

	if (!shared_path("data/models/light_squeezenet/model.onnx")) {
		printf("skipped: no light_squeezenet among the data\n");
		return TEST_SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
