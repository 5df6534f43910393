#include "cli/precision.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/job_state.h"
#include "cli/run_data.h"
#include "exec/accuracy.h"
#include "ir/base/json.h"
#include "ir/base/plural.h"
#include "targets/host/host.h"

/* TUNING: more samples nobody waits for */
#define RANDOM_MAX 100000

/* ---- targets ---- */

static const struct target_kind *
kind_of_text(const char *text, struct arena *a)
{
	const size_t n = strcspn(text, ":");

	return target_kind_find(arena_strn(a, text, n));
}

void
precision_targets(struct search_args *args)
{
	struct arena *a = args->cli->run;
	struct text_list list = {.n = 0};

	if (!args->precision.int8)
		return;
	for (uint32_t i = 0; i < args->targets.n; i++) {
		const char *text = args->targets.text[i];
		const struct target_kind *k = kind_of_text(text, a);

		text_list_add(&list, text, a);
		if (k && k->int8 && !strstr(text, k->int8->option))
			text_list_add(&list,
			    arena_printf(a, "%s%c%s", text,
			        strchr(text, ':') ? ',' : ':', k->int8->option),
			    a);
	}
	args->targets = list;
}

static bool
mix_quantises(const struct mix *m)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->target[i].quantises)
			return true;
	return false;
}

/* ---- calibration ---- */

/* "random:N", or a folder as `marq run --data` takes it. */
static bool
read_samples(struct job *j, const char *data, struct err *err)
{
	static const char random[] = "random:";
	struct samples *s = &j->precision.samples;
	const struct tensor **in;
	struct run_sets sets = {0};
	char *end;

	if (strncmp(data, random, sizeof random - 1) == 0) {
		const char *number = data + sizeof random - 1;
		const unsigned long n = strtoul(number, &end, 10);

		s->n = (uint32_t)n;
		if (*number >= '0' && *number <= '9' && *end == '\0' && n > 0
		    && n <= RANDOM_MAX)
			return true;
		return err_set(err, ERR_USAGE,
		    "--calibrate %s: want random:N, N from 1 to %d", data,
		    RANDOM_MAX);
	}
	if (!run_data_read(&sets, j->model.graph, data, j->arena, err))
		return err_in(err, "--calibrate");
	in = arena_new(j->arena, const struct tensor *, sets.n);
	for (uint32_t i = 0; i < sets.n; i++)
		in[i] = sets.set[i].in;
	*s = (struct samples){sets.n, in};
	return true;
}

static bool
is_made_up(const struct graph *g)
{
	for (value_id v = 0; v < g->nvalues; v++)
		if (g->value[v].constant && g->value[v].constant->made_up)
			return true;
	return false;
}

static bool
has_scale(const struct ranges *r, const struct graph *g)
{
	for (value_id v = 0; v < g->nvalues; v++)
		if (r->quant[v].scale > 0)
			return true;
	return false;
}

bool
precision_calibrate(struct job *j, struct err *err)
{
	const struct precision_args *args = &j->args->precision;
	struct precision *p = &j->precision;
	const struct graph *g = j->model.graph;
	struct range_rule rule;

	if (!mix_quantises(&j->mix))
		return !args->calibrate
		    || err_set(err, ERR_USAGE,
		        "--calibrate without a target of 8 bits; --int8 adds "
		        "those there are");
	if (!range_rule_read(&rule, args->ranges))
		return err_set(err, ERR_USAGE,
		    "--ranges %s: want minmax, percentile:P (P above 50) or "
		    "mse",
		    args->ranges);
	if ((args->calibrate && !read_samples(j, args->calibrate, err))
	    || !ranges_find(
	        &p->ranges, g, &p->samples, &rule, host_eval, j->arena, err))
		return false;
	if (!has_scale(&p->ranges, g))
		return err_set(err, ERR_USAGE,
		    "a target of 8 bits needs scales: give --calibrate "
		    "FOLDER|random:N (the model has none of its own)");
	if (args->calibrate && is_made_up(g))
		notes_add(&j->model.notes,
		    "weights are made up, and so are ranges and errors of 8 "
		    "bits");
	p->checked = p->samples;
	if (p->checked.n == 0)
		p->checked.n = ACCURACY_SAMPLES;
	p->quantises = true;
	p->accuracy.data = args->calibrate;
	p->accuracy.rule = args->calibrate ? args->ranges : "of the model";
	p->accuracy.limits = args->limits;
	j->mix.formats.quant = p->ranges.quant;
	return true;
}

