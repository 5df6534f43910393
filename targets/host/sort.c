#include "targets/host/sort.h"

#include <math.h>
#include <string.h>

#include "targets/host/access.h"

/* Merge from[a..b) and from[b..e) into to[a..e). */
static void
merge(size_t *to, const size_t *from, const size_t abe[3], comes_before *before,
    const void *ctx)
{
	size_t i = abe[0], j = abe[1];

	for (size_t k = abe[0]; k < abe[2]; k++) {
		bool right = i == abe[1]
		    || (j < abe[2] && before(ctx, from[j], from[i]));

		to[k] = right ? from[j++] : from[i++];
	}
}

size_t *
sorted_indices(size_t n, comes_before *before, const void *ctx, struct arena *a)
{
	size_t *from = arena_new(a, size_t, n), *to = arena_new(a, size_t, n);

	for (size_t i = 0; i < n; i++)
		from[i] = i;
	for (size_t run = 1; run < n; run *= 2) {
		size_t *swap = from;

		for (size_t i = 0; i < n; i += 2 * run) {
			size_t b = n - i < run ? n : i + run;
			size_t e = n - b < run ? n : b + run;

			merge(to, from, (size_t[]){i, b, e}, before, ctx);
		}
		from = to;
		to = swap;
	}
	return from;
}

uint64_t
order_key(const struct tensor *t, size_t i)
{
	const uint64_t top = UINT64_C(1) << 63;
	uint64_t bits;
	double x;

	if (t->dtype == DT_UINT64)
		return (uint64_t)load_one_int(t, i);
	if (lane_of(t->dtype) == LANE_INT)
		return (uint64_t)load_one_int(t, i) ^ top;
	x = load_one(t, i);
	if (isnan(x))
		return UINT64_MAX;
	x += 0.0; /* -0 is 0 */
	memcpy(&bits, &x, sizeof bits);
	return bits & top ? ~bits : bits | top;
}
