/* ai.onnx.ml: what is arithmetic. Trees and support vector classifiers have
 * kernels of their own. */
#include <stdio.h>
#include <string.h>

#include "ir/expand/writers.h"

void
write_scaler(struct writer *w)
{
	say(w, "x = Cast(i0){to=1}");
	say(w, "d = Sub(x, @offset)");
	say(w, "o0 = Mul(d, @scale)");
}

/* Input 0 as rows of floats, `x` [rows, features]; one dimension is one row. */
static void
rows(struct writer *w)
{
	const uint32_t rank = rank_in(w, 0);

	if (rank != RANK_UNKNOWN && (rank < 1 || rank > 2))
		refuse_form(w, "features of a rank other than 1 and 2");
	if (rank == 1) {
		say(w, "line = Cast(i0){to=1}");
		say(w, "x = Unsqueeze(line, [0])");
	} else {
		say(w, "x = Cast(i0){to=1}");
	}
}

/* A row of zeros stays. */
void
write_normalizer(struct writer *w)
{
	const char *norm = text_is(w, "norm", "L1") ? "ReduceL1"
	    : text_is(w, "norm", "L2")              ? "ReduceL2"
	                                            : "ReduceMax";

	say(w, "x = Cast(i0){to=1}");
	say(w, "n = %s(x, [-1]){keepdims=1}", norm);
	say(w, "none = Equal(n, 0.0)");
	say(w, "by = Where(none, 1.0, n)");
	say(w, "o0 = Div(x, by)");
}

/* SOURCE: ONNX Runtime's approximation of the inverse error function. */
static void
say_probit(struct writer *w, const char *to)
{
	say(w, "twice = Mul(s, 2.0)");
	say(w, "px = Sub(twice, 1.0)");
	say(w, "below = Sub(1.0, px)");
	say(w, "above = Add(1.0, px)");
	say(w, "inside = Mul(below, above)");
	say(w, "pl = Log(inside)");
	say(w, "half = Mul(pl, 0.5)");
	say(w, "pv = Add(half, %#.9g)", 2 / (3.14159 * 0.147));
	say(w, "square = Mul(pv, pv)");
	say(w, "part = Mul(pl, %#.9g)", 1 / 0.147);
	say(w, "under = Sub(square, part)");
	say(w, "root = Sqrt(under)");
	say(w, "rest = Sub(root, pv)");
	say(w, "size = Sqrt(rest)");
	say(w, "side = Sign(px)");
	say(w, "erf = Mul(side, size)");
	say(w, "%s = Mul(erf, 1.41421356)", to);
}

/* Scores of 0 stay 0. */
static void
say_softmax_zero(struct writer *w, const char *to)
{
	say(w, "most = ReduceMax(s, [-1]){keepdims=1}");
	say(w, "under = Sub(s, most)");
	say(w, "e = Exp(under)");
	say(w, "size = Abs(s)");
	say(w, "is_zero = LessOrEqual(size, 1.0e-7)");
	say(w, "kept = Where(is_zero, 0.0, e)");
	say(w, "sum = ReduceSum(kept, [-1]){keepdims=1}");
	say(w, "%s = Div(kept, sum)", to);
}

/* Scores s [n, classes] become `to`. SOURCE: ONNX Runtime, where PROBIT alone
 * changes the score of a row that has one. */
static void
transform(struct writer *w, const char *to, bool alone)
{
	if (text_is(w, "post_transform", "PROBIT"))
		say_probit(w, to);
	else if (alone || !attr_of(w, "post_transform")
	    || text_is(w, "post_transform", "NONE"))
		say(w, "%s = Identity(s)", to);
	else if (text_is(w, "post_transform", "SOFTMAX"))
		say(w, "%s = Softmax(s){axis=-1}", to);
	else if (text_is(w, "post_transform", "LOGISTIC"))
		say(w, "%s = Sigmoid(s)", to);
	else if (text_is(w, "post_transform", "SOFTMAX_ZERO"))
		say_softmax_zero(w, to);
	else
		refuse_form(w, "this post_transform");
}

/* x . coefficients' + intercepts: `s` [n, scores]. */
static void
linear(struct writer *w, long long scores)
{
	rows(w);
	say(w, "c = Reshape(@coefficients, [%lld, -1])", scores);
	say(w, "ct = Transpose(c){perm=[1, 0]}");
	say(w, "p = MatMul(x, ct)");
	if (attr_of(w, "intercepts"))
		say(w, "s = Add(p, @intercepts)");
	else
		say(w, "s = Identity(p)");
}

void
write_linear_regressor(struct writer *w)
{
	const int64_t targets = int_of(w, "targets", 1);

	linear(w, (long long)targets);
	transform(w, "o0", targets == 1);
}

