/* What may be written where. Nothing that is there is replaced without
 * --force; with it, only what this program wrote or an empty folder, and never
 * what the command reads, whatever way it is named. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdio.h>

#include "cli/cli.h"

/* May the command write this file, whole and then renamed into place? Ask before
 * the work, and again before writing. ERR_IO says what stands in the way. */
bool output_file(const struct cli *c, const char *path, struct err *err);

/* May it write this folder? With --force the folder may hold a result. */
bool output_folder(const struct cli *c, const char *path, struct err *err);

/* The command reads `path` (borrowed; NULL: nothing). */
void output_keep(struct cli *c, const char *path);

/* ... and the files that a target's "KIND:K=FILE,..." names. */
void output_keep_values(struct cli *c, const char *spec);

/* output_file(), then file_write(). "-" is standard output. */
bool output_write(const struct cli *c, const char *path,
    bool (*write)(FILE *f, void *context, struct err *err), void *context,
    struct err *err);

#endif
