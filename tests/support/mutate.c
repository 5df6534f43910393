#include "tests/support/mutate.h"

#include <stdbool.h>
#include <string.h>

/* Bodies in bodies; deeper ones are left as they are. */
#define DEEPEST 24

static const char *const operators[] = {
#define OP(name, type, min_in, max_in, min_out, max_out, kind) type,
#define ML_OP OP
#define MS_OP OP
#include "ir/schema.def"
};

static const char *const attributes[] = {"axis", "axes", "perm", "to", "value",
    "kernel_shape", "strides", "pads", "dilations", "group", "auto_pad",
    "ceil_mode", "output_shape", "output_padding", "keepdims", "epsilon",
    "alpha", "beta", "mode", "body", "then_branch", "else_branch", "direction",
    "hidden_size", "starts", "ends", "steps", "split", "num_outputs",
    "blocksize", "transA", "transB", "equation", "batch_dims", "exclusive",
    "reverse", "largest", "sorted", "dtype", "shape", "allowzero", "fmod",
    "noop_with_empty_axes", "select_last_index", "layout", "size", "bias"};

static const int64_t numbers[] = {0, 1, -1, 2, -2, 3, 4, 5, 7, 8, 13, 16, 17,
    31, 64, 127, 128, 255, 256, 1000, 65535, 65536, 1 << 20, INT32_MAX,
    INT32_MIN, (int64_t)UINT32_MAX, (int64_t)1 << 62, INT64_MAX, INT64_MIN};

static const char *const words[] = {
    "", "x", "SAME_UPPER", "VALID", "NOTSET", "linear", "nearest", "constant"};

#define PICK(r, list) (list)[rng_below(r, sizeof(list) / sizeof *(list))]

/* A field of a message that holds something. */
struct spot {
	ProtobufCMessage *m;
	const ProtobufCFieldDescriptor *f;
};

struct walk {
	struct rng *r;
	struct arena *a;
	uint32_t seen;
	struct spot picked;
	const char *name; /* of some value */
	uint32_t names;
};

static void *
allocate(void *arena, size_t n)
{
	return arena_alloc(arena, n);
}

static void
leave(void *arena, void *p)
{
	(void)arena, (void)p;
}

ProtobufCAllocator
mutate_allocator(struct arena *a)
{
	return (ProtobufCAllocator){allocate, leave, a};
}

static char *
member(const struct spot *s)
{
	return (char *)s->m + s->f->offset;
}

static size_t *
count_of(const struct spot *s)
{
	return (size_t *)((char *)s->m + s->f->quantifier_offset);
}

static size_t
item_size(const ProtobufCFieldDescriptor *f)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return 8;
	default:
		return 4;
	}
}

static bool
is_set(const struct spot *s)
{
	const ProtobufCFieldDescriptor *f = s->f;

	if (f->label == PROTOBUF_C_LABEL_REPEATED)
		return *count_of(s) > 0;
	if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
		return *(uint32_t *)((char *)s->m + f->quantifier_offset)
		    == f->id;
	if (f->type == PROTOBUF_C_TYPE_STRING
	    || f->type == PROTOBUF_C_TYPE_MESSAGE)
		return *(void **)member(s) != NULL;
	return f->label != PROTOBUF_C_LABEL_OPTIONAL
	    || *(protobuf_c_boolean *)((char *)s->m + f->quantifier_offset);
}

static bool
is_named(const struct spot *s, const char *name)
{
	return strcmp(s->f->name, name) == 0;
}

/* ---- finding a place ---- */

static void
see_name(struct walk *w, const struct spot *s)
{
	char **list = *(char ***)member(s);

	if (!is_named(s, "input") && !is_named(s, "output"))
		return;
	for (size_t i = 0; i < *count_of(s); i++)
		if (rng_below(w->r, ++w->names) == 0)
			w->name = list[i];
}

/* Every field that is set is picked with the same chance. */
static void
look(struct walk *w, ProtobufCMessage *m, int depth)
{
	for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
		struct spot s = {m, &m->descriptor->fields[i]};
		bool many = s.f->label == PROTOBUF_C_LABEL_REPEATED;

		if (!is_set(&s))
			continue;
		if (rng_below(w->r, ++w->seen) == 0)
			w->picked = s;
		if (many && s.f->type == PROTOBUF_C_TYPE_STRING)
			see_name(w, &s);
		if (s.f->type != PROTOBUF_C_TYPE_MESSAGE || depth >= DEEPEST)
			continue;
		if (!many)
			look(w, *(ProtobufCMessage **)member(&s), depth + 1);
		for (size_t k = 0; many && k < *count_of(&s); k++)
			look(w, (*(ProtobufCMessage ***)member(&s))[k],
			    depth + 1);
	}
}

/* ---- changing one thing ---- */

static int64_t
new_number(const struct walk *w, const struct spot *s, int64_t old)
{
	bool is_type = strstr(s->f->name, "type") != NULL;

	switch (rng_below(w->r, 4)) {
	case 0:
		return is_type ? rng_below(w->r, 25) : old + (old < INT64_MAX);
	case 1:
		return is_type ? rng_below(w->r, 25) : old - (old > INT64_MIN);
	case 2:
		return rng_below(w->r, 20);
	default:
		return PICK(w->r, numbers);
	}
}

