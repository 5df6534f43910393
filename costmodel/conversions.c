/* Conversions: classes of values, the pairs of formats plans may need, their
 * prices, and detours. */
#include <assert.h>
#include <string.h>

#include "costmodel/key.h"
#include "costmodel/pricer.h"
#include "costmodel/pricer_parts.h"

/* The entry of class_subject for a pair of formats. */
static uint32_t *
subject_at(const struct pricer *p, uint32_t class, format_id from, format_id to)
{
	uint32_t n = p->mix->formats.n;

	return &p->class_subject[((size_t) class * n + from) * n + to];
}

/* A class: values of one type, whose conversions cost the same. */
struct class
{
	value_id value; /* one of them */
	uint32_t made, used; /* formats candidates make and use, as bits */
};

struct classes {
	struct class *class; /* [n] */
	uint32_t n, cap;
	uint32_t *of; /* [nvalues], UINT32_MAX: constants */
};

static struct classes
find_classes(struct pricer *p)
{
	const struct graph *g = p->graph;
	struct classes c = {.of = arena_new(p->arena, uint32_t, g->nvalues)};
	struct arena scratch;
	struct map types;
	struct buf b;

	arena_init(&scratch);
	map_init(&types, &scratch);
	buf_init(&b);
	for (value_id v = 0; v < g->nvalues; v++) {
		c.of[v] = UINT32_MAX;
		if (g->value[v].constant)
			continue;
		b.n = 0;
		key_type(&b, &g->value[v].type, KEY_FULL);
		c.of[v] = map_add(
		    &types, arena_copy(&scratch, b.data, b.n), b.n, c.n);
		if (c.of[v] < c.n)
			continue;
		c.class = arena_grow(
		    p->arena, c.class, &c.cap, c.n + 1, sizeof *c.class);
		c.class[c.n++] = (struct class){.value = v};
	}
	buf_release(&b);
	arena_release(&scratch);
	return c;
}

static void
collect_formats(const struct pricer *p, struct classes *c)
{
	const struct graph *g = p->graph;

	for (uint32_t i = 0; i < p->candidates->n; i++) {
		const struct candidate *x = &p->candidates->candidate[i];

		for (uint32_t k = 0; k < x->noutputs; k++)
			c->class[c->of[x->output[k].value]].made |= UINT32_C(1)
			    << x->output[k].format;
		for (uint32_t k = 0; k < x->ninputs; k++)
			c->class[c->of[x->input[k].value]].used |= UINT32_C(1)
			    << x->input[k].format;
	}
	/* The caller hands in and wants back the plain format. */
	for (value_id v = 0; v < g->nvalues; v++) {
		if (c->of[v] == UINT32_MAX)
			continue;
		if (g->value[v].producer == NODE_NONE)
			c->class[c->of[v]].made |= 1u << FORMAT_PLAIN;
		if (g->value[v].flags & VALUE_OUTPUT)
			c->class[c->of[v]].used |= 1u << FORMAT_PLAIN;
	}
}

static bool
is_host(const struct pricer *p, format_id f)
{
	return p->mix->formats.format[f].space == SPACE_HOST;
}

/* What a target that lives in the far space says a transfer takes. */
static bool
transfer(const struct pricer *p, const struct type *type, format_id from,
    format_id to, struct estimate *e)
{
	const struct format *f = &p->mix->formats.format[from];
	const struct format *t = &p->mix->formats.format[to];
	const struct space *far = f->space == SPACE_HOST ? t->space : f->space;

	if (f->space == t->space || !far->transfer || !type_is_static(type))
		return false;
	for (uint32_t i = 0; i < p->mix->n; i++) {
		const struct target *x = &p->mix->target[i];

		*e = (struct estimate){.ns = 0};
		if (x->kind->space == far && far->transfer(x, f, t, type, e))
			return true;
	}
	return false;
}

/* Host formats that lie on the way of a transfer are made or used too. */
static void
add_transfer_formats(const struct pricer *p, struct class *c)
{
	const struct type *type = &graph_value(p->graph, c->value)->type;
	uint32_t made = c->made, used = c->used;
	struct estimate e;

	for (format_id h = 0; h < p->mix->formats.n; h++)
		for (format_id x = 0; x < p->mix->formats.n; x++) {
			if (!is_host(p, h) || is_host(p, x))
				continue;
			if (made >> x & 1 && transfer(p, type, x, h, &e))
				c->made |= UINT32_C(1) << h;
			if (used >> x & 1 && transfer(p, type, h, x, &e))
				c->used |= UINT32_C(1) << h;
		}
}

static void
add_transfer(struct conversion_price *c, const struct estimate *e)
{
	c->price.state = PRICE_KNOWN;
	c->price.source = PRICE_SIMULATED;
	c->price.origin = FROM_SIMULATION;
	c->price.ns = c->price.bound = e->ns;
	c->price.low = e->low ? e->low : e->ns;
	c->price.high = e->high ? e->high : e->ns;
	c->price.detail = e->assumed ? e->assumed : "";
}

