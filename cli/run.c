/* marq run: search a plan (or take it from the database's prices), execute it,
 * compare with the reference, and say what was predicted and what it took. */
#include "cli/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opaque.h"
#include "cli/output.h"
#include "cli/units.h"
#include "costmodel/core_lock.h"
#include "costmodel/machine.h"
#include "costmodel/seed.h"
#include "costmodel/tolerance.h"
#include "exec/perturbed.h"
#include "ir/base/plural.h"
#include "ir/base/shell.h"
#include "targets/host/host.h"

/* SOURCE: of float32 plans; optimised and plain runs of the reference runtime
 * differ by 1e-6 on the light models. */
#define ATOL_F32 1e-5
#define RTOL_F32 1e-4
/* TUNING: no output is compared as loosely as that */
#define MAX_TOLERANCE 1e30

struct run_args {
	struct search_args search;
	struct text_list data; /* --data */
	const char *given; /* the model or result, as on the command line */
	double atol, rtol; /* < 0: by the formats of the plan */
	uint32_t runs;
	bool layers, no_reference, turns;
};

static void
take_tolerance(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	double *out = at;
	char *end;

	(void)row;
	*out = strtod(arg, &end);
	if (end == arg || *end != '\0' || !(*out >= 0) || *out > MAX_TOLERANCE)
		argp_error(
		    s->argp, "'%s' is not a tolerance (a number from 0)", arg);
}

#define AT(member) offsetof(struct run_args, member)

static const struct option_row options[] = {
    {"data", 0, "DIR",
        "inputs and expected outputs (input_0.pb, output_0.pb, ...; or a "
        "folder of test_data_set_0, ...), which also bind the shapes the "
        "model leaves open; repeat",
        option_inputs, .at = AT(data)},
    {"atol", 0, "X", "absolute tolerance (default 1e-5)", take_tolerance,
        .at = AT(atol)},
    {"rtol", 0, "X",
        "relative tolerance (default 1e-4; with half precision some percent "
        "of an output's range, by its longest sum)",
        take_tolerance, .at = AT(rtol)},
    {"runs", 0, "N", "timed runs (default: one second's worth)", option_count,
        AT(runs), .low = 1, .high = 200},
    {"layers", 0, NULL, "show every composite, not the top ten", option_flag,
        .at = AT(layers)},
    {"no-reference", 0, NULL, "do not compare with the host reference",
        option_flag, .at = AT(no_reference)},
    {"turns", 0, NULL,
        "run when told to, to race other programs: say 'ready marq NS NS', "
        "what is predicted and what prices alone say, then answer each line "
        "of standard input, a number N, with the nanoseconds of N runs "
        "(negative: disturbed)",
        option_flag, .at = AT(turns)},
    {0},
};

/* Of the plan's loosest composite with half precision; 0: it has none. */
static double
tolerance_of_half(const struct plan *p)
{
	double most = 0;

	for (uint32_t i = 0; i < p->ncomposites; i++) {
		const struct candidate *c = plan_candidate(p, i);
		double t = tolerance_of(p->graph, p->mix, c);

		if (tolerance_is_half(p->graph, p->mix, c) && t > most)
			most = t;
	}
	return most;
}

static double
worst_of_outputs(const struct plan_accuracy *a, const struct plan *p)
{
	double worst = 0;

	for (uint32_t i = 0; i < p->graph->noutputs; i++)
		if (a->output[i].max_error > worst)
			worst = a->output[i].max_error;
	return worst;
}

static void
set_tolerance(struct run_result *r, const struct run_args *args)
{
	const double half = tolerance_of_half(&r->job->plan);

	r->has_half = half > 0;
	r->lossy = r->job->precision.has_accuracy
	    ? 2 * worst_of_outputs(&r->job->precision.accuracy, &r->job->plan)
	    : 0;
	r->by_model = args->atol < 0 && args->rtol < 0;
	r->allowance = allowance_of(r->job->model.graph);
	r->tolerance.absolute = args->atol >= 0 ? args->atol : ATOL_F32;
	r->tolerance.relative = args->rtol >= 0 ? args->rtol
	    : half > 0                          ? half
	                                        : RTOL_F32;
}

/* With half precision the error of small elements goes with the range; behind a
 * requantisation it comes in steps. */
