#include "tests/support/plans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/infer.h"
#include "plan/search.h"
#include "targets/mrvl/space.h"
#include "tests/support/build.h"

static uint32_t
npu_ways(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	struct format nhwc = {SPACE_MRVL, LAYOUT_NHWC, DT_FLOAT16};
	format_id id = format_intern(f, nhwc);

	(void)m;
	(void)max;
	out[0] =
	    (struct implementation){.name = "nhwc", .input = id, .output = id};
	return 1;
}

static uint32_t
host_ways(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	(void)m;
	(void)f;
	(void)max;
	out[0] = (struct implementation){.name = "plain"};
	return 1;
}

static const struct rule npu_rules[] = {
    {"npu.conv", MAYBE(RELU, NODE(CONV, ANY, CONSTANT, CONSTANT)), NULL, false},
    {"npu.pool", NODE(MAXPOOL, ANY), NULL, false},
};
static const struct rule host_rules[] = {{"host.any", OPERATOR, NULL, false}};

static const struct target_kind npu = {
    .name = "npu",
    .rule = npu_rules,
    .nrules = 2,
    .source = PRICE_SIMULATED,
    .launches = true,
    .implementations = npu_ways,
};
static const struct target_kind host = {
    .name = "host",
    .rule = host_rules,
    .nrules = 1,
    .source = PRICE_MEASURED,
    .implementations = host_ways,
};

static void
must(bool ok, const struct err *err)
{
	if (ok)
		return;
	fprintf(stderr, "small_plan: %s\n", err->text);
	abort();
}

static value_id
conv(struct graph *g, value_id x, int64_t out, int64_t in)
{
	value_id w = build_zeros(g, DT_FLOAT, DIMS(out, in, 3, 3));
	value_id b = build_zeros(g, DT_FLOAT, DIMS(out));
	value_id y;

	y = build_node(g, OP_CONV, 13, (value_id[]){x, w, b}, 3);
	build_list(g, "pads", (int64_t[]){1, 1, 1, 1}, 4);
	return build_node(g, OP_RELU, 13, &y, 1);
}

static struct graph *
small_graph(struct arena *a)
{
	struct graph *g = graph_new(a, "small");
	value_id v = build_input(g, "x", DT_FLOAT, DIMS(1, 3, 8, 8));
	value_id w, *out = arena_new(a, value_id, 1);

	v = conv(g, v, 4, 3);
	v = build_node(g, OP_MAXPOOL, 12, &v, 1);
	build_list(g, "kernel_shape", (int64_t[]){2, 2}, 2);
	build_list(g, "strides", (int64_t[]){2, 2}, 2);
	v = build_node(g, OP_SIGMOID, 13, &v, 1);
	v = conv(g, v, 8, 4);
	v = build_node(g, OP_GLOBALAVERAGEPOOL, 1, &v, 1);
	v = build_node(g, OP_FLATTEN, 13, &v, 1);
	w = build_zeros(g, DT_FLOAT, DIMS(8, 10));
	v = build_node(g, OP_GEMM, 13, (value_id[]){v, w}, 2);
	g->value[v].name = "y";
	g->value[v].flags = VALUE_OUTPUT;
	out[0] = v;
	g->output = out;
	g->noutputs = 1;
	return g;
}

/* Names that differ from each other all the same. */
static void
make_hostile(struct graph *g)
{
	for (node_id i = 0; i < g->nnodes; i++)
		g->node[i].name =
		    arena_printf(g->arena, "%s%u", HOSTILE_NAME, i);
	for (value_id v = 0; v < g->nvalues; v++)
		g->value[v].name =
		    arena_printf(g->arena, "%s%u", HOSTILE_NAME, v);
	g->name = HOSTILE_NAME;
}

/* Position in the file = id, then a folded and a dropped node. */
static void
give_origins(struct graph *g)
{
	struct onnx_nodes *t = arena_new(g->arena, struct onnx_nodes, 1);

	t->n = t->cap = g->nnodes + 2;
	t->node = arena_new(g->arena, struct onnx_node, t->n);
	for (node_id i = 0; i < g->nnodes; i++) {
		struct node *n = &g->node[i];
		struct origin *o = arena_new(g->arena, struct origin, 1);
		const char **out = arena_new(g->arena, const char *, 1);

		out[0] = g->value[n->output[0]].name;
		t->node[i] = (struct onnx_node){.path = "",
		    .index = i,
		    .name = n->name,
		    .op_type = n->op_type,
		    .domain = "",
		    .noutputs = 1,
		    .outputs = out};
		*o = (struct origin){.onnx = i};
		n->origin = o;
		n->norigins = 1;
	}
	t->node[g->nnodes] = (struct onnx_node){.path = "",
	    .index = g->nnodes,
	    .name = "shape",
	    .op_type = "Shape",
	    .domain = "",
	    .fate = FATE_FOLDED,
	    .why = "its value is known"};
	t->node[g->nnodes + 1] = (struct onnx_node){.path = "",
	    .index = g->nnodes + 1,
	    .name = "same",
	    .op_type = "Identity",
	    .domain = "",
	    .fate = FATE_DROPPED,
	    .why = "an identity"};
	g->origin_table = t;
}

