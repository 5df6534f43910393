/* Buffers that lie in one piece of memory: groups of members, each at a
 * distance from the others. Until something is written over, members that meet
 * hold the same bytes there; so nobody need know who lives when. */
#ifndef EXEC_SHARE_H
#define EXEC_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"

struct share_member {
	size_t bytes;
	uint32_t first, last; /* in use, as in struct lifetime */
	uint32_t group; /* its first member */
	uint32_t next; /* member of the same group, or SHARE_END */
	ptrdiff_t at; /* multiples of 64 apart from the others' */
};

#define SHARE_END UINT32_MAX

struct share {
	uint32_t n;
	struct share_member *member; /* [n] */
};

/* n members, each alone; the caller fills in bytes, first and last. */
void share_init(struct share *s, uint32_t n, struct arena *a);

/* `in` belongs `offset` bytes behind the start of `out`, where they hold the same
 * bytes. */
struct share_claim {
	uint32_t in, out;
	ptrdiff_t offset;
};

/* Put the pieces of one step where they belong; how many lie there now. What comes
 * where something else lies stays where it is. All are looked at together: what
 * joined some of the pieces before lies inside the new whole. */
uint32_t share_lay(
    struct share *s, const struct share_claim *claim, uint32_t n);

/* Put `out`, made at `time` from `in`, over it: nothing of in's group is used
 * later, and nothing of out's sooner. false likewise. Not before the last
 * share_lay(). */
bool share_write_over(
    struct share *s, uint32_t in, uint32_t out, uint32_t time);

/* The bytes and the time a whole group takes, and where it begins. */
struct share_member share_extent(const struct share *s, uint32_t group);

#endif
