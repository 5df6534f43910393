/* What a pricer is told and tells: its options, what it is asked about, what it
 * did. */
#ifndef COSTMODEL_PRICER_DATA_H
#define COSTMODEL_PRICER_DATA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "costmodel/job.h"
#include "costmodel/price.h"
#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/notes.h"
#include "ir/infer.h"

struct pricer; /* database, worker processes */

struct board;

/* Stored figures of which environments count: the same facts, whatever the
 * processor is sold as; libraries of another patch level, too; any that are of
 * the same target, other machines' as well. */
enum accept { ACCEPT_EXACT, ACCEPT_COMPATIBLE, ACCEPT_ANY };

/* What is asked for and has no price, while nothing is measured: an estimate counts;
 * it is left out, its bound apart (pricer_readmit()); what is expected of it is
 * taken for the answer, and the question kept (want_list.h). */
enum no_price { UNPRICED_ESTIMATED, UNPRICED_REFUSED, UNPRICED_SUPPOSED };

/* Moves that are to cost nothing (what if they were free?). */
struct costdb;

struct free_moves {
	const bool *conversion; /* [from * formats of the mix + to], or NULL */
	uint64_t launches; /* mask over the mix */
};

struct pricer_options {
	const char *db; /* path; NULL: nothing is remembered */
	struct costdb *opened; /* that, open as `measure` asks for, and closed
				* with the pricer; NULL: not yet open */
	enum accept accept;
	/* Prices are for that machine; NULL: for this one. */
	const struct board *board;
	enum no_price unpriced;
	struct links *links; /* to boards that measure; NULL: here */
	const struct want *want; /* with links: what they have opened */
	bool measure; /* false: database and simulation only */
	uint32_t max_measure; /* 0: no limit */
	uint64_t deadline_ns; /* by clock_ns(): then it stops; 0: none */
	/* A measurement without an answer for so long timed out; timeouts that
	 * are stored under a shorter limit are tried again. 0: default. */
	uint64_t timeout_ns;
	uint32_t threads; /* per measured kernel; 0 = 1 */
	uint32_t workers; /* measuring processes; 0 = cores - 1, at least 1 */
	const struct free_moves *free; /* NULL: all cost what they cost */
	node_eval reference; /* outputs are checked against it */
	/* [nodes] what the user says opaque ones cost; COST_NEVER: nothing. NULL:
	 * nothing of any. */
	const cost_ns *told;
	bool canary; /* before measuring, time a few stored figures again */
	const char *model; /* its name, for the record; NULL: not recorded */
	const char *command; /* the command line, for the record; or NULL */
	/* In the place of a database: what it knows. Set by pricer_open_like(). */
	const struct pricer *known;
	const atomic_bool *stop;
	struct notes *notes;
	/* Called as measuring goes on: done of at most todo jobs (probes and
	 * measurements) of the whole run. NULL: nobody listens. */
	void (*progress)(
	    void *context, uint32_t done, uint32_t todo, const char *what);
	/* Called when nothing happens because others do the measuring. */
	void (*waiting)(void *context, const char *why);
	void *context;
};

/* Why prices were measured. */
enum measured_why {
#define WHY(member, words, fact) WHY_##member,
#include "costmodel/why.def"
#undef WHY
	NWHY
};

/* What a run did, for the last line and the result. */
struct pricer_counts {
	uint32_t distinct; /* candidate and conversion keys */
	/* Lookups by outcome, whether what was found was accepted or not. */
	uint32_t exact, compatible, stale, missed;
	uint32_t stored; /* candidate keys whose prices live in a database */
	uint32_t reused; /* of those, priced from the database at begin */
	uint32_t accepted; /* figures of other environments that are used */
	uint32_t accepted_any; /* of those, of no compatible one */
	uint32_t refused; /* left out: they have no price */
	uint32_t measured, failed, simulated, estimated;
	uint32_t candidates; /* of `distinct`, candidate keys */
	uint32_t measured_candidates; /* of `measured`, candidate keys */
	uint32_t probed; /* looked at in passing: their bounds rose */
	uint32_t probed_again; /* of those, a second time */
	/* Measured candidates that a probe had bounded; of those, with a price
	 * below that bound. */
	uint32_t bounded, broken;
	uint64_t probing_ns, measuring_ns; /* spent on either */
	uint32_t compared; /* pairs of candidates, measured in turn */
	/* Candidate keys that missed, by what is nearest in the database. */
	uint32_t shape_changed, attribute_changed, operator_changed;
	uint32_t why[NWHY]; /* of `measured` */
	uint32_t canaries; /* stored figures timed again */
	uint32_t drift_permille; /* now / stored, median; 1000: no drift */
};

/* Two candidates of one purpose whose prices are close, and what running them
 * in turn showed: how long b takes per a, in millionths. */
struct pricer_pair {
	uint32_t a, b;
	bool known; /* out: it was compared, now or in an earlier run */
	uint64_t low, high; /* out: quartiles */
};

/* Two plans that were run in turn; ratios are in millionths. */
struct pricer_turns {
	uint32_t pairs;
	uint64_t ratio; /* the first per the second: the median */
	uint64_t self_low, self_high; /* the first per itself: quartiles */
	cost_ns took[2]; /* a run of each, the median; 0: not known */
};

/* A conversion of values of a class. */
struct pricer_conversion {
	uint32_t class;
	format_id from, to;
};

#endif
