#include "cli/search_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/paths.h"
#include "cli/units.h"
#include "costmodel/links.h"
#include "costmodel/machine.h"

/* TUNING: more plans nobody reads, and each is kept whole */
#define TOP_MAX 1000
#define MANY 1000000000

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
	if (errno != 0 || x < 0 || (*end && *end != 'x' && *end != ':')
	    || (*end == 'x' && (end[1] < '0' || end[1] > '9')))
		return false;
	*out = x;
	*s = *end == 'x' ? end + 1 : end;
	return true;
}

static void
take_shape(void *at, const char *arg, const struct option_row *row,
    struct option_state *st)
{
	struct search_args *args = at;
	struct arena *a = args->cli->run;
	const char *equals = strrchr(arg, '=');
	uint32_t n = args->onnx.nshapes, rank = 0;
	struct bind_shape *list = arena_new(a, struct bind_shape, n + 1);
	enum dtype dtype = DT_UNDEFINED;
	int64_t dim[RANK_MAX];
	const char *s;

	(void)row;
	if (!equals)
		argp_error(st->argp, "--shape %s: want VALUE=AxBxC", arg);
	for (s = equals + 1; *s && *s != ':' && rank < RANK_MAX; rank++)
		if (!parse_extent(&s, &dim[rank]))
			argp_error(st->argp,
			    "--shape %s: want VALUE=AxBxC or VALUE=AxBxC:TYPE",
			    arg);
	if (*s == ':')
		dtype = dtype_find(s + 1);
	if (*s && dtype == DT_UNDEFINED)
		argp_error(st->argp, "--shape %s: '%s' is no element type", arg,
		    s + 1);
	if (n)
		memcpy(list, args->onnx.shape, n * sizeof *list);
	list[n] = (struct bind_shape){
	    .value = arena_strn(a, arg, (size_t)(equals - arg)),
	    .rank = rank,
	    .dim = arena_copy(a, dim, rank * sizeof *dim),
	    .dtype = dtype,
	};
	args->onnx.shape = list;
	args->onnx.nshapes = n + 1;
}

void
search_take_dim(void *at, const char *arg, const struct option_row *row,
    struct option_state *st)
{
	struct search_args *args = at;
	struct arena *a = args->cli->run;
	const char *equals = strrchr(arg, '=');
	uint32_t n = args->onnx.ndims;
	struct bind_dim *list = arena_new(a, struct bind_dim, n + 1);
	const char *s = equals ? equals + 1 : "";
	int64_t size = 0;

