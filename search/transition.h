/* Groups of labels and the moves between them: what taking a candidate does to
 * the covered set and the live values, worked out once for all labels. */
#ifndef SEARCH_MOVE_H
#define SEARCH_MOVE_H

#include "ir/base/map.h"
#include "search/split_readers.h"
#include "search/frontier.h"

#define ITEM_NONE UINT32_MAX
#define EARLY_MAX 32u
#define PORT_NONE UINT32_MAX

/* Where the candidate says in which formats it reads and makes a value. */
struct port_use {
	uint32_t in,
	    out; /* ports, the first of several; PORT_NONE: it does not */
	uint32_t asked; /* formats asked for whatever it reads */
	uint32_t fed; /* formats it is fed in; 0: it is not, or was before */
};

/* A live value after the move. */
struct carried {
	uint32_t value;
	uint32_t old; /* item before, or ITEM_NONE */
	struct port_use touch;
	uint32_t have; /* formats it is in now, when the move makes it so */
	uint32_t need; /* formats the candidate asks for */
	bool read; /* the candidate asks for it */
	bool marked;
	bool early; /* the candidate makes it, for users not covered yet */
	bool split; /* the candidate never is in the run that makes it */
	bool reusable; /* users are left: they may share what is local */
	bool passes; /* labels say of it what they said before */
};

/* A value whose users are all known after the move: its tree is paid. */
struct closed {
	uint32_t value, old;
	struct port_use touch;
	uint32_t have; /* 0: as in the old item */
	uint32_t need;
};

struct transition {
	uint32_t id;
	const struct problem_candidate *candidate;
	struct group *to;
	struct carried *kept; /* [to->nitems] */
	struct closed *settled;
	uint32_t *produced; /* old items the candidate makes */
	uint32_t *early_item; /* old early items it reads */
	uint32_t nclosed, nproduced, nearly_read;
	uint32_t nleft; /* nodes not covered after it */
	bool has_early; /* before or after */
	bool reads_local; /* the candidate asks for a local format */
	bool
	    may_be_unplaced; /* ... of its only input, and nothing else ties it */
	uint32_t early_read; /* bits of early_item[] in the old group */
	uint32_t
	    early_bits; /* bits of values that leave it early, in the new */
	uint32_t nbits;
	uint32_t *bit_to; /* [nbits] old bit -> new bit, or ITEM_NONE */
};

/* The groups of one highest uncovered node, and all that is theirs: live values and
 * labels may be as many as there are nodes, so what the DP is done with is given
 * back level by level. */
struct level {
	struct arena arena;
	struct arena_mark empty; /* keeps a first block for the next level */
	struct map index; /* over... -> position in group */
	struct group **group; /* in order of creation */
	uint32_t n, cap, top;
	struct level *next; /* live or spare */
};

struct groups {
	const struct problem *p;
	struct arena *arena;
	struct level **level; /* [nnodes + 1] by top, the last: all covered;
			       * NULL: none yet, or given back */
	struct level *live, *spare;
	uint32_t ngroups; /* made so far */
	uint32_t *sinks; /* [nnodes + 1] nodes 0..n-1 without users */
	uint32_t *mark; /* [nnodes] stamp of the candidate at hand */
	uint32_t *over; /* [nnodes + 1] scratch: key of a group */
	uint32_t stamp;
	struct transition move; /* the last one */
	uint32_t room; /* of its lists */
	const struct group *from; /* ... was from this group */
	const struct problem_candidate *candidate; /* ... by this */
	bool possible; /* ... and did not overlap what was covered */
	const struct split_readers *split; /* readers that are known to be */
	bool unplaced; /* formats are local, and no value leaves early */
	bool overflowed; /* more values left early than there is room for */
};

void groups_init(struct groups *s, const struct problem *p,
    const struct split_readers *split, struct arena *a);
/* Nothing covered. */
struct group *groups_first(struct groups *s);
/* Give back what is left of all levels. */
void groups_release(struct groups *s);
/* Give back the groups of a node, and labels and values with them. */
void groups_forget(struct groups *s, uint32_t top);
/* Bytes of all levels. */
size_t groups_bytes(const struct groups *s);
/* The groups of a highest uncovered node (NO_NODE: all covered), oldest first. */
struct group *groups_at(const struct groups *s, uint32_t top);

/* A new group, without labels, that is as this one `shift` nodes below; the live
 * values are told. */
struct group *groups_move(struct groups *s, const struct group *from,
    uint32_t shift, const uint32_t *item);

/* What taking candidate `id` does to the labels of a group; valid until the
 * next call, and cheap after that for a candidate of the same shape. NULL: it
 * overlaps what is covered. */
const struct transition *transition_make(
    struct groups *s, const struct group *from, uint32_t id);

/* Translate a set of early values from the old group to the new one. */
uint32_t transition_bits(const struct transition *m, uint32_t old);

#endif
