/* What forms of attention are written out with. */
#ifndef IR_EXPAND_ATTENTION_H
#define IR_EXPAND_ATTENTION_H

#include "ir/expand/writer.h"

/* A number of heads, or the form is refused. */
bool has_heads(struct writer *w, int64_t heads);

/* Which scores are output 3: Attention's qk_matmul_output_mode. */
enum scores { SCORES_NONE = 0, SCORES_MASKED = 2, SCORES_SOFTMAX = 3 };

struct heads_form {
	int64_t heads, kv; /* of queries; of keys and values */
	bool causal;
	enum scores scores;
};

/* Heads from q, k, v to output 0; `inputs`: the mask and perhaps past keys and
 * values; `outputs`: what else is wanted, with a comma before it. */
void say_attention(struct writer *w, const char *inputs, const char *outputs,
    const struct heads_form *form);

/* [b, heads, s, h] back to [b, s, heads * h]. */
void say_joined(struct writer *w, const char *from, const char *to);

/* x [b, s, heads * h] rotated in place of the positions `at` [b, s]; the
 * caches are inputs. */
void say_rotated(struct writer *w, const char *x, const char *to, int64_t heads,
    uint32_t cache);

/* Positions of the queries of x behind a past of `from` (a scalar) tokens:
 * `at` [b, s]. */
void say_positions(struct writer *w, const char *x, const char *from);

#endif
