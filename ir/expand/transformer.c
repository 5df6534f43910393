/* com.microsoft: attention in the forms the ONNX Runtime optimiser and its LLM
 * builder write, as Attention and RotaryEmbedding of the default domain. */
#include <stdio.h>
#include <string.h>

#include "ir/expand/attention.h"
#include "ir/expand/writers.h"

/* Of one number a sequence, where its keys end; of two, where they begin, too:
 * `seen` [b, keys] of the keys' count `keys`. */
static void
seen_between(struct writer *w, uint32_t i)
{
	const struct type *ends = type_in(w, i), *x = type_in(w, 0);
	const bool begins =
	    ends->dim[0] != x->dim[0] && ends->dim[0] == 2 * x->dim[0];

	say(w, "ends = Cast(i%u){to=7}", (unsigned)i);
	say(w, "count_keys = Squeeze(keys, [0])");
	say(w, "key = Range(0, count_keys, 1)");
	if (begins) {
		say(w, "end, begin = Split(ends){axis=0, num_outputs=2}");
		say(w, "first = Unsqueeze(begin, [1])");
		say(w, "after = GreaterOrEqual(key, first)");
	} else {
		say(w, "end = Identity(ends)");
	}
	say(w, "last = Unsqueeze(end, [1])");
	say(w, "before = Less(key, last)");
	say(w,
	    begins ? "seen = And(before, after)" : "seen = Identity(before)");
}

/* A mask of 1 (seen) and 0, or where what is seen ends, becomes what is added to
 * scores: `name`. */