static struct tolerance
tolerance_for(const struct run_result *r, value_id v, const struct tensor *want)
{
	const bool steps = r->by_model && r->allowance.requantises;
	struct tolerance t = r->tolerance;
	double range = 0;

	if (steps)
		t.whole = want->dtype == DT_INT8 || want->dtype == DT_UINT8;
	if ((!r->has_half && !steps && r->lossy == 0)
	    || !dtype_is_float(want->dtype) || want->kind > TENSOR_FILL)
		return t;
	for (size_t i = 0; i < want->count; i++) {
		double x = tensor_real(want, i);

		x = x < 0 ? -x : x;
		range = x > range && x < 1e300 ? x : range;
	}
	if (r->has_half)
		t.absolute += t.relative * range;
	t.absolute += r->lossy * range;
	if (steps)
		t.absolute += output_allowed(&r->allowance, v, range);
	return t;
}

/* What the run of one set gave. */
struct checking {
	struct run_result *result;
	const struct run_data *data;
	const struct tensor *got; /* [noutputs] */
	double *movable; /* [noutputs] once something was off, else NULL */
};

/* What rounding may do to the outputs by way of the model, as a part of their
 * range; zeros where that cannot be told. */
static double
movable(struct checking *c, uint32_t output)
{
	const struct job *j = c->result->job;
	const struct graph *g = j->model.graph;
	const struct perturbation how = {.all = PERTURBED_LEAST};
	struct err err = {.kind = ERR_NONE};

	if (!c->movable) {
		c->movable = arena_new(j->arena, double, g->noutputs);
		outputs_movable(
		    c->movable, g, c->data->in, host_eval, &how, &err);
	}
	return c->movable[output];
}

/* Compare; what is off by more than a kernel may be once more, with what the
 * model makes of rounding. */
static void
compare_output(struct comparison *c, struct checking *k, uint32_t output,
    const struct tensor *want)
{
	const struct graph *g = k->result->job->model.graph;
	struct tolerance t = tolerance_for(k->result, g->output[output], want);
	double more;

	tensors_compare(c, &k->got[output], want, &t);
	if (c->matches || !c->same_shape || !k->result->by_model)
		return;
	more = movable(k, output) * c->range;
	t.absolute += more;
	t.whole += k->result->allowance.requantises ? more : 0;
	tensors_compare(c, &k->got[output], want, &t);
}

static void
check_outputs(struct checking *k, const struct tensor *want,
    const char *against, const bool *drawn)
{
	struct run_result *r = k->result;
	const struct graph *g = r->job->model.graph;

	for (uint32_t i = 0; i < g->noutputs; i++) {
		struct run_check *c;

		r->check = arena_grow(r->job->arena, r->check, &r->check_cap,
		    r->nchecks + 1, sizeof *r->check);
		c = &r->check[r->nchecks++];
		*c = (struct run_check){k->data->name,
		    graph_value(g, g->output[i])->name, against, {0},
		    drawn && drawn[g->output[i]]};
		compare_output(&c->result, k, i, &want[i]);
		if (c->drawn)
			c->result.matches = c->result.same_shape;
		r->matches = r->matches && c->result.matches;
	}
}

static bool
check_set(struct run_result *r, struct executor *x, const struct run_data *d,
    const struct run_args *args, struct err *err)
{
	const struct job *j = r->job;
	const struct graph *g = j->model.graph;
	struct tensor *got = arena_new(j->arena, struct tensor, g->noutputs);
	struct tensor *want = arena_new(j->arena, struct tensor, g->noutputs);
	struct checking k = {.result = r, .data = d, .got = got};

	if (!executor_run(x, d->in, got, err))
		return false;
	if (d->want)
		check_outputs(
		    &k, d->want, "expected output", values_drawn(g, j->arena));
	if (args->no_reference)
		return true;
	if (!host_run(g, d->in, want, j->arena, err))
		return err_in(err, "reference");
	check_outputs(&k, want, "host reference", NULL);
	return true;
}

/* Timed here at once, as often as args say. */
static bool
time_runs(struct run_result *r, struct executor *x, const struct tensor *in,
    const struct run_args *args, uint32_t threads, struct tensor *out,
    struct err *err)
{
	const struct job *j = r->job;
	const struct profile_options po = {
	    .runs = args->runs, .stop = args->search.cli->stop};
	struct cores_taken held;
	bool ok;

	cores_take(&held, threads);
	machine_urgent(true);
	ok = profile_run(&r->profile, x, &j->plan, &po, in, out, j->arena, err);
	machine_urgent(false);
	cores_release(&held);
	return ok;
}

