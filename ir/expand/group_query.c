/* com.microsoft: GroupQueryAttention, the LLM builder's attention over a cache. */
#include <stdio.h>

#include "ir/expand/attention.h"
#include "ir/expand/writers.h"

/* Sequences have their tokens at the cache's front. All but those of a batch with
 * a past are as long as the longest; in such a batch (`ragged`) each has `held`
 * [b] tokens before the queries, of a cache of `before` or more. */
struct grouped_heads {
	int64_t heads, kv; /* of queries; of keys and values */
	int64_t window; /* keys a query sees, itself among them; < 1: all */
	bool causal;
	bool sink; /* one more score, which nothing comes of */
	bool ragged;
	bool to_end; /* a query sees all keys of its own sequence */
	enum scores scores; /* before the softmax, those not seen are 0 */
};

static bool
has_past(const struct writer *w)
{
	return has_in(w, 3) && has_in(w, 4);
}

/* Of one tensor, queries, then keys, then values; heads are as wide in all. */
static void
unpack(struct writer *w, int64_t heads, int64_t kv)
{
	const int64_t all = heads + 2 * kv;

	say(w, "width = Shape(i0){start=2, end=3}");
	say(w, "head = Div(width, [%lld])", (long long)all);
	say(w, "sizes = Mul(head, [%lld, %lld, %lld])", (long long)heads,
	    (long long)kv, (long long)kv);
	say(w, "q0, k0, v = Split(i0, sizes){axis=-1}");
}

/* What the past holds of input i: as many tokens as the longest has before the
 * queries; a buffer may have room for more, of zeros afterwards. */
static void
cut_past(struct writer *w, uint32_t i, const char *name)
{
	say(w, "past_%s = Slice(i%u, [0], before, [2])", name, (unsigned)i);
	say(w, "room_%s = Slice(i%u, longest, [2147483647], [2])", name,
	    (unsigned)i);
	say(w, "room_%s_size = Shape(room_%s)", name, name);
	say(w, "rest_%s = Expand(0.0~q, room_%s_size)", name, name);
}

/* The tokens each sequence has before the queries, `held` [b]: none where they
 * are a prompt. */
static void
count_held(struct writer *w)
{
	say(w, "ends = Cast(i5){to=7}");
	say(w, "end = Reshape(ends, [-1])");
	say(w, "tokens = Add(end, 1)");
	say(w, "fore = Sub(tokens, queries)");
	say(w, "most = Min(fore, before)");
	say(w, "held = Max(most, 0)");
}

/* Input i with the new heads `n`_h behind what each sequence holds, and zeros
 * behind those: `o`. */
static void
scatter_past(struct writer *w, uint32_t i, const char *n, const char *o)
{
	say(w, "past_%s = Slice(i%u, [0], before, [2])", n, (unsigned)i);
	say(w, "size_%s = Shape(i%u)", n, (unsigned)i);
	say(w, "front_%s = Slice(size_%s, [0], [2], [0])", n, n);
	say(w, "back_%s = Slice(size_%s, [3], [4], [0])", n, n);
	say(w, "buffer_%s = Slice(size_%s, [2], [3], [0])", n, n);
	say(w, "beyond_%s = Sub(buffer_%s, before)", n, n);
	say(w, "extra_%s = Max(beyond_%s, queries)", n, n);
	say(w, "room_%s_size = Concat(front_%s, extra_%s, back_%s){axis=0}", n,
	    n, n, n);
	say(w, "room_%s = Expand(0.0~q, room_%s_size)", n, n);
	say(w, "cache_%s = Concat(past_%s, room_%s){axis=2}", n, n, n);
	say(w, "slots_%s = Shape(cache_%s){start=2, end=3}", n, n);
	say(w, "nslots_%s = Squeeze(slots_%s, [0])", n, n);
	say(w, "slot_%s = Range(0, nslots_%s, 1)", n, n);
	say(w, "held_%s = Unsqueeze(held, [1])", n);
	say(w, "kept_%s = Less(slot_%s, held_%s)", n, n, n);
	say(w, "kept4_%s = Unsqueeze(kept_%s, [1, 3])", n, n);
	say(w, "clean_%s = Where(kept4_%s, cache_%s, 0.0~q)", n, n, n);
	say(w, "%s = TensorScatter(clean_%s, %sh, held){axis=2}", o, n, n);
}

/* The tokens of the longest sequence, and those before the queries. */
static void
count_tokens(struct writer *w)
{
	say(w, "whole = Cast(i6){to=7}");
	say(w, "longest = Reshape(whole, [1])");
	say(w, "queries = Shape(i0){start=1, end=2}");
	say(w, "before = Sub(longest, queries)");
	say(w, "from = Squeeze(before, [0])");
}

/* Of a ragged batch, the queries' places: `to` [b, s]. */
static void
say_places(struct writer *w, const char *to)
{
	say(w, "%s_count = Squeeze(queries, [0])", to);
	say(w, "%s_row = Range(0, %s_count, 1)", to, to);
	say(w, "%s_held = Unsqueeze(held, [1])", to);
	say(w, "%s = Add(%s_row, %s_held)", to, to, to);
}

