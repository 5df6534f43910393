#include "cli/job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/opaque.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "cli/precision.h"
#include "cli/progress.h"
#include "costmodel/machine.h"
#include "costmodel/model_memory.h"
#include "costmodel/want_list.h"
#include "db/db.h"
#include "db/facts.h"
#include "exec/confirmed.h"
#include "ir/base/clock.h"
#include "ir/base/file.h"
#include "ir/base/json.h"
#include "ir/external.h"
#include "ir/lenient.h"
#include "ir/normalize.h"
#include "plan/marks.h"
#include "plan/problem.h"
#include "plan/replay.h"
#include "plan/search.h"
#include "search/problem_json.h"
#include "targets/host/host.h"

/* Data beside the model are inputs, too. */
static void
keep_external(const struct job *j)
{
	const struct mapping *m = j->model.mappings;
	const char *path = j->args->model, *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) + 1 : 0;

	for (; m; m = m->next)
		if (m->location)
			output_keep(j->args->cli,
			    arena_printf(
			        j->arena, "%.*s%s", folder, path, m->location));
}

bool
job_import(struct job *j, const struct search_args *args, struct arena *a,
    struct err *err)
{
	uint64_t began = clock_ns();
	struct infer_options infer = {.eval = host_eval};

	*j = (struct job){.args = args,
	    .arena = a,
	    .deadline_ns =
	        args->time_budget_ns ? began + args->time_budget_ns : 0};
	if ((args->dump_problem
	        && !output_file(args->cli, args->dump_problem, err))
	    || !onnx_read(&j->model, args->model, &args->onnx, a, err))
		return false;
	j->opened = true;
	notes_init(&j->notes, a);
	keep_external(j);
	infer.notes = &j->model.notes;
	if (!normalize(j->model.graph, &infer, err)
	    || (args->strict && !lenient_refuse(&j->model.notes, err)))
		return err_in(err, "%s", args->model);
	j->times.import_ns = clock_ns() - began;
	return true;
}

static bool
read_constraints(struct job *j, struct err *err)
{
	const struct search_args *args = j->args;
	const struct graph *g = j->model.graph;
	struct constraints *s = &j->constraints;
	struct arena *a = j->arena;

	for (uint32_t i = 0; i < args->pins.n; i++)
		if (!constraints_pin(s, args->pins.text[i], g, &j->mix, a, err))
			return false;
	for (uint32_t i = 0; i < args->forbids.n; i++)
		if (!constraints_forbid(
		        s, args->forbids.text[i], g, &j->mix, a, err))
			return false;
	for (uint32_t i = 0; i < args->stops.n; i++)
		if (!constraints_stop(s, args->stops.text[i], g, a, err))
			return false;
	for (uint32_t i = 0; i < args->prefixes.n; i++)
		if (!constraints_prefix(
		        s, args->prefixes.text[i], g, &j->mix, a, err))
			return false;
	return (args->ignore_marks
	           || marks_read(
	               s, &j->model, &j->mix, &j->model.notes, a, err))
	    && (!args->constraints
	        || constraints_read(s, args->constraints, g, &j->mix, a, err));
}

/* --replay: the plan's candidates among today's. */
static bool
read_replay(struct job *j, struct err *err)
{
	const struct plan_request r = {
	    .graph = j->model.graph,
	    .mix = &j->mix,
	    .candidates = &j->candidates,
	};

	return !j->args->replay
	    || plan_replay(&j->only, j->args->replay, &r, j->arena, err);
}

static struct candidate_options
candidate_options(const struct job *j)
{
	return (struct candidate_options){
	    .assume = j->assume,
	    .nassume = j->nassume,
	    .failures_only = j->failures_only,
	    .keep_nan = !j->args->ignore_nan,
	    .exact = j->args->exact_convolutions,
	    .exact_halves = j->args->exact_halves,
	};
}

/* What the database says of the model spares reading its weights. */
static bool
open_database(struct job *j, struct err *err)
{
	const char *db = j->args->db;
	const bool writes = search_measures(j->args) && !j->lists;

	if (!j->searches || !db || (!writes && file_is_absent(db)))
		return true;
	path_make_parents(db);
	if (!costdb_open(
	        &j->db, db, writes ? DB_WRITE : DB_READ, j->arena, err))
		return false;
	model_recall(j->db, &j->model, j->arena);
	return true;
}

