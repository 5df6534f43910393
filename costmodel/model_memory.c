#include "costmodel/model_memory.h"

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

/* Words of the database: a constant's place with this before it. */
static const char sign[] = {
    [MAGNITUDE_TINY] = 't', [MAGNITUDE_SMALL] = 'm', [MAGNITUDE_LARGE] = 'l'};
#define NSIGNS (sizeof sign / sizeof *sign)

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

/* The words between blanks, without their sign. */
static void
read_words(struct map *out, const char *text)
{
	while (*text) {
		const size_t n = strcspn(text, " ");

		for (uint32_t i = MAGNITUDE_TINY; i < NSIGNS; i++)
			if (n > 1 && *text == sign[i])
				map_add(out, text + 1, n - 1, i);
		text += n + (text[n] != '\0');
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

		if (found != MAP_NONE)
			value->magnitude = (enum magnitude)found;
	}
}

const char *
magnitudes_print(const struct model *m, struct arena *a)
{
	const char *text;
	struct buf b;

	buf_init(&b);
	for (value_id v = 0; v < m->graph->nvalues; v++) {
		const struct value *value = graph_value(m->graph, v);
		const char *at = value->magnitude == MAGNITUDE_UNKNOWN
		    ? NULL
		    : lies_at(m, value->constant, a);

		if (at)
			buf_printf(&b, "%s%c%s", b.n ? " " : "",
			    sign[value->magnitude], at);
	}
	text = arena_strn(a, b.n ? b.data : "", b.n);
	buf_release(&b);
	return text;
}

void
model_recall(struct costdb *db, struct model *m, struct arena *a)
{
	struct hash128 place;
	const char *text = place_of("magnitudes of", m, &place)
	    ? text_find(db, place, a)
	    : NULL;

	if (text)
		magnitudes_read(m, text, a);
}

void
model_keep(struct pricer *p, const struct model *m, struct arena *a)
{
	const char *text = magnitudes_print(m, a), *before;
	struct hash128 place;

	if (!*text || !place_of("magnitudes of", m, &place))
		return;
	before = pricer_find_text(p, place);
	if (!before || strcmp(before, text) != 0)
		pricer_keep_text(p, place, text);
}
