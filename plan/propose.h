/* What the search proposes: the problem at hand, solved in one of several ways. */
#ifndef PLAN_PROPOSE_H
#define PLAN_PROPOSE_H

#include "plan/state.h"

/* Solve the node's problem with what is known, as the mode and the visit's effort
 * say. That there is no cover is a result. */
bool propose(struct planner *pl, struct proposal *p, struct err *err);

/* The best cover at expected prices, of candidates that are known to run only, if
 * sure: it bounds nothing. */
bool propose_known(
    struct planner *pl, bool sure, struct search_result *out, struct err *err);

/* The best cover of a target and what it falls back to. */
bool propose_single(struct planner *pl, uint32_t target,
    struct search_result *out, struct err *err);

/* What no plan costs less than: of the request's own problem, anew. */
bool propose_bound(struct planner *pl, cost_ns *bound, struct err *err);

/* What plans cost at least in which one region keeps all that is kept and others,
 * one at least, keep nothing. */
bool propose_attended(struct planner *pl, cost_ns *bound, struct err *err);

/* Is a candidate without a price known to run: the plain reference of every
 * operator, and what a probe has run? */
bool is_sure(const struct planner *pl, uint32_t candidate);

/* The effort of the next search, after something was learned: with guesses as soon
 * as there are any, until they lead to nothing new; then with bounds. `anew`: of
 * regions or by comparisons, so guesses are worth another look. */
void effort_after(struct planner *pl, bool anew);

/* Nothing was learned: search with more effort, where that may be worth it. */
bool effort_more(struct planner *pl, const struct proposal *p);

/* The time is over, or the user wants what there is: no search may begin that an
 * answer can do without. */
bool planner_is_late(const struct planner *pl);

/* May oracles change the answer? A searcher asked for by name, and a replay, answer
 * for themselves. */
bool may_improve(const struct plan_request *r);

/* The target that can run anything: what a single target falls back to. */
uint32_t fallback_of(const struct mix *m, uint32_t target);

/* Are the problem's limits those of the request? */
bool node_is_asked(const struct planner *pl);

/* Make the problem that of the node at hand (Z1). */
bool node_apply(struct planner *pl, struct err *err);

/* Of a search that is worth little memory. */
struct search_options quick_options(const struct planner *pl);

#endif