bool
job_candidates(struct job *j, bool keep_refusals, struct err *err)
{
	struct candidate_options o = candidate_options(j);
	uint64_t began = clock_ns();

	o.keep_refusals = keep_refusals;

	if (!mix_open(&j->mix, j->args->targets.text, j->args->targets.n,
	        j->arena, err)
	    || !precision_calibrate(j, err) || !read_constraints(j, err)
	    || !open_database(j, err)
	    || !candidates_find(
	        &j->candidates, j->model.graph, &j->mix, &o, j->arena, err)
	    || !precision_exclude(j, err) || !opaque_settle(j, err))
		return false;
	j->times.candidates_ns = clock_ns() - began;
	return read_replay(j, err);
}

static void
on_progress(void *context, uint32_t done, uint32_t todo, const char *what)
{
	progress_step(context, done, todo, what);
}

static void
on_waiting(void *context, const char *why)
{
	struct progress *p = context;

	if (p->cli->verbosity < 0)
		return;
	progress_end(p);
	cli_say(p->cli, 0, "%s", why);
}

/* TUNING: of the time budget, the share left to search with the prices there are
 * then, and the most of that: a search that takes longer has its beam. */
#define RESERVE_SHARE 8
#define RESERVE_NS UINT64_C(2000000000)

/* TUNING: of the time for measuring, the share kept for what the best plan lacks in
 * the end. */
#define COMPLETING_SHARE 5

static uint64_t
completing_deadline(const struct job *j)
{
	uint64_t reserve = j->args->time_budget_ns / RESERVE_SHARE;

	return j->deadline_ns == 0
	    ? 0
	    : j->deadline_ns - (reserve < RESERVE_NS ? reserve : RESERVE_NS);
}

static uint64_t
measuring_deadline(const struct job *j)
{
	return j->deadline_ns == 0 ? 0
	                           : completing_deadline(j)
	        - j->args->time_budget_ns / COMPLETING_SHARE;
}

/* --price-for: the machine's facts; they say how many threads kernels had. */
static bool
find_board(struct job *j, struct err *err)
{
	const struct search_args *args = j->args;
	const char *threads;

	if (!args->price_for)
		return true;
	if (!board_find(
	        &j->board, args->price_for, args->db, &j->notes, j->arena, err))
		return false;
	threads = facts_get(j->board.hard[0], "threads", j->arena);
	return !threads || strtoul(threads, NULL, 10) == args->threads
	    || err_set(err, ERR_USAGE,
	        "--price-for %s: its prices are of kernels with --threads=%s",
	        args->price_for, threads);
}

/* --worker: what they are is what prices are for. */
static bool
open_links(struct job *j, struct pricer_options *o, struct err *err)
{
	const struct search_args *args = j->args;
	const struct board named = j->board;
	const struct want_how how = {args->model, args->threads,
	    args->timeout_ns, !args->ignore_nan, args->exact_convolutions,
	    args->exact_halves};
	const struct links_options links = {args->workers.text, args->workers.n,
	    &j->want, &j->notes, o->deadline_ns, o->stop};

	if (args->workers.n == 0 || !o->measure)
		return true;
	if (!want_of_model(
	        &j->want, j->model.graph, &j->mix, &how, j->arena, err)
	    || !links_open(&j->links, &links, &j->board, j->arena, err))
		return false;
	o->links = j->links;
	o->want = &j->want;
	return named.n == 0 || board_same(&named, &j->board, j->arena, err)
	    || err_in(
	        err, "the workers are not of --price-for %s", args->price_for);
}

