#include "exec/executor.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#include "costmodel/sample.h"
#include "exec/memory.h"
#include "exec/share.h"
#include "ir/base/clock.h"
#include "targets/convert.h"
#include "targets/threads.h"

#define NO_BUFFER UINT32_MAX

/* A value in one format. Time 0 is loading the inputs, step i is time i + 1,
 * the caller reads outputs after the last. */
struct buffer {
	value_id value;
	format_id format;
	struct lifetime life;
	uint8_t *at;
};

/* What is done in one go, in execution order. */
enum step_kind { STEP_CONVERSION, STEP_COMPOSITE, STEP_REGION };

struct step {
	enum step_kind kind;
	uint32_t index; /* into the plan's list of its kind */
	uint32_t ninputs, noutputs;
	const struct port *input, *output;
	struct kernel kernel;
	struct converter converter, second; /* second: behind a detour */
	void *between; /* what the detour passes through, or NULL */
	const void **in;
	void **out;
};

struct executor {
	const struct plan *plan;
	struct arena *arena;
	uint32_t nsteps, nbuffers, buffer_cap;
	struct step *step;
	struct buffer *buffer;
	uint32_t *of; /* [nvalues * MAX_FORMATS] buffer, or NO_BUFFER */
	uint8_t *pool;
	size_t pool_bytes;
	bool keep_all;
	struct err fault; /* of a kernel, during a run */
	cost_ns *composite_ns, *conversion_ns;
};

static const struct type *
type_of(const struct executor *x, value_id v)
{
	return &graph_value(x->plan->graph, v)->type;
}

static const struct candidate *
candidate_of(const struct executor *x, uint32_t composite)
{
	return &x->plan->candidates
	            ->candidate[x->plan->composite[composite].candidate];
}

/* ---- buffers ---- */

static uint32_t *
buffer_slot(struct executor *x, value_id v, format_id f)
{
	return &x->of[(size_t)v * MAX_FORMATS + f];
}

static uint32_t
buffer_of_port(const struct executor *x, const struct port *p)
{
	return x->of[(size_t)p->value * MAX_FORMATS + p->format];
}

static bool
need_static(struct executor *x, value_id v, struct err *err)
{
	const struct graph *g = x->plan->graph;
	const struct value *value = graph_value(g, v);
	const struct type *t = &value->type;
	size_t n, bytes;
	const char *what = NULL;

	if (t->kind != TYPE_TENSOR)
		what = "is no tensor";
	else if (!type_is_static(t))
		what = value->producer == NODE_NONE
		    ? "has a dynamic shape (bind it with --dim or --shape)"
		    : "has a dynamic shape";
	else if (!tensor_size(t->dtype, t->dim, t->rank, &n, &bytes))
		what = "is too large or of a type without size";
	if (what == NULL)
		return true;
	if (value->producer == NODE_NONE)
		return err_set(err, ERR_UNSUPPORTED,
		    "cannot execute: input '%s' %s", value->name, what);
	return err_set(err, ERR_UNSUPPORTED,
	    "cannot execute node '%s' (#%u): its output '%s' %s",
	    node_label(g, value->producer, x->arena), value->producer,
	    value->name, what);
}

/* A value appears in a format at a time. */
static bool
define(
    struct executor *x, value_id v, format_id f, uint32_t time, struct err *err)
{
	uint32_t *slot = buffer_slot(x, v, f);
	struct buffer *b;

	if (*slot != NO_BUFFER)
		return true;
	if (!need_static(x, v, err))
		return false;
	x->buffer = arena_grow(x->arena, x->buffer, &x->buffer_cap,
	    x->nbuffers + 1, sizeof *x->buffer);
	*slot = x->nbuffers;
	b = &x->buffer[x->nbuffers++];
	*b = (struct buffer){v, f, {0, time, time, 0}, NULL};
	b->life.bytes =
	    format_bytes(x->plan->mix->formats.format[f], type_of(x, v));
	return true;
}

/* Somebody reads it at a time. The plan is verified, so it is there. */
static void
use(struct executor *x, value_id v, format_id f, uint32_t time)
{
	uint32_t b = *buffer_slot(x, v, f);

	assert(b != NO_BUFFER);
	if (time > x->buffer[b].life.last)
		x->buffer[b].life.last = time;
}

