/* Conditions that predicates of several kinds share. Each is recorded in `why`
 * with actual and required value. */
#ifndef TARGETS_NEED_H
#define TARGETS_NEED_H

#include "targets/fused.h"
#include "targets/target.h"
#include "targets/window.h"

const struct type *matched_type(const struct match_in *m, value_id v);
const struct node *matched_root(const struct match_in *m);
const char *matched_name(const struct match_in *m, value_id v);
/* Does float16 come out of it? */
bool makes_halves(const struct match_in *m);

/* float32 of known shape. */
bool need_tensor(const struct match_in *m, struct why *w, value_id v);
/* Not empty, and small enough for a library's 32-bit indices. */
bool need_size(const struct match_in *m, struct why *w, value_id v);
bool need_rank_in(const struct match_in *m, struct why *w, value_id v,
    uint32_t low, uint32_t high);
/* Both of the first `ninputs` inputs and of output 0, the only one used. */
bool need_tensors(const struct match_in *m, struct why *w, const struct node *n,
    uint32_t ninputs);
/* No output of the node but the first is read. */
bool need_first_output(
    const struct match_in *m, struct why *w, const struct node *n);
/* A node's input 0 and output 0 are images of bytes, and no other output is read. */
bool need_byte_images(
    const struct match_in *m, struct why *w, const struct node *n);
/* need_tensors() of all inputs of all nodes of the match. */
bool need_all_tensors(const struct match_in *m, struct why *w);
/* The same, or (halves) float16 in all of them. */
bool need_all_numbers(const struct match_in *m, struct why *w, bool halves);

/* The nodes form a chain of steps whose second operands broadcast to the
 * result; fills *f. */
bool need_chain(const struct match_in *m, struct why *w, struct fused *f);
/* An input that, if there, is a constant. */
bool need_constant(const struct match_in *m, struct why *w,
    const struct node *n, uint32_t input, const char *what);
/* Has a Gemm's C one value for each column of its result? */
bool is_bias_row(const struct type *t, const struct type *out);
/* A Gemm's C, if there, is such a row. */
bool need_bias_row(
    const struct match_in *m, struct why *w, const struct node *n);
bool need_window(const struct match_in *m, struct why *w, const struct node *n,
    struct window *window);
/* The same of a transposed convolution. */
bool need_transposed(const struct match_in *m, struct why *w,
    const struct node *n, struct window *window);
/* A Resize or Upsample of the last two or three dimensions only, to exactly
 * `scales` times the size. */
bool need_spatial_scales(
    const struct match_in *m, struct why *w, const struct node *n);
/* A ReduceMean that is a GlobalAveragePool: each image's own, dimensions kept. */
bool need_mean_of_images(
    const struct match_in *m, struct why *w, const struct node *n);
/* A BatchNormalization with given statistics. */
bool need_inference(struct why *w, const struct node *n);

/* An input that, if there, is a constant: one weight for each of the elements from `axis`
 * on of input 0, in their order. Of the node a match amounts to (match_as_node()). */
bool need_line_weights(const struct match_in *m, struct why *w,
    const struct node *n, uint32_t input, uint32_t axis);

/* A product of floats or halves with a right side as in narrow.h. */
bool need_narrow(const struct match_in *m, struct why *w);

/* How an operand that broadcasts to `out` does so; dimension 1 is the channels'.
 * The closed list that an implementation takes is made of these. */
enum operand_form { FORM_FULL, FORM_SCALAR, FORM_CHANNEL, FORM_OTHER };
enum operand_form form_of(const struct type *t, const struct type *out);

bool same_shape(const struct type *t, const struct type *out);
bool step_commutes(enum step_kind kind);

#endif
