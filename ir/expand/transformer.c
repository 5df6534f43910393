/* com.microsoft: attention in the forms the ONNX Runtime optimiser and its LLM
 * builder write, as Attention and RotaryEmbedding of the default domain. */
#include <stdio.h>

#include "ir/expand/writers.h"

/* A mask of 1 (seen) and 0 becomes what is added to scores: `name`. */
static void
mask_of(struct writer *w, uint32_t i, const char *name)
{
	const double hidden = real_of(w, "mask_filter_value", -10000);

	say(w, "%s_f = Cast(i%u){to=1}", name, (unsigned)i);
	say(w, "%s_n = Sub(1.0, %s_f)", name, name);
	say(w, "%s_v = Mul(%s_n, %#.9g)", name, name, hidden);
	if (rank_in(w, i) == 2)
		say(w, "%s_u = Unsqueeze(%s_v, [1, 2])", name, name);
	else if (rank_in(w, i) == 3)
		say(w, "%s_u = Unsqueeze(%s_v, [1])", name, name);
	else if (rank_in(w, i) == 4)
		say(w, "%s_u = Identity(%s_v)", name, name);
	else
		refuse_form(w, "a mask that is no matrix of 0 and 1");
	say(w, "%s = CastLike(%s_u, q)", name, name);
}

/* What is added to the scores: a mask, a bias, both or nothing. Its name. */
static const char *
added(struct writer *w, uint32_t mask, uint32_t bias)
{
	static const char *const name[] = {
	    "i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7", "i8", "i9", "i10"};

	if (has_in(w, mask))
		mask_of(w, mask, "mask");
	if (has_in(w, mask) && has_in(w, bias)) {
		say(w, "both = Add(mask, i%u)", (unsigned)bias);
		return "both";
	}
	return has_in(w, mask) ? "mask" : has_in(w, bias) ? name[bias] : "_";
}

/* Heads from q, k, v (and past keys and values) to output 0. */
static void
attend(struct writer *w, const char *inputs, const char *outputs, int64_t heads,
    int64_t kv_heads, bool causal)
{
	say(w,
	    "o0%s = Attention(q, k, v, %s){q_num_heads=%lld, "
	    "kv_num_heads=%lld, is_causal=%d, scale=@scale, "
	    "softcap=@softcap}",
	    outputs, inputs, (long long)heads, (long long)kv_heads, causal);
}

static bool
has_heads(struct writer *w, int64_t heads)
{
	if (heads < 1 || heads > 65536)
		refuse_form(w, "num_heads");
	return !w->refused;
}

/* Inputs: x, weights [d, 3h], bias, mask, past [2, b, n, s, h], bias of
 * scores. */
void
write_attention(struct writer *w)
{
	const int64_t heads = int_of(w, "num_heads", 0);
	const bool past = has_in(w, 4), present = wants(w, 1);
	const char *mask;
	char in[64];

	if (has_in(w, 6) || int_of(w, "do_rotary", 0)
	    || attr_of(w, "qkv_hidden_sizes"))
		refuse_form(w, "a shared past, rotation, or sizes of its own");
	if (!has_heads(w, heads))
		return;
	say(w, "m = MatMul(i0, i1)");
	if (has_in(w, 2))
		say(w, "x = Add(m, i2)");
	else
		say(w, "x = Identity(m)");
	say(w, "q, k, v = Split(x){axis=-1, num_outputs=3}");
	mask = added(w, 3, 5);
	if (past) {
		say(w, "pk, pv = Split(i4){axis=0, num_outputs=2}");
		say(w, "past_k = Squeeze(pk, [0])");
		say(w, "past_v = Squeeze(pv, [0])");
	}
	snprintf(in, sizeof in, "%s%s", mask, past ? ", past_k, past_v" : "");
	attend(w, in, present ? ", nk, nv" : "", heads, heads,
	    int_of(w, "unidirectional", 0) != 0);
	if (!present)
		return;
	say(w, "new_k = Unsqueeze(nk, [0])");
	say(w, "new_v = Unsqueeze(nv, [0])");
	say(w, "o1 = Concat(new_k, new_v){axis=0}");
}

/* [b, heads, s, h] back to [b, s, heads * h]. */
static void
join_heads(struct writer *w, const char *from, const char *to)
{
	say(w, "%s_t = Transpose(%s){perm=[0, 2, 1, 3]}", to, from);
	say(w, "%s = Reshape(%s_t, [0, 0, -1])", to, to);
}

