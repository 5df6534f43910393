#include "targets/native/strides.h"

#include <stdlib.h>
#include <string.h>

/* TUNING: of a thread at once; a piece and what it is read from lie in the second
 * cache. */
#define PIECE_MOST ((size_t)16384)
#define PART_LEAST ((size_t)8192)
/* Loops that are cut keep whole cache lines. */
#define LINE 16
/* Shapes at most, and as many pieces: more are no loops. */
#define SHAPES_MAX 1024
#define PIECES_MAX ((uint32_t)1 << 18)

struct stride_finder {
	struct stride_shape *shape; /* [SHAPES_MAX] the first is one element */
	uint32_t nshapes;
	struct stride_piece *piece; /* [cap] */
	uint32_t npieces, cap;
	const uint32_t *base;
	struct arena *scratch;
	bool full;
};

/* ---- runs ---- */

static uint16_t
source_of(const struct stride_finder *f, uint32_t place)
{
	uint16_t s = 0;

	while (place >= f->base[s + 1])
		s++;
	return s;
}

static uint16_t
shape_number(struct stride_finder *f, const struct stride_shape *s)
{
	for (uint32_t i = f->nshapes; i-- > 0;)
		if (memcmp(&f->shape[i], s, sizeof *s) == 0)
			return (uint16_t)i;
	f->full |= f->nshapes == SHAPES_MAX;
	if (f->full)
		return 0;
	f->shape[f->nshapes] = *s;
	return (uint16_t)f->nshapes++;
}

/* The shape with one more loop around it. */
static uint16_t
with_loop(struct stride_finder *f, uint16_t of, struct stride_loop l)
{
	struct stride_shape want = f->shape[of];

	want.loop[want.nloops++] = l;
	return shape_number(f, &want);
}

/* How many from i on are a run of one step within the source. */
static size_t
run_at(const struct stride_finder *f, const uint32_t *order, size_t i, size_t n,
    uint16_t source)
{
	const uint32_t low = f->base[source], size = f->base[source + 1] - low;
	size_t k = i + 1;
	uint32_t step;

	if (k == n || order[k] - low >= size)
		return 1;
	step = order[k] - order[i];
	for (k++; k < n && order[k] - order[k - 1] == step; k++)
		if (order[k] - low >= size)
			break;
	return k - i;
}

/* Runs in the order of what is written. Two elements are none where the second
 * begins a longer one. */
static void
find_runs(struct stride_finder *f, const uint32_t *order, size_t n)
{
	size_t length;

	for (size_t i = 0; i < n && !f->full; i += length) {
		struct stride_piece *p = &f->piece[f->npieces++];
		const uint16_t s = source_of(f, order[i]);

		length = run_at(f, order, i, n, s);
		if (length == 2 && run_at(f, order, i + 1, n, s) > 2)
			length = 1;
		*p = (struct stride_piece){
		    order[i] - f->base[s], (uint32_t)i, s, 0};
		if (length > 1)
			p->shape = with_loop(f, 0,
			    (struct stride_loop){(uint32_t)length,
			        (int32_t)(order[i + 1] - order[i]), 1});
	}
}

/* ---- loops around them ---- */

/* Pieces of one source and shape that follow one another. */
struct stride_group {
	struct stride_piece first, last;
	struct stride_loop loop;
};

static void
end_group(struct stride_finder *f, struct stride_group *g)
{
	struct stride_piece *p;

	if (g->loop.n == 0)
		return;
	p = &f->piece[f->npieces++];
	*p = g->first;
	if (g->loop.n > 1)
		p->shape = with_loop(f, p->shape, g->loop);
	g->loop.n = 0;
}

static void
add_to_group(struct stride_finder *f, struct stride_group *g,
    const struct stride_piece *p)
{
	const struct stride_loop step = {g->loop.n + 1,
	    (int32_t)(p->from - g->last.from), (int32_t)(p->to - g->last.to)};
	const bool fits = f->shape[p->shape].nloops < STRIDE_LOOPS
	    && (g->loop.n == 1
	        || (step.from == g->loop.from && step.to == g->loop.to));

	if (g->loop.n > 0 && fits) {
		g->loop = step;
	} else {
		end_group(f, g);
		g->first = *p;
		g->loop.n = 1;
	}
	g->last = *p;
}

