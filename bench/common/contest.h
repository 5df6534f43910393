/* What benchmarks of plans share: a model priced as far as its contenders need,
 * a plan for each, a check, and what the steps of a plan took. */
#ifndef BENCH_COMMON_CONTEST_H
#define BENCH_COMMON_CONTEST_H

#include "costmodel/pricer.h"
#include "exec/executor.h"
#include "exec/profile.h"
#include "ir/onnx_read.h"
#include "plan/plan.h"

/* Who takes part: candidates of one kind (NULL: all),
 * convolutions of one
 * layout (-1: any), a searcher (NULL: exact). Host helps everybody. */
struct contender {
	const char *name, *kind;
	int layout;
	bool winograd;
	const char *searcher;
	const char *without; /* a kind; NULL: none is left out */
};

struct contest {
	struct arena *arena; /* the caller's */
	struct model model;
	struct mix mix;
	struct candidates candidates;
	struct pricer *pricer;
	struct prices prices;
	struct pricer_counts counts;
	cost_ns pricing_ns;
	struct tensor *in, *out; /* seeded; room for the outputs */
	struct tensor *want; /* the reference's outputs, once asked for */
};

/* Import, find candidates over all kernel libraries, look up what is known. */
bool contest_open(struct contest *c, const char *path, const char *db,
    uint32_t threads, struct err *err);

/* The contender's best plan; what it needs is priced. *found: has it a cover? */
bool contest_plan(struct contest *c, const struct contender *who,
    struct plan *out, bool *found, struct err *err);

/* No more prices are needed: write them out, stop the workers. */
bool contest_priced(struct contest *c, struct err *err);

/* Run it once and say on stdout when its outputs are not the reference's. */
bool contest_check(
    struct contest *c, const char *name, struct executor *x, struct err *err);
void contest_close(struct contest *c);

/* Sorts x; the middle one. */
cost_ns cost_median(cost_ns *x, uint32_t n);

/* The steps of a plan over many runs. */
struct record;
struct record *record_new(const struct plan *p, struct arena *a);
void record_steps(struct record *r, const struct executor *x);
void record_settle(struct record *r, struct profile *out);

#endif
