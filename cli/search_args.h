/* The options that say what to search and how; search, explain, run and batch
 * share them, as one argp child. */
#ifndef CLI_SEARCH_ARGS_H
#define CLI_SEARCH_ARGS_H

#include "cli/options.h"
#include "cli/precision_args.h"
#include "costmodel/pricer.h"
#include "ir/onnx_read.h"

struct search_args {
	struct cli *cli;
	const char *model; /* the one positional argument */
	struct text_list targets; /* -t, in order */
	const char *targets_note; /* what -t auto took, or NULL */
	struct text_list pins; /* NODE=TARGET */
	struct text_list forbids; /* TARGET:NODE */
	struct text_list stops; /* stop-fusion marks: NODE */
	bool sensitivity;
	struct text_list prefixes; /* TARGET[:NODE,...] */
	const char *constraints; /* a file */
	struct text_list opaque_prices; /* [NODE|OPERATOR=]DURATION */
	bool ignore_marks; /* what the model's metadata asks for */
	bool strict; /* nothing that is against the standard is accepted */
	bool ignore_nan; /* a plan may make numbers of NaN */
	bool exact_convolutions; /* none that transforms its inputs */
	bool exact_halves; /* no half lies as a float */
	bool no_verify; /* nobody runs the plan before it is given out */
	bool no_confirm; /* nobody compares it with a single target's */
	struct precision_args precision;
	struct onnx_options onnx; /* --shape, --dim */
	struct onnx_options of_result; /* shapes that a result had */
	const char *db; /* NULL: none */
	struct text_list workers; /* that measure in place of this machine */
	const char *price_for; /* the machine prices are for; NULL: this one */
	bool homeless; /* none, and nobody said so */
	enum accept accept;
	bool measure, eager_pricing, price_baselines;
	bool no_estimates; /* what has no price is left out */
	uint32_t max_measure, threads, jobs, top_k;
	uint64_t time_budget_ns, memory_budget_bytes;
	uint64_t timeout_ns; /* of one measurement; 0: default */
	const char *searcher; /* "exact", ... */
	const char *replay, *dump_problem;
	bool trace_plan, trace_search;
};

void search_args_init(struct search_args *args, struct cli *c);

/* When the positional argument is a result directory: take the model and (unless
 * they were given) the targets and the number of threads from its result.json, and replay its plan. Call it after parsing. ERR_INPUT for a
 * directory that holds no result. */
bool search_args_resolve(struct search_args *args, struct err *err);

/* May anything be measured? Not here for a machine elsewhere. */
bool search_measures(const struct search_args *args);

/* Is the positional argument a folder, as a result is? */
bool search_args_is_result(const struct search_args *args);

/* What was not given: the targets and one thread. After parsing, and after
 * search_args_resolve(). */
void search_args_settle(struct search_args *args);

/* Without -t, and for -t auto: every target that this machine has. */
void targets_settle(struct search_args *args);

/* --dim NAME=N, --db FILE and the model itself, into a struct search_args. */
option_take search_take_dim, search_take_db, search_take_model;

/* What to search and how: the options of a struct search_args; and those of them
 * that concern a model and its targets only. */
extern const struct option_row search_options[], model_options[];

/* The operand of both. */
#define SEARCH_OPERAND(at) \
	{ \
		search_take_model, at, UINT32_MAX, NULL, "no model given" \
	}

#endif
