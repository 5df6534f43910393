/* From a plan's steps to the graph of mod.json. */
#include "targets/mrvl/device_build.h"

#include <string.h>

#include "ir/base/size.h"
#include "targets/mrvl/build.h"
#include "targets/mrvl/codegen.h"
#include "targets/mrvl/options.h"
#include "targets/toolchain.h"

bool
device_type_of(
    struct device_type *t, const struct graph *g, value_id v, struct err *err)
{
	const struct value *value = graph_value(g, v);

	if (!type_has_size(&value->type))
		return err_set(err, ERR_UNSUPPORTED,
		    "value '%s': a tensor of numbers and static shape is "
		    "needed, it is %s",
		    value->name,
		    value->type.kind == TYPE_TENSOR
		        ? "one whose shape or content is not laid out before"
		        : "none");
	if (value->type.rank > DEVICE_RANK)
		return err_set(err, ERR_UNSUPPORTED,
		    "value '%s': the device takes at most %u dimensions, it "
		    "has %u",
		    value->name, DEVICE_RANK, value->type.rank);
	*t = (struct device_type){value->type.dtype, dims_of(&value->type)};
	return true;
}

size_t
device_bytes(const struct device_type *t)
{
	size_t bytes = 0;

	return dtype_bytes(t->dtype, dims_count(&t->dims), &bytes) ? bytes : 0;
}

uint32_t
device_node(const struct device *d, struct device_ref r)
{
	uint32_t before = r.kind == DEVICE_INPUT ? 0
	    : r.kind == DEVICE_PARAM             ? d->ninputs
	                                         : d->ninputs + d->nparams;

	return before + r.index;
}

uint32_t
device_entry(const struct device *d, struct device_ref r)
{
	return r.kind == DEVICE_FUNCTION
	    ? d->ninputs + d->nparams + d->function[r.index].first + r.output
	    : device_node(d, r);
}

const struct device_type *
device_type(const struct device *d, struct device_ref r)
{
	return r.kind == DEVICE_INPUT ? &d->input[r.index].type
	    : r.kind == DEVICE_PARAM
	    ? &d->param[r.index].type
	    : &d->function[r.index].output[r.output].type;
}

/* ---- inputs and params ---- */

/* Is a name an input's? */
static bool
is_input(const struct device *d, const char *name)
{
	for (uint32_t i = 0; i < d->ninputs; i++)
		if (strcmp(d->input[i].name, name) == 0)
			return true;
	return false;
}

/* "p<n>" as TVM has it, unless an input is called so. */
static const char *
param_name(const struct device_builder *b)
{
	const char *name = arena_printf(b->arena, "p%u", b->device->nparams);

	while (is_input(b->device, name))
		name = arena_printf(b->arena, "%s_", name);
	return name;
}

static struct device_ref
add_param(struct device_builder *b, value_id v, const struct tensor *t)
{
	struct device *d = b->device;

	if ((d->nparams & (d->nparams - 1)) == 0) {
		struct device_source *more = arena_new(b->arena,
		    struct device_source, d->nparams ? 2 * d->nparams : 1);

		if (d->nparams)
			memcpy(more, d->param, d->nparams * sizeof *more);
		d->param = more;
	}
	d->param[d->nparams] = (struct device_source){
	    .name = param_name(b),
	    .type = {t->dtype, dims_make(t->rank, t->dim)},
	    .value = v,
	    .content = t,
	};
	return (struct device_ref){DEVICE_PARAM, d->nparams++, 0};
}

struct device_ref
device_place(struct device_builder *b, value_id v)
{
	if (!b->placed[v]) {
		b->place[v] =
		    add_param(b, v, graph_value(b->graph, v)->constant);
		b->placed[v] = true;
	}
	return b->place[v];
}

struct device_ref
device_table(struct device_builder *b, const int32_t *table, size_t n)
{
	struct tensor *t = arena_new(b->arena, struct tensor, 1);
	int64_t *dim = arena_new(b->arena, int64_t, 1);

	dim[0] = (int64_t)n;
	*t = tensor_view(DT_INT32, 1, dim, table);
	return add_param(b, VALUE_NONE, t);
}