/* Classes of the labels' attribute, whichever it is. */
static size_t
labels(const struct writer *w, const char **name)
{
	static const char *const names[] = {
	    "classlabels_ints", "classlabels_strings", "classlabels_int64s"};

	for (size_t i = 0; i < 3; i++) {
		const Onnx__AttributeProto *a = attr_of(w, names[i]);

		*name = names[i];
		if (a && a->n_ints + a->n_strings > 0)
			return a->n_ints + a->n_strings;
	}
	return 0;
}

/* One row of coefficients scores the second of two classes. */
static void
second_class(struct writer *w, const char *name)
{
	if (text_is(w, "post_transform", "PROBIT"))
		refuse_form(w, "one row of scores with this post_transform");
	transform(w, "second", !text_is(w, "post_transform", "LOGISTIC"));
	say(w, "first = Sub(1.0, second)");
	say(w, "o1 = Concat(first, second){axis=-1}");
	say(w, "is = Greater(s, 0.0)");
	say(w, "column = Cast(is){to=7}");
	say(w, "at = Squeeze(column, [-1])");
	say(w, "o0 = Gather(@%s, at)", name);
}

void
write_linear_classifier(struct writer *w)
{
	const Onnx__AttributeProto *b = attr_of(w, "intercepts");
	const char *name;
	const size_t n = labels(w, &name);
	const size_t rows = b ? b->n_floats : n;

	if (n == 0 || (rows != n && (rows != 1 || n != 2))) {
		refuse_form(w, "labels and intercepts differ in number");
		return;
	}
	linear(w, (long long)rows);
	if (rows == 1 && n == 2) {
		second_class(w, name);
		return;
	}
	say(w, "at = ArgMax(s){axis=-1, keepdims=0}");
	say(w, "o0 = Gather(@%s, at)", name);
	transform(w, "o1", false);
}

/* Rows of x against support vectors: `k` [n, vectors]. */
static void
kernel(struct writer *w, long long vectors)
{
	const Onnx__AttributeProto *p = attr_of(w, "kernel_params");
	const double gamma = p && p->n_floats > 0 ? (double)p->floats[0] : 0;
	const double coef = p && p->n_floats > 1 ? (double)p->floats[1] : 0;
	const double degree = p && p->n_floats > 2 ? (double)p->floats[2] : 0;

	rows(w);
	say(w, "sv = Reshape(@support_vectors, [%lld, -1])", vectors);
	if (text_is(w, "kernel_type", "RBF")) {
		say(w, "xs = Unsqueeze(x, [1])");
		say(w, "d = Sub(xs, sv)");
		say(w, "d2 = ReduceSumSquare(d, [-1]){keepdims=0}");
		say(w, "e = Mul(d2, %#.9g)", -gamma);
		say(w, "k = Exp(e)");
		return;
	}
	say(w, "svt = Transpose(sv){perm=[1, 0]}");
	say(w, "dot = MatMul(x, svt)");
	if (!attr_of(w, "kernel_type") || text_is(w, "kernel_type", "LINEAR")) {
		say(w, "k = Identity(dot)");
		return;
	}
	say(w, "g = Mul(dot, %#.9g)", gamma);
	say(w, "h = Add(g, %#.9g)", coef);
	if (text_is(w, "kernel_type", "POLY"))
		say(w, "k = Pow(h, %#.9g)", degree);
	else
		say(w, "k = Tanh(h)");
}

void
write_svm_regressor(struct writer *w)
{
	const int64_t n = int_of(w, "n_supports", 0);
	const Onnx__AttributeProto *rho = attr_of(w, "rho");

	if (!rho || rho->n_floats != 1) {
		refuse_form(w, "no rho");
		return;
	}
	if (n > 0) {
		kernel(w, (long long)n);
		say(w, "c = Reshape(@coefficients, [%lld, 1])", (long long)n);
		say(w, "p = MatMul(k, c)");
	} else {
		rows(w);
		say(w, "c = Reshape(@coefficients, [-1, 1])");
		say(w, "p = MatMul(x, c)");
	}
	/* SOURCE: ONNX Runtime has no post_transform here */
	if (int_of(w, "one_class", 0)) {
		say(w, "s = Add(p, @rho)");
		say(w, "inside = Greater(s, 0.0)");
		say(w, "o0 = Where(inside, 1.0, -1.0)");
	} else {
		say(w, "o0 = Add(p, @rho)");
	}
}

/* The first of the names that is an attribute of the call; NULL: none is. */
static const char *
first_of(const struct writer *w, const char *const *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (attr_of(w, name[i]))
			return name[i];
	return NULL;
}

#define FIRST_OF(w, list) first_of(w, list, sizeof(list) / sizeof *(list))