static bool
note_step(
    struct executor *x, uint32_t time, const struct step *s, struct err *err)
{
	for (uint32_t i = 0; i < s->ninputs; i++)
		use(x, s->input[i].value, s->input[i].format, time);
	for (uint32_t i = 0; i < s->noutputs; i++)
		if (!define(
		        x, s->output[i].value, s->output[i].format, time, err))
			return false;
	return true;
}

static bool
is_fed(const struct graph *g, value_id v)
{
	return graph_value(g, v)->producer == NODE_NONE
	    && graph_value(g, v)->constant == NULL;
}

static bool
note_lifetimes(struct executor *x, struct err *err)
{
	const struct graph *g = x->plan->graph;

	for (uint32_t i = 0; i < g->ninputs; i++)
		if (is_fed(g, g->input[i])
		    && !define(x, g->input[i], FORMAT_PLAIN, 0, err))
			return false;
	for (uint32_t i = 0; i < x->nsteps; i++)
		if (!note_step(x, i + 1, &x->step[i], err))
			return false;
	for (uint32_t i = 0; i < g->noutputs; i++)
		if (graph_value(g, g->output[i])->constant == NULL)
			use(x, g->output[i], FORMAT_PLAIN, x->nsteps + 1);
	return true;
}

/* ---- steps ---- */

static struct step *
add_step(struct executor *x, enum step_kind kind, uint32_t index)
{
	struct step *s = &x->step[x->nsteps++];

	*s = (struct step){.kind = kind, .index = index};
	return s;
}

static void
add_conversion(struct executor *x, uint32_t index)
{
	const struct plan_conversion *k = &x->plan->conversion[index];
	struct step *s = add_step(x, STEP_CONVERSION, index);
	struct port *port = arena_new(x->arena, struct port, 2);

	port[0] = (struct port){k->value, k->from};
	port[1] = (struct port){k->value, k->to};
	s->input = &port[0];
	s->output = &port[1];
	s->ninputs = s->noutputs = 1;
}

static void
add_composite(struct executor *x, uint32_t index)
{
	const struct candidate *c = candidate_of(x, index);
	struct step *s = add_step(x, STEP_COMPOSITE, index);

	s->input = c->input;
	s->ninputs = c->ninputs;
	s->output = c->output;
	s->noutputs = c->noutputs;
}

/* Conversions come right before the composite that first needs them. */
static void
add_region(struct executor *x, const struct plan_region *r, uint32_t *next)
{
	const struct plan *p = x->plan;

	for (uint32_t c = r->first; c < r->first + r->ncomposites; c++) {
		while (
		    *next < p->nconversions && p->conversion[*next].before <= c)
			add_conversion(x, (*next)++);
		add_composite(x, c);
	}
}

static bool
is_made_in(const struct executor *x, const struct plan_region *r, value_id v)
{
	const struct value *value = graph_value(x->plan->graph, v);
	uint32_t at;

	if (value->producer == NODE_NONE || value->constant)
		return false;
	at = x->plan->composite_of[value->producer];
	return at >= r->first && at < r->first + r->ncomposites;
}

/* A region that runs as a whole: what its composites read from outside is
 * converted before it, for all of that was made before it. */
static bool
add_whole_region(
    struct executor *x, uint32_t index, uint32_t *next, struct err *err)
{
	const struct plan *p = x->plan;
	const struct plan_region *r = &p->region[index];
	uint32_t last = r->first + r->ncomposites - 1;
	struct step *s;

	for (; *next < p->nconversions && p->conversion[*next].before <= last;
	     ++*next) {
		value_id v = p->conversion[*next].value;

		if (is_made_in(x, r, v))
			return err_set(err, ERR_UNSUPPORTED,
			    "region %u (%s) cannot run as a whole: '%s' "
			    "changes its format inside it",
			    index, p->mix->target[r->target].text,
			    graph_value(p->graph, v)->name);
		add_conversion(x, *next);
	}
	s = add_step(x, STEP_REGION, index);
	s->input = r->input;
	s->ninputs = r->ninputs;
	s->output = r->output;
	s->noutputs = r->noutputs;
	return true;
}

/* Does the target run the region as a whole? Then its kernel is ready. */
static bool
compile_region(
    struct executor *x, uint32_t index, struct kernel *out, struct err *err)
{
	const struct plan *p = x->plan;
	const struct plan_region *r = &p->region[index];
	const struct target *t = &p->mix->target[r->target];
	const struct candidate **list;
	struct region region = {
	    r->ncomposites, r->ninputs, r->noutputs, NULL, r->input, r->output};

