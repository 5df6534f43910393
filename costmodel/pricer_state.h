/* What the files of the pricer share. A slot is one distinct thing to price:
 * all candidates with the same key in the same environment, or a conversion
 * between two formats of one class of values. */
#ifndef COSTMODEL_PRICER_STATE_H
#define COSTMODEL_PRICER_STATE_H

#include "costmodel/key.h"
#include "costmodel/measure.h"
#include "costmodel/pricer_data.h"
#include "costmodel/roofline.h"
#include "db/db.h"
#include "ir/base/map.h"

#define SLOT_NONE UINT32_MAX

struct slot {
	struct db_subject subject;
	uint32_t target; /* index into the mix; mix->n: a conversion */
	uint32_t candidate; /* first one; SLOT_NONE for a conversion */
	value_id value; /* conversions: one of the class */
	format_id from, to;
	struct work work;
	struct price price;
	cost_ns probe_ns; /* least of the probes; 0: not looked at */
	cost_ns probe_high; /* most of them */
	const char *miss; /* why the lookup missed; "" for a hit */
	bool is_missed; /* in no environment */
	/* Who answered in this run before it went back to what is on record
	 * (pricer_restart); FROM_NOWHERE: nobody was asked. */
	enum price_origin answered;
};

/* An environment figures are looked up in; [mix->n + 1], the last one is that
 * of conversions. */
struct environment {
	const char *hard;
	db_id id; /* DB_NO_ID: nothing stored under it yet */
	bool is_stored; /* prices of this target live in the database */
	double scale; /* of its lower bounds; lowered when one is broken */
	/* Probes are kept under the same facts but for `cost`. */
	const char *probe_hard; /* NULL: nothing is measured here */
	db_id probe_id;
	db_id bar_id; /* where bars are; DB_NO_ID: there are none */
	/* Environments whose figures stand in, best first, and how far off
	 * each is; DB ids of `near` up to ncompatible are compatible. */
	const db_id *near;
	const char *const *why;
	const uint32_t *rank; /* equal: equally far off */
	uint32_t nnear, ncompatible;
};

/* How prices stand to the probes taken before them. */
#define DRIFT_LAST 32
struct drift {
	double ratio[DRIFT_LAST]; /* of the last ones */
	uint32_t n; /* so far */
	double scale; /* of bounds made from probes */
};

/* Under which soft facts prices out of the database were measured. */
struct measured_under {
	db_id conditions; /* DB_NO_ID: nobody knows */
	uint32_t hits;
};

struct pricer {
	const struct graph *graph;
	const struct mix *mix;
	const struct candidates *candidates;
	struct pricer_options o;
	struct arena *arena;
	struct costdb *db; /* NULL: nothing is remembered */
	bool db_is_full; /* said so once already */
	uint32_t nlost; /* attempts that could not even be queued */
	struct measurer *measurer; /* NULL until the first measurement */
	struct roofline roofline;
	struct environment *environment; /* [mix->n + 1] */
	struct keys keys_of; /* the graph's candidates */
	struct map keys; /* environment number + key bytes -> slot */
	struct slot *slot; /* [nslots] */
	uint32_t nslots, slot_cap;
	uint32_t *slot_of; /* [candidates->n] */
	uint32_t *next; /* [candidates->n] with the same slot */
	uint32_t ncandidate_slots; /* the first slots are candidates' */
	uint32_t *class_slot; /* [nclasses * formats^2], or SLOT_NONE */
	value_id *class_value; /* [nclasses] one of each */
	struct price *launch; /* [mix->n] */
	struct pricer_counts counts;
	uint32_t jobs; /* that ended: probes and measurements */
	struct drift drift;
	bool has_run; /* the database knows of this run */
	bool canary_done;
	bool has_constants; /* and these are hashed: */
	struct hash128 constants;
	struct measured_under *under; /* [nunder] */
	uint32_t nunder, under_cap;
};

/* How many processes of this run measure at once. */
static inline uint32_t
pricer_workers(const struct pricer *p)
{
	return measurer_workers(p->o.workers, p->o.threads);
}

/* The slot of these bytes (already prefixed with the environment's number), a
 * new one when there is none; *is_new says which. */
uint32_t slot_add(struct pricer *p, const void *bytes, size_t n, bool *is_new);