/* What a key that is none becomes. */
static void
say_default(struct writer *w, const char *values)
{
	static const char *const names[] = {"default_tensor", "default_string",
	    "default_int64", "default_float"};
	const char *name = names[0];

	if (strcmp(values, "values_strings") == 0)
		name = names[1];
	else if (strcmp(values, "values_int64s") == 0)
		name = names[2];
	else if (strcmp(values, "values_floats") == 0)
		name = names[3];
	if (attr_of(w, name))
		say(w, "other = Identity(@%s)", name);
	else if (name == names[1])
		say(w, "other = Constant(){value_string=\"_Unused\"}");
	else if (name == names[3])
		say(w, "other = Identity(-0.0)");
	else if (name == names[2])
		say(w, "other = Identity(-1)");
	else
		refuse_form(w, "values_tensor without default_tensor");
}

/* The value at the first key that is the same, and whether one is. */
static void
say_value(struct writer *w, const char *same, const char *values)
{
	say(w, "hit = Cast(%s){to=6}", same);
	say(w, "at = ArgMax(hit){axis=-1, keepdims=0}");
	say(w, "some = ReduceMax(hit, [-1]){keepdims=0}");
	say(w, "known = Cast(some){to=9}");
	say(w, "value = Gather(%s, at)", values);
}

/* Of texts to the numbers beside them, or the other way. */
static void
write_mapped(
    struct writer *w, bool from_texts, const char *texts, const char *numbers)
{
	say(w, "x = Unsqueeze(i0, [-1])");
	say(w, "is = Equal(x, %s)", from_texts ? texts : numbers);
	say_value(w, "is", from_texts ? numbers : texts);
	if (from_texts)
		say(w, "other = Identity(%lld)",
		    (long long)int_of(w, "default_int64", -1));
	else if (attr_of(w, "default_string"))
		say(w, "other = Identity(@default_string)");
	else
		say(w, "other = Constant(){value_string=\"_Unused\"}");
	say(w, "o0 = Where(known, value, other)");
}

/* Of version 1: a text's place among the classes, or the class of a place. */
static void
write_places(struct writer *w)
{
	const Onnx__AttributeProto *classes = attr_of(w, "classes_strings");
	const bool texts = dtype_in(w, 0) == DT_STRING;

	if (dtype_in(w, 0) == DT_UNDEFINED) {
		refuse_form(w, "an input of unknown type");
		return;
	}
	say(w, "places = Range(0, %lld, 1)", (long long)classes->n_strings);
	write_mapped(w, texts, "@classes_strings", "places");
}

/* A key's place among the keys picks its value. From version 4 on NaN is a key
 * like others. */
void
write_label_encoder(struct writer *w)
{
	static const char *const key_names[] = {
	    "keys_int64s", "keys_strings", "keys_floats", "keys_tensor"};
	static const char *const value_names[] = {"values_int64s",
	    "values_strings", "values_floats", "values_tensor"};
	const char *keys = FIRST_OF(w, key_names);
	const char *values = FIRST_OF(w, value_names);

	if (!keys && attr_of(w, "classes_strings")) {
		write_places(w);
		return;
	}
	if (!keys || !values) {
		refuse_form(w, "keys or values are missing");
		return;
	}
	say(w, "x = Unsqueeze(i0, [-1])");
	say(w, "keys = Reshape(@%s, [-1])", keys);
	say(w, "values = Reshape(@%s, [-1])", values);
	say(w, "is = Equal(x, keys)");
	if (w->call->opset >= 4 && dtype_is_float(dtype_in(w, 0))) {
		say(w, "xn = IsNaN(x)");
		say(w, "kn = IsNaN(keys)");
		say(w, "both = And(xn, kn)");
		say(w, "same = Or(is, both)");
	} else {
		say(w, "same = Identity(is)");
	}
	say_value(w, "same", "values");
	say_default(w, values);
	say(w, "o0 = Where(known, value, other)");
}

/* Between texts and numbers, as the input's type says. */
void
write_category_mapper(struct writer *w)
{
	const bool texts = dtype_in(w, 0) == DT_STRING;

	if (dtype_in(w, 0) == DT_UNDEFINED)
		refuse_form(w, "an input of unknown type");
	write_mapped(w, texts, "@cats_strings", "@cats_int64s");
}

/* A value of no category ends the run: its row of the unit matrix is none. */
static void
say_rows_of_unit(struct writer *w, long long n)
{
	say(w, "hit = Cast(is){to=7}");
	say(w, "at = ArgMax(hit){axis=-1, keepdims=0}");
	say(w, "some = ReduceMax(hit, [-1]){keepdims=0}");
	say(w, "none = Sub(1, some)");
	say(w, "beyond = Mul(none, %lld)", n);
	say(w, "row = Add(at, beyond)");
	say(w, "column = Range(0, %lld, 1)", n);
	say(w, "line = Unsqueeze(column, [-1])");
	say(w, "diagonal = Equal(line, column)");
	say(w, "unit = Cast(diagonal){to=1}");
	say(w, "o0 = Gather(unit, row)");
}