static struct accuracy_request
request(const struct job *j)
{
	return (struct accuracy_request){.graph = j->model.graph,
	    .mix = &j->mix,
	    .samples = &j->precision.checked,
	    .reference = host_eval,
	    .threads = j->args->threads};
}

/* ---- candidates that lose too much ---- */

/* "conv3+relu" of a composite's nodes. */
static const char *
nodes_text(const struct job *j, const struct candidate *c)
{
	const char *text = node_label(j->model.graph, c->node[0], j->arena);

	for (uint32_t i = 1; i < c->nnodes; i++)
		text = arena_printf(j->arena, "%s+%s", text,
		    node_label(j->model.graph, c->node[i], j->arena));
	return text;
}

static struct refusal
refusal_of(const struct job *j, const struct candidate *c, double sqnr)
{
	struct reason *reason = arena_new(j->arena, struct reason, 1);

	*reason = (struct reason){.condition = "min_sqnr",
	    .actual = arena_printf(j->arena, "SQNR %.1f dB in 8 bits", sqnr),
	    .required = arena_printf(j->arena, "at least %g dB (--min-sqnr)",
	        j->args->precision.limits.min_sqnr)};
	return (struct refusal){.target = c->target,
	    .rule = c->rule,
	    .match = c->match,
	    .reason = reason,
	    .nreasons = 1};
}

/* Lists without those that lose too much; those are refusals. */
static void
split(struct job *j)
{
	struct loss *loss = j->precision.loss;
	struct candidates *c = &j->candidates;
	const double least = j->args->precision.limits.min_sqnr;
	struct candidate *kept = arena_new(j->arena, struct candidate, c->n);
	struct refusal *refused =
	    arena_new(j->arena, struct refusal, (size_t)c->nrefusals + c->n);
	uint32_t n = 0;

	if (c->nrefusals)
		memcpy(refused, c->refusal, c->nrefusals * sizeof *c->refusal);
	for (uint32_t i = 0; i < c->n; i++) {
		const double sqnr = loss_sqnr(&loss[i]);

		if (loss[i].n == 0 || sqnr >= least) {
			loss[n] = loss[i];
			kept[n++] = c->candidate[i];
			continue;
		}
		refused[c->nrefusals++] = refusal_of(j, &c->candidate[i], sqnr);
		notes_add(&j->model.notes,
		    "int8 of %s refused: SQNR %.1f dB < %g",
		    nodes_text(j, &c->candidate[i]), sqnr, least);
	}
	c->candidate = kept;
	c->refusal = refused;
	c->n = n;
}

bool
precision_exclude(struct job *j, struct err *err)
{
	const struct accuracy_request r = request(j);

	j->precision.loss = NULL; /* of other candidates, perhaps */
	if (!j->precision.quantises || j->args->precision.limits.min_sqnr <= 0
	    || j->args->replay)
		return true;
	j->precision.loss = arena_new(j->arena, struct loss, j->candidates.n);
	if (!accuracy_of_candidates(j->precision.loss, &j->candidates, &r, err))
		return false;
	split(j);
	return true;
}

/* ---- plans that lose too much ---- */

struct lossy {
	uint32_t candidate;
	double sqnr;
};

static int
by_sqnr(const void *a, const void *b)
{
	const struct lossy *x = a, *y = b;

	if (x->sqnr != y->sqnr)
		return x->sqnr < y->sqnr ? -1 : 1;
	return x->candidate < y->candidate ? -1 : x->candidate > y->candidate;
}

/* What those of the list lose that nobody has looked into yet. */
static bool
look_into(struct job *j, const struct lossy *of, uint32_t n, struct err *err)
{
	struct precision *p = &j->precision;
	const struct accuracy_request r = request(j);
	struct candidate *list = arena_new(j->arena, struct candidate, n);
	uint32_t *id = arena_new(j->arena, uint32_t, n);
	struct loss *loss = arena_new(j->arena, struct loss, n);
	struct candidates new = {.candidate = list};

	if (!p->loss)
		p->loss = arena_new(j->arena, struct loss, j->candidates.n);
	for (uint32_t i = 0; i < n; i++)
		if (p->loss[of[i].candidate].n == 0) {
			id[new.n] = of[i].candidate;
			list[new.n] = j->candidates.candidate[id[new.n]];
			new.n++;
		}
	if (new.n > 0 && !accuracy_of_candidates(loss, &new, &r, err))
		return false;
	for (uint32_t i = 0; i < new.n; i++)
		p->loss[id[i]] = loss[i];
	return true;
}