static void
mask_of(struct writer *w, uint32_t i, const char *name)
{
	const double hidden = real_of(w, "mask_filter_value", -10000);
	uint32_t rank = rank_in(w, i);

	if (rank == 1 && rank_in(w, 0) == 3) {
		seen_between(w, i);
		say(w, "%s_f = Cast(seen){to=1}", name);
		rank = 2;
	} else {
		say(w, "%s_f = Cast(i%u){to=1}", name, (unsigned)i);
	}
	say(w, "%s_n = Sub(1.0, %s_f)", name, name);
	say(w, "%s_v = Mul(%s_n, %#.9g)", name, name, hidden);
	if (rank == 2)
		say(w, "%s_u = Unsqueeze(%s_v, [1, 2])", name, name);
	else if (rank == 3)
		say(w, "%s_u = Unsqueeze(%s_v, [1])", name, name);
	else if (rank == 4)
		say(w, "%s_u = Identity(%s_v)", name, name);
	else
		refuse_form(w, "a mask of unknown rank");
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

void
say_attention(struct writer *w, const char *inputs, const char *outputs,
    const struct heads_form *form)
{
	char mode[48] = "";

	if (form->scores != SCORES_NONE)
		snprintf(mode, sizeof mode, ", qk_matmul_output_mode=%d",
		    (int)form->scores);
	say(w,
	    "o0%s = Attention(q, k, v, %s){q_num_heads=%lld, "
	    "kv_num_heads=%lld, is_causal=%d, scale=@scale, "
	    "softcap=@softcap%s}",
	    outputs, inputs, (long long)form->heads, (long long)form->kv,
	    form->causal, mode);
}

bool
has_heads(struct writer *w, int64_t heads)
{
	if (heads < 1 || heads > 65536)
		refuse_form(w, "num_heads");
	return !w->refused;
}

/* Are keys and values of different widths asked for? */
static bool
widths_differ(const struct writer *w)
{
	const Onnx__AttributeProto *sizes = attr_of(w, "qkv_hidden_sizes");

	return sizes && sizes->n_ints == 3 && sizes->ints[1] != sizes->ints[2];
}

/* Are queries and the new keys known to be as many? */
static bool
as_many_keys(const struct writer *w)
{
	const struct type *q = type_in(w, 0), *k = type_in(w, 1);
	const uint32_t at = rank_in(w, 1) == 4 ? 2 : 1;

	return q && k && rank_in(w, 0) == 3 && rank_in(w, 1) > at
	    && rank_in(w, 1) != RANK_UNKNOWN && k->dim[at] != DIM_UNKNOWN
	    && q->dim[1] == k->dim[at];
}

/* What is added where query i sees the keys up to its place behind the past, and
 * the last all: `one_way`, `mask` among it. SOURCE: ONNX Runtime. */
static void
say_one_way(struct writer *w, const char *mask)
{
	say(w, "queries = Shape(q){start=1, end=2}");
	say(w, "passed = Sub(keys, new_keys)");
	say(w, "nqueries = Squeeze(queries, [0])");
	say(w, "nkeys = Squeeze(keys, [0])");
	say(w, "npassed = Squeeze(passed, [0])");
	say(w, "column = Range(0, nkeys, 1)");
	say(w, "row = Range(0, nqueries, 1)");
	say(w, "place = Add(row, npassed)");
	say(w, "line = Unsqueeze(place, [1])");
	say(w, "up_to = LessOrEqual(column, line)");
	say(w, "final = Sub(nqueries, 1)");
	say(w, "is_final = GreaterOrEqual(row, final)");
	say(w, "final_row = Unsqueeze(is_final, [1])");
	say(w, "visible = Or(up_to, final_row)");
	say(w, "visible4 = Unsqueeze(visible, [0, 1])");
	say(w, "never = CastLike(-3.4028235e38, q)");
	say(w, "one_way = Where(visible4, %s, never)",
	    strcmp(mask, "_") == 0 ? "0.0~q" : mask);
}

/* What a form of self-attention finds where: the queries, keys and values side
 * by side in `x`, and inputs. */
struct self_form {
	int64_t heads;
	uint32_t mask, past, bias; /* of scores */
};

static void
split_heads(struct writer *w)
{
	if (attr_of(w, "qkv_hidden_sizes"))
		say(w, "q, k, v = Split(x, @qkv_hidden_sizes){axis=-1}");
	else
		say(w, "q, k, v = Split(x){axis=-1, num_outputs=3}");
}

/* The past is [2, b, n, s, h]. */
static void
say_self_attention(struct writer *w, const struct self_form *f)
{
	const bool past = has_in(w, f->past), present = wants(w, 1);
	const char *mask;
	char in[64];

	split_heads(w);
	say(w, "queries = Shape(i0){start=1, end=2}");
	if (past)
		say(w, "past_keys = Shape(i%u){start=3, end=4}",
		    (unsigned)f->past);
	say(w,
	    past ? "keys = Add(queries, past_keys)"
	         : "keys = Identity(queries)");
	mask = added(w, f->mask, f->bias);
	if (past) {
		say(w, "pk, pv = Split(i%u){axis=0, num_outputs=2}",
		    (unsigned)f->past);
		say(w, "past_k = Squeeze(pk, [0])");
		say(w, "past_v = Squeeze(pv, [0])");
	}
	snprintf(in, sizeof in, "%s%s", mask, past ? ", past_k, past_v" : "");
	say_attention(w, in, present ? ", nk, nv" : "",
	    &(struct heads_form){.heads = f->heads,
	        .kv = f->heads,
	        .causal = int_of(w, "unidirectional", 0) != 0});
	if (!present)
		return;
	say(w, "new_k = Unsqueeze(nk, [0])");
	say(w, "new_v = Unsqueeze(nv, [0])");
	say(w, "o1 = Concat(new_k, new_v){axis=0}");
}

/* Inputs: x, weights [d, 3h], bias, mask, past, bias of scores. */
void
write_attention(struct writer *w)
{
	const int64_t heads = int_of(w, "num_heads", 0);

	if (has_in(w, 6))
		refuse_form(w, "past_sequence_length (input 6)");
	if (int_of(w, "do_rotary", 0))
		refuse_form(w, "do_rotary");
	if (wants(w, 1) && widths_differ(w))
		refuse_form(w,
		    "present wanted of keys and values of "
		    "different widths (qkv_hidden_sizes)");
	if (!has_heads(w, heads))
		return;
	say(w, "m = MatMul(i0, i1)");
	if (has_in(w, 2))
		say(w, "x = Add(m, i2)");
	else
		say(w, "x = Identity(m)");
	say_self_attention(w,
	    &(struct self_form){
	        .heads = heads, .mask = 3, .past = 4, .bias = 5});
}

/* Inputs: x and weights in 8 bits, bias, their scales, mask, their zero points,
 * past. */
void
write_quantised_attention(struct writer *w)
{
	const int64_t heads = int_of(w, "num_heads", 0);

	if (int_of(w, "do_rotary", 0))
		refuse_form(w, "do_rotary");
	if (!has_heads(w, heads))
		return;
	say(w, "whole = MatMulInteger(i0, i1, %s, %s)",
	    has_in(w, 6) ? "i6" : "_", has_in(w, 7) ? "i7" : "_");
	say(w, "unit = Mul(i3, i4)");
	say(w, "real = CastLike(whole, unit)");
	say(w, "product = Mul(real, unit)");
	say(w, "x = Add(product, i2)");
	say_self_attention(w,
	    &(struct self_form){
	        .heads = heads, .mask = 5, .past = 8, .bias = UINT32_MAX});
}

void
say_joined(struct writer *w, const char *from, const char *to)
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
	struct heads_form form = {.heads = heads,
	    .kv = heads,
	    .causal = int_of(w, "unidirectional", 0) != 0,
	    .scores = wants(w, 3) ? SCORES_MASKED : SCORES_NONE};
	const char *mask;
	char in[64], out[24] = "";

	if (!has_in(w, 1) || !has_in(w, 2) || rank_in(w, 1) == 5)
		refuse_form(w, "packed queries, keys and values");
	if (rank_in(w, 0) > 3)
		refuse_form(w, "queries that are not of rank 3");
	if (has_in(w, 8))
		refuse_form(w, "past_sequence_length (input 8)");
	if (!has_heads(w, heads))
		return;
	if (has_in(w, 3)) {
		say(w, "as_query = Shape(i0){start=2, end=3}");
		say(w, "all = Shape(i3)");
		say(w, "both_keys = Add(as_query, as_query)");
		say(w, "as_value = Sub(all, both_keys)");
		say(w, "parts = Concat(as_query, as_query, as_value){axis=0}");
		say(w, "bq, bk, bv = Split(i3, parts){axis=0}");
		say(w, "q = Add(i0, bq)");
	} else {
		say(w, "q = Identity(i0)");
	}
	if (rank_in(w, 1) == 4) {
		say_joined(w, "i1", "k");
		say_joined(w, "i2", "v");
	} else if (has_in(w, 3)) {
		say(w, "k = Add(i1, bk)");
		say(w, "v = Add(i2, bv)");
	} else {
		say(w, "k = Identity(i1)");
		say(w, "v = Identity(i2)");
	}
	say(w, "new_keys = Shape(k){start=1, end=2}");
	if (past)
		say(w, "past_keys = Shape(i6){start=2, end=3}");
	say(w,
	    past ? "keys = Add(new_keys, past_keys)"
	         : "keys = Identity(new_keys)");
	mask = added(w, 4, 5);
	if (form.causal && (!as_many_keys(w) || wants(w, 3))) {
		say_one_way(w, mask);
		mask = "one_way";
		form.causal = false;
	}
	snprintf(in, sizeof in, "%s%s", mask, past ? ", i6, i7" : "");
	if (wants(w, 1) || wants(w, 2) || wants(w, 3))
		snprintf(out, sizeof out, ", %s, %s%s",
		    wants(w, 1) ? "o1" : "_", wants(w, 2) ? "o2" : "_",
		    wants(w, 3) ? ", o3" : "");
	say_attention(w, in, out, &form);
}