static void
rotate_both(struct writer *w, int64_t heads, int64_t kv, bool ragged)
{
	if (!int_of(w, "do_rotary", 0)) {
		say(w, "q = Identity(q0)");
		say(w, "k = Identity(k0)");
		return;
	}
	if (has_in(w, 9))
		say(w, "at = Identity(i9)");
	else if (ragged)
		say_places(w, "at");
	else
		say_positions(w, "i0", "from");
	say_rotated(w, "q0", "q", heads, 7);
	say_rotated(w, "k0", "k", kv, 7);
}

/* What the cache is afterwards, `nk` and `nv` of all tokens and the room left. */
static void
say_present(struct writer *w)
{
	if (has_past(w)) {
		say(w, "o1 = Concat(nk, rest_k){axis=2}");
		say(w, "o2 = Concat(nv, rest_v){axis=2}");
	} else {
		say(w, "o1 = Identity(nk)");
		say(w, "o2 = Identity(nv)");
	}
}

/* Which keys a query sees: `seen` [1 or b, 1, s, keys]. */
static void
say_seen(struct writer *w, const struct grouped_heads *g)
{
	say(w, "last = Squeeze(longest, [0])");
	say(w, "key = Range(0, last, 1)");
	if (g->ragged) {
		say_places(w, "query");
		say(w, "line = Unsqueeze(query, [2])");
	} else {
		say(w, "query = Range(from, last, 1)");
		say(w, "line = Unsqueeze(query, [1])");
	}
	if (g->to_end)
		say(w, "until = Unsqueeze(tokens, [1, 2])");
	say(w,
	    g->causal       ? "not_after = LessOrEqual(key, line)"
	        : g->to_end ? "not_after = Less(key, until)"
	                    : "not_after = GreaterOrEqual(key, 0)");
	if (g->window > 0) {
		say(w, "edge = Sub(line, %lld)", (long long)g->window);
		say(w, "near = Greater(key, edge)");
		say(w, "seen = And(not_after, near)");
	} else {
		say(w, "seen = Identity(not_after)");
	}
}

/* What is added to the scores: `mask`, of four dimensions. */
static void
say_mask(struct writer *w, const struct grouped_heads *g)
{
	say_seen(w, g);
	say(w,
	    g->ragged || g->to_end ? "seen4 = Unsqueeze(seen, [1])"
	                           : "seen4 = Unsqueeze(seen, [0, 1])");
	say(w, "hidden = CastLike(-3.0e38, q)");
	if (has_in(w, 10))
		say(w, "mask = Where(seen4, i10, hidden)");
	else
		say(w, "mask = Where(seen4, 0.0~q, hidden)");
}

/* [b, s, heads * h] as [b, heads, s, h]. */
static void
say_apart(struct writer *w, const char *from, const char *to, int64_t heads)
{
	say(w, "%s_h = Reshape(%s, [0, 0, %lld, -1])", to, from,
	    (long long)heads);
	say(w, "%s = Transpose(%s_h){perm=[0, 2, 1, 3]}", to, to);
}

/* One more key and value, of zeros, behind those of `from`: `to`. */
static void
say_one_more(struct writer *w, const char *from, const char *to)
{
	say(w, "%s_one = Slice(%s, [0], [1], [2])", to, from);
	say(w, "%s_size = Shape(%s_one)", to, to);
	say(w, "%s_zero = Expand(0.0~q, %s_size)", to, to);
	say(w, "%s = Concat(%s, %s_zero){axis=2}", to, from, to);
}

/* Heads of queries, and keys and values of past and queries: `qh`, `nk`, `nv`;
 * of a ragged batch the whole cache, too: outputs 1 and 2. */
static void
say_heads(struct writer *w, const struct grouped_heads *g)
{
	say_apart(w, "q", "qh", g->heads);
	say_apart(w, "k", "kh", g->kv);
	say_apart(w, "v", "vh", g->kv);
	if (g->ragged) {
		scatter_past(w, 3, "k", "o1");
		scatter_past(w, 4, "v", "o2");
		say(w, "nk = Slice(o1, [0], longest, [2])");
		say(w, "nv = Slice(o2, [0], longest, [2])");
	} else if (has_past(w)) {
		say(w, "nk = Concat(past_k, kh){axis=2}");
		say(w, "nv = Concat(past_v, vh){axis=2}");
	} else {
		say(w, "nk = Identity(kh)");
		say(w, "nv = Identity(vh)");
	}
}

/* Heads `qh` to output 0, and their scores where they are wanted. */
static void
say_all(struct writer *w, const struct grouped_heads *g, const char *inputs,
    const char *scores)
{
	if (g->scores == SCORES_NONE)
		say(w,
		    "all = Attention(qh, %s){scale=@scale, softcap=@softcap}",
		    inputs);
	else
		say(w,
		    "all, _, _, %s = Attention(qh, %s){scale=@scale, "
		    "softcap=@softcap, qk_matmul_output_mode=%d}",
		    scores, inputs, (int)g->scores);
	say_joined(w, "all", "o0");
}