/* The composites of 8 bits of a region (UINT32_MAX: of all) by what each loses by
 * itself, the worst first; how many. */
static bool
rank(struct job *j, uint32_t region, struct lossy *out, uint32_t *n,
    struct err *err)
{
	const struct plan *p = &j->plan;

	*n = 0;
	for (uint32_t i = 0; i < p->ncomposites; i++) {
		const uint32_t at = p->composite[i].region;

		if (j->mix.target[p->region[at].target].quantises
		    && (region == UINT32_MAX || region == at))
			out[(*n)++].candidate = p->composite[i].candidate;
	}
	if (!look_into(j, out, *n, err))
		return false;
	for (uint32_t i = 0; i < *n; i++)
		out[i].sqnr = loss_sqnr(&j->precision.loss[out[i].candidate]);
	qsort(out, *n, sizeof *out, by_sqnr);
	return true;
}

static bool
shares_node(const struct candidate *a, const struct candidate *b)
{
	for (uint32_t i = 0; i < a->nnodes; i++)
		for (uint32_t k = 0; k < b->nnodes; k++)
			if (a->node[i] == b->node[k])
				return true;
	return false;
}

/* No candidate of 8 bits holds a node of this one any more. */
static void
bar(struct job *j, uint32_t candidate)
{
	const struct candidates *c = &j->candidates;

	for (uint32_t i = 0; i < c->n; i++)
		if (j->mix.target[c->candidate[i].target].quantises
		    && shares_node(&c->candidate[i], &c->candidate[candidate]))
			j->precision.allowed[i] = false;
}

static void
allow_all(struct job *j)
{
	j->precision.allowed = arena_new(j->arena, bool, j->candidates.n);
	for (uint32_t i = 0; i < j->candidates.n; i++)
		j->precision.allowed[i] = j->only == NULL || j->only[i];
}

/* Of the worst region, or of all where no region is to blame, what loses most: as
 * many as were barred before, so that rounds are few however many there are. */
static bool
bar_worst(struct job *j, const struct broken_limit *broken, struct err *err)
{
	struct precision *p = &j->precision;
	const uint32_t worst = accuracy_worst_region(&p->accuracy, &j->plan);
	struct lossy *list =
	    arena_new(j->arena, struct lossy, j->plan.ncomposites);
	uint32_t n, bars = p->accuracy.nbarred + 1;

	if (!rank(j, broken->region == UINT32_MAX ? UINT32_MAX : worst, list,
	        &n, err))
		return false;
	bars = bars < n ? bars : n;
	if (!p->allowed)
		allow_all(j);
	for (uint32_t i = 0; i < bars; i++)
		bar(j, list[i].candidate);
	p->accuracy.nbarred += bars;
	notes_add(&j->model.notes,
	    "%s (the worst region is %u, SQNR %.1f dB): %s (%.1f dB)%s barred "
	    "from int8, and searched again",
	    broken->words, (unsigned)worst,
	    loss_sqnr(&p->accuracy.region[worst]),
	    nodes_text(j, &j->candidates.candidate[list[0].candidate]),
	    list[0].sqnr,
	    bars > 1
	        ? arena_printf(j->arena, " and %u more", (unsigned)(bars - 1))
	        : "");
	return true;
}

bool
precision_check(struct job *j, bool *again, struct err *err)
{
	const struct accuracy_request r = request(j);
	struct precision *p = &j->precision;
	struct broken_limit broken;

	*again = false;
	p->has_accuracy = p->quantises && plan_quantises(&j->plan);
	if (!p->has_accuracy)
		return true;
	if (!accuracy_of_plan(&p->accuracy, &j->plan, &r, j->arena, err))
		return err_in(err, "accuracy of 8 bits");
	if (!accuracy_broken(&broken, &p->accuracy, &j->plan, j->arena))
		return true;
	if (j->args->replay) {
		notes_add(&j->model.notes, "%s", broken.words);
		return true;
	}
	*again = true;
	return bar_worst(j, &broken, err);
}