static struct price
known(enum price_source source, cost_ns ns)
{
	return (struct price){
	    .state = PRICE_KNOWN,
	    .source = source,
	    .origin = FROM_MEASURING,
	    .ns = ns,
	    .bound = ns,
	    .low = ns - ns / 10,
	    .high = ns + ns / 10,
	    .samples = source == PRICE_MEASURED ? 40 : 0,
	    .when = source == PRICE_MEASURED ? "2026-11-01T00:00:00Z" : "",
	    .detail = source == PRICE_MEASURED ? "" : "npu assumed: clock",
	};
}

/* A node costs 20 us on the host and 2 us on the npu; a conversion 1.5 us, a
 * launch 3 us. */
static void
make_prices(struct small_plan *s, struct arena *a)
{
	const struct graph *g = s->model.graph;
	size_t square = (size_t)MAX_FORMATS * MAX_FORMATS;
	uint32_t *class = arena_new(a, uint32_t, g->nvalues);

	prices_init(&s->prices, a);
	prices_of_each(&s->prices, s->candidates.n, 2);
	for (uint32_t i = 0; i < s->candidates.n; i++) {
		const struct candidate *c = &s->candidates.candidate[i];

		*prices_candidate(&s->prices, i) = c->target == 0
		    ? known(PRICE_SIMULATED, 2000 * c->nnodes)
		    : known(PRICE_MEASURED, 20000 * c->nnodes);
	}
	*prices_launch(&s->prices, 0) = known(PRICE_SIMULATED, 3000);
	for (value_id v = 0; v < g->nvalues; v++)
		class[v] = g->value[v].constant ? UINT32_MAX : 0;
	s->prices.value_class = class;
	s->prices.nclasses = 1;
	s->prices.nformats = MAX_FORMATS;
	s->prices.conversion = arena_new(a, struct conversion_price, square);
	for (uint32_t i = 0; i < square; i++)
		s->prices.conversion[i] = (struct conversion_price){
		    known(PRICE_SIMULATED, 1500), (format_id)(i % MAX_FORMATS)};
}

static void
add_baselines(struct plan *p, struct arena *a)
{
	struct plan_baseline *b = arena_new(a, struct plan_baseline, 3);

	b[0] = (struct plan_baseline){"single:npu", COST_NEVER, false, NULL};
	b[1] = (struct plan_baseline){"single:host", 180000, false, NULL};
	b[2] = (struct plan_baseline){"eager", 2 * p->cost, true, NULL};
	p->baseline = b;
	p->nbaselines = 3;
}

void
small_plan_init(struct small_plan *s, bool hostile, struct arena *a)
{
	static const struct onnx_opset opset[] = {{"", 13}};
	static const struct candidate_options keep = {.keep_refusals = true};
	struct infer_options infer_options = {0};
	struct err err = {.kind = ERR_NONE};
	struct target *target = arena_new(a, struct target, 2);
	struct plan_request r = {.graph = NULL};

	*s = (struct small_plan){.model = {.path = "small.onnx",
	                             .ir_version = 8,
	                             .nopsets = 1,
	                             .opset = opset,
	                             .producer = "test",
	                             .file_bytes = 1234}};
	notes_init(&s->model.notes, a);
	s->model.graph = small_graph(a);
	must(infer(s->model.graph, &infer_options, &err), &err);
	if (hostile)
		make_hostile(s->model.graph);
	give_origins(s->model.graph);
	target[0] = (struct target){
	    .kind = &npu, .text = "npu:tiles=4", .source = PRICE_SIMULATED};
	target[1] = (struct target){.kind = &host, .text = "host", .index = 1};
	s->mix = (struct mix){.target = target, .n = 2};
	formats_init(&s->mix.formats);
	target[0].formats = target[1].formats = &s->mix.formats;
	must(candidates_find(
	         &s->candidates, s->model.graph, &s->mix, &keep, a, &err),
	    &err);
	make_prices(s, a);
	r.graph = s->model.graph;
	r.mix = &s->mix;
	r.candidates = &s->candidates;
	r.prices = &s->prices;
	must(plan_search(&s->plan, &r, a, &err), &err);
	add_baselines(&s->plan, a);
}
