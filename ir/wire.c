#define _DEFAULT_SOURCE
#include "ir/wire.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "ir/base/limits.h"
#include "ir/base/size.h"
#include "ir/base/utf8.h"
#include "ir/onnx.pb-c.h"

enum wire_type { VARINT = 0, FIXED64 = 1, LEN = 2, FIXED32 = 5 };

/* Field number of TensorProto.payload, ours. */
#define PAYLOAD_FIELD 2047
#define MAX_FIELDS 32
/* A length is patched in when its message ends: a varint padded to five bytes
 * holds any length protobuf-c takes. */
#define PADDED 5
/* TUNING: memory unpacking may need: a floor for small models with many small
 * messages, and a multiple of the file. Real models stay below 20 MB + 8x. */
#define BUDGET_FLOOR ((size_t)64 << 20)
#define BUDGET_FACTOR 16
/* protobuf-c's own bookkeeping for one field on its way in. */
#define FIELD_COST 64

/* A message being walked. */
struct message {
	const ProtobufCMessageDescriptor *type;
	size_t end; /* of its content in the file */
	size_t length_at; /* of the length to patch in the skeleton */
	uint32_t seen[MAX_FIELDS]; /* fields met, by index in type */
	unsigned field; /* index in the parent's type */
};

struct wire_walk {
	const struct wire *in;
	struct buf *out;
	struct err *err;
	size_t at, field_start;
	size_t cost, budget;
	unsigned depth; /* of frame[] in use */
	bool hushed; /* reading ahead was switched off */
	struct message frame[WIRE_DEPTH];
};

/* "graph.node[3].attribute[0]": where the walk is. */
static void
walk_path(const struct wire_walk *w, char *text, size_t room)
{
	size_t n = 0;

	text[0] = '\0';
	for (unsigned i = 1; i < w->depth && n < room; i++) {
		const struct message *outer = &w->frame[i - 1];
		unsigned field = w->frame[i].field;
		const ProtobufCFieldDescriptor *f = &outer->type->fields[field];
		int r;

		if (f->label == PROTOBUF_C_LABEL_REPEATED)
			r = snprintf(text + n, room - n, "%s%s[%" PRIu32 "]",
			    n ? "." : "", f->name, outer->seen[field] - 1);
		else
			r = snprintf(
			    text + n, room - n, "%s%s", n ? "." : "", f->name);
		n += r > 0 ? (size_t)r : 0;
	}
}

static bool
fault(struct wire_walk *w, const ProtobufCFieldDescriptor *f, const char *what)
{
	char path[160];

	walk_path(w, path, sizeof path);
	return err_set(w->err, ERR_INPUT, "byte %zu: %s%s%s: %s",
	    w->field_start,
	    path[0] ? path
	        : f ? ""
	            : "top level",
	    path[0] && f ? "." : "", f ? f->name : "", what);
}

bool
wire_varint(const unsigned char *bytes, size_t end, size_t *at, uint64_t *out)
{
	uint64_t x = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		unsigned char byte;

		if (*at >= end)
			return false;
		byte = bytes[(*at)++];
		if (shift == 63 && byte > 1)
			return false;
		x |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*out = x;
			return true;
		}
	}
	return false;
}

static bool
charge(struct wire_walk *w, size_t bytes)
{
	char path[160];

	if (size_add(w->cost, bytes, &w->cost) && w->cost <= w->budget)
		return true;
	walk_path(w, path, sizeof path);
	return err_set(w->err, ERR_UNSUPPORTED,
	    "byte %zu: %s: unpacking needs more than %zu MiB, too much for a "
	    "file of %zu bytes",
	    w->field_start, path[0] ? path : "top level", w->budget >> 20,
	    w->in->n);
}

static void
add_varint(struct buf *b, uint64_t x)
{
	for (; x >= 0x80; x >>= 7)
		buf_u8(b, (uint8_t)(x | 0x80));
	buf_u8(b, (uint8_t)x);
}

static enum wire_type
natural_type(const ProtobufCFieldDescriptor *f)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return FIXED64;
	case PROTOBUF_C_TYPE_FIXED32:
	case PROTOBUF_C_TYPE_SFIXED32:
	case PROTOBUF_C_TYPE_FLOAT:
		return FIXED32;
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_BYTES:
	case PROTOBUF_C_TYPE_MESSAGE:
		return LEN;
	default:
		return VARINT;
	}
}

/* Is the field a tensor's content, to be left where it is? */
static bool
is_payload(
    const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *f)
{
	if (type != &onnx__tensor_proto__descriptor)
		return false;
	return f->id == 4 || f->id == 5 || f->id == 7
	    || (f->id >= 9 && f->id <= 11);
}