/* ---- for people ---- */

static void
tell_loss(struct answer *a, const struct loss *l, const char *what)
{
	ANSWER_LINE(a,
	    "  {what}: {?lossy SQNR {sqnr_db:.1f} dB}{!lossy nothing lost}, max "
	    "error {max_error:.2g} of the range, same largest element in "
	    "{same_argmax} of {compared}\n",
	    F("what", what), T("lossy", l->noise > 0),
	    F("sqnr_db", l->noise > 0 ? loss_sqnr(l) : 0.0),
	    F("max_error", l->max_error), F("same_argmax", l->argmax),
	    F("compared", l->n));
}

void
precision_tell(const struct job *j, struct answer *a)
{
	const struct plan_accuracy *x = &j->precision.accuracy;
	const struct plan *p = &j->plan;

	if (!j->precision.has_accuracy)
		return;
	ANSWER(a, "int8: ranges {ranges}{?data  over {data}}\n",
	    F("ranges", x->rule), F("data", x->data));
	answer_list(a, "int8");
	for (uint32_t i = 0; i < p->nregions; i++)
		if (x->region[i].n > 0)
			tell_loss(a, &x->region[i],
			    arena_printf(j->arena,
			        "region %" PRIu32 " (%" PRIu32 " composite%s)",
			        i, p->region[i].ncomposites,
			        plural(p->region[i].ncomposites)));
	for (uint32_t i = 0; i < p->graph->noutputs; i++)
		if (x->output[i].n > 0)
			tell_loss(a, &x->output[i],
			    arena_printf(j->arena, "output '%s'",
			        graph_value(p->graph, p->graph->output[i])
			            ->name));
	answer_close(a);
}

/* ---- calibration.json ---- */

static void
write_histogram(struct json *w, const struct histogram *h)
{
	uint32_t first = 0, last = HISTOGRAM_BINS;

	while (first < last && h->count[first] == 0)
		first++;
	while (last > first && h->count[last - 1] == 0)
		last--;
	json_key(w, "histogram");
	json_inline_object(w);
	json_key_real(w, "from", histogram_edge(h, first));
	json_key_real(w, "width", histogram_width(h));
	json_key(w, "counts");
	json_inline_array(w);
	for (uint32_t i = first; i < last; i++)
		json_uint(w, h->count[i]);
	json_close(w);
	json_close(w);
}

static void
write_value(struct json *w, const struct job *j, value_id v)
{
	const struct ranges *r = &j->precision.ranges;
	const struct quant *q = &r->quant[v];

	json_object(w);
	json_key_str(w, "value", graph_value(j->model.graph, v)->name);
	json_key_str(w, "type", q->is_unsigned ? "uint8" : "int8");
	json_key_real(w, "scale", (double)q->scale);
	json_key_int(w, "zero_point", q->zero);
	json_key_str(w, "from", q->is_own ? "model" : "calibration");
	if (r->seen[v] && r->seen[v]->n > 0) {
		json_key_real(w, "min", r->seen[v]->min);
		json_key_real(w, "max", r->seen[v]->max);
		json_key_real(w, "low", r->low[v]);
		json_key_real(w, "high", r->high[v]);
		json_key_uint(w, "elements", r->seen[v]->n);
		write_histogram(w, r->seen[v]);
	}
	json_close(w);
}

bool
precision_write(FILE *f, void *context, struct err *err)
{
	const struct job *j = context;
	const struct precision_args *args = &j->args->precision;
	struct json w;

	(void)err;
	json_init(&w, f, 1);
	json_object(&w);
	json_key_str(&w, "schema", "marq.calibration/1");
	json_key(&w, "data");
	if (args->calibrate)
		json_str(&w, args->calibrate);
	else
		json_null(&w);
	json_key_str(&w, "ranges", args->ranges);
	json_key_uint(&w, "samples", j->precision.ranges.nsamples);
	json_key(&w, "values");
	json_array(&w);
	for (value_id v = 0; v < j->model.graph->nvalues; v++)
		if (j->precision.ranges.quant[v].scale > 0)
			write_value(&w, j, v);
	json_close(&w);
	json_close(&w);
	return true;
}