static char *
new_text(const struct walk *w, const struct spot *s, const char *old)
{
	if (is_named(s, "op_type"))
		return arena_str(w->a, PICK(w->r, operators));
	if (is_named(s, "input") || is_named(s, "output"))
		return arena_str(
		    w->a, rng_below(w->r, 8) && w->name ? w->name : "");
	if (is_named(s, "name") && rng_below(w->r, 2))
		return arena_str(w->a,
		    rng_below(w->r, 2) || !w->name ? PICK(w->r, attributes)
		                                   : w->name);
	return rng_below(w->r, 2) ? arena_printf(w->a, "%s_", old)
	                          : arena_str(w->a, PICK(w->r, words));
}

/* Cut, grown with zeros, or one byte changed. */
static ProtobufCBinaryData
new_bytes(const struct walk *w, ProtobufCBinaryData old)
{
	ProtobufCBinaryData b = {.len = old.len};

	if (rng_below(w->r, 2))
		b.len = rng_below(w->r, 2) ? rng_below(w->r, 64) : old.len / 2;
	b.data = arena_alloc(w->a, b.len + 1);
	memset(b.data, 0, b.len);
	if (old.len)
		memcpy(b.data, old.data, old.len < b.len ? old.len : b.len);
	if (b.len)
		b.data[rng_below(w->r, (uint32_t)b.len)] =
		    (uint8_t)rng_below(w->r, 256);
	return b;
}

static void
change_item(const struct walk *w, const struct spot *s, char *item)
{
	int64_t x = 0;
	float real;

	switch (s->f->type) {
	case PROTOBUF_C_TYPE_STRING:
		*(char **)item = new_text(w, s, *(char **)item);
		break;
	case PROTOBUF_C_TYPE_BYTES:
		*(ProtobufCBinaryData *)item =
		    new_bytes(w, *(ProtobufCBinaryData *)item);
		break;
	case PROTOBUF_C_TYPE_MESSAGE:
		break; /* what is in it has places of its own */
	case PROTOBUF_C_TYPE_FLOAT:
		real = (float)PICK(w->r, numbers) * 0.5f;
		memcpy(item, &real, sizeof real);
		break;
	default:
		memcpy(&x, item, item_size(s->f)); /* little-endian */
		x = new_number(w, s, x);
		memcpy(item, &x, item_size(s->f));
	}
}

static void
unset(const struct spot *s)
{
	if (s->f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
		*(uint32_t *)((char *)s->m + s->f->quantifier_offset) = 0;
	else if (s->f->type == PROTOBUF_C_TYPE_STRING
	    || s->f->type == PROTOBUF_C_TYPE_MESSAGE)
		*(void **)member(s) = NULL;
	else if (s->f->label == PROTOBUF_C_LABEL_OPTIONAL)
		*(protobuf_c_boolean *)((char *)s->m
		    + s->f->quantifier_offset) = 0;
}

/* A copy of its own, so that it can be changed alone. */
static void
copy_item(const struct walk *w, const struct spot *s, char *to, char *from)
{
	ProtobufCAllocator a = mutate_allocator(w->a);
	ProtobufCMessage *m;
	uint8_t *packed;
	size_t n;

	memmove(to, from, item_size(s->f));
	if (s->f->type != PROTOBUF_C_TYPE_MESSAGE)
		return;
	m = *(ProtobufCMessage **)from;
	n = protobuf_c_message_get_packed_size(m);
	packed = arena_alloc(w->a, n + 1);
	protobuf_c_message_pack(m, packed);
	m = protobuf_c_message_unpack(m->descriptor, &a, n, packed);
	if (m)
		*(ProtobufCMessage **)to = m;
}

/* One more of what is there, at the end; itself twice for now. */
static char *
grow(const struct walk *w, const struct spot *s)
{
	size_t n = *count_of(s), size = item_size(s->f);
	char *list = arena_alloc(w->a, (n + 1) * size);

	memcpy(list, *(char **)member(s), n * size);
	*(char **)member(s) = list;
	*count_of(s) = n + 1;
	return list + n * size;
}

static void
change_list(const struct walk *w, const struct spot *s)
{
	size_t n = *count_of(s), size = item_size(s->f);
	size_t i = rng_below(w->r, (uint32_t)n), k;
	char *list = *(char **)member(s), *more, other[64];

	switch (rng_below(w->r, 4)) {
	case 0: /* one less */
		memmove(
		    list + i * size, list + (i + 1) * size, (n - i - 1) * size);
		*count_of(s) = n - 1;
		break;
	case 1: /* one more */
		more = grow(w, s);
		copy_item(w, s, more, *(char **)member(s) + i * size);
		change_item(w, s, more);
		break;
	case 2: /* two the other way round */
		k = rng_below(w->r, (uint32_t)n);
		memcpy(other, list + i * size, size);
		memmove(list + i * size, list + k * size, size);
		memcpy(list + k * size, other, size);
		break;
	default:
		change_item(w, s, list + i * size);
	}
}

void
mutate(ProtobufCMessage *m, struct rng *r, struct arena *a)
{
	struct walk w = {.r = r, .a = a};

	look(&w, m, 0);
	if (w.seen == 0)
		return;
	if (w.picked.f->label == PROTOBUF_C_LABEL_REPEATED)
		change_list(&w, &w.picked);
	else if (rng_below(r, 8) == 0)
		unset(&w.picked);
	else
		change_item(&w, &w.picked, member(&w.picked));
}
