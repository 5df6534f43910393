/* What programs that fill databases of their own share. */
#ifndef BENCH_COMMON_SCRATCH_H
#define BENCH_COMMON_SCRATCH_H

#include <stdbool.h>

#include "ir/base/err.h"

/* Ends the program with the error, unless ok. */
void must(bool ok, const struct err *err);

/* A database and what SQLite keeps beside it. */
void remove_db(const char *path);

#endif
