/* A job, as its steps see it: one model searched over one mix. */
#ifndef CLI_JOB_STATE_H
#define CLI_JOB_STATE_H

#include "cli/precision_args.h"
#include "cli/progress.h"
#include "cli/search_args.h"
#include "costmodel/board.h"
#include "costmodel/links.h"
#include "costmodel/want.h"
#include "exec/verified.h"
#include "ir/onnx_read.h"
#include "plan/confirmation.h"
#include "plan/constraints.h"
#include "plan/opportunities.h"
#include "plan/plan.h"
#include "plan/sensitivity.h"
#include "targets/candidates.h"

/* Wall time of each step, for the breakdown. */
struct job_times {
	uint64_t import_ns, candidates_ns, prices_ns, search_ns, emit_ns;
};

struct job {
	const struct search_args *args;
	struct arena *arena; /* lives as long as the job */
	struct model model;
	struct hash128 content; /* of the model; model_hash() */
	bool knows_content;
	struct mix mix;
	struct constraints constraints;
	struct candidates candidates;
	/* Set after job_import(): of refusals only what failed is kept. */
	bool failures_only;
	/* Set after job_import(): nothing is to be planned. */
	bool informs;
	/* What if? Set after job_import(). */
	const struct assumption *assume; /* [nassume] */
	uint32_t nassume;
	const struct free_moves *free; /* or NULL */
	const bool *only; /* --replay: the candidates of the plan, or NULL */
	cost_ns *told; /* [nodes] of opaque ones, see struct pricer_options */
	struct board board; /* --price-for, --worker */
	struct want want; /* with links: what they have opened */
	struct links *links; /* --worker; NULL: none */
	bool lists; /* set after job_import(): what is missing is listed and
		     * not left out */
	/* Set after job_import(): job_search() follows, so the database is opened
	 * before candidates are looked for. */
	bool searches;
	struct costdb *db; /* until the pricer has it */
	struct pricer *pricer;
	struct prices prices;
	struct pricer_counts counts;
	uint64_t deadline_ns; /* of pricing and searching; 0: none */
	/* Set after job_import(): job_search() verifies what it finds. */
	bool verify;
	struct verification verification; /* with verify */
	struct plan_confirmation confirmation;
	struct precision precision;
	struct plan plan;
	struct sensitivity sensitivity; /* after job_sensitivity() */
	struct opportunities opportunities; /* after job_opportunities() */
	struct plan *top; /* [ntop] --top-k: the cheapest plans, ascending */
	uint32_t ntop;
	struct job_times times;
	struct progress progress;
	struct notes
	    notes; /* about pricing in this run: not part of a result */
	bool opened; /* the model is mapped */
	const char *bound; /* what job_bind() took for granted, or NULL */
};

#endif