/* Inputs: query, key, value, bias, mask, bias of scores, past key, past
 * value. Keys and values of rank 4 have their heads apart already. */
void
write_multi_head(struct writer *w)
{
	const int64_t heads = int_of(w, "num_heads", 0);
	const bool past = has_in(w, 6) && has_in(w, 7);
	const char *mask;
	char in[64], out[16] = "";

	if (!has_in(w, 1) || !has_in(w, 2) || wants(w, 3) || has_in(w, 8)
	    || rank_in(w, 0) > 3 || rank_in(w, 1) == 5)
		refuse_form(w, "packed or unknown queries, or scores wanted");
	if (!has_heads(w, heads))
		return;
	if (has_in(w, 3)) {
		say(w, "bq, bk, bv = Split(i3){axis=0, num_outputs=3}");
		say(w, "q = Add(i0, bq)");
	} else {
		say(w, "q = Identity(i0)");
	}
	if (rank_in(w, 1) == 4) {
		if (has_in(w, 3))
			refuse_form(w, "a bias of keys with heads apart");
		join_heads(w, "i1", "k");
		join_heads(w, "i2", "v");
	} else if (has_in(w, 3)) {
		say(w, "k = Add(i1, bk)");
		say(w, "v = Add(i2, bv)");
	} else {
		say(w, "k = Identity(i1)");
		say(w, "v = Identity(i2)");
	}
	mask = added(w, 4, 5);
	snprintf(in, sizeof in, "%s%s", mask, past ? ", i6, i7" : "");
	if (wants(w, 1) || wants(w, 2))
		snprintf(out, sizeof out, ", %s, %s", wants(w, 1) ? "o1" : "_",
		    wants(w, 2) ? "o2" : "_");
	attend(w, in, out, heads, heads, int_of(w, "unidirectional", 0) != 0);
}

/* x [b, s, heads * h] rotated in place of the positions `at` [b, s]; the
 * caches are inputs. */
static void
rotate(struct writer *w, const char *x, const char *to, int64_t heads,
    uint32_t cache)
{
	say(w, "%s_c = Identity(i%u)", to, (unsigned)cache);
	say(w,
	    "%s = RotaryEmbedding(%s, %s_c, i%u, at){num_heads=%lld, "
	    "interleaved=%lld, rotary_embedding_dim=%lld}",
	    to, x, to, (unsigned)cache + 1, (long long)heads,
	    (long long)(int_of(w, "rotary_interleaved", 0)
	        | int_of(w, "interleaved", 0)),
	    (long long)int_of(w, "rotary_embedding_dim", 0));
}

/* Positions of the queries of x behind a past of `from` (a scalar) tokens:
 * `at` [b, s]. */
static void
count_positions(struct writer *w, const char *x, const char *from)
{
	say(w, "batch = Shape(%s){start=0, end=1}", x);
	say(w, "length = Shape(%s){start=1, end=2}", x);
	say(w, "count = Squeeze(length, [0])");
	say(w, "row = Range(0, count, 1)");
	say(w, "moved = Add(row, %s)", from);
	say(w, "both_dims = Concat(batch, length){axis=0}");
	say(w, "at = Expand(moved, both_dims)");
}

/* Of one tensor, queries, then keys, then values; heads are as wide in all. */
static void
unpack(struct writer *w, int64_t heads, int64_t kv)
{
	say(w, "width = Shape(i0){start=2, end=3}");
	say(w, "head = Div(width, [%lld])", (long long)(heads + 2 * kv));
	say(w, "sizes = Mul(head, [%lld, %lld, %lld])", (long long)heads,
	    (long long)kv, (long long)kv);
	say(w, "q0, k0, v = Split(i0, sizes){axis=-1}");
}

/* What the past holds of input i: as many tokens as the longest has before the
 * queries; a buffer may have room for more, which stays behind them. */
