/* What the files of the pricer share. A subject is one distinct thing to price:
 * all candidates with the same key in the same environment, or a conversion
 * between two formats of one class of values. */
#ifndef COSTMODEL_PRICER_PARTS_H
#define COSTMODEL_PRICER_PARTS_H

#include "costmodel/drift.h"
#include "costmodel/key.h"
#include "costmodel/links.h"
#include "costmodel/measure.h"
#include "costmodel/pricer_data.h"
#include "costmodel/roofline.h"
#include "db/db.h"
#include "ir/base/hash.h"
#include "ir/base/map.h"

#define SUBJECT_NONE UINT32_MAX

/* What is asked of a subject: its price, a quick look, or its price once more for
 * one that was picked because it is cheap. Each has an environment of its own. */
enum figure { FIGURE_PRICE, FIGURE_PROBE, FIGURE_SECOND };

struct subject {
	struct db_subject db; /* as the database knows it */
	uint32_t target; /* index into the mix; mix->n: a conversion */
	uint32_t candidate; /* first one; SUBJECT_NONE for a conversion */
	value_id value; /* conversions: one of the class */
	format_id from, to;
	struct work work;
	price_id price;
	cost_ns probe_ns; /* least of the probes; 0: not looked at */
	cost_ns probe_high; /* most of them */
	const char *why_missed; /* why the lookup missed; "" for a hit */
	enum measured_why why; /* of what kind that is */
	bool is_missed; /* in no environment */
	bool is_refused; /* FAILED because it has no price; its bound holds */
	bool
	    is_wanted; /* a price was asked for and supposed (UNPRICED_SUPPOSED) */
	uint32_t supposed; /* of its probes */
	/* Who answered in this run before it went back to what is on record
	 * (pricer_restart); FROM_NOWHERE: nobody was asked. */
	enum price_origin answered;
};

/* An environment figures are looked up in; [mix->n + 1], the last one is that
 * of conversions. */
struct environment {
	const char *hard;
	const char *machine; /* its name */
	db_id id; /* DB_NO_ID: nothing stored under it yet */
	bool is_stored; /* prices of this target live in the database */
	double scale; /* of its lower bounds; lowered when one is broken */
	/* Probes are kept under the same facts but for `cost`. */
	const char *probe_hard; /* NULL: nothing is measured here */
	db_id probe_id;
	const char *second_hard; /* the same of second prices */
	db_id second_id;
	db_id bar_id; /* where bars are; DB_NO_ID: there are none */
	/* Environments whose figures stand in, best first, and how far off
	 * each is. */
	const db_id *near;
	const char *const *why, *const *near_hard;
	const enum measured_why *kind; /* of those reasons */
	const uint32_t *rank; /* equal: equally far off */
	/* Of them the first are the same but for what their processor is sold
	 * as, the first of all no more than compatible. */
	uint32_t nnear, nsame, ncompatible;
	/* Where probes of those that are accepted lie; what cannot be measured
	 * is estimated by them. No bound is made of them. */
	struct db_environments near_probes;
};

/* Under which soft facts prices out of the database were measured. */
struct measured_under {
	db_id conditions; /* DB_NO_ID: nobody knows */
	uint32_t hits;
};

struct pricer_fitted;
struct pricer_turned;

/* (R1) Each candidate is in the chain of its subject, whose target is its own; its
 *      price has the subject's id.
 * (R2) A subject that was probed has the least and the most of its probes.
 * (R3) Bounds are only ever lowered: no scale is above 1, or DRIFT_MOST.
 * (R4) Counts of a part are no more than those of the whole.
 * (R5) Subjects of conversions are of the pair of formats that lists them. */
