/* The pricer: turns candidates into prices, through the tuning database. */
#ifndef COSTMODEL_PRICER_H
#define COSTMODEL_PRICER_H

#include "costmodel/pricer_data.h"
#include "ir/base/buf.h"
#include "ir/base/hash.h"

/* ERR_DB when the database cannot be used. */
bool pricer_open(struct pricer **p, const struct graph *g, const struct mix *m,
    const struct candidates *c, const struct pricer_options *o, struct arena *a,
    struct err *err);

/* One of other candidates over the same graph and targets that asks nobody and keeps
 * nothing: what `known` has a price for costs the same, what its target works out
 * itself is worked out, and of all else bounds are known. `m` may have more formats. */
bool pricer_open_like(struct pricer **p, const struct pricer *known,
    const struct mix *m, const struct candidates *c, struct arena *a,
    struct err *err);

/* These moves are to cost nothing: before pricer_begin(). */
void pricer_free_moves(struct pricer *p, const struct free_moves *free);

/* Everything that is free: database hits, simulations, bounds, conversions
 * from the database. Makes `prices` the first time, and keeps it up to date until
 * the pricer is closed. */
bool pricer_begin(struct pricer *p, struct prices *prices, struct err *err);

/* Make these candidates KNOWN or FAILED (duplicates of a key at no charge).
 * Stops early, with true, at the deadline, the limit or `stop`. */
bool pricer_price(
    struct pricer *p, const uint32_t *candidate, uint32_t n, struct err *err);

/* Measure those of these that are KNOWN from one moment only once more: what was
 * picked because it is cheap counts with its second price. *moved: some were. Stops
 * early as pricer_price() does. */
bool pricer_price_again(struct pricer *p, const uint32_t *candidate, uint32_t n,
    bool *moved, struct err *err);

/* Would something without a price be measured now? Not when measuring is off, or
 * at its deadline or limit. */
bool pricer_may_measure(const struct pricer *p);

/* Probe those of these candidates that have a bound only and were probed nprobes
 * times: a few runs, whose least (and something off) is a far better bound than
 * what the work alone tells; the lesser of two, at two moments, is trusted more.
 * *any: were there some? Stops early as pricer_price() does. */
bool pricer_probe(struct pricer *p, const uint32_t *candidate, uint32_t n,
    uint32_t nprobes, bool *any, struct err *err);

/* Compare pairs [n] of KNOWN candidates, each interleaved in one worker, unless
 * the database has it. Stops early, with true. */
bool pricer_compare(
    struct pricer *p, struct pricer_pair *pair, uint32_t n, struct err *err);

/* Let keys that were compared cost from now on what fits their prices and all comparisons
 * since pricer_unfit() best (fit.h): did any change? The database keeps what was
 * measured. */
bool pricer_fit(struct pricer *p);

/* Prices are again what was measured: before another search, which compares for itself. */
void pricer_unfit(struct pricer *p);

/* The same for candidates as one region, in that order, of a target whose prices
 * a tool tells (of others nothing is asked): prices_region() has it then. */
bool pricer_price_region(
    struct pricer *p, const uint32_t *candidate, uint32_t n, struct err *err);

/* Make these conversions KNOWN or FAILED: both steps of one that is a detour.
 * Other pairs of formats may get another price or detour by that. Stops early
 * as pricer_price() does. */
bool pricer_price_conversions(struct pricer *p,
    const struct pricer_conversion *c, uint32_t n, struct err *err);

/* Plans may not use the candidate, nor those of equal key: it ended like that
 * when a plan was verified. Kept in the database, under the facts of its target's
 * library; a note says so where it cannot be. */
bool pricer_bar(struct pricer *p, uint32_t candidate, enum outcome outcome,
    const char *why, struct err *err);

/* What a candidate is known by: the facts of its target, and its key. */
void pricer_add_key(
    const struct pricer *p, uint32_t candidate, struct buf *out);

/* Two plans run in turn: what the database has of them, and putting it there. `plans`
 * is a hash of what their candidates are known by. */
bool pricer_find_turns(struct pricer *p, struct hash128 plans,
    struct pricer_turns *out, bool *there, struct err *err);
bool pricer_keep_turns(struct pricer *p, struct hash128 plans,
    const struct pricer_turns *t, struct err *err);

/* What the database remembers under a hash of all it depends on: what takes long to
 * find out and is no figure. NULL: nothing. A database that is full, or only read, keeps
 * nothing. */
const char *pricer_find_text(struct pricer *p, struct hash128 of);
/* The same where there is no pricer yet. */
const char *text_find(struct costdb *db, struct hash128 of, struct arena *a);
void pricer_keep_text(struct pricer *p, struct hash128 of, const char *text);

/* No region of a target costs less than this of each of its nodes. */
cost_ns pricer_work(const struct pricer *p, uint32_t target, node_id node);

/* What was left out because it has no price (UNPRICED_REFUSED) counts with its bound,
 * or is left out again: how much there is of it. */
uint32_t pricer_readmit(struct pricer *p, bool readmitted);

struct pricer_counts pricer_counts(const struct pricer *p);

/* How many answers were taken so far that it did not have: prices, probes,
 * comparisons. */
uint32_t pricer_asked(const struct pricer *p);

/* Go back to what is on record, as if another run began on this database:
 * adjustments and whatever else depends on the order of answers are forgotten.
 * *done is false, and nothing has changed, where nothing is on record. */
bool pricer_restart(struct pricer *p, bool *done, struct err *err);

/* From now on another deadline holds. */
void pricer_set_deadline(struct pricer *p, uint64_t deadline_ns);

/* Time up to `max` representative stored figures again (after begin) and
 * compare: fills `canaries` and `drift_permille` of the counts. The attempts
 * are stored like any others. */
bool pricer_canary(struct pricer *p, uint32_t max, struct err *err);

/* Why a lookup of this candidate's key missed, in words: the field that
 * differs; "" for a hit. */
const char *pricer_miss_reason(const struct pricer *p, uint32_t candidate);

/* They give back what memory they have; whoever measures next has new ones. */
void pricer_end_workers(struct pricer *p);

/* Write out what is pending and stop the workers. */
bool pricer_close(struct pricer *p, struct err *err);

#endif