/* A sink is the score of a key that has no value. */
static void
say_sunk(struct writer *w, const struct grouped_heads *g)
{
	say_one_more(w, "nk", "keys");
	say_one_more(w, "nv", "values");
	if (g->ragged || g->to_end) {
		say(w, "rows = Shape(qh){start=0, end=1}");
		say(w, "wide_to = Concat(rows, [%lld, 1, 1]){axis=0}",
		    (long long)g->heads);
		say(w, "wide = Expand(mask, wide_to)");
	} else {
		say(w, "wide = Expand(mask, [1, %lld, 1, 1])",
		    (long long)g->heads);
	}
	say(w, "wide_size = Shape(wide){start=0, end=3}");
	say(w, "column_size = Concat(wide_size, [1]){axis=0}");
	if (has_in(w, 11))
		say(w, "sinks = Reshape(i11, [1, -1, 1, 1])");
	else
		say(w, "sinks = CastLike(0.0, q)");
	say(w, "column = Expand(sinks, column_size)");
	say(w, "bias = Concat(wide, column){axis=3}");
	say_all(w, g, "keys, values, bias", "with_sink");
	if (g->scores != SCORES_NONE)
		say(w, "scores = Slice(with_sink, [0], longest, [3])");
}

/* Scores as output 3. */
static void
say_scores(struct writer *w, const struct grouped_heads *g)
{
	if (g->scores == SCORES_MASKED)
		say(w, "o3 = Where(seen4, scores, 0.0~q)");
	else if (g->scores == SCORES_SOFTMAX)
		say(w, "o3 = Identity(scores)");
}

static void
say_group(struct writer *w, const struct grouped_heads *g)
{
	const bool plain = g->causal && g->window < 1 && !g->sink && !g->ragged
	    && g->scores != SCORES_MASKED;
	const struct heads_form form = {g->heads, g->kv, plain, g->scores};
	char in[64];

	if (!plain)
		say_mask(w, g);
	if (g->sink || g->ragged)
		say_heads(w, g);
	if (g->sink) {
		say_sunk(w, g);
	} else if (g->ragged) {
		say_all(w, g, "nk, nv, mask", "scores");
	} else {
		snprintf(in, sizeof in, "%s%s",
		    !plain              ? "mask"
		        : has_in(w, 10) ? "i10"
		                        : "_",
		    has_past(w) ? ", past_k, past_v" : "");
		say_attention(
		    w, in, g->scores ? ", nk, nv, scores" : ", nk, nv", &form);
	}
	if (!g->ragged)
		say_present(w);
	say_scores(w, g);
}

static bool
is_one_sequence(const struct writer *w)
{
	const struct type *x = type_in(w, 0);

	return x && x->kind == TYPE_TENSOR && x->rank == 3 && x->dim[0] == 1;
}

static enum scores
scores_of(struct writer *w)
{
	const int64_t told = int_of(w, "qk_output", 0);

	if (!wants(w, 3))
		return SCORES_NONE;
	if (told != 1 && told != 2)
		refuse_form(w, "scores wanted (output 3) without qk_output");
	return told == 1 ? SCORES_MASKED : SCORES_SOFTMAX;
}

/* Inputs: query, key, value, past key, past value, lengths - 1, longest, cosine
 * and sine caches, positions, bias of scores, head sink. */
void
write_group_query(struct writer *w)
{
	const struct grouped_heads g = {
	    .heads = int_of(w, "num_heads", 0),
	    .kv = int_of(w, "kv_num_heads", 0),
	    .window = int_of(w, "local_window_size", -1),
	    .causal = int_of(w, "causal", 1) != 0,
	    .ragged = has_past(w) && !is_one_sequence(w),
	    .to_end = int_of(w, "causal", 1) == 0 && !is_one_sequence(w),
	    .sink = has_in(w, 11) || int_of(w, "smooth_softmax", 0) > 0,
	    .scores = scores_of(w),
	};

	for (uint32_t i = 12; i < w->call->ninputs; i++)
		if (has_in(w, i))
			refuse_form(w, "quantised caches, norms of queries");
	if (!has_in(w, 5) || !has_in(w, 6))
		refuse_form(w, "lengths unknown (inputs 5 and 6)");
	if (!has_heads(w, g.heads) || !has_heads(w, g.kv))
		return;
	if (has_in(w, 1)) {
		say(w, "q0 = Identity(i0)");
		say(w, "k0 = Identity(i1)");
		say(w, "v = Identity(i2)");
	} else {
		unpack(w, g.heads, g.kv);
	}
	count_tokens(w);
	if (g.ragged || g.to_end)
		count_held(w);
	rotate_both(w, g.heads, g.kv, g.ragged);
	if (has_past(w) && !g.ragged) {
		cut_past(w, 3, "k");
		cut_past(w, 4, "v");
	}
	say_group(w, &g);
}
