/* Targets: kinds (registered backends) and instances (activated, with
 * attributes); rules = (name, pattern, predicate); implementations; candidates.
 * A kind is one constant table in its own folder and one line in targets.def. */
#ifndef TARGETS_TARGET_H
#define TARGETS_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/bitset.h"
#include "ir/base/buf.h"
#include "ir/base/err.h"
#include "ir/base/sample.h"
#include "ir/graph.h"
#include "targets/format.h"
#include "targets/pattern.h"
#include "targets/why.h"

struct target;
struct candidate;
struct converter; /* targets/convert.h */
struct target_aliases; /* below, as the next two are */
struct target_int8;
struct target_tool;
struct target_rest;
struct toolchain; /* targets/toolchain.h */
struct calibration; /* targets/calibration.h */

/* What a predicate sees. */
struct match_in {
	const struct target *target;
	const struct graph *graph;
	const struct uses *uses;
	const struct match *match;
	uint32_t rule; /* whose match it is: index into the kind's rules */
	const void *prepared; /* what the kind's survey() made of the graph */
	bool keep_nan; /* implementations that lose NaN are not wanted */
	struct bitset rare; /* nodes for which no measured target but the host
			     * has a kernel; only kinds with set rules see it */
};

struct rule {
	const char *name; /* "dnnl.conv": also the composite's */
	const struct pattern *pattern;
	/* All conditions, recorded in `why`; true when all hold. NULL: none. */
	bool (*accepts)(const struct match_in *m, struct why *why);
	bool
	    multi_output; /* interior values may also be used outside (they become
		    * outputs); without it such a match is no candidate */
};

/* One way to run a composite: what a candidate is made of beside nodes. */
struct implementation {
	const char *name; /* "direct/nhwc": unique within kind and rule */
	uint32_t number; /* the kind's own, handed back in the candidate */
	format_id input; /* of every non-constant rank-4 input */
	format_id output; /* of every rank-4 output; other ranks are PLAIN
			    * in `space` of these formats */
	bool in_place; /* its kernel moves nothing when its overlays hold */
	bool loses_nan; /* makes a number where NaN is computed */
	bool guarded; /* runs behind a guard (guarded.h) */
	bool transforms; /* sums products of transformed values, as Winograd's
			  * convolutions do: rounds more than what is defined */
	bool opaque; /* nothing here runs it: offered where nothing else is */
	bool
	    own_weights; /* is given some as they are: tried on the model's own */
	uint64_t resident; /* a candidate's, see there: at least */
	uint32_t group; /* a candidate's, see there */
};

struct port {
	value_id value;
	format_id format;
};

/* By value, then format, each once; how many are left. */
uint32_t ports_sort(struct port *port, uint32_t n);
/* Their values, in order. */
const value_id *ports_values(
    const struct port *port, uint32_t n, struct arena *a);

/* The first of a value; UINT32_MAX: it is none's. */
uint32_t ports_find(const struct port *port, uint32_t n, value_id v);

/* A composite in one implementation (or a region), that can be priced. */
struct candidate {
	uint32_t target; /* index into the mix */
	uint32_t rule; /* index into the kind's rules */
	uint32_t implementation;
	/* see struct implementation */
	bool in_place, loses_nan, transforms, opaque, own_weights;
	bool
	    known; /* guarded, and its inputs are known to be small (known.h) */
	const char *implementation_name;
	const struct match *match;
	uint64_t resident; /* resource it occupies while loaded (pinned
			    * bytes of weights, say); 0 where nothing is counted */
	uint32_t nnodes, ninputs, noutputs;
	uint32_t group; /* its target puts those of one group into one region,
			 * and no others with them; 0: any may be neighbours */
	const node_id *node; /* [nnodes] ascending */
	const struct port *input; /* non-constant values read, by value id */
	const struct port *output; /* values used outside (or graph outputs) */
	/* What its kind is shown instead (targets/widened.h); NULL: itself. */
	const struct widened *widened;
};

/* Which of its inputs a value is; -1: none, as a constant. */
int32_t candidate_input(const struct candidate *c, value_id v);
/* Which of its outputs; -1: none. */
int32_t candidate_output(const struct candidate *c, value_id v);

/* Each constant that a node of the candidate reads; one that two read is taken twice. */
typedef void (*constant_taker)(void *context, const struct tensor *constant);
void candidate_constants(const struct graph *g, const struct candidate *c,
    constant_taker take, void *context);