struct pricer {
	const struct graph *graph;
	const struct mix *mix;
	const struct candidates *candidates;
	struct prices *prices; /* given by pricer_begin() */
	struct pricer_options o;
	struct arena *arena;
	struct costdb *db; /* NULL: nothing is remembered */
	bool db_is_full; /* said so once already */
	uint32_t nlost; /* attempts that could not even be queued */
	struct measurer *measurer; /* NULL until the first measurement */
	struct roofline roofline;
	struct environment *environment; /* [mix->n + 1] */
	struct keys keys_of; /* the graph's candidates */
	struct map keys; /* environment number + key bytes -> subject */
	struct subject *subject; /* [nsubjects] */
	uint32_t nsubjects, subject_cap;
	uint32_t *subject_of; /* [candidates->n] */
	uint32_t *next; /* [candidates->n] with the same subject */
	uint32_t ncandidate_subjects; /* the first subjects are candidates' */
	uint32_t *class_subject; /* [nclasses * formats^2], or SUBJECT_NONE */
	value_id *class_value; /* [nclasses] one of each */
	struct pricer_counts counts;
	uint32_t jobs; /* that ended: probes and measurements */
	struct drift drift;
	bool has_run; /* the database knows of this run */
	bool canary_done;
	bool has_constants;
	struct hash128 constants; /* of the model; where a bar was asked for */
	struct measured_under *under; /* [nunder] */
	uint32_t nunder, under_cap;
	struct pricer_fitted *fitted; /* [nfitted] what was compared so far */
	uint32_t nfitted, fitted_cap;
	struct pricer_turned *turned; /* [nturned] of two of those */
	uint32_t nturned, turned_cap;
};

/* How many processes of this run measure at once. */
static inline uint32_t
pricer_workers(const struct pricer *p)
{
	return p->o.links ? links_workers(p->o.links)
	                  : measurer_workers(p->o.workers, p->o.threads);
}

/* Its price; not kept over subject_add(), which may move all of them. */
static inline struct price *
price_of(const struct pricer *p, const struct subject *s)
{
	return prices_get(p->prices, s->price);
}

static inline struct price *
price_at(const struct pricer *p, uint32_t subject)
{
	assert(subject < p->nsubjects);
	return price_of(p, &p->subject[subject]);
}

/* (R1) to (R5), and all prices. */
void pricer_verify(const struct pricer *p);

/* The subject of these bytes (already prefixed with the environment's number), a
 * new one when there is none; *is_new says which. */
uint32_t subject_add(
    struct pricer *p, const void *bytes, size_t n, bool *is_new);

/* Give every candidate its subject. */
void subjects_of_candidates(struct pricer *p);

/* Take what costs nothing of a candidate's: a simulation, a bound, what is on
 * record. */
bool subject_begin(struct pricer *p, uint32_t subject, struct err *err);

/* It is never chosen, and that is why. */
void subject_fail(struct pricer *p, struct subject *s, const char *why);

/* It is not measured, and that is why: a multiple of its bound. */
void subject_estimate(struct pricer *p, struct subject *s, const char *why);

/* The host runs whatever a model has. What refuses made-up sizes, indices and the like,
 * which other nodes make or a user gives, takes the model's own: it is estimated. */
void subject_excuse(struct pricer *p, struct subject *s, enum outcome outcome,
    const char *detail);

/* As it was before anything was looked up. */
void subject_forget(struct pricer *p, struct subject *s);

/* Measuring is off: what the kind says itself, or an estimate; of a tool, that
 * nothing is known. */
void subject_unmeasured(struct pricer *p, struct subject *s);

/* What its target's kind, or a tool, told. */
void price_of_estimate(
    struct price *price, enum price_source source, const struct estimate *e);

/* Set the least a subject may cost, and what it is taken for, from its work and what
 * probes at it showed. */
void subject_bound(const struct pricer *p, struct subject *s);

/* What its price is expected to be, and between what, while only `bound` and
 * probes are known. */
void subject_expect(const struct pricer *p, struct subject *s);

/* How long pricing it may take: a tool that is asked has a limit of its own. */
uint64_t subject_limit_ns(const struct pricer *p, const struct subject *s);

/* Look a subject up: fill its price, or why there is none. */
bool subject_lookup(struct pricer *p, uint32_t subject, struct err *err);

/* Was it barred? Then its price has failed. */
bool subject_lookup_bar(struct pricer *p, struct subject *s, struct err *err);

