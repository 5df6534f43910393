#include "costmodel/operands.h"

#include <string.h>

#include "costmodel/seed.h"
#include "ir/base/size.h"
#include "targets/convert.h"

/* TUNING: kept at once, bytes. */
#define OPERAND_BYTES ((size_t)256 << 20)

struct operand_key {
	const struct graph *graph;
	uint64_t value, format;
};

void
operands_init(struct kept_operands *o, const struct mix *m)
{
	*o = (struct kept_operands){.mix = m};
	arena_init(&o->arena);
	map_init(&o->map, &o->arena);
}

void
operands_release(struct kept_operands *o)
{
	arena_release(&o->arena);
}

void
operands_forget(struct kept_operands *o)
{
	const struct mix *m = o->mix;

	operands_release(o);
	operands_init(o, m);
}

void
operands_begin(struct kept_operands *o)
{
	o->ntaken = 0;
	if (o->arena.bytes >= OPERAND_BYTES)
		operands_forget(o);
}

struct operand_room {
	void *at;
	size_t bytes;
};

/* TUNING: a room for a little more than is asked for is seldom too small next. */
#define ROOM_STEP ((size_t)1 << 20)

void *
operands_room(struct kept_operands *o, size_t bytes)
{
	struct operand_room *r;

	if (o->ntaken == o->nrooms) {
		o->room = arena_grow(&o->arena, o->room, &o->room_cap,
		    o->nrooms + 1, sizeof *o->room);
		o->room[o->nrooms++] = (struct operand_room){NULL, 0};
	}
	r = &o->room[o->ntaken++];
	if (bytes <= r->bytes)
		return memset(r->at, 0, bytes);
	r->bytes = size_round_up(bytes, ROOM_STEP);
	r->at = seed_buffer(&o->arena, r->bytes);
	return r->at;
}

/* In another format than the plain one. */
static void *
converted(const void *plain, const struct graph *g, const struct mix *m,
    const struct port *p, struct arena *a, struct err *err)
{
	const struct type *type = &graph_value(g, p->value)->type;
	const struct format *f = m->formats.format;
	const struct format_change change = {f[FORMAT_PLAIN], f[p->format],
	    type, format_quant(&m->formats, p->value)};
	void *data = seed_buffer(a, format_place_bytes(f[p->format], type));
	struct converter c;

	if (!converter_new(&c, &change, a, err))
		return NULL;
	c.run(&c, plain, data);
	if (c.release)
		c.release(&c);
	return data;
}

static void *
plain_new(
    const struct graph *g, const struct mix *m, value_id v, struct arena *a)
{
	void *plain = seed_buffer(a,
	    format_bytes(
	        m->formats.format[FORMAT_PLAIN], &graph_value(g, v)->type));

	seed_value(g, v, plain);
	return plain;
}

void *
operand_new(const struct graph *g, const struct mix *m, const struct port *p,
    struct arena *a, struct err *err)
{
	void *plain = plain_new(g, m, p->value, a);

	return p->format == FORMAT_PLAIN ? plain
	                                 : converted(plain, g, m, p, a, err);
}

/* What was kept, or NULL. */
static const void *
kept(const struct kept_operands *o, const struct graph *g, value_id v,
    format_id f)
{
	const struct operand_key key = {g, v, f};
	const uint32_t at = map_find(&o->map, &key, sizeof key);

	return at == MAP_NONE ? NULL : o->made[at];
}

static void
keep(struct kept_operands *o, const struct graph *g, value_id v, format_id f,
    const void *made)
{
	const struct operand_key key = {g, v, f};

	o->made =
	    arena_grow(&o->arena, o->made, &o->cap, o->n + 1, sizeof *o->made);
	o->made[o->n] = made;
	map_add(&o->map, arena_copy(&o->arena, &key, sizeof key), sizeof key,
	    o->n++);
}

static const void *
kept_plain(struct kept_operands *o, const struct graph *g, value_id v)
{
	const void *made = kept(o, g, v, FORMAT_PLAIN);

	if (!made) {
		made = plain_new(g, o->mix, v, &o->arena);
		keep(o, g, v, FORMAT_PLAIN, made);
	}
	return made;
}

const void *
operands_get(struct kept_operands *o, const struct graph *g,
    const struct port *p, struct err *err)
{
	const void *made = kept(o, g, p->value, p->format);
	const void *plain;

	if (made)
		return made;
	plain = kept_plain(o, g, p->value);
	if (p->format == FORMAT_PLAIN)
		return plain;
	made = converted(plain, g, o->mix, p, &o->arena, err);
	if (made)
		keep(o, g, p->value, p->format, made);
	return made;
}