/* Input `in` may lie inside output `out`, `offset` bytes behind its start, or
 * around it (offset <= 0): they hold the same bytes where they meet. */
struct overlay {
	uint32_t in, out;
	ptrdiff_t offset; /* a multiple of 64 */
};

/* A prepared composite: packed weights, chosen kernels, scratch. */
struct kernel {
	const struct target_kind *kind;
	const struct candidate *candidate;
	/* Run once. in[i]/out[i] hold the candidate's ports in their formats;
	 * 64-byte aligned with 64 bytes of slack behind. Allocates nothing.
	 * Where a port's value has no size beforehand (type_has_size) it is a
	 * struct tensor, whose content is the kernel's until its next run. */
	void (*run)(struct kernel *k, const void *const *in, void *const *out);
	void (*release)(struct kernel *k); /* may be NULL */
	/* 1 + the input whose buffer out[0] may share, when that input is
	 * needed by nobody afterwards: run() is then faster. 0: none. */
	uint32_t in_place;
	/* run() need not move the bytes of overlays that hold, whoever reads
	 * their input afterwards. */
	uint32_t noverlays;
	const struct overlay *overlay; /* [noverlays] */
	void *state;
	/* Where run() leaves a fault of the data (an index out of range); set
	 * by whoever runs it. NULL: such a fault ends the process. */
	struct err *fault;
	/* Is, in this run, all small that was looked at (known.h)? Set by whoever
	 * looks. NULL: nobody does. */
	const bool *small;
};

/* A kernel that was found to do what none may ends a process that measures (one
 * without `fault`) with this status and a line on standard error. */
#define KERNEL_MISBEHAVED 9

enum price_source {
	PRICE_MEASURED,
	PRICE_SIMULATED,
	PRICE_EXTERNAL,
	PRICE_ESTIMATED
};

/* "measured", ...: the word for it, in keys of the database, too. */
const char *price_source_text(enum price_source s);

/* A figure a target works out itself. low/high: over the range of its assumed
 * parameters. */
struct estimate {
	cost_ns ns, low, high;
	const char *assumed; /* the assumed parameter it depends on most */
};

/* What a price that a target works out rests on without a published source. */
struct cost_parameter {
	const char *name, *unit;
	double value, low, high;
	bool is_rate; /* times are proportional to 1/value, not to value */
};

/* Sets of nodes, each ascending. */
struct node_sets {
	struct node_set {
		const node_id *node;
		uint32_t n;
	} * set; /* [n] */
	uint32_t n, cap;
	struct bitset of; /* what any set of that kind is made of */
};

/* What a kind makes of a graph as a whole. */
struct survey {
	const void *prepared; /* reaches predicates and implementations() */
	struct node_sets sets; /* it may take each as one, beside what its rules
				* match; what cannot run as one is left out by
				* who asks */
};

/* Composites of one target run by one invocation, in order, and what crosses its
 * boundary. */
struct region {
	const struct target *target;
	const struct graph *graph;
	uint32_t ncandidates, ninputs, noutputs;
	const struct candidate *const *candidate;
	const struct port *input, *output; /* by value id */
	uint32_t number; /* among its plan's regions of the kind; names it */
};

/* n candidates of `t` for who asks what they cost or occupy; `c` is borrowed. The
 * ports of a candidate by itself are its own, those of several are left out. */
struct region region_of(const struct target *t, const struct graph *g,
    const struct candidate *const *c, uint32_t n);

/* What a region occupies of a device's own memory, in whole pages, and how much
 * there is. */
struct memory {
	uint64_t resident; /* while it is loaded */
	uint64_t scratch; /* while it runs, too: regions take turns */
	uint64_t limit;
};

/* `values` lists what is allowed ("1|2|4") or says it in angle brackets
 * ("<path>"), which the kind's open() then checks. */
struct target_option {
	const char *name, *values, *otherwise, *help;
};

struct option_value {
	const char *name, *value;
};

/* Somebody else's program that a kind makes use of where it is installed. */
struct target_program {
	const char *name, *without; /* what goes without it */
};

