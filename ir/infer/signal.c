/* Spectra and windows. */
#include "ir/infer/rules.h"

#include <inttypes.h>

/* The number an input of one element holds; unknown when it is not known. */
static struct num
scalar_of(const struct site *s, uint32_t i)
{
	struct small x = in_small(s, i);

	return x.e && x.n == 1 ? x.e[0] : NUM_UNKNOWN;
}

static bool
positive(struct site *s, const char *what, struct num n)
{
	if (n.known && n.v < 1)
		return fault(s, "%s is %" PRId64, what, n.v);
	return true;
}

/* n / 2 + 1: the bins of a real signal's spectrum. */
static bool
half_bins(struct site *s, struct num n, struct num *out)
{
	num_div_floor(&s->pass->symbols, n, num_int(2), out);
	return site_add(s, *out, num_int(1), out);
}

/* Bins along the axis: all, or half of them for a real signal; back again,
 * twice as many less two. */
static bool
dft_bins(struct site *s, int64_t size, struct num *n)
{
	bool onesided = attr_int_or(s->n, "onesided", 0) != 0;
	bool inverse = attr_int_or(s->n, "inverse", 0) != 0;

	*n = num_dim(size);
	if (in_type(s, 1)) {
		*n = scalar_of(s, 1);
		if (!positive(s, "dft_length", *n))
			return false;
	} else if (onesided && inverse) {
		return site_add(s, *n, num_int(-1), n)
		    && site_mul(s, *n, num_int(2), n);
	}
	return !onesided || inverse || half_bins(s, *n, n);
}

bool
rule_dft(struct site *s)
{
	const struct type *x = in_type(s, 0);
	struct num at = num_int(attr_int_or(s->n, "axis", 1)), n;
	bool real = attr_int_or(s->n, "onesided", 0) != 0
	    && attr_int_or(s->n, "inverse", 0) != 0;
	int64_t *dim;
	uint32_t axis;

	out_unranked(s, 0, in_dtype(s, 0));
	if (!need_min_rank(s, 0, 2, "input"))
		return false;
	if (!in_ranked(s, 0))
		return true;
	if (s->n->opset >= 20)
		at = in_type(s, 2) ? scalar_of(s, 2) : num_int(-2);
	if (!at.known) {
		out_rank(s, 0, x->dtype, x->rank);
		return true;
	}
	if (!site_axis(s, "axis", at.v, x->rank, &axis)
	    || !dft_bins(s, x->dim[axis], &n))
		return false;
	dim = dims_copy(s, x->dim, x->rank);
	dim[axis] = num_as_dim(n);
	dim[x->rank - 1] = real ? 1 : 2;
	out_tensor(s, 0, x->dtype, x->rank, dim);
	return true;
}

/* How many frames fit. */
static bool
stft_frames(struct site *s, struct num length, struct num *out)
{
	struct num step = scalar_of(s, 1), room;
	int64_t size = in_ranked(s, 0) ? in_type(s, 0)->dim[1] : DIM_UNKNOWN;

	*out = NUM_UNKNOWN;
	if (!positive(s, "frame_step", step))
		return false;
	if (!step.known || !length.known || size < 0)
		return true;
	room = num_int(size - length.v);
	if (room.v < 0)
		return fault(s,
		    "a frame of %" PRId64 " does not fit a signal of %" PRId64,
		    length.v, size);
	return num_div_floor(&s->pass->symbols, room, step, out)
	    && site_add(s, *out, num_int(1), out);
}

/* signal [batch, length, 1 or 2], step, window, frame length */
bool
rule_stft(struct site *s)
{
	struct num length = scalar_of(s, 3), frames, bins;
	int64_t *dim = dims_new(s, 4);

	if (!need_min_rank(s, 0, 2, "signal") || !need_rank(s, 2, 1, "window"))
		return false;
	if (!in_type(s, 3) && in_ranked(s, 2))
		length = num_dim(in_type(s, 2)->dim[0]);
	if (!positive(s, "frame_length", length)
	    || !stft_frames(s, length, &frames))
		return false;
	bins = length;
	if (attr_int_or(s->n, "onesided", 1) != 0
	    && !half_bins(s, length, &bins))
		return false;
	dim[0] = in_ranked(s, 0) ? in_type(s, 0)->dim[0] : DIM_UNKNOWN;
	dim[1] = num_as_dim(frames);
	dim[2] = num_as_dim(bins);
	dim[3] = 2;
	out_tensor(s, 0, in_dtype(s, 0), 4, dim);
	return true;
}

/* HannWindow and its kin: as many as input 0 says. */
bool
rule_window(struct site *s)
{
	struct num n = scalar_of(s, 0);
	int64_t *dim = dims_new(s, 1);
	enum dtype dtype;

	if (!attr_dtype(s, "output_datatype", DT_FLOAT, &dtype)
	    || !need_max_count(s, 0, "size") || !positive(s, "size", n))
		return false;
	dim[0] = num_as_dim(n);
	out_tensor(s, 0, dtype, 1, dim);
	return true;
}

bool
rule_melweightmatrix(struct site *s)
{
	struct num mel = scalar_of(s, 0), length = scalar_of(s, 1), bins;
	int64_t *dim = dims_new(s, 2);
	enum dtype dtype;

	if (!attr_dtype(s, "output_datatype", DT_FLOAT, &dtype)
	    || !positive(s, "num_mel_bins", mel)
	    || !positive(s, "dft_length", length)
	    || !half_bins(s, length, &bins))
		return false;
	dim[0] = num_as_dim(bins);
	dim[1] = num_as_dim(mel);
	out_tensor(s, 0, dtype, 2, dim);
	return true;
}