	out->run = NULL;
	if (!t->kind->compile_region)
		return true;
	list = arena_new(x->arena, const struct candidate *, r->ncomposites);
	for (uint32_t i = 0; i < r->ncomposites; i++)
		list[i] = candidate_of(x, r->first + i);
	region.candidate = list;
	return t->kind->compile_region(t, p->graph,
	           arena_copy(x->arena, &region, sizeof region), x->arena, out,
	           err)
	    || err_in(err, "region %u", index);
}

static bool
order_steps(struct executor *x, struct err *err)
{
	const struct plan *p = x->plan;
	uint32_t next = 0;

	x->step =
	    arena_new(x->arena, struct step, p->ncomposites + p->nconversions);
	for (uint32_t i = 0; i < p->nregions; i++) {
		struct kernel k;

		if (!compile_region(x, i, &k, err))
			return false;
		if (!k.run) {
			add_region(x, &p->region[i], &next);
			continue;
		}
		if (!add_whole_region(x, i, &next, err)) {
			k.release(&k);
			return false;
		}
		k.fault = &x->fault;
		x->step[x->nsteps - 1].kernel = k;
	}
	while (next < p->nconversions)
		add_conversion(x, next++);
	return true;
}

static bool
compile_composite(struct executor *x, struct step *s, struct err *err)
{
	const struct plan *p = x->plan;
	const struct candidate *c = candidate_of(x, s->index);
	const struct target *t = &p->mix->target[c->target];

	if (t->kind->compile == NULL)
		err_set(err, ERR_UNSUPPORTED,
		    "target '%s' cannot run anything here", t->text);
	else if (t->kind->compile(t, p->graph, c, x->arena, &s->kernel, err)) {
		s->kernel.fault = &x->fault;
		return true;
	}
	return err_in(err, "composite %u (%s, %s)", (unsigned)s->index,
	    t->kind->rule[c->rule].name, c->implementation_name);
}

/* The format a conversion passes through when that is cheaper; `to` itself when
 * it is direct. */
static format_id
detour_of(const struct executor *x, const struct plan_conversion *k)
{
	const struct prices *p = x->plan->prices;
	uint32_t class = p->value_class[k->value];

	if (class == UINT32_MAX)
		return k->to;
	return conversion_at(p, class, k->from, k->to)->via;
}

static bool
compile_conversion(struct executor *x, struct step *s, struct err *err)
{
	const struct plan_conversion *k = &x->plan->conversion[s->index];
	const struct format *f = x->plan->mix->formats.format;
	const struct type *t = type_of(x, k->value);
	format_id via = detour_of(x, k);
	bool ok;

	if (via == k->to || via == k->from)
		ok = converter_new(
		    &s->converter, f[k->from], f[k->to], t, x->arena, err);
	else
		ok = converter_new(
		         &s->converter, f[k->from], f[via], t, x->arena, err)
		    && converter_new(
		        &s->second, f[via], f[k->to], t, x->arena, err);
	if (!ok)
		return err_in(err, "conversion of '%s'",
		    graph_value(x->plan->graph, k->value)->name);
	if (s->second.run)
		s->between = arena_alloc(
		    x->arena, format_bytes(f[via], t) + MEMORY_SLACK + 256);
	return true;
}

static bool
compile_steps(struct executor *x, struct err *err)
{
	for (uint32_t i = 0; i < x->nsteps; i++) {
		struct step *s = &x->step[i];

		if (s->kind == STEP_CONVERSION
		    && !compile_conversion(x, s, err))
			return false;
		if (s->kind == STEP_COMPOSITE && !compile_composite(x, s, err))
			return false;
	}
	return true;
}

/* ---- memory ---- */

/* Where pieces may lie where they belong. The order decides between claims. */
static void
lay_overlays(struct executor *x, struct share *s)
{
	for (uint32_t i = 0; i < x->nsteps; i++) {
		const struct step *step = &x->step[i];
		const struct kernel *k = &step->kernel;

		for (uint32_t o = 0; o < k->noverlays; o++)
			share_lay(s,
			    buffer_of_port(x, &step->input[k->overlay[o].in]),
			    buffer_of_port(x, &step->output[k->overlay[o].out]),
			    k->overlay[o].offset);
	}
}