struct target_kind {
	const char *name;
	const char *summary;
	const struct target_option *option; /* ends with a NULL name */
	const struct rule *rule;
	uint32_t nrules;
	/* The last of them, whose patterns find nothing: their matches are the
	 * sets of survey(). Such kinds are asked when all others have candidates. */
	uint32_t nset_rules;
	enum price_source source; /* how its candidates get their price, unless
				   * the target's attributes say otherwise */
	bool needs_input; /* its kernels cannot run on constants alone */
	bool own_threads; /* of its kernels, several: not the team's (team.h) */
	bool launches; /* entering a run of candidates costs target->launch */
	/* Only who is at the command line opens it: no file that is given away
	 * may name it. */
	bool by_hand;
	bool translates; /* its kernels may, in their first run */
	bool widens; /* it may be shown halves as floats (widened.h) */
	/* It has options that only open() knows, which checks them. */
	bool more_options;
	const struct target_aliases *aliases; /* or NULL */
	const char *kernel_library; /* that its kernels are of, or NULL */
	const char *lacks; /* why it was left out of this build, or NULL */
	/* What its kernels are of is there, as far as is known without loading it;
	 * load it, once. ERR_TARGET where it is not. NULL: it came with the
	 * program. */
	bool (*reach)(struct err *err);
	bool (*load)(struct err *err);
	/* Floating-point operations a cycle its code cannot exceed, of
	 * operators computed as they are defined. 0: the widest vector unit,
	 * fast algorithms allowed. */
	uint32_t flops_per_cycle;
	const struct space *space; /* its own memory; NULL: it has none */
	const struct target_program
	    *program; /* ends with a NULL name; or NULL */
	const struct target_tool *tool; /* or NULL */
	const struct target_rest *rest; /* or NULL */
	/* What its regions are given to, beside what runs them here; or NULL. */
	const struct toolchain *toolchain;
	/* How its cost simulator is fitted to measurements; or NULL. */
	const struct calibration *calibration;
	const struct target_int8 *int8; /* NULL: it does not compute so */
	/* Check attributes and set target->state. NULL: takes none. */
	bool (*open)(struct target *t, struct formats *f, struct arena *a,
	    struct err *err);
	/* Look at a graph as a whole before its matches are asked about; in->match
	 * is NULL. NULL: no need. */
	bool (*survey)(const struct match_in *in, struct survey *out,
	    struct arena *a, struct err *err);
	/* Ways to run a match; number written (<= max). */
	uint32_t (*implementations)(const struct match_in *m, struct formats *f,
	    struct implementation *out, uint32_t max);
	/* What a region occupies. The regions of a plan on
	 * all targets of the kind fit when their residents and the largest
	 * scratch stay within the limit. A region needs no less scratch than
	 * each candidate of it by itself, unless it spills, and keeps no less
	 * than all of them. One of no candidates: the least scratch. NULL:
	 * whatever they occupy fits. */
	void (*memory)(const struct region *r, struct memory *out);
	/* A region makes do with the scratch that its own residents leave. */
	bool spills;
	/* Pack and prepare a candidate on this machine. NULL: the target has
	 * prices and no kernels; its plans can be neither run nor verified. */
	bool (*compile)(const struct target *t, const struct graph *g,
	    const struct candidate *c, struct arena *a, struct kernel *out,
	    struct err *err);
	/* The price where it is worked out here; false: it has none. A region of
	 * several without one costs what its candidates cost one by one. */
	bool (*simulate)(const struct region *r, struct estimate *out);
	/* A region may cost less than its candidates one by one: their sum is no
	 * lower bound then. */
	bool discounts;
	/* A converter of a static float32 value of rank 4 between two layouts on
	 * the host, where its library has one; false: *c is untouched. Asked of
	 * every kind, whatever the mix. NULL: it has none. */
	bool (*converter)(struct converter *c, enum layout from, enum layout to,
	    const struct type *type, struct arena *a);
	/* The target as if assumption i had another value; shares what it can
	 * with t. NULL: it has no assumptions. */
	struct target (*assume)(
	    const struct target *t, uint32_t i, double value, struct arena *a);
	/* Facts a price depends on (library version, build, attributes), as
	 * "key=value" lines appended to b: part of the database key. */
	void (*environment)(const struct target *t, struct buf *b);
};

/* Names that stand for targets of a kind, beside its own. */
struct target_aliases {
	/* Does `name`, which is no kind's, stand for one? Then the option that
	 * says which. */
	bool (*find)(
	    struct option_value *out, const char *name, struct arena *a);
	/* Those that belong to all targets of a machine where find() takes them;
	 * ends with NULL. */
	const char *const *known;
};

/* Convolution or product of a candidate in 8 bits; real = scale[o] * weight,
 * biases in steps of the input's scale times that. What else of the candidate
 * reads constants is part of them. */
