/* Fitting a kind's cost simulator to what a board says: probes to be timed
 * there, and parameters made of the figures. */
#ifndef TARGETS_CALIBRATION_H
#define TARGETS_CALIBRATION_H

#include <stdio.h>

#include "ir/base/notes.h"
#include "targets/target.h"

enum calibration_op { CALIBRATION_CONV, CALIBRATION_FC, CALIBRATION_POOL };

/* A region of one layer. Its name says all of it, so that what a board prints of
 * it needs no file beside it. */
struct calibration_probe {
	const char *name, *command; /* what compiles it, files beside it */
	enum calibration_op op;
	int64_t h, w; /* of the output */
	int64_t c, o, kernel, groups;
};

/* What the kind's compiler takes of a probe. */
struct calibration_file {
	const char *suffix; /* behind the probe's name */
	void (*write)(
	    FILE *f, const struct calibration_probe *p, struct arena *a);
};

struct calibration_in {
	const char *measurements; /* a file; NULL: none, nothing is fitted */
	const char *format; /* of it; NULL: JSON */
	const char *start; /* a file of parameters; NULL: the built-in ones */
};

struct calibration_out {
	const void *params; /* for write() */
	struct notes report; /* lines for people; the caller's, initialised */
};

struct calibration {
	const char *doc; /* what `marq calibrate --help` says */
	const struct calibration_probe *(*probes)(uint32_t *n, struct arena *a);
	/* Head of the script that compiles and times probes; lines
	 * "one NAME BYTES-OF-INPUT COMPILER..." follow. */
	const char *script;
	const struct calibration_file *file; /* ends with a NULL suffix */
	/* ERR_USAGE for an unknown format, ERR_INPUT naming the sample. */
	bool (*fit)(struct calibration_out *out,
	    const struct calibration_in *in, struct arena *a, struct err *err);
	void (*write)(FILE *f, const void *params);
};

#endif
