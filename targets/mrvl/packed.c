#include "targets/mrvl/packed.h"

#include <assert.h>
#include <math.h>
#include <string.h>

size_t
dims_count(const struct dims *d)
{
	size_t n = 1;

	for (uint32_t i = 0; i < d->rank; i++)
		n *= (size_t)d->dim[i];
	return n;
}

bool
dims_equal(const struct dims *a, const struct dims *b)
{
	return a->rank == b->rank
	    && memcmp(a->dim, b->dim, a->rank * sizeof a->dim[0]) == 0;
}

struct dims
dims_make(uint32_t rank, const int64_t *dim)
{
	struct dims d = {.rank = rank};

	assert(rank <= DIMS_MAX);
	for (uint32_t i = 0; i < rank; i++)
		d.dim[i] = dim[i];
	return d;
}

struct dims
dims_of(const struct type *t)
{
	return dims_make(t->rank, t->dim);
}

struct dims
dims_permuted(const struct dims *d, const uint32_t *perm)
{
	struct dims out = {.rank = d->rank};

	for (uint32_t i = 0; i < d->rank; i++)
		out.dim[i] = d->dim[perm[i]];
	return out;
}

struct packed
packed_of(const struct graph *g, value_id v)
{
	return packed_of_tensor(graph_value(g, v)->constant, v);
}

struct packed
packed_of_tensor(const struct tensor *t, value_id v)
{
	struct packed k = {.tensor = t, .scale = 1, .value = v};
	int64_t step = 1;

	k.dims = dims_make(t->rank, t->dim);
	for (uint32_t i = t->rank; i-- > 0;) {
		k.stride[i] = step;
		step *= t->dim[i];
	}
	return k;
}

struct packed
packed_permuted(const struct packed *k, const uint32_t *perm)
{
	struct packed out = *k;

	assert(!k->plus);
	for (uint32_t i = 0; i < k->dims.rank; i++) {
		out.dims.dim[i] = k->dims.dim[perm[i]];
		out.stride[i] = k->stride[perm[i]];
	}
	return out;
}

bool
packed_broadcast(struct packed *k, const struct dims *to)
{
	struct packed out = *k;
	uint32_t skip;

	assert(!k->plus);
	if (k->dims.rank > to->rank)
		return false;
	skip = to->rank - k->dims.rank;
	out.dims = *to;
	for (uint32_t i = 0; i < to->rank; i++) {
		int64_t have = i < skip ? 1 : k->dims.dim[i - skip];

		if (have != to->dim[i] && have != 1)
			return false;
		out.stride[i] = have == 1 ? 0 : k->stride[i - skip];
	}
	*k = out;
	return true;
}

/* n elements of a tensor, `step` apart. */
static void
read_run(const struct tensor *t, int64_t at, int64_t step, size_t n, float *out)
{
	const char *data;
	float x;

	if (t->kind == TENSOR_FILL) {
		memcpy(&x, t->fill, sizeof x);
		for (size_t i = 0; i < n; i++)
			out[i] = x;
		return;
	}
	data = (const char *)t->data + (size_t)at * sizeof x;
	if (step == 1) {
		memcpy(out, data, n * sizeof x);
		return;
	}
	for (size_t i = 0; i < n; i++, data += step * (int64_t)sizeof x)
		memcpy(&out[i], data, sizeof x);
}

/* The index of element `from`, and where it lies. */
static int64_t
locate(const struct packed *k, size_t from, int64_t at[DIMS_MAX])
{
	int64_t offset = 0;

	for (uint32_t i = k->dims.rank; i-- > 0;) {
		at[i] = (int64_t)(from % (size_t)k->dims.dim[i]);
		from /= (size_t)k->dims.dim[i];
		offset += at[i] * k->stride[i];
	}
	return offset;
}

/* Past a run along the last axis: carry into the axes before it. */
static int64_t
carry(const struct packed *k, int64_t at[DIMS_MAX], int64_t offset)
{
	for (uint32_t i = k->dims.rank; i-- > 0 && at[i] == k->dims.dim[i];) {
		offset -= at[i] * k->stride[i];
		at[i] = 0;
		if (i == 0)
			break;
		at[i - 1]++;
		offset += k->stride[i - 1];
	}
	return offset;
}

