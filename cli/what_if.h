/* What if a condition held, a node ran elsewhere, a move were free? The search
 * again under such assumptions, and what that changes. */
#ifndef CLI_WHAT_IF_H
#define CLI_WHAT_IF_H

#include "cli/answer.h"
#include "cli/job.h"
#include "plan/shift.h"

struct what_if {
	const struct text_list *text; /* as asked, all of them together */
	struct job job; /* the search under the assumptions */
	struct free_moves free;
	bool *pair; /* free.conversion while it is being filled */
	struct assumption *assume; /* [job.nassume] */
	uint32_t failing; /* matches refused for an assumed condition */
	uint32_t otherwise_legal; /* ... and for nothing else */
	bool found; /* is there a legal plan? */
	struct plan_shift shift; /* from the plan as it is */
};

/* Take `base`'s model (after job_candidates(base)) once more, assuming each
 * `text`: "[TARGET:]CONDITION", "NODE=TARGET", "free:A..B" of targets or
 * formats, "free:launch:TARGET". ERR_USAGE naming what is unknown, with what
 * is known. Close it whatever comes back. */
bool what_if_open(struct what_if *w, const struct text_list *text,
    struct job *base, struct err *err);

/* Search it, after job_search(base), whose pricing ends. */
bool what_if_search(struct what_if *w, struct job *base, struct err *err);
bool what_if_close(struct what_if *w, struct err *err);

/* Is the condition of a target that need not have a kernel for it? */
bool what_if_may_assume(const struct job *j, const struct condition_count *c);

/* One member, "what_if". */
void what_if_tell(const struct what_if *w, struct answer *a);

/* All that can be assumed of a job: conditions that are asked for, with how
 * often they fail; targets; formats. */
void what_if_list(const struct job *j, struct answer *a);

#endif
