#include "cli/search_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/paths.h"
#include "cli/units.h"
#include "costmodel/machine.h"

enum {
	KEY_SHAPE = 0x200,
	KEY_DIM,
	KEY_STRICT,
	KEY_DB,
	KEY_ACCEPT,
	KEY_NO_MEASURE,
	KEY_EAGER_PRICING,
	KEY_BASELINES,
	KEY_MAX_MEASURE,
	KEY_TIMEOUT,
	KEY_TIME,
	KEY_MEMORY,
	KEY_THREADS,
	KEY_JOBS,
	KEY_PIN,
	KEY_FORBID,
	KEY_STOP,
	KEY_PREFIX,
	KEY_SENSITIVITY,
	KEY_CONSTRAINTS,
	KEY_IGNORE_MARKS,
	KEY_SEARCH,
	KEY_TOP,
	KEY_REPLAY,
	KEY_DUMP,
	KEY_TRACE,
	KEY_NAN,
	KEY_NO_VERIFY,
	KEY_PLAN_AROUND,
};

/* TUNING: more plans nobody reads, and each is kept whole */
#define TOP_MAX 1000
#define MANY 1000000000

/* Groups from 11 on: those before are of the command. */
static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Model and targets:", 11},
    {"target", 't', "KIND[:K=V,...]", 0,
        "a target, in order of preference for ties (repeat; default auto: all that this machine has)",
        11},
    {"shape", KEY_SHAPE, "INPUT=1x3x224x224", 0, "bind an input's shape", 11},
    {"dim", KEY_DIM, "NAME=N", 0, "bind a symbolic dimension", 11},
    {"strict", KEY_STRICT, NULL, 0,
        "refuse what is against the standard and otherwise accepted with a "
        "warning",
        11},
    {"nan", KEY_NAN, "keep|ignore", 0,
        "keep (default): NaN comes out of a plan where the model computes it; "
        "ignore: a number may",
        11},
    {NULL, 0, NULL, 0, "Prices:", 12},
    {"db", KEY_DB, "FILE", 0,
        "tuning database ('none': remember nothing; default $MARQ_DB or the "
        "user's data folder)",
        12},
    {"accept", KEY_ACCEPT, "exact|compatible|any", 0,
        "which stored prices count (default exact)", 12},
    {"no-measure", KEY_NO_MEASURE, NULL, 0,
        "use stored and simulated prices only", 12},
    {"eager-pricing", KEY_EAGER_PRICING, NULL, 0,
        "price every candidate, not only those on a cheapest plan", 12},
    {"baselines", KEY_BASELINES, NULL, 0,
        "price also what the plan is compared with", 12},
    {"max-measure", KEY_MAX_MEASURE, "N", 0, "measure at most N candidates",
        12},
    {"measure-timeout", KEY_TIMEOUT, "D", 0,
        "a measurement that has not answered for D failed (default 60s); "
        "stored timeouts under a shorter one are tried again",
        12},
    {"threads", KEY_THREADS, "N", 0, "threads per measured kernel (default 1)",
        12},
    {"jobs", KEY_JOBS, "N", 0,
        "measuring processes (default cores - 1); searches of --top-k at a time "
        "(default cores)",
        12},
    {NULL, 0, NULL, 0, "Search:", 13},
    {"search", KEY_SEARCH, "NAME", 0,
        "searcher: exact (default), beam, greedy, eager, single:TARGET, brute",
        13},
    {"time-budget", KEY_TIME, "D", 0,
        "stop with the best so far after D, measuring included", 13},
    {"memory-budget", KEY_MEMORY, "SIZE", 0, "of the search", 13},
    {"pin", KEY_PIN, "NODE=TARGET", 0, "NODE must run on TARGET", 13},
    {"forbid", KEY_FORBID, "TARGET:NODE", 0, "NODE must not run on TARGET", 13},
    {"prefix", KEY_PREFIX, "TARGET[:NODE,...]", 0,
        "TARGET gets one region, which reads model inputs only and holds no "
        "NODE",
        13},
    {"sensitivity", KEY_SENSITIVITY, NULL, 0,
        "search again at the ends of what simulated prices assume, and say "
        "what the plan hangs on",
        13},
    {"stop-fusion", KEY_STOP, "NODE", 0,
        "no composite or region crosses from NODE to its users", 13},
    {"constraints", KEY_CONSTRAINTS, "FILE.json", 0, "more constraints", 13},
    {"ignore-marks", KEY_IGNORE_MARKS, NULL, 0,
        "search as if the model had no marks and no partitions in it", 13},
    {"no-verify", KEY_NO_VERIFY, NULL, 0,
        "do not run the plan once against the host reference", 13},
    {"plan-around", KEY_PLAN_AROUND, NULL, 0,
        "leave operators that nothing here can run on the host, at a guessed "
        "price, instead of refusing the model",
        13},
    {"top-k", KEY_TOP, "K", 0, "also find the K next best plans", 13},
    {"replay", KEY_REPLAY, "PLAN.json", 0,
        "re-validate and re-price a plan instead of searching", 13},
    {"dump-problem", KEY_DUMP, "FILE.json", 0,
        "write the abstract problem, for `marq solve`", 13},
    {"trace", KEY_TRACE, "WHAT", 0,
        "plan: a line on stderr for each step of the planner; search: for each "
        "stage of its searches",
        13},
    {0},
};

