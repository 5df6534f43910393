/* The target kind: any node the host takes, which makes sure that a cover always
 * exists; and what exporters spell out, as the operator it amounts to. */
#include <assert.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "targets/host/eval.h"
#include "targets/host/host.h"
#include "targets/loaded.h"
#include "targets/pieces.h"
#include "targets/target.h"

/* An idiom is the host's where it has a kernel for the operator. */
static bool
takes_idiom(const struct match_in *m, struct why *why)
{
	const struct node *n = match_as_node(m->match, m->graph);
	const struct graph *g = match_graph(m->match, m->graph);
	struct err err = {.kind = ERR_NONE};
	bool takes;

	if (!why_need(why, n != NULL, "idiom_is_an_operator",
	        "a spelling that one operator computes", "none does"))
		return false;
	takes = host_takes(g, n, &err);
	return why_need(why, takes, "host_has_a_kernel",
	    "an operator and dtype in ir/schema.def", "%s",
	    takes ? n->op_type : err.text);
}

static bool
takes_it(const struct match_in *m, struct why *why)
{
	const struct node *n = graph_node(m->graph, m->match->root);
	struct err err = {.kind = ERR_NONE};
	/* opaque operators stay for whatever runtime runs the host part */
	bool takes = node_is_opaque(n) || host_takes(m->graph, n, &err);

	return why_need(why, takes, "host_has_a_kernel",
	    "an operator and dtype in ir/schema.def", "%s",
	    takes ? n->op_type : err.text);
}

static const struct rule rules[] = {
    {.name = "host.node", .pattern = OPERATOR, .accepts = takes_it},
    /* keys and values behind those of the past are read outside, too */
    {.name = "host.idiom",
        .pattern = ANY_IDIOM,
        .accepts = takes_idiom,
        .multi_output = true},
};
enum { RULE_NODE, RULE_IDIOM };

static uint32_t
idiom_implementation(const struct match_in *m, struct implementation *out)
{
	const struct idiom_match *found = match_idiom(m->match, 0);

	*out = (struct implementation){
	    .name = idiom_name(found->kind), .loses_nan = found->loses_nan};
	return 1;
}

enum { PLAIN, IN_PLACE, OPAQUE };

/* What is left of a Cast between halves and floats stays in whatever layout others
 * of the mix have. */
static uint32_t
stay_in_layouts(const struct match_in *m, const struct formats *f,
    struct implementation *out, uint32_t n, uint32_t max)
{
	static const char *const name[] = {[LAYOUT_NHWC] = "in place/nhwc",
	    [LAYOUT_BLK8] = "in place/nChw8c",
	    [LAYOUT_BLK16] = "in place/nChw16c"};

	for (uint32_t i = 1; i < f->n && n < max; i++) {
		const struct format *have = &f->format[i];

		if (have->space != SPACE_HOST || have->dtype != DT_UNDEFINED
		    || !pieces_fit(m, have->layout))
			continue;
		out[n++] = (struct implementation){.name = name[have->layout],
		    .number = IN_PLACE,
		    .input = (format_id)i,
		    .output = (format_id)i,
		    .in_place = true};
	}
	return n;
}

/* Joining and splitting are offered both ways, since memory is not always free
 * to lie so that nothing moves; reshaping needs no more than one piece. */
static uint32_t
implementations(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const struct node *node = graph_node(m->graph, m->match->root);
	bool in_place;
	uint32_t n = 0;

	if (max < 2)
		return 0;
	if (m->rule == RULE_IDIOM)
		return idiom_implementation(m, out);
	if (node_is_opaque(node)) {
		out[0] = (struct implementation){
		    .name = "opaque", .number = OPAQUE, .opaque = true};
		return 1;
	}
	in_place = pieces_fit(m, LAYOUT_PLAIN);
	if (in_place)
		out[n++] = (struct implementation){
		    .name = "in place", .number = IN_PLACE, .in_place = true};
	if (!in_place || node->op == OP_CONCAT || node->op == OP_SPLIT)
		out[n++] =
		    (struct implementation){.name = "plain", .number = PLAIN};
	if (node->op == OP_IDENTITY)
		n = stay_in_layouts(m, f, out, n, max);
	return n;
}