void
say_rotated(struct writer *w, const char *x, const char *to, int64_t heads,
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

void
say_positions(struct writer *w, const char *x, const char *from)
{
	say(w, "batch = Shape(%s){start=0, end=1}", x);
	say(w, "length = Shape(%s){start=1, end=2}", x);
	say(w, "count = Squeeze(length, [0])");
	say(w, "row = Range(0, count, 1)");
	say(w, "moved = Add(row, %s)", from);
	say(w, "both_dims = Concat(batch, length){axis=0}");
	say(w, "at = Expand(moved, both_dims)");
}

/* x [b, heads, s, h] rotated in place of the positions `at`. */
static void
rotate_heads(struct writer *w, const char *x, const char *to)
{
	say(w,
	    "%s = RotaryEmbedding(%s, i2, i3, at){interleaved=%lld, "
	    "rotary_embedding_dim=%lld}",
	    to, x, (long long)int_of(w, "interleaved", 0),
	    (long long)int_of(w, "rotary_embedding_dim", 0));
}

/* Inputs: x, positions [b, s] or [1], caches. */
void
write_rotary(struct writer *w)
{
	const struct type *cache = type_in(w, 2);
	const uint32_t rank = rank_in(w, 0);

	if ((rank != 3 && rank != 4) || rank_in(w, 1) == RANK_UNKNOWN || !cache
	    || cache->rank != 2 || cache->dim[1] < 1
	    || int_of(w, "is_packed_batching", 0)) {
		refuse_form(w, "shapes are not known, or batches are packed");
		return;
	}
	if (rank_in(w, 1) == 2)
		say(w, "at = Identity(i1)");
	else
		say(w, "from = Squeeze(i1, [0])");
	if (rank == 4)
		say_joined(w, "i0", "x");
	else
		say(w, "x = Identity(i0)");
	if (rank_in(w, 1) != 2)
		say_positions(w, "x", "from");
	if (rank == 4) {
		rotate_heads(w, "i0", "o0");
	} else if (int_of(w, "num_heads", 0) > 0) {
		say_rotated(w, "x", "o0", int_of(w, "num_heads", 0), 2);
	} else if (int_of(w, "rotary_embedding_dim", 0)) {
		refuse_form(w, "a part of each head, of unknown width");
	} else {
		say(w, "heads = Reshape(x, [0, 0, -1, %lld])",
		    2 * (long long)cache->dim[1]);
		say(w, "apart = Transpose(heads){perm=[0, 2, 1, 3]}");
		rotate_heads(w, "apart", "turned");
		say_joined(w, "turned", "o0");
	}
}