static uint32_t
add_subject(struct pricer *p, value_id v, format_id from, format_id to)
{
	const struct type *type = &graph_value(p->graph, v)->type;
	struct format f = p->mix->formats.format[from];
	struct format t = p->mix->formats.format[to];
	struct buf b;
	struct subject *s;
	uint32_t subject;
	bool is_new;

	buf_init(&b);
	buf_u32(&b, p->mix->n);
	key_conversion(&b, type, f, t, KEY_FULL);
	subject = subject_add(p, b.data, b.n, &is_new);
	s = &p->subject[subject];
	s->target = p->mix->n;
	s->value = v;
	s->from = from;
	s->to = to;
	price_of(p, s)->source = PRICE_MEASURED;
	s->work = work_of_conversion(type, f, t);
	price_of(p, s)->bound = price_of(p, s)->guess = roofline_bound(
	    &p->roofline, s->work, p->environment[p->mix->n].scale);
	subject_expect(p, s);
	s->db.kind = "conversion";
	s->db.summary = arena_printf(p->arena, "convert %s -> %s %s",
	    format_text(f, p->arena), format_text(t, p->arena),
	    type_text(type, NULL, p->arena));
	b.n = 0;
	key_conversion(&b, type, f, t, KEY_SKELETON);
	s->db.skeleton = hash128(b.data, b.n);
	s->db.family = s->db.skeleton;
	buf_release(&b);
	return subject;
}

static bool
class_begin(struct pricer *p, const struct classes *all, uint32_t class,
    struct err *err)
{
	struct class *c = &all->class[class];
	const struct type *type = &graph_value(p->graph, c->value)->type;

	if (type->kind != TYPE_TENSOR || !type_is_static(type))
		return true;
	add_transfer_formats(p, c);
	/* Through the plain format everything can be reached. */
	c->made |= 1u << FORMAT_PLAIN;
	c->used |= 1u << FORMAT_PLAIN;
	for (format_id from = 0; from < p->mix->formats.n; from++)
		for (format_id to = 0; to < p->mix->formats.n; to++) {
			uint32_t subject;

			if (from == to || !(c->made >> from & 1)
			    || !(c->used >> to & 1) || !is_host(p, from)
			    || !is_host(p, to))
				continue;
			subject = add_subject(p, c->value, from, to);
			*subject_at(p, class, from, to) = subject;
			p->counts.distinct++;
			if (!subject_lookup(p, subject, err))
				return false;
		}
	return true;
}

bool
conversions_begin(struct pricer *p, struct err *err)
{
	struct classes c = find_classes(p);
	uint32_t formats = p->mix->formats.n;
	size_t n = (size_t)c.n * formats * formats;

	collect_formats(p, &c);
	p->prices->value_class = c.of;
	p->prices->nclasses = c.n;
	p->prices->nformats = formats;
	p->prices->conversion = arena_new(p->arena, struct conversion_price, n);
	p->class_subject = arena_new(p->arena, uint32_t, n);
	p->class_value = arena_new(p->arena, value_id, c.n);
	memset(p->class_subject, 0xff, n * sizeof *p->class_subject);
	for (uint32_t i = 0; i < c.n; i++) {
		p->class_value[i] = c.class[i].value;
		if (!class_begin(p, &c, i, err))
			return false;
	}
	return true;
}

/* The subjects of one that have no price; at most two. */
static uint32_t
list_steps(const struct pricer *p, const struct pricer_conversion *c,
    uint32_t *subject)
{
	format_id via = conversion_at(p->prices, c->class, c->from, c->to)->via;
	const uint32_t step[2] = {*subject_at(p, c->class, c->from, via),
	    via == c->to ? SUBJECT_NONE : *subject_at(p, c->class, via, c->to)};
	uint32_t n = 0;

	assert(via < p->mix->formats.n);
	for (uint32_t i = 0; i < 2; i++)
		if (step[i] != SUBJECT_NONE
		    && price_at(p, step[i])->state == PRICE_BOUND)
			subject[n++] = step[i];
	return n;
}

uint32_t
conversions_unpriced(const struct pricer *p, const struct pricer_conversion *c,
    uint32_t n, uint32_t *subject, struct arena *scratch)
{
	bool *listed = arena_new(scratch, bool, p->nsubjects);
	uint32_t count = 0;

	assert(p->prices->nformats == p->mix->formats.n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t step[2], nsteps = list_steps(p, &c[i], step);

		for (uint32_t k = 0; k < nsteps; k++) {
			if (!listed[step[k]])
				subject[count++] = step[k];
			listed[step[k]] = true;
		}
	}
	return count;
}

