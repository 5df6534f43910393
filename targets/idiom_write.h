/* Writing down the operator an idiom amounts to, from what its pattern caught.
 * Internal to targets/idiom*.c. */
#ifndef TARGETS_IDIOM_WRITE_H
#define TARGETS_IDIOM_WRITE_H

#include "targets/idiom.h"
#include "targets/pattern.h"

#define IDIOM_INPUTS 9
#define IDIOM_OUTPUTS 3
#define IDIOM_ATTRS 8

struct idiom_writer {
	const struct graph *graph;
	const struct match *match;
	struct arena *arena;
	/* What is written; the kind and the operator may be changed. */
	enum idiom kind;
	bool no_operator, loses_nan;
	value_id x;
	uint32_t ninputs, noutputs, nattrs;
	value_id input[IDIOM_INPUTS], output[IDIOM_OUTPUTS];
	struct attr attr[IDIOM_ATTRS];
	/* Constants that are made, numbered behind the graph's values. */
	struct value *made;
	uint32_t nmade, made_cap;
};

/* One way to spell an idiom. */
struct spelling {
	enum idiom kind; /* the writer may tell another */
	const struct pattern *pattern;
	/* Checks by value what the pattern cannot, and writes the operator down;
	 * false: it is something else. */
	bool (*write)(struct idiom_writer *w);
};

extern const struct spelling idiom_spelling[];
extern const uint32_t nidiom_spellings;

/* What the pattern caught: VALUE_NONE, NULL where that branch was not taken. */
value_id caught(const struct idiom_writer *w, const char *name);
const struct type *caught_type(const struct idiom_writer *w, const char *name);
const struct tensor *caught_constant(
    const struct idiom_writer *w, const char *name);
/* The node that makes it. */
const struct node *caught_node(const struct idiom_writer *w, const char *name);
/* The only element of a constant. */
bool caught_number(const struct idiom_writer *w, const char *name, double *x);

/* Does the constant have elements, all near x? */
bool all_are(const struct tensor *t, double x);
/* Are the dimensions these? */
bool dims_are(const struct type *t, uint32_t rank, const int64_t *dim);

/* A Clip's bounds, infinite where it has none; false: they are computed. */
bool clip_bounds(const struct idiom_writer *w, const struct node *n,
    double *low, double *high);

void write_input(struct idiom_writer *w, uint32_t slot, value_id v);
void write_int(struct idiom_writer *w, const char *name, int64_t x);
void write_float(struct idiom_writer *w, const char *name, double x);
void write_text(struct idiom_writer *w, const char *name, const char *text);
/* A constant that the graph lacks; dims and content live in the arena. */
value_id write_constant(struct idiom_writer *w, struct tensor t);
/* The constant with other dimensions; made only where they differ. */
value_id write_reshaped(
    struct idiom_writer *w, value_id v, uint32_t rank, const int64_t *dim);
/* n elements that are all x. */
value_id write_filled(struct idiom_writer *w, enum dtype t, uint32_t rank,
    const int64_t *dim, double x);

/* A constant of what is added to scores of the given dimensions: a bias, and behind
 * a Reshape one mask for each window; false: they do not fit. */
bool write_windows(
    struct idiom_writer *w, const int64_t dim[4], value_id *mask);

/* The writers of the table. */
bool write_norm(struct idiom_writer *w);
bool write_rms(struct idiom_writer *w);
bool write_groups(struct idiom_writer *w);
bool write_length(struct idiom_writer *w);
bool write_function(struct idiom_writer *w);
bool write_heads(struct idiom_writer *w);
bool write_rotation(struct idiom_writer *w);
bool write_moves(struct idiom_writer *w);
bool write_quantised(struct idiom_writer *w);

#endif
