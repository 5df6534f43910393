/* 8 bits: the steps of a job that calibrate and that hold what is lost within
 * the limits asked for. */
#ifndef CLI_PRECISION_H
#define CLI_PRECISION_H

#include <stdio.h>

#include "ir/base/err.h"

struct answer;
struct job;
struct search_args;
struct option_row;
struct option_state;

/* Targets of 8 bits beside those that can be (--int8), after they are settled. */
void precision_targets(struct search_args *args);

/* Give formats of 8 bits their scales (the mix is open); ERR_USAGE when a target
 * needs them and there are none. */
bool precision_calibrate(struct job *j, struct err *err);

/* --min-sqnr: candidates that lose more by themselves become refusals. */
bool precision_exclude(struct job *j, struct err *err);

/* Measure the plan. *again: a limit was broken, what lost most is barred from 8
 * bits, and the search has to be repeated. */
bool precision_check(struct job *j, bool *again, struct err *err);

/* calibration.json: what was seen of every value, and the scales made of it. */
bool precision_write(FILE *f, void *job, struct err *err);

/* What each region and output loses. */
void precision_tell(const struct job *j, struct answer *a);

#endif