static bool
open_pricer(struct job *j, struct err *err)
{
	const struct search_args *args = j->args;
	struct pricer_options o = {
	    .db = args->db,
	    .accept = args->accept,
	    .measure = search_measures(args) && !j->lists,
	    .max_measure = args->max_measure,
	    .deadline_ns = measuring_deadline(j),
	    .timeout_ns = args->timeout_ns,
	    .threads = args->threads,
	    .workers = args->jobs,
	    .free = j->free,
	    .reference = host_eval,
	    .told = j->told,
	    .canary = true,
	    .model = args->model,
	    .command = args->cli->line,
	    .stop = args->cli->stop,
	    .notes = &j->notes,
	    .progress = on_progress,
	    .waiting = on_waiting,
	    .context = &j->progress,
	};

	if (!find_board(j, err) || !open_links(j, &o, err))
		return false;
	o.board = j->board.n ? &j->board : NULL;
	o.unpriced = j->lists               ? UNPRICED_SUPPOSED
	    : o.board || args->no_estimates ? UNPRICED_REFUSED
	                                    : UNPRICED_ESTIMATED;
	if (args->db && !o.measure && file_is_absent(args->db)) {
		notes_add(&j->model.notes,
		    "%s: no such database; there are no stored prices",
		    args->db);
		o.db = NULL;
	}
	if (!o.db && args->homeless && args->measure)
		notes_add(&j->model.notes,
		    "no home folder: what is measured is not kept (--db FILE "
		    "keeps it)");
	if (o.db)
		path_make_parents(o.db);
	o.opened = j->db;
	j->db = NULL;
	return pricer_open(&j->pricer, j->model.graph, &j->mix, &j->candidates,
	           &o, j->arena, err)
	    && pricer_begin(j->pricer, &j->prices, err);
}

static uint32_t
search_threads(const struct search_args *args)
{
	uint32_t core[CORES_MAX];

	return args->jobs ? args->jobs : machine_cores(core);
}

static struct plan_request
request(struct job *j, const struct constraints *constraints)
{
	return (struct plan_request){
	    .only = j->precision.allowed ? j->precision.allowed : j->only,
	    .replay = j->only != NULL,
	    .graph = j->model.graph,
	    .mix = &j->mix,
	    .candidates = &j->candidates,
	    .prices = &j->prices,
	    .pricer = j->pricer,
	    .constraints = constraints,
	    .searcher = j->args->searcher,
	    /* What is not measured costs little: to be lazy about it would only mean
	     * more searches. */
	    .eager_pricing = j->args->eager_pricing
	        || (!search_measures(j->args) && !j->lists),
	    .price_baselines = j->args->price_baselines,
	    .price_best = !j->args->no_confirm && !j->lists,
	    .completing_ns = completing_deadline(j),
	    .search =
	        {
	            .deadline_ns = j->deadline_ns,
	            .memory_budget = j->args->memory_budget_bytes,
	            .threads = search_threads(j->args),
	            .stop = j->args->cli->stop,
	            .trace = j->args->trace_search ? stderr : NULL,
	        },
	    .notes = &j->model.notes,
	    .trace = j->args->trace_plan ? stderr : NULL,
	};
}

static bool
search(struct job *j, const struct constraints *constraints, struct plan *out,
    struct err *err)
{
	struct plan_request r = request(j, constraints);

	return plan_search(out, &r, j->arena, err);
}

/* The plan is run before anybody gets it, or at least built; what fails is
 * barred. */
static bool
verify(struct job *j, struct err *err)
{
	struct verify_options o = {.reference = host_eval,
	    .threads = j->args->threads,
	    .only_build = j->args->no_verify};
	struct plan_request r = request(j, &j->constraints);

	if (!j->verify)
		return true;
	if (!j->knows_content)
		j->content = model_known_hash(j->pricer, &j->model);
	j->knows_content = true;
	o.model = j->content;
	return verified_search(
	    &j->plan, &r, &o, &j->verification, j->arena, err);
}

/* TUNING: what fails when it is verified is barred and searched again; another plan
 * is confirmed then. */
#define CONFIRM_ROUNDS 4

/* A plan that mixes targets is the plan if it is faster when it is run; else the
 * single target's is, which is verified then. */
static bool
confirm(struct job *j, struct err *err)
{
	const struct confirm_options o = {.threads = j->args->threads,
	    .skip = j->args->no_confirm,
	    .why_not = j->args->price_for ? "prices of another machine"
	        : !j->args->measure       ? "--no-measure"
	                                  : NULL,
	    .deadline_ns = j->deadline_ns,
	    .stop = j->args->cli->stop};
	const struct plan_request r = request(j, &j->constraints);

	for (uint32_t i = 0; i < CONFIRM_ROUNDS; i++) {
		if (!confirmed_plan(
		        &j->plan, &j->confirmation, &r, &o, j->arena, err))
			return false;
		if (j->confirmation.kind != CONFIRM_REFUSED)
			return true;
		if (!verify(j, err))
			return false;
		if (j->verification.nbarred == 0)
			return true;
	}
	return true;
}

