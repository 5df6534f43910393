/* OpenBLAS, loaded when something of it is to run: it begins threads then, and asks
 * for memory for ever where there is none. What its prices depend on is read off its
 * file before. Only files of this folder include it. */
#ifndef TARGETS_BLAS_LIBRARY_H
#define TARGETS_BLAS_LIBRARY_H

#include <cblas.h>
#include <stdbool.h>
#include <stdint.h>

#include "ir/base/buf.h"
#include "ir/base/err.h"

/* What is called of it. */
struct openblas {
	__typeof__(cblas_sgemm) *sgemm;
	__typeof__(openblas_set_num_threads) *set_threads;
	__typeof__(openblas_get_config) *config;
	__typeof__(openblas_get_corename) *core;
};

/* Filled in by blas_ready(). */
extern struct openblas openblas;

/* It is loaded; ERR_TARGET where it cannot be. */
bool blas_ready(struct err *err);

/* It is there and has room, as far as is known without loading it. */
bool blas_there(struct err *err);

/* Products take one thread from now on, each that of its caller. */
void library_single(void);

/* Facts that prices depend on, "key=value" a line. */
void library_facts(struct buf *b);

/* Where its functions are, and its file: linked.c or late.c. NULL: which file that is
 * will be known when it is loaded. */
bool blas_find(struct openblas *out, struct err *err);
const char *blas_file(void);

#endif
