/* Strings and images. */
#include "ir/infer/rules.h"

#include <inttypes.h>
#include <string.h>

static bool
need_strings(struct site *s, uint32_t i)
{
	enum dtype t = in_dtype(s, i);

	return t == DT_UNDEFINED || t == DT_STRING
	    || fault(s, "input %" PRIu32 " is %s, string is needed", i,
	        dtype_name(t));
}

bool
rule_regexfullmatch(struct site *s)
{
	return need_strings(s, 0) && rule_test(s);
}

bool
rule_stringconcat(struct site *s)
{
	return need_strings(s, 0) && need_strings(s, 1) && rule_broadcast(s);
}

/* Each string becomes a row as long as the longest. */
bool
rule_stringsplit(struct site *s)
{
	const struct type *x = in_type(s, 0);
	int64_t *dim;

	if (!need_strings(s, 0))
		return false;
	out_unranked(s, 0, DT_STRING);
	out_shaped(s, 1, DT_INT64, x);
	if (!in_ranked(s, 0))
		return true;
	dim = dims_new(s, x->rank + 1);
	if (x->rank)
		memcpy(dim, x->dim, x->rank * sizeof *dim);
	dim[x->rank] = DIM_UNKNOWN;
	out_tensor(s, 0, DT_STRING, x->rank + 1, dim);
	return true;
}

/* Stop words go: [C] or [1, C] to fewer. */
bool
rule_stringnormalizer(struct site *s)
{
	const struct type *x = in_type(s, 0);
	int64_t *dim;

	if (!need_strings(s, 0))
		return false;
	out_unranked(s, 0, DT_STRING);
	if (!in_ranked(s, 0))
		return true;
	if (x->rank != 1
	    && (x->rank != 2 || (x->dim[0] >= 0 && x->dim[0] != 1)))
		return fault(s, "input is %s, [C] or [1,C] is needed",
		    type_text(x, s->g->symbol, s->pass->scratch));
	dim = dims_copy(s, x->dim, x->rank);
	dim[x->rank - 1] = DIM_UNKNOWN;
	out_tensor(s, 0, DT_STRING, x->rank, dim);
	return true;
}

/* [C] or [N, C] to counts of n-grams: as many as the largest index says. */
bool
rule_tfidf(struct site *s)
{
	const struct type *x = in_type(s, 0);
	uint32_t n;
	const int64_t *index = attr_ints(s->n, "ngram_indexes", &n);
	int64_t *dim, top = -1;

	out_unranked(s, 0, DT_FLOAT);
	for (uint32_t i = 0; i < n; i++) {
		if (index[i] < 0 || index[i] == INT64_MAX)
			return fault(s,
			    "ngram_indexes[%" PRIu32 "] is %" PRId64, i,
			    index[i]);
		top = index[i] > top ? index[i] : top;
	}
	if (!in_ranked(s, 0))
		return true;
	if (x->rank != 1 && x->rank != 2)
		return fault(
		    s, "input has rank %" PRIu32 ", 1 or 2 is needed", x->rank);
	dim = dims_copy(s, x->dim, x->rank);
	dim[x->rank - 1] = top + 1;
	out_tensor(s, 0, DT_FLOAT, x->rank, dim);
	return true;
}

/* An encoded image: [height, width, channels] of bytes. */
bool
rule_imagedecoder(struct site *s)
{
	struct string_view v = attr_str_or(s->n, "pixel_format", "RGB");
	bool grey = v.n == 9 && memcmp(v.s, "Grayscale", 9) == 0;
	int64_t *dim = dims_new(s, 3);

	if (!need_rank(s, 0, 1, "encoded image"))
		return false;
	dim[0] = dim[1] = DIM_UNKNOWN;
	dim[2] = grey ? 1 : 3;
	out_tensor(s, 0, DT_UINT8, 3, dim);
	return true;
}

/* Columns [N, C * block, L] to images [N, C, size...]. */
bool
rule_col2im(struct site *s)
{
	const struct type *x = in_type(s, 0);
	struct nums image, block;
	struct num whole = num_int(1), channels;
	int64_t *dim;

	if (!need_rank(s, 0, 3, "input") || !list_of(s, NULL, 1, &image)
	    || !list_of(s, NULL, 2, &block))
		return false;
	out_unranked(s, 0, in_dtype(s, 0));
	if (!image.known)
		return true;
	dim = dims_new(s, image.n + 2);
	dim[0] = in_ranked(s, 0) ? x->dim[0] : DIM_UNKNOWN;
	dim[1] = DIM_UNKNOWN;
	for (uint32_t i = 0; i < image.n; i++) {
		if (image.e[i].known && image.e[i].v < 1)
			return fault(s, "image_shape[%" PRIu32 "] is %" PRId64,
			    i, image.e[i].v);
		dim[i + 2] = num_as_dim(image.e[i]);
	}
	out_tensor(s, 0, in_dtype(s, 0), image.n + 2, dim);
	if (!block.known || !in_ranked(s, 0))
		return true;
	for (uint32_t i = 0; i < block.n; i++) {
		if (block.e[i].known && block.e[i].v < 1)
			return fault(s, "block_shape[%" PRIu32 "] is %" PRId64,
			    i, block.e[i].v);
		if (!site_mul(s, whole, block.e[i], &whole))
			return false;
	}
	if (whole.known && x->dim[1] >= 0 && x->dim[1] % whole.v != 0)
		return fault(s,
		    "%" PRId64 " rows are not a multiple of a"
		    " block of %" PRId64,
		    x->dim[1], whole.v);
	if (!num_div_floor(
	        &s->pass->symbols, num_dim(x->dim[1]), whole, &channels))
		return true;
	dim[1] = num_as_dim(channels);
	return true;
}
