#include "exec/ranges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/perturbed.h"

bool
range_rule_read(struct range_rule *r, const char *text)
{
	static const char percentile[] = "percentile:";
	const char *number = text + sizeof percentile - 1;
	char *end;

	*r = (struct range_rule){.method = RANGES_MINMAX};
	if (strcmp(text, "minmax") == 0)
		return true;
	r->method = RANGES_MSE;
	if (strcmp(text, "mse") == 0)
		return true;
	r->method = RANGES_PERCENTILE;
	if (strncmp(text, percentile, sizeof percentile - 1) != 0
	    || *number < '0' || *number > '9')
		return false;
	r->percentile = strtod(number, &end);
	return *end == '\0' && r->percentile > 50 && r->percentile <= 100;
}

/* ---- the pass ---- */

static void
look_at(struct ranges *r, value_id v, const struct tensor *t, struct arena *a,
    struct arena *scratch)
{
	if (t->kind > TENSOR_FILL || t->dtype != DT_FLOAT || t->count == 0)
		return;
	if (!r->seen[v])
		r->seen[v] = arena_new(a, struct histogram, 1);
	histogram_add(r->seen[v], tensor_data(t, scratch), t->count);
}

static bool
look_at_sample(struct ranges *r, const struct graph *g, const struct samples *s,
    node_eval eval, struct arena *a, struct err *err)
{
	const struct perturbation none = {.seed = 0};
	struct tensor *in, *value;
	struct arena scratch;
	bool ok;

	arena_init(&scratch);
	in = arena_new(&scratch, struct tensor, g->ninputs);
	value = arena_new(&scratch, struct tensor, g->nvalues);
	ok = samples_take(in, s, r->nsamples, g, &scratch, err);
	for (uint32_t i = 0; ok && i < g->ninputs; i++)
		value[g->input[i]] = in[i];
	ok = ok && reference_values(value, g, eval, &none, &scratch, err);
	for (value_id v = 0; ok && v < g->nvalues; v++)
		if (!g->value[v].constant && value[v].dtype != DT_UNDEFINED)
			look_at(r, v, &value[v], a, &scratch);
	arena_release(&scratch);
	r->nsamples += ok;
	return ok;
}

/* ---- scales ---- */

static void
choose(struct ranges *r, value_id v, const struct range_rule *rule)
{
	const struct histogram *h = r->seen[v];

	r->low[v] = h->min;
	r->high[v] = h->max;
	if (rule->method == RANGES_PERCENTILE)
		histogram_percentile(
		    h, rule->percentile, &r->low[v], &r->high[v]);
	if (rule->method == RANGES_MSE)
		histogram_mse(h, &r->low[v], &r->high[v]);
	if (r->quant[v].scale == 0)
		r->quant[v] = quant_of_range(r->low[v], r->high[v]);
}

/* What only moves values keeps their scale: no step is lost. */
static void
follow_moves(struct ranges *r, const struct graph *g)
{
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = graph_node(g, id);
		value_id in, out;

		if (!quant_is_move(n) || n->input[0] == VALUE_NONE)
			continue;
		in = n->input[0];
		out = n->output[0];
		if (r->quant[in].scale > 0 && r->quant[out].scale > 0
		    && !r->quant[out].is_own)
			r->quant[out] = r->quant[in];
	}
}

bool
ranges_find(struct ranges *out, const struct graph *g, const struct samples *s,
    const struct range_rule *rule, node_eval eval, struct arena *a,
    struct err *err)
{
	*out = (struct ranges){.nsamples = 0};
	out->seen = arena_new(a, struct histogram *, g->nvalues);
	out->low = arena_new(a, double, g->nvalues);
	out->high = arena_new(a, double, g->nvalues);
	out->quant = arena_new(a, struct quant, g->nvalues);
	quant_own(out->quant, g);
	while (out->nsamples < s->n)
		if (!look_at_sample(out, g, s, eval, a, err))
			return err_in(err, "calibration, sample %u",
			    (unsigned)out->nsamples);
	for (value_id v = 0; v < g->nvalues; v++)
		if (out->seen[v] && out->seen[v]->n > 0)
			choose(out, v, rule);
	follow_moves(out, g);
	return true;
}
