/* TfIdfVectorizer: how often runs of tokens of a pool occur in each row. */
#include <stdlib.h>
#include <string.h>

#include "targets/host/kernels.h"
#include "targets/host/sort.h"
#include "targets/host/strings.h"

/* Tokens of the pool, each known by its place among them in order. */
struct vocabulary {
	const int64_t *number; /* [n], or NULL */
	const struct string_view *text; /* [n], or NULL */
	uint32_t n;
	uint32_t *token; /* [n]: which token item i is */
	uint32_t *first; /* [ntokens]: an item that is token t */
	uint32_t ntokens;
};

/* A run of tokens that is counted. */
struct gram {
	const uint32_t *token; /* [n] */
	uint32_t n;
	uint32_t at; /* in ngram_indexes */
};

struct grams {
	struct gram *gram; /* [n], in order */
	size_t n;
};

struct vectorizer {
	struct vocabulary pool;
	struct grams *grams; /* [longest + 1] */
	uint32_t shortest, longest, kinds; /* of grams: in use; in the pool */
	size_t skips;
	const int64_t *column; /* where a gram is counted */
	const float *weight; /* of each gram, or NULL */
	bool counts, weighs;
};

static int
item_order(const struct vocabulary *p, size_t a, size_t b)
{
	if (p->text)
		return string_order(p->text[a], p->text[b]);
	return (p->number[a] > p->number[b]) - (p->number[a] < p->number[b]);
}

static bool
item_before(const void *ctx, size_t a, size_t b)
{
	return item_order(ctx, a, b) < 0;
}

static void
number_tokens(struct vocabulary *p, struct arena *a)
{
	const size_t *order = sorted_indices(p->n, item_before, p, a);

	p->token = arena_new(a, uint32_t, p->n);
	p->first = arena_new(a, uint32_t, p->n);
	for (uint32_t i = 0; i < p->n; i++) {
		if (i == 0 || item_order(p, order[i - 1], order[i]) != 0)
			p->first[p->ntokens++] = (uint32_t)order[i];
		p->token[order[i]] = p->ntokens - 1;
	}
}

/* Which token element i of x is, or UINT32_MAX. */
static uint32_t
token_of(const struct vocabulary *p, const struct tensor *x, size_t i)
{
	const int64_t number = p->number ? load_one_int(x, i) : 0;
	uint32_t low = 0, high = p->ntokens;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;
		const uint32_t item = p->first[mid];
		const int order = p->text
		    ? string_order(x->string[i], p->text[item])
		    : (number > p->number[item]) - (number < p->number[item]);

		if (order == 0)
			return mid;
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return UINT32_MAX;
}

static int
gram_order(const void *x, const void *y)
{
	const struct gram *a = x, *b = y;

	for (uint32_t i = 0; i < a->n; i++)
		if (a->token[i] != b->token[i])
			return a->token[i] < b->token[i] ? -1 : 1;
	return 0;
}

/* Runs of n tokens, which are the pool's items from start[n - 1] on, up to
 * those of longer ones; *seen: how many were read before. */
static bool
read_grams(struct vectorizer *v, uint32_t n, const int64_t *start,
    uint32_t *seen, struct arena *a, struct err *err)
{
	struct grams *g = &v->grams[n];
	const int64_t from = start[n - 1];
	const int64_t to = n < v->kinds ? start[n] : v->pool.n;

	if (from < 0 || to < from || to > v->pool.n || (to - from) % n)
		return err_set(err, ERR_INPUT,
		    "%u-grams are items %lld to %lld of a pool of %u", n,
		    (long long)from, (long long)to, v->pool.n);
	g->n = (size_t)(to - from) / n;
	g->gram = arena_new(a, struct gram, g->n);
	for (size_t i = 0; i < g->n; i++)
		g->gram[i] = (struct gram){
		    v->pool.token + (size_t)from + i * n, n, (*seen)++};
	if (g->n)
		qsort(g->gram, g->n, sizeof *g->gram, gram_order);
	return true;
}

static bool
read_pool(struct vectorizer *v, struct call *c, struct err *err)
{
	const struct attr *texts = node_attr(c->node, "pool_strings");
	const bool strings = c->in[0]->dtype == DT_STRING;

	if (strings && texts && texts->kind == ATTR_STRINGS) {
		v->pool.text = texts->strings;
		v->pool.n = texts->n;
	} else if (!strings) {
		v->pool.number = attr_ints(c->node, "pool_int64s", &v->pool.n);
	}
	if (!v->pool.text && !v->pool.number)
		return err_set(
		    err, ERR_INPUT, "no pool of the type of its input");
	number_tokens(&v->pool, c->scratch);
	return true;
}