/* Copy a slot's price to all its candidates. */
void slot_publish(struct pricer *p, struct prices *prices, uint32_t slot);

/* Set the least a slot may cost, and what it is taken for, from its work and what
 * probes at it showed. */
void slot_bound(const struct pricer *p, struct slot *s);

/* What its price is expected to be, and between what, while only `bound` and
 * probes are known. */
void slot_expect(struct slot *s);

/* How long pricing it may take: a tool that is asked has a limit of its own. */
uint64_t slot_limit_ns(const struct pricer *p, const struct slot *s);

/* Look a slot up: fill its price, or why there is none. */
bool slot_lookup(struct pricer *p, uint32_t slot, struct err *err);

/* Was it barred? Then its price has failed. */
bool slot_lookup_bar(struct pricer *p, struct slot *s, struct err *err);

/* Open what is looked up in: the database and the environments. */
bool environments_open(struct pricer *p, struct err *err);

/* What a stored probe tells: a bound, or that it fails. */
void probe_of_found(struct pricer *p, struct slot *s, const struct db_found *f);

/* The price an attempt gives. */
void price_of_found(struct price *price, const struct db_found *f);
void price_of_measurement(
    struct price *price, const struct sample *m, struct arena *a);

/* A price is known that is below its bound: bounds of this environment were
 * too high, so lower those that remain and say so. */
void check_bound(struct pricer *p, struct prices *prices, uint32_t slot);

/* Say what is nearest in the database to each candidate slot it lacks. */
bool explain_misses(struct pricer *p, struct err *err);

/* A price was found that was measured under these soft facts. */
void doubts_see(struct pricer *p, db_id conditions);

/* Notes on what was found; at most one of each kind. */
bool doubts_note(struct pricer *p, struct err *err);

/* A few canaries, once a day, where the database had every price: a machine
 * that is never measured on drifts unseen. */
bool canary_once_in_a_while(struct pricer *p, struct err *err);
/* Canaries were timed just now. */
void canary_remember(struct pricer *p);

/* The hashes of a candidate slot, which only slots that miss need; and its text as
 * well, which only those that are put into the database need. */
void slot_identify(struct pricer *p, uint32_t slot, struct arena *scratch);
void slot_describe(struct pricer *p, uint32_t slot, struct arena *scratch);

/* A full disk must not lose a night: figures are kept in memory, the run goes
 * on with them and without leases, and closing tries once more. True when the
 * fault is one of those. */
bool survive(struct pricer *p, struct err *err);

/* The run and the environments of slots [n] are in the database. */
bool recording_begin(
    struct pricer *p, const uint32_t *slot, uint32_t n, struct err *err);

/* The same, and the measurer is open. */
bool measuring_begin(
    struct pricer *p, const uint32_t *slot, uint32_t n, struct err *err);

/* Store an attempt; a full disk is noted once and survived. */
bool store_attempt(struct pricer *p, const struct slot *s, db_id env,
    const struct sample *r, struct err *err);

/* Record which of the model's candidates the database has figures of. */
bool record_model(struct pricer *p, struct err *err);

/* The deadline is over, or the user wants no more. */
bool pricing_is_over(const struct pricer *p);

/* Measure slots [n] (their price is BOUND): leases, worker processes, the
 * database. Stops early, with true, at the deadline, the limit or stop. */
bool slots_measure(struct pricer *p, struct prices *prices,
    const uint32_t *slot, uint32_t n, struct err *err);

/* The same with a probe each: bounds rise, and what cannot run has failed. All
 * are looked at for the first time, or all again. */
bool slots_probe(struct pricer *p, struct prices *prices, const uint32_t *slot,
    uint32_t n, struct err *err);

/* Make classes of values and slots for the conversions between the formats
 * their candidates use. */
bool conversions_begin(struct pricer *p, struct prices *prices, struct err *e);

/* The slots of these conversions that have no price, each once, into slot[]: how
 * many. */
uint32_t conversions_unpriced(const struct pricer *p,
    const struct prices *prices, const struct pricer_conversion *c, uint32_t n,
    uint32_t *slot, struct arena *scratch);

/* Put the conversions' prices together, detours included. */
void conversions_close_over(struct pricer *p, struct prices *prices);

#endif
