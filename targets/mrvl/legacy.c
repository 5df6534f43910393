#include "targets/mrvl/legacy.h"

#include <string.h>

#include "targets/mrvl/regions.h"

struct maker {
	const struct lowered *low;
	const struct composites *comp;
	const struct low_region *region;
	struct arena *arena;
	/* upstream names a region's constants by how often it has used one, and
	 * keeps those it has met: both must agree */
	struct bitset met;
	uint32_t nuses, nmet;
};

/* ---- layers ---- */

static struct layer_ref
ref_of(const struct maker *m, low_id id)
{
	const struct low_region *r = m->region;

	for (uint32_t i = 0; i < r->nmembers; i++)
		if (r->member[i] == id)
			return (struct layer_ref){false, i};
	for (uint32_t i = 0; i < r->nparams; i++)
		if (r->param[i] == id)
			return (struct layer_ref){true, i};
	return (struct layer_ref){true, 0};
}

static void
meet_const(struct maker *m, low_id id)
{
	m->nmet += !bitset_has(m->met, id);
	bitset_add(m->met, id);
}

/* Constants among the inputs of a concat or of an operator outside any
 * composite. */
static void
set_loose(struct maker *m, struct layer *l, const low_id *id, uint32_t n)
{
	const struct packed **loose =
	    arena_new(m->arena, const struct packed *, n);

	for (uint32_t i = 0; i < n; i++) {
		if (!low_is_const(m->low, id[i]))
			continue;
		meet_const(m, id[i]);
		if (low_get(m->low, id[i])->packed)
			loose[l->nloose++] = low_get(m->low, id[i])->packed;
		else
			l->refused = "a constant that is not float32";
	}
	l->loose = loose;
}

/* Data inputs: all of `id` that are not constant. */
static void
set_inputs(struct maker *m, struct layer *l, const low_id *id, uint32_t n)
{
	struct layer_ref *ref = arena_new(m->arena, struct layer_ref, n);
	struct dims *in = arena_new(m->arena, struct dims, n);
	value_id *operand = arena_new(m->arena, value_id, n);

	l->ninputs = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct low *op = low_get(m->low, id[i]);

		if (op->kind == LOW_CONST)
			continue;
		ref[l->ninputs] = ref_of(m, id[i]);
		in[l->ninputs] = op->dims;
		operand[l->ninputs++] = op->value;
	}
	l->input = ref;
	l->in = in;
	l->operand = operand;
}

static void
set_nodes(struct maker *m, struct layer *l, const low_id *op, uint32_t n)
{
	node_id *node = arena_new(m->arena, node_id, n);

	for (uint32_t i = 0; i < n; i++) {
		node_id id = low_get(m->low, op[i])->node;
		bool again = id == NODE_NONE;

		for (uint32_t k = 0; k < l->nnodes; k++)
			again |= node[k] == id;
		if (!again)
			node[l->nnodes++] = id;
	}
	l->node = node;
}

static void
set_const(struct maker *m, struct layer *l, enum layer_const which, low_id id)
{
	l->constant[which] = low_get(m->low, id)->packed;
	m->nuses++;
	if (which <= CONST_BIAS)
		meet_const(m, id);
	else
		m->nmet++; /* forgotten and met anew */
	if (!l->constant[which])
		l->refused = "a constant that is not float32";
}

static void
set_window(struct maker *m, struct layer *l, const struct composite *c)
{
	const struct low *op = low_get(m->low, c->anchor), *pad;

	memcpy(l->kernel, op->kernel, sizeof l->kernel);
	memcpy(l->stride, op->stride, sizeof l->stride);
	memcpy(l->dilation, op->dilation, sizeof l->dilation);
	memcpy(l->pad, op->pad, sizeof l->pad);
	l->groups = op->groups;
	l->ceil_mode = op->ceil_mode;
	l->count_include_pad = op->count_include_pad;
	if (c->pad == LOW_NONE)
		return;
	/* upstream drops the pad's value, and the operator's own padding */
	pad = low_get(m->low, c->pad);
	if (strcmp(pad->pad_mode, "constant") != 0)
		l->refused = "a pad that is not with a constant";
	for (int i = 0; i < 2; i++) {
		l->pad[i] = pad->before[1 + i];
		l->pad[2 + i] = pad->after[1 + i];
	}
}