/* One loop around what repeats; pieces are taken and put back in place: those that
 * end are no more than those that were read. */
static void
find_loops(struct stride_finder *f, uint32_t nsources)
{
	const uint32_t classes = nsources * f->nshapes, shapes = f->nshapes;
	struct stride_group *group =
	    arena_new(f->scratch, struct stride_group, classes);
	const uint32_t n = f->npieces;

	f->npieces = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct stride_piece p = f->piece[i];

		add_to_group(f, &group[p.source * shapes + p.shape], &p);
	}
	for (uint32_t i = 0; i < classes; i++)
		end_group(f, &group[i]);
}

/* ---- which loops are the inner ones ---- */

static void
swap(struct stride_loop *a, struct stride_loop *b)
{
	const struct stride_loop was = *a;

	*a = *b;
	*b = was;
}

static int
by_step(const void *a, const void *b)
{
	const struct stride_loop *x = a, *y = b;
	const int32_t p = abs(x->to), q = abs(y->to);

	return p < q ? -1 : p > q;
}

/* Of how few rows or columns a matrix is no matrix. */
#define TURN_LEAST 5

/* The loop that is read element by element goes second, where there is one. */
static bool
takes_turn(struct stride_shape *s)
{
	for (uint32_t i = 1; i < s->nloops; i++)
		if (s->loop[i].from == 1 && s->loop[i].n >= TURN_LEAST
		    && s->loop[0].n >= TURN_LEAST) {
			swap(&s->loop[1], &s->loop[i]);
			return true;
		}
	return false;
}

/* The others stay in their order behind it. */
static void
longest_first(struct stride_shape *s)
{
	uint32_t longest = 0;

	for (uint32_t i = 1; i < s->nloops; i++)
		if (s->loop[i].n > s->loop[longest].n)
			longest = i;
	for (uint32_t i = longest; i > 0; i--)
		swap(&s->loop[i], &s->loop[i - 1]);
}

static void
order_loops(struct stride_shape *s)
{
	for (uint32_t i = s->nloops; i < STRIDE_LOOPS; i++)
		s->loop[i] = (struct stride_loop){1, 0, 0};
	qsort(s->loop, s->nloops, sizeof *s->loop, by_step);
	s->kind = STRIDE_EVERY;
	if (s->loop[0].to == 1 && s->loop[0].from == 1)
		s->kind = STRIDE_COPY;
	else if (s->loop[0].to == 1 && s->loop[0].from == 0
	    && s->loop[0].n >= TURN_LEAST)
		s->kind = STRIDE_FILL;
	else if (s->loop[0].to == 1 && takes_turn(s))
		s->kind = STRIDE_TURN;
	else if (s->loop[0].n < TURN_LEAST)
		longest_first(s);
}

static size_t
elements_of(const struct stride_shape *s)
{
	size_t n = 1;

	for (uint32_t i = 0; i < STRIDE_LOOPS; i++)
		n *= s->loop[i].n;
	return n;
}

/* ---- pieces of a thread ---- */

/* How many loops belong together: a matrix, or planes side by side. */
static uint32_t
inner_loops(const struct stride_shape *s)
{
	return s->kind == STRIDE_TURN
	        || (s->loop[1].n > 1 && abs(s->loop[1].to) < abs(s->loop[0].to))
	    ? 2
	    : 1;
}

/* The loop to cut a shape in: an outer one, or the longer of the inner. */
static uint32_t
loop_to_cut(const struct stride_shape *s)
{
	const uint32_t inner = inner_loops(s);

	for (uint32_t i = STRIDE_LOOPS; i-- > inner;)
		if (s->loop[i].n > 1)
			return i;
	return inner == 2 && s->loop[1].n > s->loop[0].n;
}