/* Is the memory of an input read through another input of the same step? */
static bool
is_read_elsewhere(
    const struct executor *x, const struct share *s, const struct step *step)
{
	const uint32_t in = step->kernel.in_place - 1;
	const uint32_t group =
	    s->member[buffer_of_port(x, &step->input[in])].group;

	for (uint32_t i = 0; i < step->ninputs; i++)
		if (i != in
		    && s->member[buffer_of_port(x, &step->input[i])].group
		        == group)
			return true;
	return false;
}

/* A kernel may write its result over an input that nobody needs afterwards. */
static void
share_in_place(struct executor *x, struct share *s)
{
	for (uint32_t i = 0; i < x->nsteps; i++) {
		const struct step *step = &x->step[i];

		if (step->kernel.in_place == 0 || is_read_elsewhere(x, s, step))
			continue;
		share_write_over(s,
		    buffer_of_port(x, &step->input[step->kernel.in_place - 1]),
		    buffer_of_port(x, &step->output[0]), i + 1);
	}
}

/* Which buffers lie in one piece of memory. */
static void
share_buffers(struct executor *x, struct share *s)
{
	share_init(s, x->nbuffers, x->arena);
	for (uint32_t i = 0; i < x->nbuffers; i++) {
		const struct lifetime *l = &x->buffer[i].life;

		s->member[i].bytes = l->bytes;
		s->member[i].first = l->first;
		s->member[i].last = x->keep_all ? x->nsteps + 1 : l->last;
	}
	lay_overlays(x, s);
	if (!x->keep_all)
		share_in_place(x, s);
}

static void
lay_out(struct executor *x)
{
	struct lifetime *l = arena_new(x->arena, struct lifetime, x->nbuffers);
	uint32_t *piece = arena_new(x->arena, uint32_t, x->nbuffers), n = 0;
	struct share s;

	share_buffers(x, &s);
	for (uint32_t i = 0; i < x->nbuffers; i++) {
		struct share_member all;

		if (s.member[i].group != i)
			continue;
		all = share_extent(&s, i);
		piece[i] = n;
		l[n++] = (struct lifetime){all.bytes, all.first, all.last, 0};
	}
	x->pool_bytes = memory_lay_out(l, n, x->arena);
	x->pool = arena_alloc(x->arena, x->pool_bytes + 256);
	memset(x->pool, 0, x->pool_bytes); /* touch every page */
	for (uint32_t i = 0; i < x->nbuffers; i++) {
		uint32_t group = s.member[i].group;
		ptrdiff_t at = s.member[i].at - share_extent(&s, group).at;

		x->buffer[i].at = x->pool + l[piece[group]].offset + at;
	}
}

static void *
address(struct executor *x, value_id v, format_id f)
{
	return x->buffer[*buffer_slot(x, v, f)].at;
}

static void
connect(struct executor *x)
{
	for (uint32_t i = 0; i < x->nsteps; i++) {
		struct step *s = &x->step[i];

		s->in = arena_new(x->arena, const void *, s->ninputs);
		s->out = arena_new(x->arena, void *, s->noutputs);
		for (uint32_t k = 0; k < s->ninputs; k++)
			s->in[k] =
			    address(x, s->input[k].value, s->input[k].format);
		for (uint32_t k = 0; k < s->noutputs; k++)
			s->out[k] =
			    address(x, s->output[k].value, s->output[k].format);
	}
}

/* ---- the executor ---- */

bool
executor_open(struct executor **out, const struct plan *p,
    const struct executor_options *o, struct arena *a, struct err *err)
{
	struct executor *x = arena_new(a, struct executor, 1);
	size_t nslots = (size_t)p->graph->nvalues * MAX_FORMATS;

	*out = x;
	x->plan = p;
	x->arena = a;
	x->keep_all = o && o->keep_all;
	x->of = arena_new(a, uint32_t, nslots);
	memset(x->of, 0xff, nslots * sizeof *x->of);
	x->composite_ns = arena_new(a, cost_ns, p->ncomposites);
	x->conversion_ns = arena_new(a, cost_ns, p->nconversions);
	target_threads_set(o ? o->threads : 1);
	if (!order_steps(x, err) || !note_lifetimes(x, err)
	    || !compile_steps(x, err)) {
		executor_close(x);
		return false;
	}
	lay_out(x);
	connect(x);
	return true;
}

