/* Predicates of this backend's rules, one per family. */
#ifndef TARGETS_DNNL_ACCEPT_H
#define TARGETS_DNNL_ACCEPT_H

#include "targets/step.h"
#include "targets/target.h"

bool accept_conv(const struct match_in *m, struct why *why);
bool accept_integer_conv(const struct match_in *m, struct why *why);
bool accept_integer_product(const struct match_in *m, struct why *why);
bool accept_dynamic(const struct match_in *m, struct why *why);
bool accept_dynamic_conv(const struct match_in *m, struct why *why);
bool accept_deconv(const struct match_in *m, struct why *why);
bool accept_byte_deconv(const struct match_in *m, struct why *why);
bool accept_prelu(const struct match_in *m, struct why *why);
bool accept_depthwise(const struct match_in *m, struct why *why);
bool accept_matmul(const struct match_in *m, struct why *why);
bool accept_pool(const struct match_in *m, struct why *why);
bool accept_byte_pool(const struct match_in *m, struct why *why);
bool accept_eltwise(const struct match_in *m, struct why *why);
bool accept_binary(const struct match_in *m, struct why *why);
bool accept_softmax(const struct match_in *m, struct why *why);
/* The first dimension a LayerNormalization normalises (norm.c). */
uint32_t dnnl_norm_axis(const struct graph *g, const struct node *n);
bool accept_layer_norm(const struct match_in *m, struct why *why);
/* Does this oneDNN normalise groups, and how many has the node (norm.c)? */
bool dnnl_has_groups(void);
int64_t dnnl_norm_groups(const struct graph *g, const struct node *n);
bool accept_group_norm(const struct match_in *m, struct why *why);
bool accept_batch_norm(const struct match_in *m, struct why *why);
bool accept_concat(const struct match_in *m, struct why *why);
bool accept_recurrent(const struct match_in *m, struct why *why);
bool accept_reduction(const struct match_in *m, struct why *why);
bool accept_lrn(const struct match_in *m, struct why *why);
bool accept_resize(const struct match_in *m, struct why *why);
bool accept_transpose(const struct match_in *m, struct why *why);

/* No algorithm has two sets of parameters among these steps. */
bool need_distinct_algorithms(
    struct why *why, const struct step *s, uint32_t n);

#endif