/* A node with everything run() needs laid out beforehand. */
struct prepared {
	const struct graph *graph;
	const struct node *node;
	const struct tensor **in; /* [ninputs + nimplicit] */
	struct tensor *own; /* the tensors behind `in` that are fed */
	uint32_t *port; /* which port feeds own[i], or UINT32_MAX */
	bool *sized_in; /* else the port is a struct tensor */
	struct tensor *out; /* [noutputs] */
	uint32_t *out_port; /* [noutputs], or UINT32_MAX */
	bool *sized_out; /* [noutputs], of those with a port */
	struct preset *preset; /* [noutputs] */
	bool keeps; /* outputs without a size beforehand, until the next run */
	struct arena kept; /* where they lie */
	struct arena memory; /* scratch; its one block is kept */
	size_t reserved; /* size of that block */
};

static void
prepare_inputs(struct prepared *p, const struct candidate *c, struct arena *a)
{
	uint32_t n = p->node->ninputs + p->node->nimplicit;

	p->in = arena_new(a, const struct tensor *, n);
	p->own = arena_new(a, struct tensor, n);
	p->port = arena_new(a, uint32_t, n);
	p->sized_in = arena_new(a, bool, n);
	for (uint32_t i = 0; i < n; i++) {
		value_id id = p->node->input[i];
		const struct value *v;

		p->port[i] = UINT32_MAX;
		if (id == VALUE_NONE)
			continue;
		v = graph_value(p->graph, id);
		p->in[i] = &p->own[i];
		if (v->constant) {
			p->own[i] = tensor_opened(v->constant, a);
			continue;
		}
		p->port[i] = ports_find(c->input, c->ninputs, id);
		assert(p->port[i] != UINT32_MAX);
		p->sized_in[i] = type_has_size(&v->type);
		if (p->sized_in[i])
			p->own[i] = tensor_view(
			    v->type.dtype, v->type.rank, v->type.dim, NULL);
	}
}

static bool
prepare_outputs(struct prepared *p, const struct candidate *c, struct arena *a,
    struct err *err)
{
	uint32_t n = p->node->noutputs;

	p->out = arena_new(a, struct tensor, n);
	p->out_port = arena_new(a, uint32_t, n);
	p->sized_out = arena_new(a, bool, n);
	p->preset = arena_new(a, struct preset, n);
	for (uint32_t i = 0; i < n; i++) {
		value_id id = p->node->output[i];
		size_t count;
		const struct value *v;

		p->out_port[i] = UINT32_MAX;
		if (id == VALUE_NONE)
			continue;
		v = graph_value(p->graph, id);
		p->out_port[i] = ports_find(c->output, c->noutputs, id);
		if (p->out_port[i] == UINT32_MAX)
			continue; /* nobody reads it: it stays in scratch */
		p->sized_out[i] = type_has_size(&v->type);
		p->keeps |= !p->sized_out[i];
		if (!p->sized_out[i])
			continue;
		if (!tensor_size(v->type.dtype, v->type.dim, v->type.rank,
		        &count, &p->preset[i].bytes))
			return err_set(
			    err, ERR_INPUT, "'%s' is too large", v->name);
	}
	return true;
}

/* Give scratch back. When it grew past its one block, the next is twice as
 * large: after a few runs nothing is taken from the system any more. */
static void
settle(struct prepared *p, struct arena_mark mark)
{
	struct arena *memory = &p->memory;
	size_t used = memory->bytes;

	if (memory->top == mark.top) {
		arena_back(memory, mark);
		return;
	}
	arena_release(memory);
	p->reserved = used > p->reserved ? used : p->reserved;
	p->reserved *= 2;
	arena_alloc(memory, p->reserved);
	arena_back(memory, (struct arena_mark){.top = memory->top});
}