static const struct argp_option model_options[] = {
    {"target", 't', "KIND[:K=V,...]", 0,
        "a target to ask about (repeat; default: all that are usable here)", 0},
    {"shape", KEY_SHAPE, "INPUT=1x3x224x224", 0, "bind an input's shape", 0},
    {"dim", KEY_DIM, "NAME=N", 0, "bind a symbolic dimension", 0},
    {"strict", KEY_STRICT, NULL, 0,
        "refuse what is against the standard and otherwise accepted with a "
        "warning",
        0},
    {0},
};

/* One decimal of "1x3x224"; moves past a following 'x'. */
static bool
parse_extent(const char **s, int64_t *out)
{
	char *end;
	long long x;

	if (**s < '0' || **s > '9')
		return false;
	errno = 0;
	x = strtoll(*s, &end, 10);
	if (errno != 0 || x < 0 || (*end && *end != 'x')
	    || (*end == 'x' && !end[1]))
		return false;
	*out = x;
	*s = *end ? end + 1 : end;
	return true;
}

static void
add_shape(struct search_args *args, char *arg, struct argp_state *state)
{
	struct arena *a = args->cli->run;
	char *equals = strrchr(arg, '=');
	uint32_t n = args->onnx.nshapes, rank = 0;
	struct bind_shape *list = arena_new(a, struct bind_shape, n + 1);
	int64_t dim[RANK_MAX];
	const char *s;

	if (!equals)
		argp_error(state, "--shape %s: want INPUT=AxBxC", arg);
	for (s = equals + 1; *s && rank < RANK_MAX; rank++)
		if (!parse_extent(&s, &dim[rank]))
			argp_error(state, "--shape %s: want INPUT=AxBxC", arg);
	if (n)
		memcpy(list, args->onnx.shape, n * sizeof *list);
	list[n] = (struct bind_shape){
	    .input = arena_strn(a, arg, (size_t)(equals - arg)),
	    .rank = rank,
	    .dim = arena_copy(a, dim, rank * sizeof *dim),
	};
	args->onnx.shape = list;
	args->onnx.nshapes = n + 1;
}

void
search_args_dim(struct search_args *args, char *arg, struct argp_state *state)
{
	struct arena *a = args->cli->run;
	char *equals = strrchr(arg, '=');
	uint32_t n = args->onnx.ndims;
	struct bind_dim *list = arena_new(a, struct bind_dim, n + 1);
	const char *s = equals ? equals + 1 : "";
	int64_t size = 0;

	if (!parse_extent(&s, &size) || *s)
		argp_error(state, "--dim %s: want NAME=N", arg);
	if (n)
		memcpy(list, args->onnx.dim, n * sizeof *list);
	list[n] = (struct bind_dim){
	    .name = arena_strn(a, arg, equals ? (size_t)(equals - arg) : 0),
	    .size = size,
	};
	args->onnx.dim = list;
	args->onnx.ndims = n + 1;
}

static void
set_accept(struct search_args *args, const char *arg, struct argp_state *state)
{
	static const char *const word[] = {
	    [ACCEPT_EXACT] = "exact",
	    [ACCEPT_COMPATIBLE] = "compatible",
	    [ACCEPT_ANY] = "any",
	};

	for (unsigned i = 0; i < sizeof word / sizeof word[0]; i++)
		if (strcmp(arg, word[i]) == 0) {
			args->accept = (enum accept)i;
			return;
		}
	argp_error(state, "--accept %s: want exact, compatible or any", arg);
}

static void
set_budget(struct search_args *args, int key, const char *arg,
    struct argp_state *state)
{
	struct err err = {.kind = ERR_NONE};
	uint64_t *duration =
	    key == KEY_TIME ? &args->time_budget_ns : &args->timeout_ns;

	if (!(key == KEY_MEMORY
	            ? parse_bytes(arg, &args->memory_budget_bytes, &err)
	            : parse_duration(arg, duration, &err)))
		argp_error(state, "%s: %s",
		    key == KEY_MEMORY        ? "--memory-budget"
		        : key == KEY_TIMEOUT ? "--measure-timeout"
		                             : "--time-budget",
		    err.text);
}