static void
set_bias(struct maker *m, struct layer *l, const struct composite *c)
{
	const struct low *add;

	if (c->bias == LOW_NONE)
		return;
	add = low_get(m->low, c->bias);
	set_const(m, l, CONST_BIAS,
	    add->in[low_is_const(m->low, add->in[1]) ? 1 : 0]);
}

static void
set_norm(struct maker *m, struct layer *l, const struct composite *c)
{
	const struct low *norm;

	if (c->norm == LOW_NONE)
		return;
	norm = low_get(m->low, c->norm);
	l->epsilon = norm->epsilon;
	for (uint32_t i = 0; i < 4; i++)
		set_const(
		    m, l, (enum layer_const)(CONST_GAMMA + i), norm->in[1 + i]);
}

static void
make_conv(struct maker *m, struct layer *l, const struct composite *c)
{
	const struct low *conv = low_get(m->low, c->anchor);

	set_window(m, l, c);
	set_const(m, l, CONST_KERNEL, conv->in[1]);
	l->channels = low_get(m->low, conv->in[1])->dims.dim[0];
	set_bias(m, l, c);
	set_norm(m, l, c);
	l->ninputs = 1; /* the pad's value is no input */
}

static void
make_fc(struct maker *m, struct layer *l, const struct composite *c)
{
	const struct low *dense = low_get(m->low, c->anchor);

	set_const(m, l, CONST_KERNEL, dense->in[1]);
	l->channels = low_get(m->low, dense->in[1])->dims.dim[0];
	l->has_units = dense->has_units;
	l->out_float32 = dense->out_float32;
	l->flattens = low_get(m->low, c->op[0])->kind == LOW_LAYOUT;
	set_bias(m, l, c);
	if (l->in[0].dim[0] > 8)
		l->refused = "the compiler takes batches of at most 8";
}

/* Upstream reads the shapes of the first inputs, as many as are no constants. */
static void
make_concat(struct maker *m, struct layer *l, const struct composite *c)
{
	set_loose(m, l, c->arg, c->nargs);
	for (uint32_t i = 0; i < l->ninputs; i++)
		if (low_is_const(m->low, c->arg[i]))
			l->refused = "concat of a constant before data";
}

static void
make_shape(struct layer *l)
{
	if (l->in[0].rank != 2 && l->in[0].rank != 4)
		l->refused = "reshape of an input of rank other than 2 or 4";
}

static void
make_composite(struct maker *m, struct layer *l, const struct composite *c)
{
	static const enum layer_kind kind[NRULES] = {
	    [RULE_CONV] = LAYER_CONV,
	    [RULE_FC] = LAYER_FC,
	    [RULE_MAXPOOL] = LAYER_MAXPOOL,
	    [RULE_AVGPOOL] = LAYER_AVGPOOL,
	    [RULE_GLOBALAVGPOOL] = LAYER_GLOBALAVGPOOL,
	    [RULE_GLOBALMAXPOOL] = LAYER_GLOBALMAXPOOL,
	    [RULE_SUM] = LAYER_SUM,
	    [RULE_CONCAT] = LAYER_CONCAT,
	    [RULE_LAYOUT] = LAYER_LAYOUT,
	    [RULE_RESHAPE] = LAYER_RESHAPE,
	    [RULE_FLATTEN] = LAYER_FLATTEN,
	    [RULE_SQUEEZE] = LAYER_SQUEEZE,
	};

	l->kind = kind[c->rule];
	set_inputs(m, l, c->arg, c->nargs);
	set_nodes(m, l, c->op, c->nops);
	l->relu = low_get(m->low, c->root)->kind == LOW_RELU;
	switch (c->rule) {
	case RULE_CONV:
		make_conv(m, l, c);
		break;
	case RULE_FC:
		make_fc(m, l, c);
		break;
	case RULE_MAXPOOL:
	case RULE_AVGPOOL:
		set_window(m, l, c);
		l->ninputs = 1;
		break;
	case RULE_GLOBALAVGPOOL:
	case RULE_GLOBALMAXPOOL:
		l->kernel[0] = l->in[0].dim[1];
		l->kernel[1] = l->in[0].dim[2];
		break;
	case RULE_SUM:
		if (l->ninputs < 2)
			l->refused = "sum with constant operand";
		break;
	case RULE_CONCAT:
		make_concat(m, l, c);
		break;
	case RULE_RESHAPE:
		make_shape(l);
		break;
	default:
		break;
	}
}