/* A value of no category is a row of zeros, unless zeros = 0. */
void
write_one_hot(struct writer *w)
{
	const Onnx__AttributeProto *texts = attr_of(w, "cats_strings");
	const Onnx__AttributeProto *numbers = attr_of(w, "cats_int64s");

	if (texts) {
		say(w, "x = Unsqueeze(i0, [-1])");
		say(w, "is = Equal(x, @cats_strings)");
	} else {
		say(w, "whole = Cast(i0){to=7}");
		say(w, "x = Unsqueeze(whole, [-1])");
		say(w, "is = Equal(x, @cats_int64s)");
	}
	if (int_of(w, "zeros", 1))
		say(w, "o0 = Cast(is){to=1}");
	else
		say_rows_of_unit(w,
		    texts         ? (long long)texts->n_strings
		        : numbers ? (long long)numbers->n_ints
		                  : 0);
}

void
write_imputer(struct writer *w)
{
	const double is = real_of(w, "replaced_value_float", 0);

	if (attr_of(w, "imputed_value_int64s")) {
		say(w, "gone = Equal(i0, %lld)",
		    (long long)int_of(w, "replaced_value_int64", 0));
		say(w, "o0 = Where(gone, @imputed_value_int64s, i0)");
		return;
	}
	if (is < 0 || is >= 0)
		say(w, "gone = Equal(i0, %#.9g)", is);
	else
		say(w, "gone = IsNaN(i0)");
	say(w, "o0 = Where(gone, @imputed_value_floats, i0)");
}

void
write_extractor(struct writer *w)
{
	say(w, "at = Reshape(i1, [-1])");
	if (rank_in(w, 0) == 1) {
		say(w, "row = Unsqueeze(i0, [0])");
		say(w, "o0 = Gather(row, at){axis=-1}");
	} else {
		say(w, "o0 = Gather(i0, at){axis=-1}");
	}
}

/* Input i as rows of `width` floats, `x<i>`: what is beyond is cut off, what is
 * not there is zero. */
static void
say_features(struct writer *w, uint32_t i, long long width)
{
	const struct type *t = type_in(w, i);
	const uint32_t rank = rank_in(w, i);
	const unsigned n = i;

	if (rank == RANK_UNKNOWN || rank < 1) {
		refuse_form(w, "an input of rank 0, or of unknown rank");
		return;
	}
	say(w, "f%u = Cast(i%u){to=1}", n, n);
	if (rank == 1)
		say(w, "r%u = Unsqueeze(f%u, [0])", n, n);
	else if (rank == 2)
		say(w, "r%u = Identity(f%u)", n, n);
	else
		say(w, "r%u = Flatten(f%u){axis=1}", n, n);
	if (rank < 3 && t->dim[rank - 1] == width) {
		say(w, "x%u = Identity(r%u)", n, n);
		return;
	}
	say(w, "rows%u = Shape(r%u){start=0, end=1}", n, n);
	say(w, "room%u = Concat(rows%u, [%lld]){axis=0}", n, n, width);
	say(w, "none%u = Expand(0.0, room%u)", n, n);
	say(w, "wide%u = Concat(r%u, none%u){axis=1}", n, n, n);
	say(w, "x%u = Slice(wide%u, [0], [%lld], [1])", n, n, width);
}

void
write_vectorizer(struct writer *w)
{
	const Onnx__AttributeProto *a = attr_of(w, "inputdimensions");
	const uint32_t n = w->call->ninputs;

	if (!a || a->n_ints != n || n == 0) {
		refuse_form(w, "inputdimensions of another number than inputs");
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (a->ints[i] < 0 || a->ints[i] > INT32_MAX) {
			refuse_form(w, "inputdimensions below 0, or huge");
			return;
		}
		say_features(w, i, (long long)a->ints[i]);
		if (i > 0)
			say(w, "all%u = Concat(%s%u, x%u){axis=1}", (unsigned)i,
			    i == 1 ? "x" : "all", (unsigned)i - 1, (unsigned)i);
	}
	say(w, "o0 = Identity(%s%u)", n == 1 ? "x" : "all", (unsigned)n - 1);
}

void
write_binarizer(struct writer *w)
{
	say(w, "limit = CastLike(%#.9g, i0)", real_of(w, "threshold", 0));
	say(w, "is = Greater(i0, limit)");
	say(w, "o0 = CastLike(is, i0)");
}
