/* NonMaxSuppression, and Det for want of a better place for matrices. */
#include <math.h>

#include "targets/host/kernels.h"
#include "targets/host/sort.h"

struct box {
	double y0, x0, y1, x1, area;
};

static struct box
box_of(const struct tensor *t, size_t i, bool centre)
{
	struct box b;
	double v[4];

	load_real(v, t, 4 * i, 1, 4);
	if (centre) /* x, y, width, height */
		b = (struct box){v[1] - v[3] / 2, v[0] - v[2] / 2,
		    v[1] + v[3] / 2, v[0] + v[2] / 2, 0};
	else
		b = (struct box){fmin(v[0], v[2]), fmin(v[1], v[3]),
		    fmax(v[0], v[2]), fmax(v[1], v[3]), 0};
	b.area = (b.y1 - b.y0) * (b.x1 - b.x0);
	return b;
}

static double
overlap(const struct box *a, const struct box *b)
{
	double h = fmin(a->y1, b->y1) - fmax(a->y0, b->y0);
	double w = fmin(a->x1, b->x1) - fmax(a->x0, b->x0);
	double both = fmax(h, 0) * fmax(w, 0);
	double all = a->area + b->area - both;

	return all > 0 ? both / all : 0;
}

struct suppression {
	size_t batches, classes, n;
	size_t most; /* boxes a class keeps */
	double overlap, score;
	bool by_score, centre;
	const struct tensor *boxes, *scores;
	int64_t *kept; /* [..][3] */
	size_t nkept;
};

struct scores {
	const struct tensor *t;
	size_t at;
};

static bool
scores_higher(const void *ctx, size_t a, size_t b)
{
	const struct scores *s = ctx;

	return load_one(s->t, s->at + a) > load_one(s->t, s->at + b);
}

/* Go through the boxes of a class, best first; keep those that overlap none
 * kept before. */
static void
suppress(struct suppression *v, size_t b, size_t class, struct arena *scratch)
{
	struct arena_mark mark = arena_mark(scratch);
	struct scores s = {v->scores, (b * v->classes + class) * v->n};
	size_t *order = sorted_indices(v->n, scores_higher, &s, scratch), n = 0;
	struct box *kept = arena_new(scratch, struct box, v->n);

	for (size_t i = 0; i < v->n && n < v->most; i++) {
		struct box box =
		    box_of(v->boxes, b * v->n + order[i], v->centre);
		bool keep = !v->by_score
		    || load_one(v->scores, s.at + order[i]) > v->score;

		for (size_t k = 0; keep && k < n; k++)
			keep = overlap(&box, &kept[k]) <= v->overlap;
		if (!keep)
			continue;
		kept[n++] = box;
		v->kept[3 * v->nkept] = (int64_t)b;
		v->kept[3 * v->nkept + 1] = (int64_t) class;
		v->kept[3 * v->nkept + 2] = (int64_t)order[i];
		v->nkept++;
	}
	arena_back(scratch, mark);
}

static bool
number(const struct call *c, uint32_t i, double otherwise, double *out,
    struct err *err)
{
	const struct tensor *t = call_in(c, i);

	*out = otherwise;
	if (!t)
		return true;
	if (t->count != 1)
		return err_set(err, ERR_INPUT, "input %u is no number", i);
	*out = load_one(t, 0);
	return true;
}

bool
nonmaxsuppression_run(struct call *c, struct err *err)
{
	const struct tensor *boxes = c->in[0], *scores = c->in[1];
	struct suppression v = {.boxes = boxes,
	    .scores = scores,
	    .by_score = call_in(c, 4) != NULL,
	    .centre = attr_int_or(c->node, "center_point_box", 0) != 0};
	struct shape s = {.rank = 2};
	struct sink to;
	double most;

	if (boxes->rank != 3 || scores->rank != 3 || boxes->dim[2] != 4
	    || boxes->dim[0] != scores->dim[0]
	    || boxes->dim[1] != scores->dim[2])
		return err_set(err, ERR_INPUT, "boxes of rank %u, scores of %u",
		    boxes->rank, scores->rank);
	if (!number(c, 2, 0, &most, err) || !number(c, 3, 0, &v.overlap, err)
	    || !number(c, 4, 0, &v.score, err))
		return false;
	v.batches = (size_t)boxes->dim[0];
	v.n = (size_t)boxes->dim[1];
	v.classes = (size_t)scores->dim[1];
	v.most = most <= 0 ? 0 : most >= (double)v.n ? v.n : (size_t)most;
	v.kept = arena_array(
	    c->scratch, v.batches * v.classes * v.most, 3 * sizeof *v.kept);
	for (size_t i = 0; i < v.batches * v.classes; i++)
		suppress(&v, i / v.classes, i % v.classes, c->scratch);
	s.dim[0] = (int64_t)v.nkept;
	s.dim[1] = 3;
	if (!host_out(c, 0, DT_INT64, &s, &to, err))
		return false;
	store_int(&to, 0, 1, 3 * v.nkept, v.kept);
	return true;
}

/* --- Det: elimination with the largest pivot ----------------------------- */

static double
determinant(double *a, size_t n)
{
	double det = 1;

	for (size_t k = 0; k < n; k++) {
		size_t p = k;

		for (size_t i = k + 1; i < n; i++)
			if (fabs(a[i * n + k]) > fabs(a[p * n + k]))
				p = i;
		if (a[p * n + k] == 0)
			return 0;
		for (size_t j = 0; p != k && j < n; j++) {
			double swap = a[k * n + j];

			a[k * n + j] = a[p * n + j];
			a[p * n + j] = swap;
		}
		det *= p == k ? a[k * n + k] : -a[k * n + k];
		for (size_t i = k + 1; i < n; i++) {
			double f = a[i * n + k] / a[k * n + k];

			for (size_t j = k; j < n; j++)
				a[i * n + j] -= f * a[k * n + j];
		}
	}
	return det;
}

bool
det_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape s = shape_of(x);
	struct sink to;
	double *a, y;
	size_t n;

	if (x->rank < 2 || x->dim[x->rank - 1] != x->dim[x->rank - 2])
		return err_set(err, ERR_INPUT, "not of square matrices");
	n = (size_t)x->dim[x->rank - 1];
	s.rank -= 2;
	if (!host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	a = arena_array(c->scratch, n, n * sizeof *a);
	for (size_t i = 0; i < c->out[0].count; i++) {
		load_real(a, x, i * n * n, 1, n * n);
		y = determinant(a, n);
		store_real(&to, i, 1, 1, &y);
	}
	return true;
}
