/* Figures and names as a morning's reader wants them. */
#ifndef CLI_NIGHT_WORDS_H
#define CLI_NIGHT_WORDS_H

#include "cli/night/night.h"
#include "ir/base/json.h"

/* "21.4 ms": three figures. */
const char *brief(uint64_t ns, struct arena *a);
/* What a unit costs: "at least 6.55 ms" where a part has no price, "estimated
 * 6.55 ms" where a price is an estimate. */
const char *unit_cost(const struct night_unit *u, struct arena *a);
/* "proven", "proven among 12 regions" or "not proven". */
const char *proof_of(const struct unit_status *u, struct arena *a);
/* "; confirmed: 0.87" of a plan that mixes targets; "" of others. */
const char *confirmation_of(const struct unit_status *u, struct arena *a);
/* "+8.2 %", "-0.1 %" with a true minus sign. */
const char *change(uint64_t was, uint64_t now, struct arena *a);
/* How long: "12 s", "7 min", "3 h 20 min". */
const char *long_time(uint64_t ms, struct arena *a);
/* "bert@all" with its shape, but not its mix: a row of the matrix. */
const char *row_name(const struct night_unit *u, struct arena *a);

/* The name of a reason (enum measured_why) in documents. */
const char *why_name(int why);
/* The member "measured_why": how many prices were measured for each. */
void put_measured_why(struct json *j, const uint32_t why[NWHY]);

#endif