/* --top-k: the plan again and the K next best ones. */
static bool
find_top(struct job *j, struct err *err)
{
	struct plan_request r = request(j, &j->constraints);
	uint32_t k = j->args->top_k + 1;

	if (k < 2)
		return true;
	j->top = arena_new(j->arena, struct plan, k);
	return plan_top(j->top, k, &j->ntop, &r, j->arena, err);
}

static bool
write_problem(FILE *f, void *context, struct err *err)
{
	struct job *j = context;
	struct plan_request r = request(j, &j->constraints);
	struct problem p;
	struct json w;

	if (!problem_build(&p, &r, NULL, j->arena, err))
		return false;
	json_init(&w, f, 1);
	problem_write(&p, &w);
	return true;
}

bool
job_prices(struct job *j, struct err *err)
{
	uint64_t began = clock_ns();
	bool ok;

	progress_begin(&j->progress, j->args->cli, 1);
	ok = open_pricer(j, err);
	if (j->pricer)
		j->counts = pricer_counts(j->pricer);
	j->times.prices_ns = clock_ns() - began;
	return ok;
}

/* Search until what 8 bits lose is within the limits. */
static bool
search_within(struct job *j, struct err *err)
{
	bool again = true, ok = true;

	while (ok && again)
		ok = search(j, &j->constraints, &j->plan, err) && verify(j, err)
		    && precision_check(j, &again, err);
	return ok;
}

bool
job_search(struct job *j, struct err *err)
{
	uint64_t began;
	bool ok;

	if (!job_prices(j, err))
		return false;
	began = clock_ns();
	ok = search_within(j, err) && confirm(j, err)
	    && plan_verify(&j->plan, err) && find_top(j, err);
	progress_end(&j->progress);
	if (ok && j->searches)
		model_keep(j->pricer, &j->model, j->arena);
	j->counts = pricer_counts(j->pricer);
	j->times.search_ns = clock_ns() - began;
	return ok
	    && (!j->args->dump_problem
	        || output_write(j->args->cli, j->args->dump_problem,
	            write_problem, j, err));
}

bool
job_plan_pinned(struct job *j, node_id node, uint32_t target, struct plan *out,
    bool *found, struct arena *a, struct err *err)
{
	struct constraints pinned = {.n = 0};
	struct plan_request r = request(j, &pinned);

	for (uint32_t i = 0; i < j->constraints.n; i++)
		constraints_add(&pinned, j->constraints.item[i], a);
	constraints_add(&pinned,
	    (struct constraint){
	        .kind = CONSTRAIN_PIN,
	        .nnodes = 1,
	        .node = arena_copy(a, &node, sizeof node),
	        .targets = UINT64_C(1) << target,
	        .text = "what if",
	    },
	    a);
	r.replay = false;
	r.only = NULL; /* of a replayed plan: this asks about others */
	r.no_baselines = true;
	r.what_if = true;
	return plan_find(out, found, &r, a, err);
}

bool
job_sensitivity(struct job *j, bool quick, struct err *err)
{
	const struct plan_request r = request(j, &j->constraints);

	return plan_sensitivity(
	    &j->sensitivity, &j->plan, &r, quick, j->arena, err);
}

bool
job_opportunities(struct job *j, struct err *err)
{
	const struct plan_request r = request(j, &j->constraints);
	const struct candidate_options like = candidate_options(j);

	opportunities_find(&j->opportunities, &j->plan, j->arena);
	return opportunities_search(
	    &j->opportunities, &j->plan, &r, &like, err);
}

static void
close_links(struct job *j)
{
	if (j->links)
		links_close(j->links);
	j->links = NULL;
}

bool
job_stop_pricing(struct job *j, struct err *err)
{
	bool ok = !j->pricer || pricer_close(j->pricer, err);

	j->pricer = NULL;
	close_links(j);
	return ok;
}

bool
job_close(struct job *j, struct err *err)
{
	struct err later = {.kind = ERR_NONE};
	bool ok = !j->pricer || pricer_close(j->pricer, &later);

	j->pricer = NULL;
	if (j->db)
		costdb_abandon(j->db);
	j->db = NULL;
	close_links(j);
	if (!ok && err->kind == ERR_NONE)
		*err = later;
	if (j->opened) {
		cli_warn_all(j->args->cli, &j->notes);
		cli_warn_all(j->args->cli, &j->model.notes);
		model_close(&j->model);
	}
	j->opened = false;
	return ok;
}
