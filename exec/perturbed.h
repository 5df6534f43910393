/* The reference with rounding that falls otherwise: how far apart right
 * computations of a model may be. */
#ifndef EXEC_PERTURBED_H
#define EXEC_PERTURBED_H

#include "ir/infer.h"
#include "ir/tensor.h"

/* What right computations may differ in. */
struct perturbation {
	uint32_t seed; /* of what falls one way or the other; 0: nothing is
	                * perturbed */
	const double *error; /* [nvalues] to put in, as parts of a value's
	                      * largest magnitude; NULL: everywhere `all` */
	double all;
	int one_way; /* all of them up (1) or down (-1); 0: each by chance */
	const bool *halved; /* [nvalues] elements that are rounded to half
	                     * precision, up or down; NULL: none */
	bool halves; /* graph inputs and constants are, and only those */
	/* Those computed, not moved, get a sign: with seeds 1 and 2 one for all,
	 * then one for all of a value or (even seeds) one for each element. ONNX
	 * says of no operator which zero it gives; denormals are zeros. */
	bool zeros;
	/* A maximum over a window or an axis with anything but finite numbers is
	 * any number, each by chance: ONNX does not say which. So is all that is
	 * resized from such: zero times infinity, or a little more than zero. */
	bool open_infinite;
	/* A quotient is any number where its divisor is no larger than this part
	 * of the largest: rounding decides on which side of the pole it is. */
	double open_poles;
	/* What NaN is made of where it is computed, as above: by this node, or
	 * by any (NODE_NONE). */
	bool nan_lost;
	node_id nan_lost_by;
	/* Over what is not finite, sums are NaN by chance: zero times infinity,
	 * sums that run along an axis. In 8 bits NaN is any number. */
	bool nan_spreads;
};

/* TUNING: what a sum of floats differs by in another order. Below half of
 * FLT_EPSILON nothing would move; what it moves a model by that quantises does
 * not depend on it (docs/notebook.md, Backends). */
#define PERTURBED_LEAST 4e-7

/* Compute value[] ([nvalues], the graph's inputs filled in) node by node. Floats
 * get their error (of what adds nothing up a part of the element, not of the
 * value's largest), up or down by chance; halves at least a unit in the last
 * place; of integers that a requantisation made one in 4,096 rounds the other
 * way. */
bool reference_values(struct tensor *value, const struct graph *g,
    node_eval eval, const struct perturbation *p, struct arena *a,
    struct err *err);

/* TUNING: a right output may be off by as many times what the worse of two
 * perturbations does. Of 16 of one model the largest did 2.0 times as much as
 * the smallest. */
#define PERTURBED_TIMES 2

/* movable[nvalues]: PERTURBED_TIMES what perturbing moves each value by, as a part
 * of its range. want[nvalues] are the reference's values; how->seed is not
 * read. */
bool values_movable(double *movable, const struct graph *g,
    const struct tensor *want, node_eval eval, const struct perturbation *how,
    struct err *err);

/* The same of the outputs ([noutputs]) over these inputs. */
bool outputs_movable(double *movable, const struct graph *g,
    const struct tensor *in, node_eval eval, const struct perturbation *how,
    struct err *err);

#endif