/* Its attributes; *width: the output's columns. */
static bool
read_vectorizer(
    struct vectorizer *v, struct call *c, int64_t *width, struct err *err)
{
	const struct attr *weights = node_attr(c->node, "weights");
	uint32_t nstarts, ncolumns, seen = 0;
	const int64_t *start = attr_ints(c->node, "ngram_counts", &nstarts);
	const int64_t shortest = attr_int_or(c->node, "min_gram_length", 1);
	const int64_t longest = attr_int_or(c->node, "max_gram_length", 1);
	const int64_t skips = attr_int_or(c->node, "max_skip_count", 0);

	v->column = attr_ints(c->node, "ngram_indexes", &ncolumns);
	if (shortest < 1 || longest < shortest || longest > nstarts
	    || skips < 0)
		return err_set(err, ERR_INPUT,
		    "grams of %lld to %lld tokens, %lld skipped, of %u kinds",
		    (long long)shortest, (long long)longest, (long long)skips,
		    nstarts);
	v->shortest = (uint32_t)shortest;
	v->longest = (uint32_t)longest;
	v->kinds = nstarts;
	v->skips = (size_t)skips;
	v->counts = !attr_is(c->node, "mode", "TF", "IDF");
	v->weighs = !attr_is(c->node, "mode", "TF", "TF");
	v->grams = arena_new(c->scratch, struct grams, nstarts + 1);
	if (!read_pool(v, c, err))
		return false;
	for (uint32_t n = 1; n <= nstarts; n++)
		if (!read_grams(v, n, start, &seen, c->scratch, err))
			return false;
	if (weights && weights->kind == ATTR_FLOATS)
		v->weight = weights->floats;
	if (seen != ncolumns || (v->weight && weights->n != seen))
		return err_set(err, ERR_INPUT,
		    "%u grams, %u columns, %u weights", seen, ncolumns,
		    v->weight ? weights->n : 0);
	*width = 0;
	for (uint32_t i = 0; i < ncolumns; i++)
		*width = v->column[i] >= *width ? v->column[i] + 1 : *width;
	return true;
}

/* Count the run of n tokens, `step` apart, in `sum`. */
static void
count_gram(const struct vectorizer *v, const uint32_t *token, uint32_t n,
    size_t step, uint32_t *run, double *sum)
{
	const struct gram key = {run, n, 0}, *found;

	for (uint32_t i = 0; i < n; i++)
		if ((run[i] = token[i * step]) == UINT32_MAX)
			return;
	found = v->grams[n].n ? bsearch(&key, v->grams[n].gram, v->grams[n].n,
	            sizeof key, gram_order)
	                      : NULL;
	if (!found)
		return;
	if (v->counts)
		sum[v->column[found->at]] +=
		    v->weighs && v->weight ? (double)v->weight[found->at] : 1;
	else
		sum[v->column[found->at]] =
		    v->weight ? (double)v->weight[found->at] : 1;
}

/* A row of `width` tokens. One token is the same with whatever is skipped. */
static void
count_row(const struct vectorizer *v, const uint32_t *token, size_t width,
    uint32_t *run, double *sum)
{
	for (uint32_t n = v->shortest; n <= v->longest; n++)
		for (size_t skip = 0; skip <= (n == 1 ? 0 : v->skips)
		     && (n - 1) * (skip + 1) < width;
		     skip++)
			for (size_t i = 0; i + (n - 1) * (skip + 1) < width;
			     i++)
				count_gram(v, token + i, n, skip + 1, run, sum);
}

bool
tfidfvectorizer_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape s = shape_of(x);
	struct vectorizer v = {.shortest = 1};
	const size_t rows = s.rank == 2 ? (size_t)s.dim[0] : 1;
	size_t width;
	uint32_t *token, *run;
	double *sum;
	struct sink to;
	int64_t columns;

	if (s.rank < 1 || s.rank > 2)
		return err_set(err, ERR_INPUT, "[C] or [N,C] is needed");
	if (!read_vectorizer(&v, c, &columns, err))
		return false;
	width = (size_t)s.dim[s.rank - 1];
	s.dim[s.rank - 1] = columns;
	if (!host_out(c, 0, DT_FLOAT, &s, &to, err))
		return false;
	token = arena_new(c->scratch, uint32_t, width);
	run = arena_new(c->scratch, uint32_t, v.longest);
	sum = arena_new(c->scratch, double, (size_t)columns);
	for (size_t r = 0; r < rows; r++) {
		for (size_t i = 0; i < width; i++)
			token[i] = token_of(&v.pool, x, r * width + i);
		memset(sum, 0, (size_t)columns * sizeof *sum);
		count_row(&v, token, width, run, sum);
		store_real(&to, r * (size_t)columns, 1, (size_t)columns, sum);
	}
	return true;
}
