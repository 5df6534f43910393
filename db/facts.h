/* Facts an environment is made of: "key=value" lines. Hard ones decide whether
 * two figures may be compared at all; canonical form makes equal facts equal
 * bytes. */
#ifndef DB_FACTS_H
#define DB_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/buf.h"

/* Lines sorted by key, the last of equal keys kept, empty ones dropped. */
const char *facts_canonical(const char *lines, struct arena *a);

/* The same of lines that were gathered; the buffer is released. */
const char *facts_gathered(struct buf *b, struct arena *a);

/* The value of a key, or NULL. */
const char *facts_get(const char *lines, const char *key, struct arena *a);

/* Canonical lines with that value of the key; "": without the key. */
const char *facts_with(
    const char *lines, const char *key, const char *value, struct arena *a);

/* Runtimes that were loaded and idle when a price of several threads was taken. */
#define FACT_BESIDE "beside"

/* What a processor is sold as: programs before this one took it for a fact. The
 * microarchitecture decides, so it tells no two environments apart. */
#define FACT_SOLD_AS "cpu.model name"

enum facts_relation {
	FACTS_SAME, /* whatever the processors are sold as */
	FACTS_COMPATIBLE, /* a library differs in its patch level, no more */
	FACTS_STALE, /* same target on the same machine, something else */
	FACTS_OTHER, /* another target, or another machine */
};

/* How far two sets of facts are apart. */
struct facts_gap {
	enum facts_relation relation;
	uint32_t n; /* facts that differ */
	const char *why; /* "key: stored -> now", comma-separated */
};

/* How the facts of stored figures stand to those of now; text in `a`. */
struct facts_gap facts_compare(
    const char *stored, const char *now, struct arena *a);

#endif
