/* Two nights of one batch, to be compared. */
#ifndef CLI_NIGHT_BETWEEN_H
#define CLI_NIGHT_BETWEEN_H

#include "cli/cli.h"
#include "cli/diff.h"
#include "cli/night/night.h"

struct between {
	struct history history;
	const struct night *night[2];
	const char *unit; /* NULL: all that both nights have */
};

/* `path` is a batch's folder or one of its results; nights are numbers from 1,
 * or 0 for the last and -1 for the one before. ERR_INPUT when there are none
 * such. */
bool between_open(struct between *b, const char *path, const int64_t night[2],
    struct arena *a, struct err *err);

/* Where the result of the unit in one of the two nights is, and what to call
 * it. */
bool between_result(const struct between *b, int which, const char **path,
    const char **name, struct arena *a, struct err *err);

/* Compare every unit of both, a line each; verdicts[] counts. */
bool between_compare_all(const struct between *b, double threshold,
    uint32_t verdicts[DIFF_SLOWER + 1], struct cli *c, struct err *err);

#endif
