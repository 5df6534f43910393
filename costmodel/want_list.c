#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* open_memstream */
#endif
#include "costmodel/want_list.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/pricer_parts.h"
#include "targets/part.h"

/* ---- the model ---- */

/* SOURCE: as the importer has it, shorter ones are parameters. */
#define WEIGHT_ELEMENTS 64

static bool
is_weight(const struct tensor *t)
{
	return t && t->rank > 0 && t->count > WEIGHT_ELEMENTS
	    && (t->kind == TENSOR_VIEW || t->kind == TENSOR_FILL)
	    && t->dtype != DT_INT64 && t->dtype != DT_STRING
	    && t->dtype != DT_BOOL;
}

/* Prices do not depend on weights, and kernels are tried on made-up ones. */
static struct graph
without_weights(const struct graph *g, struct arena *a)
{
	struct graph bare = *g;

	bare.value = arena_copy(a, g->value, g->nvalues * sizeof *g->value);
	for (value_id v = 0; v < g->nvalues; v++) {
		struct tensor *t;

		if (!is_weight(bare.value[v].constant))
			continue;
		t = arena_copy(a, bare.value[v].constant, sizeof *t);
		t->made_up = true;
		bare.value[v].constant = t;
	}
	return bare;
}

static bool
put_model(
    struct want *w, const struct graph *g, struct arena *a, struct err *err)
{
	const struct graph bare = without_weights(g, a);
	char *bytes = NULL;
	bool ok;
	FILE *f;

	f = open_memstream(&bytes, &w->nonnx);
	ok = f && part_write(f, &bare, err);
	if ((!f || fclose(f) != 0) && ok)
		ok = err_set(err, ERR_IO, "no memory for a model");
	if (ok)
		w->onnx = arena_copy(a, bytes, w->nonnx);
	free(bytes);
	return ok;
}

/* What its own machine has to tell stays there. */
static bool
is_sent(const struct target *t)
{
	return t->ask_ms == 0;
}

bool
want_of_model(struct want *out, const struct graph *g, const struct mix *m,
    const struct want_how *how, struct arena *a, struct err *err)
{
	*out = (struct want){.model = how->model,
	    .target = arena_new(a, const char *, m->n),
	    .keep_nan = how->keep_nan,
	    .exact = how->exact,
	    .exact_halves = how->exact_halves,
	    .threads = how->threads ? how->threads : 1,
	    .timeout_ns =
	        how->timeout_ns ? how->timeout_ns : MEASURE_TIMEOUT_NS};
	for (uint32_t i = 0; i < m->n; i++) {
		if (m->target[i].quantises)
			return err_set(err, ERR_UNSUPPORTED,
			    "%s: what is calibrated in 8 bits cannot be "
			    "measured on another machine",
			    m->target[i].text);
		if (is_sent(&m->target[i]))
			out->target[out->ntargets++] = m->target[i].text;
	}
	return put_model(out, g, a, err);
}

/* The index of a target of the mix among those of the list; ntargets for mix->n. */
static uint32_t
want_target(const struct want *w, const struct mix *m, uint32_t target)
{
	uint32_t n = 0;

	assert(target <= m->n);
	for (uint32_t i = 0; i < target; i++)
		n += is_sent(&m->target[i]);
	assert(n <= w->ntargets);
	return n;
}

/* ---- what of it ---- */

struct worth {
	uint32_t subject;
	double ratio; /* of its bound to the least its nodes may cost; less is
		       * worth more */
};

static int
compare_worth(const void *a, const void *b)
{
	const struct worth *x = a, *y = b;

	if (x->ratio != y->ratio)
		return x->ratio < y->ratio ? -1 : 1;
	return (x->subject > y->subject) - (x->subject < y->subject);
}

struct wanted_subject
want_subject(
    const struct want *w, const struct pricer *p, const struct subject *s)
{
	return (struct wanted_subject){
	    .target = want_target(w, p->mix, s->target),
	    .key = hash128(s->db.bytes, s->db.n),
	    .bytes = s->db.bytes,
	    .n = s->db.n,
	    .summary = s->candidate == SUBJECT_NONE ? s->db.summary : "",
	};
}

static bool
is_wanted(const struct pricer *p, const struct subject *s)
{
	if (s->target < p->mix->n && !is_sent(&p->mix->target[s->target]))
		return false;
	return p->environment[s->target].is_stored
	    && (s->is_wanted || s->supposed);
}

/* By node, the least a share of a candidate may cost. */
static double *
least_by_node(const struct pricer *p, struct arena *a)
{
	double *least = arena_new(a, double, p->graph->nnodes);

	for (node_id n = 0; n < p->graph->nnodes; n++)
		least[n] = -1;
	for (uint32_t i = 0; i < p->candidates->n; i++) {
		const struct candidate *c = &p->candidates->candidate[i];
		const struct price *price = price_at(p, p->subject_of[i]);
		double share;

		if (price->state == PRICE_FAILED)
			continue;
		share = (double)price->bound / c->nnodes;
		for (uint32_t k = 0; k < c->nnodes; k++)
			if (least[c->node[k]] < 0 || share < least[c->node[k]])
				least[c->node[k]] = share;
	}
	return least;
}

static double
ratio_of(const struct pricer *p, const struct subject *s, const double *least)
{
	const struct candidate *c;
	double sum = 0;

	if (s->candidate == SUBJECT_NONE)
		return 1;
	c = &p->candidates->candidate[s->candidate];
	for (uint32_t k = 0; k < c->nnodes; k++)
		sum += least[c->node[k]] > 0 ? least[c->node[k]] : 0;
	return sum > 0 ? (double)price_of(p, s)->bound / sum : 1e9;
}

static bool
is_chosen(const struct pricer *p, uint32_t subject, const bool *chosen)
{
	uint32_t c = p->subject[subject].candidate;

	for (; c != SUBJECT_NONE; c = p->next[c])
		if (chosen[c])
			return true;
	return false;
}

void
want_asked(struct want *w, const struct pricer *p, const bool *chosen,
    uint32_t most, struct arena *a)
{
	struct worth *all = arena_new(a, struct worth, p->nsubjects);
	const double *least = least_by_node(p, a);
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nsubjects; i++) {
		const struct subject *s = &p->subject[i];

		if (!is_wanted(p, s))
			continue;
		all[n].subject = i;
		all[n++].ratio = chosen && is_chosen(p, i, chosen)
		    ? 0
		    : ratio_of(p, s, least);
	}
	if (n > 1)
		qsort(all, n, sizeof *all, compare_worth);
	w->n = most && most < n ? most : n;
	w->subject = arena_new(a, struct wanted_subject, w->n);
	for (uint32_t i = 0; i < w->n; i++) {
		const struct subject *s = &p->subject[all[i].subject];

		w->subject[i] = want_subject(w, p, s);
		if (s->supposed)
			w->subject[i].probes = price_of(p, s)->probes;
		if (s->candidate != SUBJECT_NONE)
			w->subject[i].summary = key_summary(p->graph, p->mix,
			    &p->candidates->candidate[s->candidate], a);
	}
}