static void
read_strided(const struct packed *k, size_t from, size_t n, float *out)
{
	uint32_t last = k->dims.rank - 1;
	int64_t at[DIMS_MAX] = {0}, offset;

	if (n == 0)
		return; /* a dimension may be 0 */
	if (k->dims.rank == 0) {
		read_run(k->tensor, 0, 0, n, out);
		return;
	}
	offset = locate(k, from, at);
	while (n > 0) {
		size_t run = (size_t)(k->dims.dim[last] - at[last]);

		if (run > n)
			run = n;
		read_run(k->tensor, offset, k->stride[last], run, out);
		at[last] += (int64_t)run;
		offset = carry(k, at, offset + (int64_t)run * k->stride[last]);
		out += run;
		n -= run;
	}
}

void
packed_read(const struct packed *k, size_t from, size_t n, float *out)
{
	read_strided(k, from, n, out);
	if (k->scale != 1 || k->shift != 0)
		for (size_t i = 0; i < n; i++)
			out[i] = k->scale * out[i] + k->shift;
	if (!k->plus)
		return;
	for (size_t done = 0; done < n;) {
		float more[256];
		size_t some = n - done < 256 ? n - done : 256;

		packed_read(k->plus, from + done, some, more);
		for (size_t e = 0; e < some; e++)
			out[done + e] += more[e];
		done += some;
	}
}

/* Widen [*min, *max] to what x holds; NaN compares false and is skipped. Lanes
 * that do not wait for each other: this runs over every weight. */
#define LANES 8

static void
widen(const float *x, size_t n, float *min, float *max)
{
	float low[LANES], high[LANES];
	size_t i = 0;

	for (size_t l = 0; l < LANES; l++) {
		low[l] = *min;
		high[l] = *max;
	}
	for (; i + LANES <= n; i += LANES)
		for (size_t l = 0; l < LANES; l++) {
			low[l] = x[i + l] < low[l] ? x[i + l] : low[l];
			high[l] = x[i + l] > high[l] ? x[i + l] : high[l];
		}
	for (; i < n; i++) {
		low[0] = x[i] < low[0] ? x[i] : low[0];
		high[0] = x[i] > high[0] ? x[i] : high[0];
	}
	for (size_t l = 0; l < LANES; l++) {
		*min = low[l] < *min ? low[l] : *min;
		*max = high[l] > *max ? high[l] : *max;
	}
}

/* Are the elements those of the tensor, each once, in whatever order? Strides
 * come from permuting axes and from broadcasting, which repeats elements. */
static bool
is_permutation(const struct packed *k)
{
	return !k->plus && k->tensor->kind == TENSOR_VIEW
	    && k->tensor->count == dims_count(&k->dims);
}

/* The range of the tensor's own bytes, in the order they lie in. */
static void
widen_by_tensor(const struct packed *k, float *min, float *max)
{
	const unsigned char *bytes = k->tensor->data;
	float chunk[1024];

	for (size_t done = 0; done < k->tensor->count;) {
		size_t some = k->tensor->count - done;

		some = some < 1024 ? some : 1024;
		memcpy(
		    chunk, bytes + done * sizeof *chunk, some * sizeof *chunk);
		for (size_t i = 0; i < some; i++)
			chunk[i] = k->scale * chunk[i] + k->shift;
		widen(chunk, some, min, max);
		done += some;
	}
}

static void
widen_by_reading(const struct packed *k, float *min, float *max)
{
	size_t n = dims_count(&k->dims);
	float chunk[1024];

	for (size_t done = 0; done < n;) {
		size_t some = n - done < 1024 ? n - done : 1024;

		packed_read(k, done, some, chunk);
		widen(chunk, some, min, max);
		done += some;
	}
}

void
packed_range(const struct packed *k, float *min, float *max)
{
	*min = INFINITY;
	*max = -INFINITY;
	if (is_permutation(k))
		widen_by_tensor(k, min, max);
	else
		widen_by_reading(k, min, max);
	if (*min > *max) /* nothing, or nothing but NaN */
		*min = *max = 0;
}
