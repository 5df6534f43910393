/* marq run: what its parts share. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/job.h"
#include "exec/allowed.h"
#include "exec/profile.h"
#include "ir/compare.h"

/* One set of inputs, with the outputs somebody expects, if any. */
struct run_data {
	const char *name; /* "seeded", or its folder */
	struct tensor *in; /* [ninputs] */
	struct tensor *want; /* [noutputs], or NULL */
};

struct run_sets {
	struct run_data *set; /* [n] */
	uint32_t n, cap;
};

/* Reproducible inputs of the model's own. */
bool run_data_seeded(struct run_sets *s, const struct graph *g, struct arena *a,
    struct err *err);
/* input_<i>.pb and output_<i>.pb of a folder, or of its test_data_set_<k>. */
bool run_data_read(struct run_sets *s, const struct graph *g, const char *path,
    struct arena *a, struct err *err);

/* Bind each input whose shape the model leaves open to what a set has; true
 * when there was one. */
bool run_data_shapes(struct onnx_options *o, const struct run_data *d,
    const struct graph *g, struct arena *a);

/* One output compared with one expectation. */
struct run_check {
	const char *set, *output;
	const char *against; /* "expected output", "host reference" */
	struct comparison result;
};

struct run_result {
	const struct job *job;
	struct profile profile;
	struct tolerance tolerance;
	struct allowance allowance;
	bool
	    by_model; /* no tolerance was asked for: what the model's arithmetic
	                * may do to a right output is allowed */
	bool has_half; /* some composite does: the tolerance is of the range */
	size_t pool_bytes;
	uint32_t nchecks, check_cap;
	struct run_check *check;
	bool matches;
};

/* Everything on stdout, as text or as one JSON document. */
void run_report(const struct run_result *r, bool layers);

#endif