static bool
execute(struct run_result *r, const struct run_sets *sets,
    const struct run_args *args, struct err *err)
{
	const struct job *j = r->job;
	const uint32_t threads = args->search.threads;
	const struct executor_options o = {
	    .threads = threads, .keep_inputs = args->turns};
	struct tensor *out =
	    arena_new(j->arena, struct tensor, j->model.graph->noutputs);
	struct run_turns turns = {.threads = threads,
	    .in = sets->set[0].in,
	    .predicted = confirmation_predicts(&j->confirmation, j->plan.cost),
	    .prices = j->plan.cost};
	bool ok;

	cores_pin(threads);
	if (!executor_open(&turns.executor, &j->plan, &o, j->arena, err))
		return false;
	r->pool_bytes = executor_pool_bytes(turns.executor);
	r->matches = true;
	ok = args->turns
	    ? run_turns(&turns, out, err)
	    : time_runs(r, turns.executor, turns.in, args, threads, out, err);
	for (uint32_t i = 0; ok && !args->turns && i < sets->n; i++)
		ok = check_set(r, turns.executor, &sets->set[i], args, err);
	executor_close(turns.executor);
	if (!ok && args->data.n == 0
	    && (err->kind == ERR_INPUT || err->kind == ERR_UNSUPPORTED))
		return err_in(err, "made-up inputs (--data names others)");
	return ok;
}

/* Whose time is a simulator's is no contender. */
static bool
can_take_turns(const struct plan *p, struct err *err)
{
	for (uint32_t i = 0; i < p->ncomposites; i++) {
		const struct candidate *c = plan_candidate(p, i);

		if (p->mix->target[c->target].source != PRICE_MEASURED)
			return err_set(err, ERR_USAGE,
			    "--turns: %s is simulated here",
			    p->mix->target[c->target].text);
	}
	return true;
}

static bool
read_sets(struct run_sets *sets, const struct job *j,
    const struct run_args *args, struct err *err)
{
	for (uint32_t i = 0; i < args->data.n; i++)
		if (!run_data_read(sets, j->model.graph, args->data.text[i],
		        j->arena, err))
			return false;
	return true;
}

/* Import again with what the data say of shapes the model leaves open. */
static bool
bind_to_data(struct job *j, const struct run_sets *sets,
    const struct run_args *args, struct err *err)
{
	struct search_args *search =
	    arena_copy(j->arena, &args->search, sizeof args->search);

	if (sets->n == 0
	    || !run_data_shapes(
	        &search->onnx, &sets->set[0], j->model.graph, j->arena))
		return true;
	model_close(&j->model);
	return job_import(j, search, j->arena, err);
}

static bool
seed_weights_lacking(struct job *j)
{
	const uint32_t n = seed_made_up(j->model.graph, j->arena);

	if (n > 0)
		notes_add(&j->notes,
		    "%" PRIu32 " weight%s the model lacks: run with seeded "
		    "numbers",
		    n, plural(n));
	return true;
}

static bool
run(struct job *j, struct run_result *r, const struct run_args *args,
    struct err *err)
{
	struct run_sets sets = {0};

	if (!job_import(j, &args->search, args->search.cli->run, err)
	    || !read_sets(&sets, j, args, err)
	    || !bind_to_data(j, &sets, args, err) || !job_bind(j, err)
	    || (sets.n == 0
	        && !run_data_seeded(&sets, j->model.graph, j->arena, err))
	    || !seed_weights_lacking(j) || !job_candidates(j, false, err)
	    || !opaque_run(j, err))
		return false;
	j->verify = true;
	if (!job_search(j, err))
		return false;
	set_tolerance(r, args);
	return job_stop_pricing(j, err)
	    && (!args->turns || can_take_turns(&j->plan, err))
	    && execute(r, &sets, args, err);
}

static const struct command_line line = {
    .options = options,
    .shared = search_options,
    .shared_at = AT(search),
    .operands = SEARCH_OPERAND(AT(search)),
    .args_doc = "MODEL.onnx|RESULT",
    .doc = "Search the cheapest plan as `marq search` does, execute it "
           "for real, compare its outputs with the host reference (and "
           "with expected ones), and show predicted and measured "
           "times.",
};

bool
cmd_run(struct cli *c, int argc, char **argv, struct err *err)
{
	struct run_args args = {.atol = -1, .rtol = -1};
	struct job j = {.opened = false};
	struct run_result r = {.job = &j};
	bool ok;

	search_args_init(&args.search, c);
	if (!cli_parse(c, &line, argc, argv, &args, err)
	    || !(args.given = args.search.model)
	    || !search_args_resolve(&args.search, err))
		return false;
	search_args_settle(&args.search);
	ok = run(&j, &r, &args, err);
	if (ok && !args.turns) {
		run_report(&r, args.layers);
		cli_next(c, "marq explain %s --all",
		    shell_quote(args.given, c->run));
	}
	ok = job_close(&j, err) && ok;
	if (ok && !r.matches) {
		cli_say(
		    c, -1, "the plan's outputs differ from what is expected");
		c->status = err_exit(ERR_VERDICT);
	}
	return ok;
}
