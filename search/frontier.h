/* Labels of the backward DP and the one place where they are compared.
 *
 * The DP covers nodes from the highest id down. Labels that have covered the
 * same nodes form a group; they differ in what they ask of the rest. */
#ifndef SEARCH_FRONTIER_H
#define SEARCH_FRONTIER_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "search/convert.h"
#include "search/transfer_sets.h"
#include "search/problem.h"

/* Positions count runs of the tracked target from the end of the execution:
 * 0 after the last run, 1 the last run, 2 between it and the one before, ...
 * A producer's position is at least its consumers'. */

/* What a label says about one live value. */
struct live_backward {
	uint32_t have; /* formats it is in; 0: not produced yet */
	uint32_t need; /* formats asked for so far; local ones: brought in */
	uint32_t pos; /* its producer's is at least this; of a value that
		       * left early: its consumers' are at most this */
	uint32_t reach; /* early values (by item) whose makers run after it */
	uint32_t pending; /* not produced yet: local formats the run at `pos`
			   * reads it in. It is brought in for that run unless
			   * that turns out to make it so. */
	uint32_t unplaced; /* local formats candidates read it in whose run is
			    * open: the maker's, or any other from `floor` on */
	uint32_t away; /* of those, which never are the maker's */
	uint32_t floor;
	uint32_t
	    transferred; /* runs it was brought in for, as long as users are
			   * left that could be in one of them; paid */
};

/* How a label came about: what is left of it once the DP is below its group. */
struct trace {
	const struct trace *parent;
	uint32_t candidate; /* taken last; UINT32_MAX: none */
	uint32_t pos; /* its position */
	uint32_t age; /* labels made before it */
	bool unplaced; /* the position is at least that: it goes where its input
		      * is */
};

struct label {
	const struct trace *parent; /* of the label it was made from */
	const struct trace *trace; /* its own, once it is kept */
	cost_ns cost; /* paid: candidates, launches, trees of closed values */
	cost_ns bound; /* no cover below this one costs less */
	uint32_t candidate; /* taken last; UINT32_MAX: none */
	uint32_t pos; /* its position */
	bool unplaced; /* ... at least: it goes where its input is */
	uint32_t runs; /* of the tracked target */
	uint32_t age; /* labels made before it */
	uint64_t *used; /* [ncapped] resources */
	struct label *next; /* of the spare ones */
	struct live_backward entry[]; /* [group->nitems] */
};

enum item_kind {
	ITEM_OPEN, /* not produced yet */
	ITEM_FED, /* by the caller */
	ITEM_EARLY, /* produced, with users below the cut */
};

/* The covered set is every node above `top` and those of `over`. */
struct group {
	uint32_t top; /* highest node not covered */
	uint32_t number; /* groups made before it */
	uint32_t nover, nitems;
	const uint32_t *over; /* ascending, below top */
	const uint32_t *item; /* live values, ascending */
	const uint8_t *kind; /* of each item */
	bool has_sink; /* an uncovered node has no users at all */
	bool bounded; /* bound_group() filled the next three */
	cost_ns rest; /* lower bound of what the uncovered nodes cost */
	int64_t dual_rest; /* the same by Lagrangian prices, scaled */
	struct additions *additions; /* [nitems] cache of bound.c */
	struct arena *arena; /* of its level: labels and all that is above */
	struct label **label; /* by ascending cost, then age */
	struct label *spare; /* dropped ones, by `next` */
	uint32_t nlabels, cap;
	struct group *next; /* of the same top, in order of creation */
};

struct frontier {
	const struct problem *p;
	struct arena *arena; /* of what lasts as long as the search */
	struct converter_memo *memo;
	const uint32_t *capped; /* targets with a capacity */
	uint32_t ncapped;
	uint32_t tracked; /* the target whose runs count; NO_LIMIT: none */
	cost_ns upper; /* labels bounded above this are dropped */
	struct trace *traces; /* room for some more */
	uint32_t ntraces;
	bool holds; /* dropped labels may still be looked at: bytes stay */
	uint64_t nlabels;
	uint64_t ncompared; /* pairs of labels */
	uint32_t age; /* labels made */
	struct transfer_sets
	    transferred; /* sets of runs, where formats are local */
};

/* The choke point: keep the label (copied) unless its bound or a better label
 * rules it out, and drop those it rules out. True: kept. */
bool frontier_add(struct frontier *f, struct group *g, const struct label *l);

/* A label of the group that is no longer wanted: its bytes are for the next one. */
void frontier_drop(const struct frontier *f, struct group *g, struct label *l);

/* The trace of a label that was just made. */
const struct trace *frontier_trace(struct frontier *f, const struct label *l);

/* Assert what holds of a group between two additions. */
void group_verify(const struct frontier *f, const struct group *g);

/* Bytes of a label of this group. */
size_t label_bytes(const struct group *g);

#endif