static void
copy_in(const struct tensor *in, uint8_t *to)
{
	uint32_t width = dtype_bits(in->dtype) / 8;

	if (in->kind == TENSOR_VIEW) {
		if (in->bytes)
			memcpy(to, in->data, in->bytes);
		return;
	}
	for (size_t i = 0; i < in->count; i++)
		memcpy(to + i * width, in->fill, width);
}

static bool
load_input(
    struct executor *x, uint32_t i, const struct tensor *in, struct err *err)
{
	const struct graph *g = x->plan->graph;
	const struct value *v = graph_value(g, g->input[i]);
	bool same = in->dtype == v->type.dtype && in->rank == v->type.rank;

	if (!is_fed(g, g->input[i]))
		return true;
	for (uint32_t k = 0; same && k < in->rank; k++)
		same = in->dim[k] == v->type.dim[k];
	if (!same || (in->kind != TENSOR_VIEW && in->kind != TENSOR_FILL))
		return err_set(err, ERR_INPUT,
		    "input '%s' is given another type or shape than the plan "
		    "was made for",
		    v->name);
	copy_in(in, address(x, g->input[i], FORMAT_PLAIN));
	return true;
}

static void
convert(struct step *s)
{
	s->converter.run(
	    &s->converter, s->in[0], s->between ? s->between : s->out[0]);
	if (s->between)
		s->second.run(&s->second, s->between, s->out[0]);
}

/* What a region takes as a whole counts for its first composite. */
static void
run_step(struct executor *x, struct step *s)
{
	cost_ns start = clock_ns();

	if (s->kind == STEP_CONVERSION) {
		convert(s);
		x->conversion_ns[s->index] = clock_ns() - start;
		return;
	}
	s->kernel.run(&s->kernel, s->in, s->out);
	x->composite_ns[s->kind == STEP_REGION ? x->plan->region[s->index].first
	                                       : s->index] = clock_ns() - start;
}

static void
view_outputs(struct executor *x, struct tensor *out)
{
	const struct graph *g = x->plan->graph;

	for (uint32_t i = 0; i < g->noutputs; i++) {
		const struct value *v = graph_value(g, g->output[i]);

		out[i] = v->constant
		    ? *v->constant
		    : tensor_view(v->type.dtype, v->type.rank, v->type.dim,
		        address(x, g->output[i], FORMAT_PLAIN));
	}
}

bool
executor_run(struct executor *x, const struct tensor *in, struct tensor *out,
    struct err *err)
{
	unsigned mode;

	for (uint32_t i = 0; i < x->plan->graph->ninputs; i++)
		if (!load_input(x, i, &in[i], err))
			return false;
	x->fault = (struct err){.kind = ERR_NONE};
	mode = sample_denormals_off();
	for (uint32_t i = 0; i < x->nsteps && x->fault.kind == ERR_NONE; i++)
		run_step(x, &x->step[i]);
	sample_denormals_back(mode);
	if (x->fault.kind != ERR_NONE) {
		*err = x->fault;
		return false;
	}
	view_outputs(x, out);
	return true;
}

bool
executor_value(const struct executor *x, value_id v, struct tensor *out)
{
	uint32_t b = x->of[(size_t)v * MAX_FORMATS + FORMAT_PLAIN];
	const struct type *t = type_of(x, v);

	if (!x->keep_all || b == NO_BUFFER)
		return false;
	*out = tensor_view(t->dtype, t->rank, t->dim, x->buffer[b].at);
	return true;
}

const cost_ns *
executor_composite_ns(const struct executor *x)
{
	return x->composite_ns;
}

const cost_ns *
executor_conversion_ns(const struct executor *x)
{
	return x->conversion_ns;
}

size_t
executor_pool_bytes(const struct executor *x)
{
	return x->pool_bytes;
}

void
executor_close(struct executor *x)
{
	for (uint32_t i = 0; i < x->nsteps; i++) {
		struct step *s = &x->step[i];

		if (s->kernel.release)
			s->kernel.release(&s->kernel);
		if (s->converter.release)
			s->converter.release(&s->converter);
		if (s->second.release)
			s->second.release(&s->second);
	}
}
