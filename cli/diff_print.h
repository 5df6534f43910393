/* Differences for people, for programs and as a page. */
#ifndef CLI_DIFF_PRINT_H
#define CLI_DIFF_PRINT_H

#include <stdio.h>

#include "cli/diff.h"

/* `all`: every line; otherwise a screenful of each list. */
void diff_text(FILE *f, const struct diff *d, bool all);
/* A line for each result, for when there are several. */
void diffs_table(FILE *f, const struct diff *d, uint32_t n);
/* One document (schema "marq.compare/1"). */
void diffs_json(FILE *f, const struct diff *d, uint32_t n);
/* One page without scripts. */
void diffs_html(FILE *f, const struct diff *d, uint32_t n);

#endif