uint32_t
device_reads(struct device_builder *b, struct device_ref r)
{
	for (uint32_t i = 0; i < b->ninputs; i++)
		if (memcmp(&b->input[i], &r, sizeof r) == 0)
			return i;
	b->input[b->ninputs] = r;
	return b->ninputs++;
}

static bool
add_inputs(struct device_builder *b, struct err *err)
{
	const struct graph *g = b->graph;
	struct device *d = b->device;

	if (g->ninputs > DEVICE_IO || g->noutputs > DEVICE_IO)
		return err_set(err, ERR_UNSUPPORTED,
		    "the device takes models of at most %u inputs and %u "
		    "outputs, this one has %u and %u",
		    DEVICE_IO, DEVICE_IO, g->ninputs, g->noutputs);
	d->input = arena_new(b->arena, struct device_source, g->ninputs);
	for (uint32_t i = 0; i < g->ninputs; i++) {
		struct device_source *s = &d->input[i];

		s->value = g->input[i];
		s->name = graph_value(g, s->value)->name;
		if (!device_type_of(&s->type, g, s->value, err))
			return false;
		b->place[s->value] = (struct device_ref){DEVICE_INPUT, i, 0};
		b->placed[s->value] = true;
	}
	d->ninputs = g->ninputs;
	return true;
}

/* ---- functions ---- */

struct device_function *
device_add_function(
    struct device_builder *b, const char *name, uint32_t noutputs)
{
	struct device_function *f =
	    &b->device->function[b->device->nfunctions++];

	*f = (struct device_function){
	    .name = name,
	    .region = DEVICE_NO_REGION,
	    .plan_region = b->plan_region,
	    .ninputs = b->ninputs,
	    .noutputs = noutputs,
	    .first = b->nouts,
	    .input = (const struct device_ref *)arena_copy(
	        b->arena, b->input, b->ninputs * sizeof *b->input),
	    .output = arena_new(b->arena, struct device_output, noutputs),
	};
	b->nouts += noutputs;
	b->ninputs = 0;
	return f;
}

/* All nodes of a region's candidates. */
static void
set_nodes(struct device_function *f, const struct region *r, struct arena *a)
{
	uint32_t n = 0;
	node_id *list;

	for (uint32_t i = 0; i < r->ncandidates; i++)
		n += r->candidate[i]->nnodes;
	list = arena_new(a, node_id, n);
	f->node = list;
	f->nnodes = n;
	for (uint32_t i = 0; i < r->ncandidates; i++) {
		memcpy(list, r->candidate[i]->node,
		    r->candidate[i]->nnodes * sizeof *list);
		list += r->candidate[i]->nnodes;
	}
}

static struct dims
output_dims(const struct layers *l, const struct region_output *o)
{
	return o->from.is_input ? l->input[o->from.index].dims
	                        : l->layer[o->from.index].out;
}

static bool
add_region(struct device_builder *b, const struct region *r, struct err *err)
{
	static const uint32_t to_nchw[] = {0, 3, 1, 2};
	struct device *d = b->device;
	struct device_region *region = &d->region[d->nregions];
	const struct layers *l = &region->layers;
	struct device_function *f;
	uint32_t at;

	if (!mrvl_layers(&region->layers, r, b->arena, err))
		return false;
	region->options = mrvl_compiler_options(mrvl_of(r->target), b->arena);
	region->batch = mrvl_batch(l);
	for (uint32_t i = 0; i < l->ninputs; i++)
		b->input[b->ninputs++] = device_place(b, l->input[i].value);
	at = d->nfunctions;
	f = device_add_function(b, l->symbol, l->noutputs);
	f->region = d->nregions++;
	set_nodes(f, r, b->arena);
	for (uint32_t i = 0; i < l->noutputs; i++)
		f->output[i].type = (struct device_type){
		    DT_FLOAT, output_dims(l, &l->output[i])};
	for (uint32_t i = 0; i < l->noutputs; i++) {
		const struct region_output *o = &l->output[i];
		struct device_ref from = {DEVICE_FUNCTION, at, i};

		b->placed[o->value] = true;
		b->place[o->value] = from;
		if (o->channels_last)
			device_add_permuted(b, from, o->value, to_nchw);
	}
	return true;
}