static void
make_bare(struct maker *m, struct layer *l, low_id id)
{
	const struct low *op = low_get(m->low, id);

	set_inputs(m, l, op->in, op->nin);
	set_nodes(m, l, &id, 1);
	if (op->kind == LOW_LAYOUT) {
		l->kind = LAYER_LAYOUT;
		l->src_layout = op->layout;
		l->dst_layout = op->to;
		return;
	}
	l->kind = LAYER_BARE;
	l->bare = op->name;
	set_loose(m, l, op->in, op->nin);
	l->has_units = op->has_units;
	l->out_float32 = op->out_float32;
	if (op->kind == LOW_DENSE)
		l->channels = l->out.dim[l->out.rank - 1];
	if (op->kind == LOW_DENSE)
		return;
	if (op->kind != LOW_CONV) {
		l->refused = "an operator outside any composite";
		return;
	}
	memcpy(l->kernel, op->kernel, sizeof l->kernel);
	memcpy(l->stride, op->stride, sizeof l->stride);
	memcpy(l->dilation, op->dilation, sizeof l->dilation);
	memcpy(l->pad, op->pad, sizeof l->pad);
	l->groups = op->groups;
	l->channels = low_get(m->low, op->in[1])->dims.dim[0];
}

static void
make_layer(struct maker *m, struct layer *l, low_id id)
{
	const struct low *op = low_get(m->low, id);
	uint32_t which = m->comp->of[id];

	l->out = op->dims;
	l->result = op->value;
	if (which != COMPOSITE_NONE)
		make_composite(m, l, &m->comp->composite[which]);
	else
		make_bare(m, l, id);
}

static void
make_region(struct maker *m, struct layers *out)
{
	const struct low_region *r = m->region;
	struct layer *layer = arena_new(m->arena, struct layer, r->nmembers);
	struct region_input *in =
	    arena_new(m->arena, struct region_input, r->nparams);
	struct region_output *o =
	    arena_new(m->arena, struct region_output, r->noutputs);

	for (uint32_t i = 0; i < r->nparams; i++) {
		in[i].dims = low_get(m->low, r->param[i])->dims;
		in[i].value = low_get(m->low, r->param[i])->value;
		in[i].place = r->place[i];
	}
	m->met = bitset_new(m->arena, m->low->n);
	for (uint32_t i = 0; i < r->nmembers; i++)
		make_layer(m, &layer[i], r->member[i]);
	if (m->nuses > m->nmet)
		layer[r->nmembers - 1].refused = "layers that share a constant";
	for (uint32_t i = 0; i < r->noutputs; i++) {
		o[i].from = ref_of(m, r->output[i]);
		o[i].value = low_get(m->low, r->output[i])->value;
	}
	*out = (struct layers){.symbol = mrvl_symbol(r->number, m->arena),
	    .number = r->number,
	    .ninputs = r->nparams,
	    .nlayers = r->nmembers,
	    .noutputs = r->noutputs,
	    .input = in,
	    .layer = layer,
	    .output = o};
}

/* ---- the host program ---- */

struct host {
	struct lowered *main;
	const struct low_regions *regions;
	const struct composites *comp;
	struct arena *arena;
	struct bitset inside; /* operators of kept regions */
	low_id *of; /* [ops before] in the host program, or LOW_NONE */
	bool *called; /* [regions] */
};