/* A fault of the data, not of the plan: told to whoever runs the kernel. */
static void
report(const struct kernel *k, const struct err *fault)
{
	if (k->fault) {
		*k->fault = *fault;
		return;
	}
	fprintf(stderr, "marq: %s\n", fault->text);
	exit(err_exit(fault->kind));
}

static void
take_ports(struct prepared *p, const void *const *in, void *const *out)
{
	for (uint32_t i = 0; i < p->node->ninputs + p->node->nimplicit; i++) {
		if (p->port[i] == UINT32_MAX)
			continue;
		if (p->sized_in[i])
			p->own[i].data = in[p->port[i]];
		else
			p->own[i] = *(const struct tensor *)in[p->port[i]];
	}
	for (uint32_t i = 0; i < p->node->noutputs; i++)
		if (p->sized_out[i])
			p->preset[i].data = out[p->out_port[i]];
}

/* Of outputs without a size beforehand, where they came to lie. */
static void
hand_over(const struct prepared *p, void *const *out)
{
	for (uint32_t i = 0; i < p->node->noutputs; i++)
		if (p->out_port[i] != UINT32_MAX && !p->sized_out[i])
			*(struct tensor *)out[p->out_port[i]] = p->out[i];
}

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	struct prepared *p = k->state;
	struct arena_mark mark = arena_mark(&p->memory);
	struct err err = {.kind = ERR_NONE};
	struct call c = {.graph = p->graph,
	    .node = p->node,
	    .in = p->in,
	    .out = p->out,
	    .preset = p->preset,
	    .arena = p->keeps ? &p->kept : &p->memory,
	    .scratch = &p->memory};

	arena_release(&p->kept);
	take_ports(p, in, out);
	if (host_call(&c, &err))
		hand_over(p, out);
	else
		report(k, &err);
	settle(p, mark);
}

static void
release(struct kernel *k)
{
	struct prepared *p = k->state;

	arena_release(&p->kept);
	arena_release(&p->memory);
}

static bool
compile(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct prepared *p = arena_new(a, struct prepared, 1);

	if (c->implementation == IN_PLACE) {
		pieces_compile(t, g, c, a, out);
		return true;
	}
	p->graph = match_graph(c->match, g);
	p->node = match_as_node(c->match, g);
	arena_init(&p->memory);
	arena_init(&p->kept);
	prepare_inputs(p, c, a);
	if (!host_takes(p->graph, p->node, err)
	    || !prepare_outputs(p, c, a, err))
		return err_in(
		    err, "node '%s' (#%u)", p->node->name, c->match->root);
	*out = (struct kernel){
	    .candidate = c, .run = run, .release = release, .state = p};
	return true;
}

/* What its times depend on beside the machine: how it was compiled. */
static void
environment(const struct target *t, struct buf *b)
{
	(void)t;
#ifdef __OPTIMIZE__
	buf_str(b, "optimised=yes\n");
#else
	buf_str(b, "optimised=only products and element access\n");
#endif
#ifdef __VERSION__
	buf_printf(b, "compiler=%s\n", __VERSION__);
#endif
	/* Many operators spend their time in it. */
	buf_printf(b, "libm=%s\n", gnu_get_libc_version());
	loaded_build(b, "libm_build", "libm.so");
}

/* SOURCE: two products and two sums a cycle of the vectors we are compiled for
 * (baseline x86-64: four floats). */
#if defined(__AVX512F__) || !defined(__x86_64__)
#define FLOPS_PER_CYCLE 64
#elif defined(__AVX__)
#define FLOPS_PER_CYCLE 32
#else
#define FLOPS_PER_CYCLE 16
#endif

const struct target_kind target_host = {
    .name = "host",
    .summary = "plain C reference of every operator, one node each",
    .rule = rules,
    .nrules = sizeof rules / sizeof *rules,
    .source = PRICE_MEASURED,
    .widens = true,
    .flops_per_cycle = FLOPS_PER_CYCLE,
    .implementations = implementations,
    .compile = compile,
    .environment = environment,
};