/* The piece from element `at` of that loop on, n times. */
static struct stride_piece
part_of(struct stride_finder *f, const struct stride_piece *p, uint32_t loop,
    uint32_t at, uint32_t n)
{
	struct stride_shape s = f->shape[p->shape];
	const int64_t from = (int64_t)s.loop[loop].from * at;
	const int64_t to = (int64_t)s.loop[loop].to * at;

	s.loop[loop].n = n;
	return (struct stride_piece){(uint32_t)(p->from + from),
	    (uint32_t)(p->to + to), p->source, shape_number(f, &s)};
}

/* How often at most a loop of such a piece shall go round. */
static uint32_t
times_of_part(const struct stride_shape *s, uint32_t loop)
{
	const size_t parts = (elements_of(s) + PIECE_MOST - 1) / PIECE_MOST;
	const uint32_t n = (uint32_t)(s->loop[loop].n / parts);

	if (loop < inner_loops(s))
		return (n + LINE) / LINE * LINE;
	return n < 1 ? 1 : n;
}

/* Piece i stays with the first part of its loop, the others go to the end; false: it
 * is small enough, or none to be cut. */
static bool
cut_piece(struct stride_finder *f, uint32_t i)
{
	const struct stride_piece p = f->piece[i];
	const struct stride_shape *s = &f->shape[p.shape];
	const uint32_t loop = loop_to_cut(s), n = s->loop[loop].n;
	const uint32_t each = times_of_part(s, loop);

	if (elements_of(s) <= PIECE_MOST || each >= n)
		return false;
	f->piece[i] = part_of(f, &p, loop, 0, each);
	for (uint32_t at = each; at < n && !f->full; at += each) {
		f->piece = (struct stride_piece *)arena_grow(f->scratch,
		    f->piece, &f->cap, f->npieces + 1, sizeof *f->piece);
		f->piece[f->npieces++] =
		    part_of(f, &p, loop, at, n - at < each ? n - at : each);
	}
	return !f->full;
}

static int
by_place(const void *a, const void *b)
{
	const struct stride_piece *x = a, *y = b;

	return x->to < y->to ? -1 : x->to > y->to;
}

/* Pieces in the order of what is written, in parts for threads. */
static void
give(struct strides *s, const struct stride_finder *f, struct arena *a)
{
	uint32_t *part = arena_new(a, uint32_t, f->npieces + 1);
	size_t count = 0;

	qsort(f->piece, f->npieces, sizeof *f->piece, by_place);
	for (uint32_t i = 0; i < f->npieces; i++) {
		count += elements_of(&f->shape[f->piece[i].shape]);
		if (count < PART_LEAST && i + 1 < f->npieces)
			continue;
		part[++s->nparts] = i + 1;
		count = 0;
	}
	s->part = part;
	s->npieces = (uint32_t)f->npieces;
	s->piece = arena_copy(a, f->piece, f->npieces * sizeof *f->piece);
	s->shape = arena_copy(a, f->shape, f->nshapes * sizeof *f->shape);
}

static bool
find(
    struct stride_finder *f, const uint32_t *order, size_t n, uint32_t nsources)
{
	size_t before = n + 1;

	find_runs(f, order, n);
	while (!f->full && f->npieces < before) {
		before = f->npieces;
		find_loops(f, nsources);
	}
	if (f->full || f->npieces > PIECES_MAX)
		return false;
	for (uint32_t i = 0; i < f->nshapes; i++)
		order_loops(&f->shape[i]);
	for (uint32_t i = 0; i < f->npieces && !f->full; i++)
		while (cut_piece(f, i))
			;
	return !f->full;
}

bool
strides_find(struct strides *s, const uint32_t *order, size_t n,
    const uint32_t *base, uint32_t nsources, struct arena *a)
{
	struct arena scratch;
	struct stride_finder f = {
	    .base = base, .scratch = &scratch, .nshapes = 1};
	bool ok;

	arena_init(&scratch);
	f.shape = arena_new(&scratch, struct stride_shape, SHAPES_MAX);
	f.cap = (uint32_t)n;
	f.piece = arena_new(&scratch, struct stride_piece, n);
	ok = find(&f, order, n, nsources);
	if (ok)
		give(s, &f, a);
	arena_release(&scratch);
	return ok;
}