static void
mark_inside(struct host *h)
{
	for (uint32_t i = 0; i < h->regions->n; i++) {
		const struct low_region *r = &h->regions->region[i];

		for (uint32_t k = 0; !r->given_back && k < r->nmembers; k++) {
			uint32_t c = h->comp->of[r->member[k]];
			const struct composite *comp;

			bitset_add(h->inside, r->member[k]);
			if (c == COMPOSITE_NONE)
				continue;
			comp = &h->comp->composite[c];
			for (uint32_t o = 0; o < comp->nops; o++)
				bitset_add(h->inside, comp->op[o]);
		}
	}
}

static bool
map_inputs(const struct host *h, const low_id *id, uint32_t n, low_id *out)
{
	for (uint32_t i = 0; i < n; i++) {
		out[i] = h->of[id[i]];
		if (out[i] == LOW_NONE)
			return false;
	}
	return true;
}

static void
call_region(struct host *h, uint32_t which, const low_id *in)
{
	const struct low_region *r = &h->regions->region[which];
	struct low call = *low_get(h->main, r->output[0]);
	struct dims *more = arena_new(h->arena, struct dims, r->noutputs);
	low_id id;

	for (uint32_t i = 1; i < r->noutputs; i++)
		more[i - 1] = low_get(h->main, r->output[i])->dims;
	call.kind = LOW_OPAQUE;
	call.name = mrvl_symbol(r->number, h->arena);
	call.node = NODE_NONE;
	call.value = VALUE_NONE;
	call.nin = r->nparams;
	call.in = in;
	call.nmore = r->noutputs - 1;
	call.more = more;
	call.axis = which;
	id = low_add(h->main, &call);
	for (uint32_t i = 0; i < r->noutputs; i++) {
		struct low field = *low_get(h->main, r->output[i]);

		h->of[r->output[i]] = id;
		if (r->noutputs == 1)
			continue;
		field.kind = LOW_FIELD;
		field.node = NODE_NONE;
		field.nin = 1;
		field.in = &id;
		field.nmore = 0;
		field.axis = i;
		h->of[r->output[i]] = low_add(h->main, &field);
	}
}

/* Everything whose inputs are there; true when something was added. */
static bool
advance(struct host *h, const low_id *order, uint32_t n)
{
	bool moved = false;

	for (uint32_t i = 0; i < n; i++) {
		const struct low *op = low_get(h->main, order[i]);
		low_id *in = arena_new(h->arena, low_id, op->nin);

		if (h->of[order[i]] != LOW_NONE
		    || bitset_has(h->inside, order[i])
		    || !map_inputs(h, op->in, op->nin, in))
			continue;
		h->of[order[i]] = low_with_inputs(h->main, order[i], in);
		moved = true;
	}
	for (uint32_t i = 0; i < h->regions->n; i++) {
		const struct low_region *r = &h->regions->region[i];
		low_id *in = arena_new(h->arena, low_id, r->nparams);

		if (h->called[i] || r->given_back || r->noutputs == 0
		    || !map_inputs(h, r->param, r->nparams, in))
			continue;
		call_region(h, i, in);
		h->called[i] = true;
		moved = true;
	}
	return moved;
}

static bool
make_host(struct host *h, struct err *err)
{
	struct lowered *l = h->main;
	uint32_t n, before = l->n;
	const low_id *order = low_order(l, &n, h->arena);

	h->inside = bitset_new(h->arena, before);
	h->of = arena_new(h->arena, low_id, before);
	h->called = arena_new(h->arena, bool, h->regions->n);
	for (uint32_t i = 0; i < before; i++)
		h->of[i] = LOW_NONE;
	mark_inside(h);
	while (advance(h, order, n))
		;
	for (uint32_t o = 0; o < l->noutputs; o++) {
		if (h->of[l->output[o]] == LOW_NONE)
			return err_set(err, ERR_INTERNAL,
			    "upstream's regions depend on each other");
		l->output[o] = h->of[l->output[o]];
	}
	low_convert_layout(l, "NCHW");
	low_simplify(l);
	return true;
}

