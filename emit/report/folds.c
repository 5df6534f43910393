#include "emit/report/folds.h"

#include <ctype.h>
#include <string.h>

#include "ir/base/buf.h"

/* TUNING: comparisons of one sequence with itself; 8 million take 10 ms */
#define STEPS 8000000u
/* TUNING: a longer stretch would be a fold nobody reads */
#define LONGEST 400u
/* TUNING: a fold should save at least this many boxes */
#define SAVED 4u
/* TUNING: shorter sequences are read as they are */
#define LEAST_COMPOSITES 12u
#define LEAST_REGIONS 6u

/* A stretch of `length` things from `start`, `copies` times. */
struct repeat {
	uint32_t start, length, copies;
};

static uint32_t
covered(const struct repeat *r)
{
	return r->length * r->copies;
}

/* Of every start the tandem repeat that covers most. */
static void
find_longest(struct repeat *best, const uint32_t *sign, uint32_t n)
{
	uint32_t most = n / 2 < LONGEST ? n / 2 : LONGEST;

	if (n && STEPS / n < most)
		most = STEPS / n;
	for (uint32_t length = 1; length <= most; length++) {
		uint32_t run = 0;

		for (uint32_t i = n - length; i-- > 0;) {
			struct repeat r;

			run = sign[i] == sign[i + length] ? run + 1 : 0;
			r = (struct repeat){i, length, run / length + 1};
			if (r.copies >= 2 && covered(&r) - length >= SAVED
			    && covered(&r) > covered(&best[i]))
				best[i] = r;
		}
	}
}

/* Does one that begins a little later cover more? */
static uint32_t
better_start(const struct repeat *best, uint32_t i, uint32_t n)
{
	uint32_t at = i;

	for (uint32_t q = i; q < n && q < i + best[i].length; q++)
		if (covered(&best[q]) > covered(&best[at]) + (q - at))
			at = q;
	return at;
}

/* Repeats of a sequence, none inside another: greedy, from the front. */
static uint32_t
find_repeats(
    struct repeat *out, const uint32_t *sign, uint32_t n, struct arena *a)
{
	struct repeat *best = arena_new(a, struct repeat, n);
	uint32_t nout = 0;

	find_longest(best, sign, n);
	for (uint32_t i = 0; i < n;) {
		if (best[i].copies == 0) {
			i++;
			continue;
		}
		i = better_start(best, i, n);
		out[nout++] = best[i];
		i += covered(&best[i]);
	}
	return nout;
}

static bool
ends_in_digit(const char *s)
{
	size_t n = strlen(s);

	return n > 0 && isdigit((unsigned char)s[n - 1]);
}

uint32_t
numbered_scope(const struct page_view *v, uint32_t composite)
{
	uint32_t node = v->composite[composite].anchor, found = 0;

	for (uint32_t s = node == PAGE_NONE ? 0 : v->node[node].scope; s != 0;
	     s = v->scope[s].parent)
		if (ends_in_digit(v->scope[s].name))
			found = s;
	return found;
}

/* Move the start to where the numbered module changes, if a copy fewer at most
 * is lost by it. */
static void
align(struct repeat *r, const struct page_box *box, const struct page_view *v)
{
	uint32_t before = numbered_scope(v, box[r->start].first);

	for (uint32_t q = 1; q < r->length && r->copies > 2; q++) {
		uint32_t s = numbered_scope(v, box[r->start + q].first);

		if (s != 0 && s != before) {
			r->start += q;
			r->copies--;
			return;
		}
		before = s;
	}
}

static struct page_box
fold_of(const struct repeat *r, struct page_box *box, const struct page_view *v)
{
	const struct page_box *end = &box[r->start + covered(r) - 1];
	struct page_box fold = {.first = box[r->start].first,
	    .last = end->last,
	    .region = PAGE_NONE,
	    .copies = r->copies,
	    .length = r->length,
	    .nboxes = covered(r),
	    .box = &box[r->start]};

	fold.from = numbered_scope(v, fold.first);
	fold.to = numbered_scope(v, end->first);
	if (!fold.from || !fold.to)
		fold.from = fold.to = 0;
	return fold;
}

/* The sequence with its repeats folded; `box` stays where folds look for it. */
static struct page_box *
fold(struct page_box *box, uint32_t *n, const uint32_t *sign,
    const struct page_view *v)
{
	struct repeat *repeat = arena_new(v->arena, struct repeat, *n);
	struct page_box *out = arena_new(v->arena, struct page_box, *n);
	uint32_t nrepeats = find_repeats(repeat, sign, *n, v->arena);
	uint32_t nout = 0, at = 0;

	for (uint32_t i = 0; i < nrepeats; i++) {
		align(&repeat[i], box, v);
		while (at < repeat[i].start)
			out[nout++] = box[at++];
		out[nout++] = fold_of(&repeat[i], box, v);
		at += covered(&repeat[i]);
	}
	while (at < *n)
		out[nout++] = box[at++];
	*n = nout;
	return out;
}

/* Composites of equal target and operators have equal signs. */
static uint32_t *
composite_signs(const struct page_view *v)
{
	uint32_t *sign = arena_new(v->arena, uint32_t, v->ncomposites);
	struct map seen;

	map_init(&seen, v->arena);
	for (uint32_t c = 0; c < v->ncomposites; c++) {
		struct buf b;

		buf_init(&b);
		buf_u32(&b, v->composite[c].target);
		for (uint32_t k = v->nodes_of.start[c];
		     k < v->nodes_of.start[c + 1]; k++)
			buf_printf(&b, "%s ", v->node[v->nodes_of.item[k]].op);
		sign[c] =
		    map_add(&seen, arena_copy(v->arena, b.data, b.n), b.n, c);
		buf_release(&b);
	}
	return sign;
}

static struct page_box
box_of_region(const struct page_view *v, uint32_t region, const uint32_t *sign)
{
	const struct page_region *r = &v->region[region];
	struct page_box out = {.first = r->first,
	    .last = r->first + r->n - 1,
	    .region = region,
	    .nboxes = r->n,
	    .box = arena_new(v->arena, struct page_box, r->n)};

	for (uint32_t i = 0; i < r->n; i++)
		out.box[i] = (struct page_box){.first = r->first + i,
		    .last = r->first + i,
		    .region = PAGE_NONE};
	if (r->n >= LEAST_COMPOSITES)
		out.box = fold(out.box, &out.nboxes, sign + r->first, v);
	return out;
}

void
page_boxes(struct page_box **box, uint32_t *n, const struct page_view *v)
{
	const uint32_t *sign = composite_signs(v);
	uint32_t *alike = arena_new(v->arena, uint32_t, v->nregions);

	*n = v->nregions;
	*box = arena_new(v->arena, struct page_box, v->nregions);
	for (uint32_t i = 0; i < v->nregions; i++) {
		(*box)[i] = box_of_region(v, i, sign);
		alike[i] = v->region[i].like;
	}
	if (*n >= LEAST_REGIONS)
		*box = fold(*box, n, alike, v);
}
