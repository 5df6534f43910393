/* What `marq search` says on stdout: the plan, what it was compared with, what
 * was measured, where the time went. Text, or JSON with --format json. */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include "cli/job.h"

/* After job_search(); `out` is the result directory, or NULL. */
void summary_print(const struct job *j, const char *out);

/* After job_candidates(): what the database lacks and would be measured. */
bool summary_dry_run(struct job *j, const char *out, struct err *err);

/* What is to be measured and how long that would take, in a line. */
void forecast_print(
    uint32_t missing, uint64_t ns, uint32_t workers, uint64_t attempts);

#endif