/* ---- outputs of the model ---- */

/* One that is written by one function for this output alone: the runtime puts
 * the caller's memory in its place. */
static bool
set_heads(struct device_builder *b, struct err *err)
{
	const struct graph *g = b->graph;
	struct device *d = b->device;
	struct device_ref *head =
	    arena_new(b->arena, struct device_ref, g->noutputs);

	for (uint32_t i = 0; i < g->noutputs; i++) {
		struct device_type t;
		struct device_output *o = NULL;

		if (!device_type_of(&t, g, g->output[i], err))
			return false;
		head[i] = device_place(b, g->output[i]);
		if (head[i].kind == DEVICE_FUNCTION)
			o = &d->function[head[i].index].output[head[i].output];
		if (!o || o->head) {
			device_add_copy(b, head[i]);
			head[i] = (struct device_ref){
			    DEVICE_FUNCTION, d->nfunctions - 1, 0};
			o = d->function[head[i].index].output;
		}
		o->head = true;
	}
	d->head = head;
	d->nheads = g->noutputs;
	return true;
}

/* SOURCE: DPDK, tvmrt_ml_io_type_map(). */
static bool
check_io(const struct device *d, struct err *err)
{
	const struct graph *g = d->graph;

	for (uint32_t i = 0; i < g->ninputs + g->noutputs; i++) {
		value_id v =
		    i < g->ninputs ? g->input[i] : g->output[i - g->ninputs];
		enum dtype t = graph_value(g, v)->type.dtype;
		bool is_number =
		    dtype_is_integer(t) && t != DT_BOOL && dtype_bits(t) >= 8;

		if (!is_number && t != DT_FLOAT && !dtype_is_half(t))
			return err_set(err, ERR_UNSUPPORTED,
			    "value '%s': the driver passes integers, float32, "
			    "float16 and bfloat16 in and out, it is %s",
			    graph_value(g, v)->name, dtype_name(t));
	}
	return true;
}

/* Arguments that one function can have. */
static uint32_t
most_inputs(const struct toolchain_plan *p)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < p->nsteps; i++) {
		const struct toolchain_step *s = &p->step[i];
		uint32_t n = s->region ? s->region->ninputs
		                       : p->graph->node[s->node].ninputs;

		most = n > most ? n : most;
	}
	return most + 2;
}

static size_t
most_functions(const struct toolchain_plan *p)
{
	size_t n = p->nsteps + (size_t)p->graph->noutputs;

	for (uint32_t i = 0; i < p->nsteps; i++)
		if (p->step[i].region)
			n += p->step[i].region->noutputs;
	return n;
}

static bool
add_steps(
    struct device_builder *b, const struct toolchain_plan *p, struct err *err)
{
	for (uint32_t i = 0; i < p->nsteps; i++) {
		const struct toolchain_step *s = &p->step[i];

		b->plan_region = s->plan_region;
		if (s->region ? !add_region(b, s->region, err)
		              : !device_add_node(b, s->node, err))
			return false;
	}
	return true;
}

bool
device_init(struct device *d, const struct toolchain_plan *p, struct arena *a,
    struct err *err)
{
	const struct graph *g = p->graph;
	struct device_builder b = {.device = d, .graph = g, .arena = a};

	*d = (struct device){.graph = g};
	buf_init(&d->code);
	b.place = arena_new(a, struct device_ref, g->nvalues);
	b.placed = arena_new(a, bool, g->nvalues);
	b.input = arena_new(a, struct device_ref, most_inputs(p));
	d->function = arena_new(a, struct device_function, most_functions(p));
	d->region = arena_new(a, struct device_region, p->nsteps);
	if (!add_inputs(&b, err) || !check_io(d, err) || !add_steps(&b, p, err)
	    || !set_heads(&b, err))
		return false;
	if (d->nfunctions > DEVICE_LAYERS)
		return err_set(err, ERR_UNSUPPORTED,
		    "the driver takes graphs of at most %u functions, this "
		    "plan has %u",
		    DEVICE_LAYERS, d->nfunctions);
	device_share_storage(d, a);
	return true;
}

void
device_release(struct device *d)
{
	buf_release(&d->code);
}