/* One step from format to format, without detours. */
static struct conversion_price
direct(struct pricer *p, uint32_t class, format_id from, format_id to)
{
	uint32_t subject = *subject_at(p, class, from, to);
	struct conversion_price c = {
	    .price =
	        {
	            .state = PRICE_FAILED,
	            .ns = COST_NEVER,
	            .bound = COST_NEVER,
	            .when = "",
	            .detail = "",
	        },
	    .via = to,
	};
	struct estimate e;

	if (from == to) {
		c.price.state = PRICE_KNOWN;
		c.price.ns = c.price.bound = 0;
	} else if (subject != SUBJECT_NONE) {
		c.price = *price_at(p, subject);
	} else if (transfer(p,
	               &graph_value(p->graph, p->class_value[class])->type,
	               from, to, &e)) {
		add_transfer(&c, &e);
	}
	return c;
}

static const char *
longer(const char *a, const char *b)
{
	return a && a[0] ? a : b;
}

/* Two steps as one price: as uncertain as both, as weak as the weaker. */
static struct price
add_prices(const struct price *a, const struct price *b)
{
	struct price sum = *a;

	assert(a->state != PRICE_FAILED && b->state != PRICE_FAILED);
	sum.state = a->state == PRICE_KNOWN ? b->state : a->state;
	sum.source = a->source > b->source ? a->source : b->source;
	sum.origin = a->origin > b->origin ? a->origin : b->origin;
	sum.ns = a->ns + b->ns;
	sum.bound = price_least(a) + price_least(b);
	sum.low = a->low + b->low;
	sum.high = a->high + b->high;
	sum.samples = a->samples < b->samples ? a->samples : b->samples;
	sum.when = longer(a->when, b->when);
	sum.detail = longer(a->detail, b->detail);
	return sum;
}

/* The cheapest second-hand way from i to j, if it beats the direct one. */
static void
try_detours(const struct pricer *p, struct conversion_price *out,
    const struct conversion_price *step, format_id i, format_id j)
{
	uint32_t n = p->mix->formats.n;
	struct conversion_price *best = &out[(size_t)i * n + j];

	for (format_id k = 0; k < n; k++) {
		const struct price *first = &step[(size_t)i * n + k].price;
		const struct price *second = &step[(size_t)k * n + j].price;

		/* Never through a device: its types lose precision. */
		if (k == i || k == j || !is_host(p, k)
		    || price_least(first) == COST_NEVER
		    || price_least(second) == COST_NEVER
		    || price_least(first) + price_least(second)
		        >= price_least(&best->price))
			continue;
		best->price = add_prices(first, second);
		best->via = k;
	}
}

static void
take_detours(const struct pricer *p, struct conversion_price *out,
    const struct conversion_price *step)
{
	uint32_t n = p->mix->formats.n;

	memcpy(out, step, (size_t)n * n * sizeof *out);
	for (format_id i = 0; i < n; i++)
		for (format_id j = 0; j < n; j++)
			if (i != j)
				try_detours(p, out, step, i, j);
}

/* What can be converted at all, for nothing where that is asked for. */
static void
make_free(const struct pricer *p, struct conversion_price *c)
{
	const struct price nothing = {
	    .state = PRICE_KNOWN,
	    .source = PRICE_ESTIMATED,
	    .origin = FROM_ESTIMATE,
	    .when = "",
	    .detail = "assumed to be free",
	};
	uint32_t n = p->mix->formats.n;

	for (size_t i = 0; i < (size_t)n * n; i++)
		if (p->o.free->conversion[i]
		    && price_least(&c[i].price) != COST_NEVER)
			c[i].price = nothing;
}

static void
close_class(struct pricer *p, uint32_t class, struct conversion_price *out,
    struct conversion_price *step)
{
	uint32_t n = p->mix->formats.n;

	for (format_id i = 0; i < n; i++)
		for (format_id j = 0; j < n; j++)
			step[(size_t)i * n + j] = direct(p, class, i, j);
	take_detours(p, out, step);
	if (!p->o.free || !p->o.free->conversion)
		return;
	make_free(p, out);
	memcpy(step, out, (size_t)n * n * sizeof *out);
	take_detours(p, out, step);
}

void
conversions_close_over(struct pricer *p)
{
	size_t square = (size_t)p->prices->nformats * p->prices->nformats;
	struct conversion_price *step;
	struct arena scratch;

	arena_init(&scratch);
	step = arena_new(&scratch, struct conversion_price, square);
	for (uint32_t i = 0; i < p->prices->nclasses; i++)
		close_class(p, i, &p->prices->conversion[i * square], step);
	arena_release(&scratch);
}

void
conversions_verify(const struct pricer *p)
{
	const struct prices *all = p->prices;
	const uint32_t n = p->mix->formats.n;

	for (uint32_t k = 0; k < all->nclasses * n * n; k++) {
		const uint32_t class = k / (n * n),
		               subject = p->class_subject[k];
		const struct subject *s;

		assert(all->value_class[p->class_value[class]] == class);
		assert(all->conversion[k].via < n);
		if (subject == SUBJECT_NONE)
			continue;
		assert(subject >= p->ncandidate_subjects);
		s = &p->subject[subject];
		assert(s->from == k / n % n && s->to == k % n); /* (R5) */
		assert(is_host(p, s->from) && is_host(p, s->to));
	}
}