	(void)row;
	if (!parse_extent(&s, &size) || *s)
		argp_error(st->argp, "--dim %s: want NAME=N", arg);
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
take_target(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	option_texts(at, arg, row, s);
	output_keep_values(s->cli, arg);
}

void
search_take_db(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct search_args *args = at;

	(void)row;
	args->db = strcmp(arg, "none") == 0 ? NULL : arg;
	args->homeless = false;
	output_keep(s->cli, args->db);
}

static void
take_trace(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct search_args *args = at;

	(void)row;
	args->trace_plan |= strcmp(arg, "plan") == 0;
	args->trace_search |= strcmp(arg, "search") == 0;
	if (strcmp(arg, "plan") != 0 && strcmp(arg, "search") != 0)
		argp_error(s->argp, "--trace %s: want plan or search", arg);
}

static void
take_calibrate(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	const char **out = at;

	(void)row;
	*out = arg;
	if (strncmp(arg, "random:", 7) != 0)
		output_keep(s->cli, arg);
}

static void
take_ranges(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	const char **out = at;
	struct range_rule rule;

	(void)row;
	*out = arg;
	if (!range_rule_read(&rule, arg))
		argp_error(s->argp,
		    "--ranges %s: want minmax, percentile:P (P above 50) or "
		    "mse",
		    arg);
}

static void
take_real(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	double *out = at;
	char *end;

	*out = strtod(arg, &end);
	if (end == arg || *end != '\0' || !(*out > 0) || *out > 1000)
		argp_error(s->argp,
		    "--%s %s: want a number above 0, at most 1000", row->name,
		    arg);
}

void
search_take_model(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct search_args *args = at;

	if (args->model)
		argp_error(s->argp, "one model at a time ('%s')", arg);
	option_input(&args->model, arg, row, s);
}

static void
take_price_for(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct search_args *args = at;

	(void)row;
	args->price_for = arg;
	output_keep(s->cli, arg);
}

static void
take_worker(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct search_args *args = at;
	struct err err = {.kind = ERR_NONE};

	(void)row;
	if (!link_check(arg, &err))
		argp_error(s->argp, "%s", err.text);
	text_list_add(&args->workers, arg, s->cli->run);
}

bool
search_measures(const struct search_args *args)
{
	return args->measure && (!args->price_for || args->workers.n);
}

#define AT(member) offsetof(struct search_args, member)

/* Groups from 11 on: those before are of the command. */
const struct option_row search_options[] = {
    {.help = "Model and targets:", .group = 11},
    {"target", 't', "KIND[:K=V,...]",
        "a target, in order of preference for ties (repeat; default auto: all that this machine has)",
        take_target, AT(targets), .group = 11},
    {"shape", 0, "VALUE=1x3x224x224[:TYPE]",
        "bind the shape of an input, or of what an opaque step makes",
        take_shape, .group = 11},
    {"dim", 0, "NAME=N", "bind a symbolic dimension", search_take_dim,
        .group = 11},
    {"strict", 0, NULL,
        "refuse what is against the standard and otherwise accepted with a "
        "warning",
        option_flag, AT(strict), .group = 11},
    {"weights", 0, "read|none",
        "none: weights are not looked at, as if the model had none; made-up "
        "numbers stand for them",
        option_second, AT(onnx.no_weights), .group = 11},
    {"nan", 0, "keep|ignore",
        "keep (default): NaN comes out of a plan where the model computes it; "
        "ignore: a number may",
        option_second, AT(ignore_nan), .group = 11},
    {"exact-convolutions", 0, NULL,
        "convolutions sum the products that are defined: no Winograd, which "
        "rounds more (to 1e-5 of the range)",
        option_flag, AT(exact_convolutions), .group = 11},
    {"exact-halves", 0, NULL,
        "every float16 and bfloat16 result is rounded to its type: none is held "
        "as a float between two operators (beyond 65504 it would not overflow)",
        option_flag, AT(exact_halves), .group = 11},
    {.help = "Prices:", .group = 12},
    {"db", 0, "FILE",
        "tuning database ('none': remember nothing; default $MARQ_DB or the "
        "user's data folder)",
        search_take_db, .group = 12},
    {"accept", 0, "exact|compatible|any",
        "which stored prices count (default exact)", option_word, AT(accept),
        .group = 12},
    {"price-for", 0, "ENV",
        "prices of that machine and no other: a file of `marq env`, or a name "
        "of `marq db envs`; what it has no price of is left "
        "out, but counts in what is proven",
        take_price_for, .group = 12},
    {"worker", 0, "WORKER",
        "measure there and not here, for there: ssh:USER@HOST[:PROGRAM], or "
        "cmd:COMMAND that gives a pipe to `marq-measure --serve` (repeat: "
        "boards of one kind share the work)",
        take_worker, .group = 12},
    {"no-measure", 0, NULL, "use stored and simulated prices only", option_off,
        AT(measure), .group = 12},
    {"unpriced", 0, "estimate|bound",
        "with --no-measure, what has no price is estimated (default), or left out "
        "but counted in what is proven",
        option_second, AT(no_estimates), .group = 12},
    {"eager-pricing", 0, NULL,
        "price every candidate, not only those on a cheapest plan", option_flag,
        AT(eager_pricing), .group = 12},
    {"baselines", 0, NULL, "price also what the plan is compared with",
        option_flag, AT(price_baselines), .group = 12},
    {"max-measure", 0, "N", "measure at most N candidates", option_count,
        AT(max_measure), 1, MANY, .group = 12},
    {"measure-timeout", 0, "D",
        "a measurement that has not answered for D failed (default 60s); "
        "stored timeouts under a shorter one are tried again",
        option_duration, AT(timeout_ns), .group = 12},
    {"threads", 0, "N", "threads per measured kernel (default 1)", option_count,
        AT(threads), 1, CORES_MAX, .group = 12},
    {"jobs", 0, "N",
        "measuring processes (default cores - 1); searches of --top-k at a time "
        "(default cores)",
        option_count, AT(jobs), 1, CORES_MAX, .group = 12},
    {"locks", 0, "DIR",
        "one measurement at a time on a core also beside users and containers that "
        "share folder DIR (default $MARQ_LOCKS; processes of one host need "
        "none)",
        .take = option_locks, .group = 12},
    {.help = "Precision:", .group = 13},
    {"int8", 0, NULL,
        "offer every target that can compute in 8 bits in 8 bits, too",
        option_flag, AT(precision.int8), .group = 13},
    {"calibrate", 0, "DIR|random:N",
        "inputs that show what 8 bits must hold: a folder as --data of `marq "
        "run` takes it, or N made up",
        take_calibrate, AT(precision.calibrate), .group = 13},
    {"ranges", 0, "RULE",
        "what of it they hold: minmax (default), percentile:P, mse",
        take_ranges, AT(precision.ranges), .group = 13},
    {"min-sqnr", 0, "DB",
        "the least signal to noise that 8 bits leave of a composite, a region, "
        "an output",
        take_real, AT(precision.limits.min_sqnr), .group = 13},
    {"max-error", 0, "E",
        "what they may change an output by, as a part of its range", take_real,
        AT(precision.limits.max_error), .group = 13},
    {.help = "Search:", .group = 14},
    {"search", 0, "NAME",
        "searcher: exact (default), beam, greedy, eager, single:TARGET, brute",
        option_text, AT(searcher), .group = 14},
    {"time-budget", 0, "D",
        "stop with the best so far after D, measuring included",
        option_duration, AT(time_budget_ns), .group = 14},
    {"memory-budget", 0, "SIZE", "of the search", option_bytes,
        AT(memory_budget_bytes), .group = 14},
    {"pin", 0, "NODE=TARGET", "NODE must run on TARGET", option_texts, AT(pins),
        .group = 14},
    {"forbid", 0, "TARGET:NODE", "NODE must not run on TARGET", option_texts,
        AT(forbids), .group = 14},
    {"prefix", 0, "TARGET[:NODE,...]",
        "TARGET gets one region, which reads model inputs only and holds no "
        "NODE",
        option_texts, AT(prefixes), .group = 14},
    {"sensitivity", 0, NULL,
        "search again at the ends of what simulated prices assume, and say "
        "what the plan hangs on",
        option_flag, AT(sensitivity), .group = 14},
    {"stop-fusion", 0, "NODE",
        "no composite or region crosses from NODE to its users", option_texts,
        AT(stops), .group = 14},
    {"constraints", 0, "FILE.json", "more constraints", option_input,
        AT(constraints), .group = 14},
    {"ignore-marks", 0, NULL,
        "search as if the model had no marks and no partitions in it",
        option_flag, AT(ignore_marks), .group = 14},
    {"no-verify", 0, NULL,
        "do not run the plan once against the host reference", option_flag,
        AT(no_verify), .group = 14},
    {"no-confirm", 0, NULL,
        "do not run a plan that mixes targets in turn with the best plan of a "
        "single one",
        option_flag, AT(no_confirm), .group = 14},
    {"opaque", 0, NULL,
        "keep operators that nothing here knows as opaque steps on the host, "
        "instead of refusing the model; --shape says what comes out of them "
        "where the model does not",
        option_flag, AT(onnx.opaque), .group = 11},
    {"opaque-price", 0, "[OP=]D",
        "what such a step costs (OP: a node or an operator; repeat); nothing "
        "where nobody says it",
        option_texts, AT(opaque_prices), .group = 11},
    {"top-k", 0, "K", "also find the K next best plans", option_count,
        AT(top_k), 1, TOP_MAX, .group = 14},
    {"replay", 0, "PLAN.json",
        "re-validate and re-price a plan instead of searching", option_input,
        AT(replay), .group = 14},
    {"dump-problem", 0, "FILE.json",
        "write the abstract problem, for `marq solve`", option_text,
        AT(dump_problem), .group = 14},
    {"trace", 0, "WHAT",
        "plan: a line on stderr for each step of the planner; search: for each "
        "stage of its searches",
        take_trace, .group = 14},
    {0},
};

const struct option_row model_options[] = {
    {"target", 't', "KIND[:K=V,...]",
        "a target to ask about (repeat; default: all that are usable here)",
        take_target, .at = AT(targets)},
    {"shape", 0, "INPUT=1x3x224x224", "bind an input's shape",
        .take = take_shape},
    {"dim", 0, "NAME=N", "bind a symbolic dimension", .take = search_take_dim},
    {"strict", 0, NULL,
        "refuse what is against the standard and otherwise accepted with a "
        "warning",
        option_flag, .at = AT(strict)},
    {0},
};

void
search_args_init(struct search_args *args, struct cli *c)
{
	*args = (struct search_args){
	    .cli = c,
	    .db = path_default_db(c->run),
	    .measure = true,
	    .searcher = "exact",
	    .precision = {.ranges = "minmax"},
	};
	args->homeless = !args->db && !getenv("MARQ_DB");
	output_keep(c, args->db);
}

void
search_args_settle(struct search_args *args)
{
	if (args->threads == 0)
		args->threads = 1;
	targets_settle(args);
}