struct weights8 {
	node_id anchor;
	uint32_t rank; /* O first, as ONNX has it: OIHW, or OI */
	int64_t dim[4];
	const int8_t *weight;
	const float *scale; /* [O] */
	const int32_t *bias; /* [O] */
	float input_scale;
};

/* How targets of a kind compute in 8 bits. */
struct target_int8 {
	const char *option; /* that makes one do so, "name=value" */
	/* What 8 bits make of the constants of its candidate; false: it has none
	 * but data. */
	bool (*weights)(struct weights8 *out, const struct target *t,
	    const struct graph *g, const struct candidate *c, struct arena *a);
};

/* A program that is not ours and knows a kind's regions. in[]/out[] and the
 * kernel's ports are the region's. */
struct target_tool {
	/* Of targets with ask_ms: the tool's price; it may fail or hang, so it is
	 * called in worker processes only; whatever the tool does is an outcome.
	 * True: the outputs are filled in. */
	bool (*ask)(const struct region *r, const void *const *in,
	    void *const *out, struct sample *sample);
	/* Prepare the region to be run by it as a whole. out->run stays NULL
	 * where the target runs composite by composite. NULL: it runs none. */
	bool (*compile)(const struct region *r, struct arena *a,
	    struct kernel *out, struct err *err);
};

/* A kind with threads of its own, which wait while others' kernels run. With several
 * threads prices are taken beside it. */
struct target_rest {
	/* In the process that measuring ones are forked from: find out whether it
	 * can idle. */
	void (*find_out)(const struct target *t, uint32_t threads);
	/* Leave it loaded in this process, with threads that have run and sleep. */
	void (*idle)(const struct target *t);
};

/* An activated instance. */
struct target {
	const struct target_kind *kind;
	const char *text; /* as the user wrote it: "dnnl:k=v" */
	uint32_t index; /* in the mix; registration order */
	uint32_t noptions;
	const struct option_value *option;
	const void *state; /* the kind's own, parsed */
	const struct formats *formats;
	struct estimate launch; /* of a region, where its kind has launches */
	const struct cost_parameter *assumption; /* its prices rest on */
	uint32_t nassumptions;
	enum price_source source; /* how its candidates get their price */
	/* Prices come from kind->tool->ask(), which takes no longer than this and is
	 * remembered like a measurement. 0: they do not. */
	uint32_t ask_ms;
	bool
	    quantises; /* floats are 8 bits on it: formats->quant says what they
			 * mean, and its results are judged by what they lose */
	bool only_prices; /* it has no kernel for all or some of what it takes:
			   * its plans are weighed, not verified */
	bool is_this_cpu; /* what is asked runs on this machine's cores: its
			   * figures depend on them as measured ones do */
};

/* The reference, which runs whatever a model has. */
static inline bool
target_is_host(const struct target *t)
{
	return strcmp(t->kind->name, "host") == 0;
}

/* The activated targets, in the user's order. */
struct mix {
	const struct target *target; /* [n] */
	uint32_t n;
	struct formats formats;
};

/* Are the matches of rule r the sets of the kind's survey()? */
static inline bool
rule_of_sets(const struct target_kind *k, uint32_t r)
{
	return r < k->nrules && r + k->nset_rules >= k->nrules;
}

/* All kinds, in targets.def's order. */
const struct target_kind *const *target_kinds(uint32_t *n);
const struct target_kind *target_kind_find(const char *name);
/* ERR_TARGET saying what it lacks, unless it is here; unless it can be used, which
 * loads its library. */
bool target_kind_there(const struct target_kind *k, struct err *err);
bool target_kind_usable(const struct target_kind *k, struct err *err);

/* The i-th name that kinds stand for and that is installed here, text in `a`;
 * NULL: there are no more. */
const char *target_installed(uint32_t i, struct arena *a);

/* Open "kind[:key=value,...]" texts. ERR_USAGE for unknown kinds, keys, values;
 * ERR_TARGET when one is not available. `host` is added at the end when it is
 * not named, so a cover always exists. */
bool mix_open(struct mix *m, const char *const *text, uint32_t n,
    struct arena *a, struct err *err);

/* Load what the kernels of all its targets are of. ERR_TARGET names the target that
 * cannot be used though it seemed to be there. */
bool mix_load(const struct mix *m, struct err *err);

/* ERR_USAGE unless the target's kind has that option and takes the value. */
bool target_option_check(const struct target *t, const struct option_value *v,
    struct arena *a, struct err *err);

/* The value of an option, or its default. */
const char *target_option_get(const struct target *t, const char *name);

#endif
