#include "ir/base/json_memory.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <stdint.h>
#include <stdlib.h>

#include "ir/base/arena.h"
#include "ir/base/memory.h"
#include "ir/base/sanitized.h"
#include "ir/base/size.h"

/* TUNING: what is got of the arena at first, and at most unless a text is longer: items
 * of lists are small documents, and pieces are zeroed. */
#define FIRST_PIECE ((size_t)1 << 11)
#define LARGEST_PIECE ((size_t)1 << 16)

/* What malloc gives is a multiple of ALIGN; what is here is one and a half, so that
 * both can be told apart. */
#define ALIGN ((size_t)16)
#define OFFSET (ALIGN / 2)

static_assert(_Alignof(cJSON) <= OFFSET, "trees may lie there");

/* Of one document: what it begins with, right before its root. */
struct json_memory {
	struct arena a;
	unsigned char *at;
	size_t left, piece;
};

#define HEADER \
	(((sizeof(struct json_memory) + ALIGN - 1) & ~(ALIGN - 1)) + OFFSET)

static _Thread_local bool is_reading;
static _Thread_local struct json_memory *reading; /* NULL: nothing got yet */

static struct json_memory *
memory_new(void)
{
	struct json_memory first = {.piece = FIRST_PIECE}, *m;
	unsigned char *bytes;

	arena_init(&first.a);
	bytes = arena_alloc(&first.a, HEADER + FIRST_PIECE);
	first.at = bytes + HEADER;
	first.left = FIRST_PIECE;
	m = (struct json_memory *)bytes;
	*m = first;
	return m;
}

static void *
take(struct json_memory *m, size_t bytes)
{
	const size_t want = size_round_up(bytes ? bytes : 1, ALIGN);
	void *p;

	if (want > m->left) {
		if (m->piece < LARGEST_PIECE)
			m->piece *= 2;
		m->left = want > m->piece ? want : m->piece;
		m->at = (unsigned char *)arena_alloc(&m->a, m->left + OFFSET)
		    + OFFSET;
	}
	p = m->at;
	m->at += want;
	m->left -= want;
	return p;
}

static void *
get(size_t bytes)
{
	/* sanitizers see each piece by itself */
	if (!is_reading || SANITIZED)
		return memory_get(bytes);
	if (bytes > SIZE_MAX / 2)
		memory_exhausted(bytes);
	if (!reading)
		reading = memory_new();
	return take(reading, bytes);
}

static bool
is_of_document(const void *p)
{
	return (uintptr_t)p % ALIGN == OFFSET;
}

static void
give(void *p)
{
	if (!is_of_document(p))
		free(p);
}

void
json_memory_begin(void)
{
	/* so that NULL means the text is wrong, here and when documents are printed */
	static cJSON_Hooks hooks = {get, give};

	assert(!is_reading);
	cJSON_InitHooks(&hooks);
	is_reading = true;
	reading = NULL;
}

/* A copy: the arena is in its own memory. */
static void
release(const struct json_memory *m)
{
	struct arena a = m->a;

	arena_release(&a);
}

void
json_memory_end(bool keep)
{
	is_reading = false;
	if (!keep && reading)
		release(reading);
	reading = NULL;
}

void
json_memory_free(struct cJSON *root)
{
	if (root && is_of_document(root))
		release((const struct json_memory *)((unsigned char *)root
		    - HEADER));
	else
		cJSON_Delete(root);
}