static void
cut_past(struct writer *w, uint32_t i, const char *name)
{
	say(w, "past_%s = Slice(i%u, [0], before, [2])", name, (unsigned)i);
	say(w, "rest_%s = Slice(i%u, longest, [2147483647], [2])", name,
	    (unsigned)i);
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

static void
rotate_both(struct writer *w, int64_t heads, int64_t kv)
{
	if (!int_of(w, "do_rotary", 0)) {
		say(w, "q = Identity(q0)");
		say(w, "k = Identity(k0)");
		return;
	}
	if (has_in(w, 9))
		say(w, "at = Identity(i9)");
	else
		count_positions(w, "i0", "from");
	rotate(w, "q0", "q", heads, 7);
	rotate(w, "k0", "k", kv, 7);
}

/* The scores and what the cache is afterwards. */
static void
attend_group(struct writer *w, int64_t heads, int64_t kv, bool past)
{
	const char *keys = wants(w, 1) ? "o1" : "_";
	const char *values = wants(w, 2) ? "o2" : "_";
	char in[64], out[32] = "";

	snprintf(in, sizeof in, "%s%s", has_in(w, 10) ? "i10" : "_",
	    past ? ", past_k, past_v" : "");
	if (past)
		snprintf(out, sizeof out, ", nk, nv");
	else if (wants(w, 1) || wants(w, 2))
		snprintf(out, sizeof out, ", %s, %s", keys, values);
	attend(w, in, out, heads, kv, true);
	if (past && wants(w, 1))
		say(w, "o1 = Concat(nk, rest_k){axis=2}");
	if (past && wants(w, 2))
		say(w, "o2 = Concat(nv, rest_v){axis=2}");
}

/* Inputs: query, key, value, past key, past value, lengths - 1, longest, cosine
 * and sine caches, positions, bias of scores, head sink. */
void
write_group_query(struct writer *w)
{
	const int64_t heads = int_of(w, "num_heads", 0);
	const int64_t kv = int_of(w, "kv_num_heads", 0);
	const bool past = has_in(w, 3) && has_in(w, 4);

	if (int_of(w, "local_window_size", -1) > 0 || has_in(w, 11)
	    || int_of(w, "smooth_softmax", 0) || wants(w, 3) || !has_in(w, 6))
		refuse_form(w, "a local window, a sink, or scores wanted");
	if (!has_heads(w, heads) || !has_heads(w, kv))
		return;
	if (has_in(w, 1)) {
		say(w, "q0 = Identity(i0)");
		say(w, "k0 = Identity(i1)");
		say(w, "v = Identity(i2)");
	} else {
		unpack(w, heads, kv);
	}
	count_tokens(w);
	if (past) {
		cut_past(w, 3, "k");
		cut_past(w, 4, "v");
	}
	rotate_both(w, heads, kv);
	attend_group(w, heads, kv, past);
}

/* Inputs: x, positions [b, s] or [1], caches. */
void
write_rotary(struct writer *w)
{
	const struct type *cache = type_in(w, 2);
	const uint32_t rank = rank_in(w, 0);
	int64_t width;

	if ((rank != 3 && rank != 4) || rank_in(w, 1) == RANK_UNKNOWN || !cache
	    || cache->rank != 2 || cache->dim[1] < 1
	    || int_of(w, "is_packed_batching", 0)) {
		refuse_form(w, "shapes are not known, or batches are packed");
		return;
	}
	width = int_of(w, "rotary_embedding_dim", 0) ? 0 : 2 * cache->dim[1];
	if (rank_in(w, 1) == 2)
		say(w, "at = Identity(i1)");
	else
		say(w, "from = Squeeze(i1, [0])");
	if (rank == 4) {
		join_heads(w, "i0", "x");
	} else {
		say(w, "x = Identity(i0)");
	}
	if (rank_in(w, 1) != 2)
		count_positions(w, "x", "from");
	if (rank == 3 && int_of(w, "num_heads", 0) > 0) {
		rotate(w, "x", "o0", int_of(w, "num_heads", 0), 2);
		return;
	}
	if (width == 0) {
		refuse_form(w, "a part of each head, of unknown width");
		return;
	}
	say(w, "heads = Reshape(x, [0, 0, -1, %lld])", (long long)width);
	say(w, "apart = Transpose(heads){perm=[0, 2, 1, 3]}");
	say(w, "turned = RotaryEmbedding(apart, i2, i3, at){interleaved=%lld}",
	    (long long)int_of(w, "interleaved", 0));
	if (rank == 4)
		say(w, "o0 = Identity(turned)");
	else
		join_heads(w, "turned", "o0");
}