static void
leave_in_place(struct wire_walk *w, uint32_t field, size_t n)
{
	add_varint(w->out, PAYLOAD_FIELD << 3 | LEN);
	add_varint(w->out, 3 * 8);
	buf_u64(w->out, field);
	buf_u64(w->out, w->at);
	buf_u64(w->out, n);
	if (n >= WIRE_LARGE && w->in->mapped && !w->hushed) {
		/* advice only: nothing depends on its success */
		(void)madvise(
		    (void *)(uintptr_t)w->in->bytes, w->in->n, MADV_RANDOM);
		w->hushed = true;
	}
	w->at += n;
}

/* A packed list of scalars, content at [at, at + n). */
static bool
packed(struct wire_walk *w, const ProtobufCFieldDescriptor *f, size_t n)
{
	size_t end = w->at + n, count = 0;
	uint64_t ignored;

	switch (natural_type(f)) {
	case FIXED32:
	case FIXED64:
		if (n % (natural_type(f) == FIXED32 ? 4 : 8))
			return fault(w, f, "a packed list ends in an element");
		w->at = end;
		count = n / 4;
		break;
	default:
		for (; w->at < end; count++)
			if (!wire_varint(w->in->bytes, end, &w->at, &ignored))
				return fault(w, f, "malformed varint");
	}
	return charge(w, 8 * count + FIELD_COST);
}

/* Documentation and metadata may be long. */
static bool
is_name(const ProtobufCFieldDescriptor *f)
{
	return strcmp(f->name, "doc_string") != 0
	    && strcmp(f->name, "value") != 0;
}

static bool
text_ok(struct wire_walk *w, const ProtobufCFieldDescriptor *f, size_t n)
{
	const char *s = (const char *)w->in->bytes + w->at;

	if (f->type != PROTOBUF_C_TYPE_STRING)
		return true;
	if (n > limit_of(LIMIT_NAME) && is_name(f))
		return fault(w, f, "a name of more than 65536 bytes");
	if (memchr(s, '\0', n))
		return fault(w, f, "a name or text holds a NUL byte");
	if (!utf8_is_valid(s, n))
		return fault(w, f, "a name or text is not UTF-8");
	return true;
}

static bool
enter(struct wire_walk *w, const ProtobufCFieldDescriptor *f, size_t n)
{
	const ProtobufCMessageDescriptor *type = f->descriptor;
	struct message *inner;

	if (w->depth == WIRE_DEPTH)
		return fault(w, f, "messages are nested more than 100 deep");
	if (!charge(w, type->sizeof_message + FIELD_COST))
		return false;
	add_varint(w->out, (uint64_t)f->id << 3 | LEN);
	inner = &w->frame[w->depth];
	memset(inner, 0, sizeof *inner);
	inner->type = type;
	inner->end = w->at + n;
	inner->length_at = w->out->n;
	inner->field = (unsigned)(f - w->frame[w->depth - 1].type->fields);
	buf_add(w->out, "\x80\x80\x80\x80", PADDED); /* with its NUL */
	w->depth++;
	return true;
}

static bool
leave(struct wire_walk *w)
{
	struct message *f = &w->frame[--w->depth];
	size_t n = w->out->n - f->length_at - PADDED;

	if (n > INT_MAX)
		return err_set(w->err, ERR_UNSUPPORTED,
		    "a message is larger than 2 GiB without its tensors");
	for (unsigned i = 0; i < PADDED; i++)
		w->out->data[f->length_at + i] =
		    (char)((n >> 7 * i & 0x7f) | (i + 1 < PADDED ? 0x80u : 0));
	return true;
}

/* A field with a length; w->at is past it, `start` at the tag. */
static bool
sized(struct wire_walk *w, const ProtobufCFieldDescriptor *f)
{
	struct message *top = &w->frame[w->depth - 1];
	uint64_t n;

	if (!wire_varint(w->in->bytes, top->end, &w->at, &n))
		return fault(w, f, "malformed length");
	if (n > top->end - w->at)
		return fault(w, f, "a length passes the end of its message");
	if (!f) {
		w->at += (size_t)n;
		return true;
	}
	if (is_payload(top->type, f)) {
		leave_in_place(w, f->id, (size_t)n);
		return charge(w, FIELD_COST);
	}
	if (f->type == PROTOBUF_C_TYPE_MESSAGE)
		return enter(w, f, (size_t)n);
	if (natural_type(f) != LEN) {
		if (!packed(w, f, (size_t)n))
			return false;
	} else {
		if (!text_ok(w, f, (size_t)n)
		    || !charge(w, (size_t)n + FIELD_COST))
			return false;
		w->at += (size_t)n;
	}
	buf_add(w->out, w->in->bytes + w->field_start, w->at - w->field_start);
	return true;
}

