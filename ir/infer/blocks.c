/* com.microsoft: products and tables of weights in blocks. */
#include "ir/infer/rules.h"

#include <inttypes.h>

/* x [..., K] times weights [K, N], whatever form they have. */
bool
rule_matmulnbits(struct site *s)
{
	const struct type *x = in_type(s, 0);
	const int64_t k = attr_int_or(s->n, "K", 0);
	const int64_t n = attr_int_or(s->n, "N", 0);
	int64_t met, *dim;

	if (k < 1 || n < 1)
		return fault(s, "K = %" PRId64 ", N = %" PRId64, k, n);
	if (!need_min_rank(s, 0, 1, "a"))
		return false;
	if (!in_ranked(s, 0)) {
		out_unranked(s, 0, in_dtype(s, 0));
		return true;
	}
	if (!dim_meet(s, "columns of a and K", x->dim[x->rank - 1], k, &met))
		return false;
	dim = dims_copy(s, x->dim, x->rank);
	dim[x->rank - 1] = n;
	out_tensor(s, 0, in_dtype(s, 0), x->rank, dim);
	return true;
}

/* Codes of data's last dimension: bytes hold several. */
static int64_t
last_in_codes(const struct site *s, int64_t dim)
{
	const int64_t bits = attr_int_or(s->n, "bits", 4);

	if (in_dtype(s, 0) != DT_UINT8 || bits < 1 || bits > 8 || dim < 0
	    || dim > INT32_MAX)
		return dim;
	return dim * (8 / bits);
}

bool
rule_gatherblockquantized(struct site *s)
{
	const struct type *x = in_type(s, 0), *at = in_type(s, 1);
	uint32_t axis;
	int64_t *dim;

	out_unranked(s, 0, in_dtype(s, 2));
	if (!need_min_rank(s, 0, 1, "data"))
		return false;
	if (!in_ranked(s, 0) || !in_ranked(s, 1))
		return true;
	if (!attr_axis(s, "gather_axis", 0, x->rank, &axis))
		return false;
	dim = dims_gathered(s, x, axis, at);
	if (axis + 1 < x->rank)
		dim[x->rank + at->rank - 2] =
		    last_in_codes(s, x->dim[x->rank - 1]);
	out_tensor(s, 0, in_dtype(s, 2), x->rank - 1 + at->rank, dim);
	return true;
}