/* Open what is looked up in: the database and the environments. */
bool environments_open(struct pricer *p, struct err *err);

/* What a stored probe tells: a bound, or that it fails. */
void probe_of_found(
    struct pricer *p, struct subject *s, const struct db_found *f);

/* The price an attempt gives. */
void take_found(struct pricer *p, struct subject *s, const struct db_found *f,
    enum price_origin origin);
void price_of_measurement(
    struct price *price, const struct sample *m, struct arena *a);

/* Where a known price is below its bound, bounds of this environment were too high:
 * lower those that remain and say so. Of subjects from `from` to before `end`. */
void check_bounds(struct pricer *p, uint32_t from, uint32_t end);

/* Say what is nearest in the database to each candidate subject it lacks. */
bool explain_misses(struct pricer *p, struct err *err);
/* Of a subject that is measured. */

/* A price was found that was measured under these soft facts. */
void doubts_see(struct pricer *p, db_id conditions);

/* Notes on what was found; at most one of each kind. */
bool doubts_note(struct pricer *p, struct err *err);

/* A few canaries, once a day, where the database had every price: a machine
 * that is never measured on drifts unseen. */
bool canary_once_in_a_while(struct pricer *p, struct err *err);
/* Canaries were timed just now. */
void canary_remember(struct pricer *p);

/* The hashes of a candidate subject, which only subjects that are not found need; and its text as
 * well, which only those that are put into the database need. */
void subject_identify(
    struct pricer *p, uint32_t subject, struct arena *scratch);
void subject_describe(
    struct pricer *p, uint32_t subject, struct arena *scratch);

/* A full disk must not lose a night: figures are kept in memory, the run goes
 * on with them and without leases, and closing tries once more. True when the
 * fault is one of those. */
bool survive(struct pricer *p, struct err *err);

/* The run and the environments of subjects [n] are in the database. */
bool recording_begin(
    struct pricer *p, const uint32_t *subject, uint32_t n, struct err *err);

/* The same, and the measurer is open. */
bool measuring_begin(
    struct pricer *p, const uint32_t *subject, uint32_t n, struct err *err);

/* Store an attempt; a full disk is noted once and survived. */
bool store_attempt(struct pricer *p, const struct subject *s, db_id env,
    const struct sample *r, struct err *err);

/* Record which of the model's candidates the database has figures of. */
bool record_model(struct pricer *p, struct err *err);

/* The deadline is over, or the user wants no more. */
bool pricing_is_over(const struct pricer *p);

/* Measure subjects [n] (their price is BOUND): leases, worker processes, the
 * database. Stops early, with true, at the deadline, the limit or stop. */
bool subjects_measure(
    struct pricer *p, const uint32_t *subject, uint32_t n, struct err *err);

/* The same with a probe each: bounds rise, and what cannot run has failed. All
 * are looked at for the first time, or all again. */
bool subjects_probe(
    struct pricer *p, const uint32_t *subject, uint32_t n, struct err *err);

/* The same of prices that are known, at this other moment: they count from now on. */
bool subjects_measure_again(
    struct pricer *p, const uint32_t *subject, uint32_t n, struct err *err);

/* Make classes of values and subjects for the conversions between the formats
 * their candidates use. */
bool conversions_begin(struct pricer *p, struct err *e);

/* The subjects of these conversions that have no price, each once, into subject[]: how
 * many. */
uint32_t conversions_unpriced(const struct pricer *p,
    const struct pricer_conversion *c, uint32_t n, uint32_t *subject,
    struct arena *scratch);

/* (R5) */
void conversions_verify(const struct pricer *p);

/* Put the conversions' prices together, detours included. */
void conversions_close_over(struct pricer *p);

/* What turns of a pair, whichever is first, said to this process; it counts then, until
 * pricer_unfit(). false: nothing is known. */
bool fitted_recall(struct pricer *p, struct pricer_pair *pair);

/* Unless it was recalled: what they said, if they did. */
void fitted_keep(struct pricer *p, const struct pricer_pair *pair);

/* Nothing was compared: prices are looked up anew. */
void fitted_forget(struct pricer *p);

#endif