static error_t
parse_lists(int key, char *arg, struct argp_state *state)
{
	struct search_args *args = state->input;
	struct arena *a = args->cli->run;

	switch (key) {
	case 't':
		text_list_add(&args->targets, arg, a);
		output_keep_values(args->cli, arg);
		return 0;
	case KEY_PIN:
		text_list_add(&args->pins, arg, a);
		return 0;
	case KEY_FORBID:
		text_list_add(&args->forbids, arg, a);
		return 0;
	case KEY_STOP:
		text_list_add(&args->stops, arg, a);
		return 0;
	case KEY_PREFIX:
		text_list_add(&args->prefixes, arg, a);
		return 0;
	case KEY_SHAPE:
		add_shape(args, arg, state);
		return 0;
	case KEY_DIM:
		search_args_dim(args, arg, state);
		return 0;
	case KEY_STRICT:
		args->strict = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t
parse_prices(int key, char *arg, struct argp_state *state)
{
	struct search_args *args = state->input;

	switch (key) {
	case KEY_DB:
		args->db = strcmp(arg, "none") == 0 ? NULL : arg;
		output_keep(args->cli, args->db);
		return 0;
	case KEY_ACCEPT:
		set_accept(args, arg, state);
		return 0;
	case KEY_NO_MEASURE:
		args->measure = false;
		return 0;
	case KEY_EAGER_PRICING:
		args->eager_pricing = true;
		return 0;
	case KEY_BASELINES:
		args->price_baselines = true;
		return 0;
	case KEY_MAX_MEASURE:
		args->max_measure =
		    option_number("--max-measure", arg, 1, MANY, state);
		return 0;
	case KEY_THREADS:
		args->threads =
		    option_number("--threads", arg, 1, CORES_MAX, state);
		return 0;
	case KEY_JOBS:
		args->jobs = option_number("--jobs", arg, 1, CORES_MAX, state);
		return 0;
	default:
		return parse_lists(key, arg, state);
	}
}

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct search_args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = args->cli;
		return 0;
	case ARGP_KEY_ARG:
		if (args->model)
			argp_error(state, "one model at a time ('%s')", arg);
		args->model = arg;
		output_keep(args->cli, arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no model given");
		return 0;
	case KEY_TIME:
	case KEY_MEMORY:
	case KEY_TIMEOUT:
		set_budget(args, key, arg, state);
		return 0;
	case KEY_CONSTRAINTS:
		args->constraints = arg;
		output_keep(args->cli, arg);
		return 0;
	case KEY_IGNORE_MARKS:
		args->ignore_marks = true;
		return 0;
	case KEY_SEARCH:
		args->searcher = arg;
		return 0;
	case KEY_TOP:
		args->top_k = option_number("--top-k", arg, 1, TOP_MAX, state);
		return 0;
	case KEY_PLAN_AROUND:
		args->plan_around = true;
		return 0;
	case KEY_SENSITIVITY:
		args->sensitivity = true;
		return 0;
	case KEY_REPLAY:
		args->replay = arg;
		output_keep(args->cli, arg);
		return 0;
	case KEY_NO_VERIFY:
		args->no_verify = true;
		return 0;
	case KEY_NAN:
		if (strcmp(arg, "keep") != 0 && strcmp(arg, "ignore") != 0)
			argp_error(state, "--nan %s: want keep or ignore", arg);
		args->ignore_nan = strcmp(arg, "ignore") == 0;
		return 0;
	case KEY_DUMP:
		args->dump_problem = arg;
		return 0;
	case KEY_TRACE:
		args->trace_plan |= strcmp(arg, "plan") == 0;
		args->trace_search |= strcmp(arg, "search") == 0;
		if (strcmp(arg, "plan") != 0 && strcmp(arg, "search") != 0)
			argp_error(
			    state, "--trace %s: want plan or search", arg);
		return 0;
	default:
		return parse_prices(key, arg, state);
	}
}

static const struct argp search_argp = {
    .options = options,
    .parser = parse,
    .children = cli_children,
};

const struct argp_child search_children[] = {{&search_argp, 0, NULL, 0}, {0}};

const struct argp model_argp = {
    .options = model_options,
    .parser = parse,
    .children = cli_children,
};

void
search_args_init(struct search_args *args, struct cli *c)
{
	*args = (struct search_args){
	    .cli = c,
	    .db = path_default_db(c->run),
	    .measure = true,
	    .threads = 1,
	    .searcher = "exact",
	};
	output_keep(c, args->db);
}