static bool
scalar(
    struct wire_walk *w, const ProtobufCFieldDescriptor *f, enum wire_type type)
{
	size_t end = w->frame[w->depth - 1].end;
	size_t n = type == FIXED32 ? 4 : 8;
	uint64_t ignored;

	if (type == VARINT) {
		if (!wire_varint(w->in->bytes, end, &w->at, &ignored))
			return fault(w, f, "malformed varint");
	} else {
		if (n > end - w->at)
			return fault(w, f, "a number passes the end");
		w->at += n;
	}
	if (!f)
		return true;
	buf_add(w->out, w->in->bytes + w->field_start, w->at - w->field_start);
	return charge(w, FIELD_COST);
}

/* The known field of that number, NULL for one to be skipped. Counts it. */
static bool
known_field(struct wire_walk *w, uint64_t number, enum wire_type type,
    const ProtobufCFieldDescriptor **out)
{
	struct message *top = &w->frame[w->depth - 1];
	const ProtobufCFieldDescriptor *f =
	    protobuf_c_message_descriptor_get_field(
	        top->type, (unsigned)number);
	bool repeated;

	*out = NULL;
	if (!f || f->id == PAYLOAD_FIELD)
		return true;
	repeated = f->label == PROTOBUF_C_LABEL_REPEATED;
	if (type != natural_type(f) && !(repeated && type == LEN))
		return fault(w, f, "wrong wire type");
	if (++top->seen[f - top->type->fields] > 1
	    && (!repeated || (type == LEN && natural_type(f) != LEN)))
		return fault(w, f, "given twice");
	*out = f;
	return true;
}

static bool
field(struct wire_walk *w)
{
	struct message *top = &w->frame[w->depth - 1];
	const ProtobufCFieldDescriptor *f = NULL;
	uint64_t tag;

	w->field_start = w->at;
	if (!wire_varint(w->in->bytes, top->end, &w->at, &tag))
		return fault(w, NULL, "malformed field tag");
	if (tag >> 3 == 0 || tag >> 3 > (1u << 29) - 1)
		return fault(w, NULL, "illegal field number");
	switch (tag & 7) {
	case VARINT:
	case FIXED32:
	case FIXED64:
		return known_field(w, tag >> 3, tag & 7, &f)
		    && scalar(w, f, tag & 7);
	case LEN:
		return known_field(w, tag >> 3, LEN, &f) && sized(w, f);
	case 3:
	case 4:
		return fault(w, NULL, "a group (ONNX has none)");
	default:
		return fault(w, NULL, "illegal wire type");
	}
}

bool
wire_skeleton(struct buf *skeleton, const ProtobufCMessageDescriptor *type,
    const struct wire *in, struct err *err)
{
	struct wire_walk w = {
	    .in = in, .out = skeleton, .err = err, .depth = 1};
	bool ok = true;

	if (!size_mul(in->n, BUDGET_FACTOR, &w.budget)
	    || !size_add(w.budget, BUDGET_FLOOR, &w.budget))
		w.budget = SIZE_MAX;
	w.frame[0].type = type;
	w.frame[0].end = in->n;
	while (ok && (w.depth > 1 || w.at < in->n)) {
		assert(w.frame[w.depth - 1].type->n_fields <= MAX_FIELDS);
		ok = w.at == w.frame[w.depth - 1].end ? leave(&w) : field(&w);
	}
	if (w.hushed)
		(void)madvise((void *)(uintptr_t)in->bytes, in->n, MADV_NORMAL);
	if (ok && skeleton->n > INT_MAX)
		return err_set(err, ERR_UNSUPPORTED,
		    "the model is larger than 2 GiB without its tensors");
	return ok;
}

static void *
in_arena(void *arena, size_t bytes)
{
	return arena_alloc(arena, bytes);
}

static void
not_freed(void *arena, void *p)
{
	(void)arena, (void)p;
}

void *
wire_unpack(const ProtobufCMessageDescriptor *type, const struct wire *in,
    struct arena *a, struct err *err)
{
	ProtobufCAllocator allocator = {in_arena, not_freed, a};
	void *message = NULL;
	struct buf skeleton;

	buf_init(&skeleton);
	if (wire_skeleton(&skeleton, type, in, err)) {
		message = protobuf_c_message_unpack(type, &allocator,
		    skeleton.n, (const uint8_t *)skeleton.data);
		if (!message)
			err_set(err, ERR_INPUT, "not a %s message",
			    type->short_name);
	}
	buf_release(&skeleton);
	return message;
}
