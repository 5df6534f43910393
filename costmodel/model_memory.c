#include "costmodel/model_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "costmodel/want.h"
#include "ir/base/buf.h"
#include "ir/base/clock.h"
#include "ir/base/map.h"
#include "ir/external.h"

#define SECOND INT64_C(1000000000)
/* TUNING: what is written through a mapping may be as old as the first write until it
 * is on the disk, which Linux sees to in 30 to 35 s. */
#define SETTLED (60 * SECOND)

/* Whole seconds are of file systems that do not say when a file changed: images
 * made for being the same whenever they are made, and very old ones. */
static bool
is_telling(const struct file_id *id, int64_t now_ns)
{
	return id->changed_ns % SECOND != 0 && id->changed_ns > 0
	    && now_ns - id->changed_ns > SETTLED;
}

bool
model_identity(const struct model *m, int64_t now_ns, struct hash128 *identity)
{
	bool telling = m->mappings != NULL;
	struct buf b;

	buf_init(&b);
	buf_str(&b, "model");
	for (const struct mapping *x = m->mappings; x; x = x->next) {
		const struct file_id *id = &x->file.id;

		telling = telling && is_telling(id, now_ns);
		buf_str(&b, x->location ? x->location : "");
		buf_u8(&b, 0);
		buf_u64(&b, id->device);
		buf_u64(&b, id->inode);
		buf_u64(&b, id->bytes);
		buf_u64(&b, (uint64_t)id->changed_ns);
		buf_u64(&b, (uint64_t)id->modified_ns);
	}
	*identity = hash128(b.data, b.n);
	buf_release(&b);
	return telling;
}

/* Where something of a model's is kept. False: nowhere. */
static bool
place_of(const char *what, const struct model *m, struct hash128 *place)
{
	struct hash128 identity;
	struct buf b;

	if (!model_identity(
	        m, (int64_t)clock_read_ns(CLOCK_REALTIME), &identity))
		return false;
	buf_init(&b);
	buf_str(&b, what);
	buf_add(&b, identity.byte, sizeof identity.byte);
	*place = hash128(b.data, b.n);
	buf_release(&b);
	return true;
}

struct hash128
model_known_hash(struct pricer *p, const struct model *m)
{
	struct hash128 place, h;
	const char *text;
	char kept[33];

	if (!place_of("bytes of", m, &place))
		return model_hash(m);
	text = pricer_find_text(p, place);
	if (text && hash128_read(&h, text))
		return h;
	h = model_hash(m);
	hash128_print(h, kept);
	pricer_keep_text(p, place, kept);
	return h;
}

/* ---- magnitudes ---- */

/* TUNING: smaller ones are looked at as soon as looked up. */
#define LEAST ((size_t)1 << 14)

/* "FILE.AT.BYTES.DTYPE" of a constant that lies in a file; NULL: it does not, or it
 * is small. */
static const char *
lies_at(const struct model *m, const struct tensor *t, struct arena *a)
{
	unsigned file = 0;

	if (!t || t->kind != TENSOR_VIEW || t->made_up || t->bytes < LEAST)
		return NULL;
	for (const struct mapping *x = m->mappings; x; x = x->next, file++) {
		size_t at;

		if (file_offset(&x->file, t->data, &at))
			return arena_printf(a, "%u.%zu.%zu.%d", file, at,
			    t->bytes, (int)t->dtype);
	}
	return NULL;
}

/* "PLACE=MOST.ROWS.COLUMNS", the bits of floats, between blanks. */
#define NUMBERS "=%08" SCNx32 ".%08" SCNx32 ".%08" SCNx32

/* False: no such float was ever found. */
static bool
read_size(float *out, uint32_t bits)
{
	memcpy(out, &bits, sizeof *out);
	return *out >= 0;
}

static bool
read_numbers(struct magnitude *out, const char *text)
{
	uint32_t bits[3];

	return sscanf(text, NUMBERS, &bits[0], &bits[1], &bits[2]) == 3
	    && read_size(&out->most, bits[0]) && read_size(&out->rows, bits[1])
	    && read_size(&out->columns, bits[2]);
}

/* By place, the offset of what follows it. */
static void
read_words(struct map *out, const char *text)
{
	size_t n, place;

	for (const char *at = text; *at; at += n + (at[n] != '\0')) {
		n = strcspn(at, " ");
		place = strcspn(at, "= ");
		if (place > 0 && at[place] == '=')
			map_add(out, at, place, (uint32_t)(at + place - text));
	}
}

void
magnitudes_read(struct model *m, const char *text, struct arena *a)
{
	struct map known;

	map_init(&known, a);
	read_words(&known, text);
	for (value_id v = 0; v < m->graph->nvalues; v++) {
		struct value *value = graph_value(m->graph, v);
		const char *at = lies_at(m, value->constant, a);
		const uint32_t found =
		    at ? map_find(&known, at, strlen(at)) : MAP_NONE;
		struct magnitude kept = {0};

		if (found != MAP_NONE && read_numbers(&kept, text + found))
			value->magnitude = kept;
	}
}

static bool
was_asked(const struct magnitude *m)
{
	return m->most > 0 || m->rows > 0 || m->columns > 0;
}

static uint32_t
bits_of(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

const char *
magnitudes_print(const struct model *m, struct arena *a)
{
	const char *text;
	struct buf b;

	buf_init(&b);
	for (value_id v = 0; v < m->graph->nvalues; v++) {
		const struct value *value = graph_value(m->graph, v);
		const struct magnitude *size = &value->magnitude;
		const char *at =
		    was_asked(size) ? lies_at(m, value->constant, a) : NULL;

		if (at)
			buf_printf(&b,
			    "%s%s=%08" PRIx32 ".%08" PRIx32 ".%08" PRIx32,
			    b.n ? " " : "", at, bits_of(size->most),
			    bits_of(size->rows), bits_of(size->columns));
	}
	text = arena_strn(a, b.n ? b.data : "", b.n);
	buf_release(&b);
	return text;
}

void
model_recall(struct costdb *db, struct model *m, struct arena *a)
{
	struct hash128 place;
	const char *text =
	    place_of("sizes in", m, &place) ? text_find(db, place, a) : NULL;

	if (text)
		magnitudes_read(m, text, a);
}

void
model_keep(struct pricer *p, const struct model *m, struct arena *a)
{
	const char *text = magnitudes_print(m, a), *before;
	struct hash128 place;

	if (!*text || !place_of("sizes in", m, &place))
		return;
	before = pricer_find_text(p, place);
	if (!before || strcmp(before, text) != 0)
		pricer_keep_text(p, place, text);
}
