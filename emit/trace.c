/* The predicted timeline as Chrome/Perfetto JSON: one track per target, one for
 * conversions, arrows from who makes a value through its conversion to who
 * needs it. ts and dur are numbers, in microseconds from 0: Perfetto places
 * strings and absolute nanoseconds wrongly. */
#include <inttypes.h>

#include "emit/writers.h"
#include "ir/base/json.h"

#define PROCESS 1

struct timeline {
	struct json j;
	const struct emit_work *w;
	cost_ns now;
	cost_ns *begin, *end; /* [ncomposites] */
};

/* Nanoseconds as microseconds, exact to the last digit. */
static void
put_us(struct json *j, const char *key, cost_ns ns)
{
	json_key_real(j, key, (double)ns / 1e3);
}

/* The fields every event has; the object stays open. */
static void
open_event(struct json *j, const char *phase, uint32_t track, const char *name)
{
	json_inline_object(j);
	json_key_str(j, "ph", phase);
	json_key_uint(j, "pid", PROCESS);
	json_key_uint(j, "tid", track);
	json_key_str(j, "name", name);
}

static void
put_track(struct json *j, uint32_t track, const char *name)
{
	open_event(j, "M", track, "thread_name");
	json_key(j, "args");
	json_object(j);
	json_key_str(j, "name", name);
	json_close(j);
	json_close(j);
	open_event(j, "M", track, "thread_sort_index");
	json_key(j, "args");
	json_object(j);
	json_key_uint(j, "sort_index", track);
	json_close(j);
	json_close(j);
}

/* Tracks are numbered from 1; the last is the conversions'. */
static uint32_t
conversion_track(const struct emit_work *w)
{
	return w->plan->mix->n + 1;
}

static void
put_tracks(struct timeline *t)
{
	const struct mix *mix = t->w->plan->mix;

	open_event(&t->j, "M", 0, "process_name");
	json_key(&t->j, "args");
	json_object(&t->j);
	json_key_str(&t->j, "name", t->w->graph->name);
	json_close(&t->j);
	json_close(&t->j);
	for (uint32_t i = 0; i < mix->n; i++)
		put_track(&t->j, i + 1, mix->target[i].text);
	put_track(&t->j, conversion_track(t->w), "conversions");
}

/* Where an arrow stops, in this order. */
enum { STOP_PRODUCER = 1, STOP_CONVERSION = 2, STOP_CONSUMER = 4 };

/* The stops of a conversion's arrow: slices that take time, for the others hold
 * nothing. 0: fewer than two, so there is no arrow. */
static unsigned
stops_of(const struct timeline *t, const struct plan_conversion *c)
{
	const struct plan *p = t->w->plan;
	node_id producer = t->w->graph->value[c->value].producer;
	unsigned stops = 0;

	if (producer != NODE_NONE
	    && p->composite[p->composite_of[producer]].cost > 0)
		stops |= STOP_PRODUCER;
	if (c->cost > 0)
		stops |= STOP_CONVERSION;
	if (c->before < p->ncomposites && p->composite[c->before].cost > 0)
		stops |= STOP_CONSUMER;
	return (stops & (stops - 1)) ? stops : 0;
}

static void
put_stop(
    struct timeline *t, uint32_t id, unsigned stop, uint32_t track, cost_ns at)
{
	unsigned stops = stops_of(t, &t->w->plan->conversion[id]);
	bool is_first = (stops & (stop - 1)) == 0, is_last = stops < 2 * stop;

	if (!(stops & stop))
		return;
	open_event(&t->j, is_first ? "s" : is_last ? "f" : "t", track, "value");
	json_key_str(&t->j, "cat", "conversion");
	json_key_uint(&t->j, "id", id);
	put_us(&t->j, "ts", at);
	if (is_last)
		json_key_str(&t->j, "bp", "e");
	json_close(&t->j);
}

/* An arrow leaves the slice that makes the value just before its end, because
 * a slice does not hold its own end. */
static void
put_producer_stop(struct timeline *t, uint32_t id)
{
	node_id producer =
	    t->w->graph->value[t->w->plan->conversion[id].value].producer;
	uint32_t composite;

	if (producer == NODE_NONE)
		return;
	composite = t->w->plan->composite_of[producer];
	if (t->end[composite] > 0)
		put_stop(t, id, STOP_PRODUCER,
		    plan_candidate(t->w->plan, composite)->target + 1,
		    t->end[composite] - 1);
}

