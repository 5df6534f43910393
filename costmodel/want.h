/* What somebody wants measured elsewhere: a model without its weights, the
 * targets, and which subjects of it, in order of worth. A document (marq.want/1)
 * that is all another machine needs. */
#ifndef COSTMODEL_WANT_H
#define COSTMODEL_WANT_H

#include "costmodel/job.h"
#include "ir/base/err.h"
#include "ir/base/json.h"

struct cJSON;

struct want {
	const char *model; /* its name */
	const void *onnx; /* [nonnx] without its weights */
	size_t nonnx;
	const char **target; /* [ntargets] as -t takes them */
	uint32_t ntargets;
	bool keep_nan, exact, exact_halves; /* see struct candidate_options */
	uint32_t threads;
	uint64_t timeout_ns;
	struct wanted_subject *subject; /* [n] */
	uint32_t n;
};

void want_write(const struct want *w, struct json *j);
bool want_read(struct want *out, const struct cJSON *doc, struct arena *a,
    struct err *err);
bool want_open(
    struct want *out, const char *path, struct arena *a, struct err *err);

/* A list is a file from anywhere: targets that are opened by hand (targets/by_hand.h)
 * are among the n texts. ERR_USAGE naming one that is not. */
bool want_allowed(const struct want *w, const char *const *text, uint32_t n,
    struct arena *a, struct err *err);

/* "0123...": 32 digits. */
bool hash128_read(struct hash128 *out, const char *text);

#endif