static void
list_steps(struct legacy *out, const struct lowered *l, struct arena *a)
{
	uint32_t n;
	const low_id *order = low_order(l, &n, a);
	struct legacy_step *step = arena_new(a, struct legacy_step, n);

	out->nsteps = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct low *op = low_get(l, order[i]);

		if (op->kind == LOW_VAR || op->kind == LOW_CONST
		    || op->kind == LOW_FIELD)
			continue;
		step[out->nsteps++] = (struct legacy_step){
		    .op = op->name,
		    .is_region = strncmp(op->name, "tvmgen_mrvl_", 12) == 0,
		    .node = op->node,
		    .out = op->dims,
		    .nmore = op->nmore,
		    .more = op->more,
		};
	}
	out->step = step;
}

bool
mrvl_legacy(
    struct legacy *out, const struct graph *g, struct arena *a, struct err *err)
{
	struct lowered l;
	struct composites comp;
	struct low_regions regions;
	struct host host = {
	    .main = &l, .regions = &regions, .comp = &comp, .arena = a};
	struct layers *layers;

	if (!low_import(&l, g, a, err))
		return false;
	low_simplify(&l);
	low_canonicalize(&l);
	low_convert_layout(&l, "NHWC");
	low_simplify(&l);
	if (!low_compose(&comp, &l, a, err))
		return false;
	low_find_regions(&regions, &l, &comp, a);
	*out = (struct legacy){0};
	layers = arena_new(a, struct layers, regions.n);
	for (uint32_t i = 0; i < regions.n; i++) {
		struct maker m = {.low = &l,
		    .comp = &comp,
		    .region = &regions.region[i],
		    .arena = a};

		if (!regions.region[i].given_back)
			make_region(&m, &layers[out->nregions++]);
	}
	out->region = layers;
	if (!make_host(&host, err))
		return false;
	list_steps(out, &l, a);
	return true;
}

/* ---- candidates ---- */

struct legacy_sets {
	uint32_t nlayers;
	const struct layer **layer;
	uint32_t *number; /* [nlayers] of the region */
	struct bitset placed; /* nodes that some layer or CPU step is for */
};

const struct legacy_sets *
legacy_sets(const struct legacy *l, const struct graph *g, struct arena *a)
{
	struct legacy_sets *s = arena_new(a, struct legacy_sets, 1);
	uint32_t n = 0;

	s->placed = bitset_new(a, g->nnodes);
	for (uint32_t i = 0; i < l->nregions; i++)
		n += l->region[i].nlayers;
	s->layer = arena_new(a, const struct layer *, n);
	s->number = arena_new(a, uint32_t, n);
	for (uint32_t i = 0; i < l->nregions; i++)
		for (uint32_t k = 0; k < l->region[i].nlayers; k++) {
			const struct layer *layer = &l->region[i].layer[k];

			s->number[s->nlayers] = l->region[i].number;
			s->layer[s->nlayers++] = layer;
			for (uint32_t j = 0; j < layer->nnodes; j++)
				bitset_add(s->placed, layer->node[j]);
		}
	for (uint32_t i = 0; i < l->nsteps; i++)
		if (l->step[i].node != NODE_NONE)
			bitset_add(s->placed, l->step[i].node);
	return s;
}

static bool
contains(const node_id *node, uint32_t n, node_id id)
{
	for (uint32_t i = 0; i < n; i++)
		if (node[i] == id)
			return true;
	return false;
}

static bool
is_layer(const struct legacy_sets *s, const struct layer *l,
    const node_id *node, uint32_t n)
{
	if (l->nnodes == 0)
		return false;
	for (uint32_t i = 0; i < l->nnodes; i++)
		if (!contains(node, n, l->node[i]))
			return false;
	for (uint32_t i = 0; i < n; i++)
		if (bitset_has(s->placed, node[i])
		    && !contains(l->node, l->nnodes, node[i]))
			return false;
	return true;
}

uint32_t
legacy_region(const struct legacy_sets *s, const node_id *node, uint32_t n)
{
	for (uint32_t i = 0; i < s->nlayers; i++)
		if (is_layer(s, s->layer[i], node, n))
			return s->number[i] + 1;
	return 0;
}

const char *
legacy_refusal(const struct layers *l)
{
	for (uint32_t i = 0; i < l->nlayers; i++)
		if (l->layer[i].refused)
			return l->layer[i].refused;
	return NULL;
}