static void
put_conversion(struct timeline *t, uint32_t id)
{
	const struct plan_conversion *c = &t->w->plan->conversion[id];
	struct json *j = &t->j;

	put_producer_stop(t, id);
	open_event(j, "X", conversion_track(t->w),
	    arena_printf(t->w->arena, "%s -> %s", emit_format(t->w, c->from),
	        emit_format(t->w, c->to)));
	json_key_str(j, "cat", "conversion");
	put_us(j, "ts", t->now);
	put_us(j, "dur", c->cost);
	json_key(j, "args");
	json_object(j);
	json_key_str(j, "value", t->w->graph->value[c->value].name);
	json_key_uint(j, "bytes", emit_value_bytes(t->w, c->value, c->to));
	json_close(j);
	json_close(j);
	put_stop(t, id, STOP_CONVERSION, conversion_track(t->w), t->now);
	t->now += c->cost;
}

/* Conversions that are paid before a composite (or, last, by the caller). */
static void
put_conversions(struct timeline *t, uint32_t before, uint32_t *next)
{
	const struct plan *p = t->w->plan;

	for (; *next < p->nconversions && p->conversion[*next].before <= before;
	     ++*next)
		put_conversion(t, *next);
}

static void
put_names(struct timeline *t, const struct candidate *c)
{
	const struct graph *g = t->w->graph;
	const struct onnx_nodes *table = g->origin_table;
	struct json *j = &t->j;

	json_key(j, "onnx");
	json_array(j);
	for (uint32_t i = 0; i < c->nnodes; i++) {
		const struct node *n = &g->node[c->node[i]];

		for (uint32_t k = 0; table && k < n->norigins; k++) {
			const struct onnx_node *o =
			    &table->node[n->origin[k].onnx];

			if (*o->name)
				json_str(j, o->name);
			else
				json_strf(j, "%s%s%s_%" PRIu32, o->path,
				    *o->path ? "/" : "", o->op_type, o->index);
		}
	}
	json_close(j);
}

static void
put_launch(struct timeline *t, uint32_t region)
{
	const struct plan_region *r = &t->w->plan->region[region];

	if (r->launch == 0)
		return;
	open_event(&t->j, "X", r->target + 1, "launch");
	json_key_str(&t->j, "cat", "launch");
	put_us(&t->j, "ts", t->now);
	put_us(&t->j, "dur", r->launch);
	json_key(&t->j, "args");
	json_object(&t->j);
	json_key_str(&t->j, "region", t->w->region[region]);
	json_close(&t->j);
	json_close(&t->j);
	t->now += r->launch;
}

static void
put_composite(struct timeline *t, uint32_t id)
{
	const struct plan_composite *composite = &t->w->plan->composite[id];
	const struct candidate *c = plan_candidate(t->w->plan, id);
	struct json *j = &t->j;

	open_event(j, "X", c->target + 1, t->w->label[c->node[c->nnodes - 1]]);
	json_key_str(j, "cat", "composite");
	t->begin[id] = t->now;
	put_us(j, "ts", t->now);
	put_us(j, "dur", composite->cost);
	json_key(j, "args");
	json_object(j);
	put_names(t, c);
	json_key_str(j, "rule", emit_rule(t->w, c)->name);
	json_key_str(j, "implementation", c->implementation_name);
	json_key_str(j, "region", t->w->region[composite->region]);
	json_key_str(
	    j, "price", price_source_text(emit_price(t->w, id)->source));
	json_close(j);
	json_close(j);
	t->now += composite->cost;
	t->end[id] = t->now;
}

/* Arrows end where the composite that needed the conversion begins. */
static void
put_flow_ends(struct timeline *t, uint32_t id, uint32_t from, uint32_t to)
{
	uint32_t track = plan_candidate(t->w->plan, id)->target + 1;

	for (uint32_t i = from; i < to; i++)
		put_stop(t, i, STOP_CONSUMER, track, t->begin[id]);
}

bool
write_trace(FILE *f, const struct emit_work *w, struct err *err)
{
	const struct plan *p = w->plan;
	struct timeline t = {
	    .w = w,
	    .begin = arena_new(w->arena, cost_ns, p->ncomposites),
	    .end = arena_new(w->arena, cost_ns, p->ncomposites),
	};
	uint32_t next = 0;

	(void)err;
	json_init(&t.j, f, 1);
	json_object(&t.j);
	json_key_str(&t.j, "displayTimeUnit", "ns");
	json_key(&t.j, "traceEvents");
	json_array(&t.j);
	put_tracks(&t);
	for (uint32_t i = 0; i < p->ncomposites; i++) {
		uint32_t from = next, region = p->composite[i].region;

		put_conversions(&t, i, &next);
		if (p->region[region].first == i)
			put_launch(&t, region);
		put_composite(&t, i);
		put_flow_ends(&t, i, from, next);
	}
	put_conversions(&t, p->ncomposites, &next);
	json_close(&t.j);
	json_close(&t.j);
	return true;
}
