#include "costmodel/operands.h"

#include <string.h>

#include "costmodel/seed.h"
#include "ir/base/size.h"
#include "targets/convert.h"

/* TUNING: kept at once, bytes. */
#define OPERAND_BYTES ((size_t)256 << 20)

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

void *
operand_new(const struct graph *g, const struct mix *m, const struct port *p,
    struct arena *a, struct err *err)
{
	const struct type *type = &graph_value(g, p->value)->type;
	const struct format *f = m->formats.format;
	void *plain = seed_buffer(a, format_bytes(f[FORMAT_PLAIN], type));
	const struct format_change change = {f[FORMAT_PLAIN], f[p->format],
	    type, format_quant(&m->formats, p->value)};
	struct converter c;
	void *data;

	seed_value(g, p->value, plain);
	if (p->format == FORMAT_PLAIN)
		return plain;
	data = seed_buffer(a, format_place_bytes(f[p->format], type));
	if (!converter_new(&c, &change, a, err))
		return NULL;
	c.run(&c, plain, data);
	if (c.release)
		c.release(&c);
	return data;
}

const void *
operands_get(struct kept_operands *o, const struct graph *g,
    const struct port *p, struct err *err)
{
	const struct {
		const struct graph *graph;
		uint64_t value, format;
	} key = {g, p->value, p->format};
	uint32_t at = map_find(&o->map, &key, sizeof key);
	const void *made;

	if (at != MAP_NONE)
		return o->made[at];
	made = operand_new(g, o->mix, p, &o->arena, err);
	if (!made)
		return NULL;
	o->made =
	    arena_grow(&o->arena, o->made, &o->cap, o->n + 1, sizeof *o->made);
	o->made[o->n] = made;
	map_add(&o->map, arena_copy(&o->arena, &key, sizeof key), sizeof key,
	    o->n++);
	return made;
}
