/* Collage's behaviour cases: rules that enumerate candidates, validity of
 * regions, costs, whole partitions, and the cases that Collage gets wrong.
 *
 * The rules of that system (seeds, combiners, limits) are modelled here, as
 * sets of nodes in 64 bits; what they offer is priced as the case says and
 * handed to search_exact(). Argument: the file of cases. */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/jsonin.h"
#include "search/check.h"
#include "search/solve.h"

#define NODES_MAX 64u
#define SETS_MAX 4096u
#define SCALE 1e6 /* the cases' cost unit in ours */

typedef uint64_t set;

enum kind { ELEMWISE, BROADCAST, INJECTIVE, REDUCE, FUSABLE, OPAQUE };

static const struct {
	const char *op;
	enum kind kind;
} known_ops[] = {
    {"nn.relu", ELEMWISE},
    {"nn.leaky_relu", BROADCAST},
    {"abs", ELEMWISE},
    {"tanh", ELEMWISE},
    {"sigmoid", ELEMWISE},
    {"exp", ELEMWISE},
    {"add", BROADCAST},
    {"subtract", BROADCAST},
    {"multiply", BROADCAST},
    {"divide", BROADCAST},
    {"power", BROADCAST},
    {"concatenate", INJECTIVE},
    {"reshape", INJECTIVE},
    {"transpose", INJECTIVE},
    {"expand_dims", INJECTIVE},
    {"split", INJECTIVE},
    {"tuple", INJECTIVE},
    {"proj", INJECTIVE},
    {"sum", REDUCE},
    {"mean", REDUCE},
    {"nn.softmax", OPAQUE},
    {"nn.conv2d", FUSABLE},
    {"nn.dense", FUSABLE},
    {"nn.batch_matmul", FUSABLE},
};

/* The graph of a case: its nodes, then its constants, in topological order
 * among themselves; `in` and `out` are neighbours. */
struct dag {
	uint32_t n;
	const char *id[NODES_MAX], *op[NODES_MAX];
	enum kind kind[NODES_MAX];
	const cJSON *args[NODES_MAX];
	set in[NODES_MAX], out[NODES_MAX];
	set structural, constants, asked;
	uint32_t ninputs;
	const char *input[NODES_MAX];
	set reads[NODES_MAX]; /* fed inputs, by index */
};

struct sets {
	uint32_t n;
	set of[SETS_MAX];
};

static char complaint[1024];

#define COMPLAIN(...) \
	(snprintf(complaint, sizeof complaint, __VA_ARGS__), false)

static set
bit(uint32_t i)
{
	return UINT64_C(1) << i;
}

static uint32_t
size(set s)
{
	uint32_t n = 0;

	for (; s; s &= s - 1)
		n++;
	return n;
}

static const char *
text_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsString(item) ? item->valuestring : "";
}

static const cJSON *
get(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

static uint32_t
find_node(const struct dag *d, const char *id)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (strcmp(d->id[i], id) == 0)
			return i;
	return UINT32_MAX;
}

/* ---- reading a case ---- */

static enum kind
kind_of(const char *op)
{
	for (size_t i = 0; i < sizeof known_ops / sizeof known_ops[0]; i++)
		if (strcmp(known_ops[i].op, op) == 0)
			return known_ops[i].kind;
	return OPAQUE;
}

static enum kind
kind_named(const char *letter)
{
	static const char letters[] = "EBIRAO";
	const char *at = strchr(letters, letter[0]);

	return at && *at ? (enum kind)(at - letters) : OPAQUE;
}

static void
connect(struct dag *d, uint32_t node, const cJSON *arg)
{
	uint32_t from;

	if (!cJSON_IsString(arg))
		return; /* a scalar or a constant that is no node */
	from = find_node(d, arg->valuestring);
	if (from != UINT32_MAX) {
		d->in[node] |= bit(from);
		d->out[from] |= bit(node);
		return;
	}
	for (uint32_t i = 0; i < d->ninputs; i++)
		if (strcmp(d->input[i], arg->valuestring) == 0)
			d->reads[node] |= bit(i);
}

static bool
add_node(struct dag *d, const char *id, const char *op)
{
	if (d->n == NODES_MAX)
		return COMPLAIN("more than %u nodes", NODES_MAX);
	d->id[d->n] = id;
	d->op[d->n] = op;
	d->kind[d->n] = kind_of(op);
	if (strcmp(op, "tuple") == 0 || strcmp(op, "proj") == 0)
		d->structural |= bit(d->n);
	d->n++;
	return true;
}

/* "k5": "W, arg of n6" */
static bool
add_constants(struct dag *d, const cJSON *graph)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, get(graph, "constant_nodes"))
	{
		const char *of = strstr(item->valuestring, "arg of ");
		uint32_t user = of ? find_node(d, of + 7) : UINT32_MAX;

		if (user == UINT32_MAX || !add_node(d, item->string, "const"))
			return COMPLAIN("constant %s of no node", item->string);
		d->kind[d->n - 1] = ELEMWISE;
		d->constants |= bit(d->n - 1);
		d->in[user] |= bit(d->n - 1);
		d->out[d->n - 1] |= bit(user);
	}
	return true;
}

static bool
read_graph(struct dag *d, const cJSON *test)
{
	const cJSON *graph = get(test, "graph"), *item, *arg;
	uint32_t out;

	memset(d, 0, sizeof *d);
	cJSON_ArrayForEach(item, get(graph, "inputs"))
	{
		if (d->ninputs == NODES_MAX)
			return COMPLAIN("too many inputs");
		d->input[d->ninputs++] = text_of(item, "id");
	}
	cJSON_ArrayForEach(item, get(graph, "nodes"))
	{
		const cJSON *kind =
		    get(get(graph, "kinds"), text_of(item, "id"));

		if (!add_node(d, text_of(item, "id"), text_of(item, "op")))
			return false;
		if (kind)
			d->kind[d->n - 1] = kind_named(kind->valuestring);
		d->args[d->n - 1] = get(item, "inputs");
		cJSON_ArrayForEach(arg, get(item, "inputs"))
		    connect(d, d->n - 1, arg);
	}
	out = find_node(d, text_of(graph, "output"));
	if (out == UINT32_MAX)
		return COMPLAIN("no output");
	d->asked = bit(out);
	if (strcmp(d->op[out], "tuple") == 0)
		d->asked |= d->in[out];
	return add_constants(d, graph);
}

static bool
read_set(const struct dag *d, const cJSON *list, set *out)
{
	const cJSON *item;

	*out = 0;
	cJSON_ArrayForEach(item, list)
	{
		uint32_t n = cJSON_IsString(item)
		    ? find_node(d, item->valuestring)
		    : UINT32_MAX;

		if (n == UINT32_MAX)
			return COMPLAIN("a set names no node");
		*out |= bit(n);
	}
	return true;
}

/* ---- sets of nodes ---- */

static set
outputs_of(const struct dag *d, set s)
{
	set all = 0;

	for (uint32_t i = 0; i < d->n; i++)
		if (s & bit(i))
			all |= d->out[i];
	return all & ~s;
}

/* Everything reachable from `from` without passing through `around`. */
static set
reachable(const struct dag *d, set from, set around)
{
	set seen = from & ~around, before = 0;

	while (seen != before) {
		before = seen;
		seen |= outputs_of(d, seen) & ~around;
	}
	return seen;
}

static set
entries(const struct dag *d, set s)
{
	set all = 0;

	for (uint32_t i = 0; i < d->n; i++)
		if (s & bit(i) && (d->reads[i] || d->in[i] & ~s || !d->in[i]))
			all |= bit(i);
	return all;
}

static bool
is_convex(const struct dag *d, set s)
{
	return (outputs_of(d, reachable(d, outputs_of(d, s), s)) & s) == 0;
}

static set
exits(const struct dag *d, set s)
{
	set all = s & d->asked;

	for (uint32_t i = 0; i < d->n; i++)
		if (s & bit(i) && d->out[i] & ~s)
			all |= bit(i);
	return all;
}

static bool
has_tap(const struct dag *d, set s)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (exits(d, s) & bit(i) && d->out[i] & s)
			return true;
	return false;
}

/* Longest path inside, in operators; structural nodes do not count. */
static uint32_t
depth(const struct dag *d, set s)
{
	uint32_t deepest = 0, of[NODES_MAX] = {0};

	for (uint32_t i = 0; i < d->n; i++) {
		if (!(s & bit(i)))
			continue;
		for (uint32_t k = 0; k < d->n; k++)
			if (d->in[i] & s & bit(k) && of[k] > of[i])
				of[i] = of[k];
		of[i] += !((d->structural | d->constants) & bit(i));
		if (of[i] > deepest)
			deepest = of[i];
	}
	return deepest;
}

static enum kind
kind_of_set(const struct dag *d, set s)
{
	enum kind most = ELEMWISE;

	for (uint32_t i = 0; i < d->n; i++)
		if (s & bit(i) && d->kind[i] > most)
			most = d->kind[i];
	return most;
}

struct limits {
	uint32_t max_depth, max_exits; /* 0: any */
	bool taps;
};

static bool
is_valid(const struct dag *d, set s, const struct limits *l)
{
	return (l->max_exits == 0 || size(exits(d, s)) <= l->max_exits)
	    && (l->max_depth == 0 || depth(d, s) <= l->max_depth)
	    && (l->taps || !has_tap(d, s)) && is_convex(d, s);
}

/* Disjoint, `up` feeds `down`, and no path between them leaves both. */
static bool
are_touching(const struct dag *d, set up, set down)
{
	set outside = (outputs_of(d, up) | outputs_of(d, down)) & ~up & ~down;

	return (up & down) == 0 && outputs_of(d, up) & entries(d, down)
	    && (outputs_of(d, reachable(d, outside, up | down)) & (up | down))
	    == 0;
}

static void
add_set(struct sets *s, set x)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->of[i] == x)
			return;
	if (s->n < SETS_MAX)
		s->of[s->n++] = x;
}

/* ---- rules ---- */

struct rules {
	struct {
		enum kind up, down;
	} pair[4];
	uint32_t npairs, max_depth;
	bool tuple_arg, tuple_proj, constant;
};

static const struct rules native_like = {
    .pair = {{FUSABLE, BROADCAST}, {BROADCAST, REDUCE}, {INJECTIVE, INJECTIVE}},
    .npairs = 3,
    .tuple_arg = true,
    .tuple_proj = true,
};

static void
join_pair(const struct dag *d, struct sets *s, const struct rules *r, set up,
    set down)
{
	if (r->max_depth && depth(d, up) + depth(d, down) > r->max_depth)
		return;
	for (uint32_t i = 0; i < r->npairs; i++)
		if (kind_of_set(d, up) <= r->pair[i].up
		    && kind_of_set(d, down) <= r->pair[i].down
		    && are_touching(d, up, down))
			add_set(s, up | down);
}

static void
take_projections(const struct dag *d, struct sets *s, set x)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (outputs_of(d, x) & bit(i) && strcmp(d->op[i], "proj") == 0)
			add_set(s, x | bit(i));
}

static void
take_constants(const struct dag *d, struct sets *s, set x)
{
	set all = 0;

	for (uint32_t i = 0; i < d->n; i++)
		if (x & bit(i))
			all |= d->in[i] & d->constants;
	if (all & ~x)
		add_set(s, x | all);
}

/* The consumer of a tuple with the tuple and one injective set for each of its
 * fields; overlapping ones do not combine. */
static void
take_fields(
    const struct dag *d, struct sets *s, set x, uint32_t tuple, set missing)
{
	uint32_t field = 0;

	if (!missing) {
		if (is_convex(d, x))
			add_set(s, x);
		return;
	}
	while (!(missing & bit(field)))
		field++;
	for (uint32_t i = 0, n = s->n; i < n; i++) {
		set y = s->of[i];

		if (y & bit(field) && !(y & x) && outputs_of(d, y) & bit(tuple)
		    && kind_of_set(d, y) <= INJECTIVE)
			take_fields(d, s, x | y, tuple, missing & ~y);
	}
}

static void
take_tuples(const struct dag *d, struct sets *s, set x)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (strcmp(d->op[i], "tuple") == 0 && !(x & bit(i))
		    && d->out[i] & x && kind_of_set(d, x) <= INJECTIVE)
			take_fields(d, s, x | bit(i), i, d->in[i]);
}

/* All unions the rules reach: to a fixed point, every pair tried. `upstream`:
 * as Collage does it, which after the first round tries only what was new in
 * the round before as the upper half. */
static void
combine(
    const struct dag *d, struct sets *s, const struct rules *r, bool upstream)
{
	uint32_t before = 0, first = 0;

	while (before != s->n) {
		first = upstream ? before : 0;
		before = s->n;
		for (uint32_t i = first; i < before; i++) {
			for (uint32_t k = 0; k < before; k++)
				join_pair(d, s, r, s->of[i], s->of[k]);
			if (r->tuple_proj)
				take_projections(d, s, s->of[i]);
			if (r->tuple_arg)
				take_tuples(d, s, s->of[i]);
			if (r->constant)
				take_constants(d, s, s->of[i]);
		}
	}
}

static void
filter(const struct dag *d, struct sets *s, const struct limits *l)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (is_valid(d, s->of[i], l))
			s->of[kept++] = s->of[i];
	s->n = kept;
}

static void
seed_by_kind(const struct dag *d, struct sets *s)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (!((d->structural | d->constants) & bit(i))
		    && d->kind[i] <= FUSABLE)
			add_set(s, bit(i));
}

static void match(
    const struct dag *d, const cJSON *pattern, uint32_t node, struct sets *out);

/* Extend each partial match by what one argument's pattern matches. */
static void
match_arg(const struct dag *d, const cJSON *pattern, const cJSON *arg,
    struct sets *partial)
{
	static struct sets inner; /* cases nest patterns a level or two */
	struct sets all = {0};
	uint32_t from;

	if (cJSON_IsString(pattern))
		return; /* "*": anything */
	from =
	    cJSON_IsString(arg) ? find_node(d, arg->valuestring) : UINT32_MAX;
	inner.n = 0;
	if (from != UINT32_MAX)
		match(d, pattern, from, &inner);
	for (uint32_t i = 0; i < partial->n; i++)
		for (uint32_t k = 0; k < inner.n; k++)
			add_set(&all, partial->of[i] | inner.of[k]);
	*partial = all;
}

/* Sets of nodes that fit a pattern rooted at a node. */
static void
match(
    const struct dag *d, const cJSON *pattern, uint32_t node, struct sets *out)
{
	struct sets partial = {.n = 1, .of = {bit(node)}};
	const cJSON *item, *args = get(pattern, "args");
	int i = 0;

	cJSON_ArrayForEach(item, get(pattern, "alt")) match(d, item, node, out);
	if (cJSON_IsString(pattern)
	        ? strcmp(pattern->valuestring, d->op[node]) != 0
	        : strcmp(text_of(pattern, "op"), d->op[node]) != 0)
		return;
	cJSON_ArrayForEach(item, args) match_arg(
	    d, item, cJSON_GetArrayItem(d->args[node], i++), &partial);
	for (uint32_t k = 0; k < partial.n; k++)
		add_set(out, partial.of[k]);
}

static void
seed_by_pattern(const struct dag *d, const cJSON *pattern, struct sets *s)
{
	const cJSON *inner = get(pattern, "match");

	for (uint32_t i = 0; i < d->n; i++)
		match(d, inner ? inner : pattern, i, s);
}

static void
read_rules(const cJSON *rule, struct rules *r)
{
	const cJSON *item;

	*r = (struct rules){.max_depth = (uint32_t)cJSON_GetNumberValue(
	                        get(rule, "max_depth"))};
	if (!get(rule, "max_depth"))
		r->max_depth = 0;
	cJSON_ArrayForEach(item, get(rule, "combine"))
	{
		const char *s = item->valuestring, *to = strstr(s, "->");

		if (to && r->npairs < 4) {
			r->pair[r->npairs].up = kind_named(s);
			r->pair[r->npairs++].down = kind_named(to + 2);
		}
		r->tuple_arg |= strcmp(s, "tuple-arg") == 0;
		r->tuple_proj |= strcmp(s, "tuple-proj") == 0;
		r->constant |= strcmp(s, "constant") == 0;
	}
}

/* ---- kind=candidate_enumeration ---- */

static bool
same_sets(const struct dag *d, const struct sets *got, const cJSON *want,
    const cJSON *also)
{
	struct sets all = {0};
	const cJSON *item, *list[2] = {want, also};
	set s;

	for (int pass = 0; pass < 2; pass++)
		cJSON_ArrayForEach(item, list[pass])
		{
			if (!read_set(d, item, &s))
				return false;
			add_set(&all, s);
		}
	for (uint32_t i = 0; i < all.n; i++) {
		bool found = false;

		for (uint32_t k = 0; k < got->n; k++)
			found = found || got->of[k] == all.of[i];
		if (!found)
			return COMPLAIN(
			    "a candidate is missing: set %" PRIx64, all.of[i]);
	}
	if (got->n != all.n)
		return COMPLAIN("%u candidates, not %u", got->n, all.n);
	return true;
}

/* Zero-cost singletons of what is no kernel: inputs, operator names,
 * structural nodes, the function. Compared as names. */
static bool
host_candidates(const struct dag *d, const cJSON *want)
{
	uint32_t n = d->ninputs + size(d->structural) + 1;
	const cJSON *item;

	for (uint32_t i = 0; i < d->n; i++) {
		bool again = (d->structural | d->constants) & bit(i);

		for (uint32_t k = 0; k < i; k++)
			again |= strcmp(d->op[i], d->op[k]) == 0;
		n += !again;
	}
	cJSON_ArrayForEach(item, want)
	{
		const char *name = item->child ? item->child->valuestring : "";
		bool ok = strcmp(name, "<function>") == 0;
		uint32_t node = find_node(d, name);

		for (uint32_t i = 0; i < d->ninputs; i++)
			ok |= strcmp(d->input[i], name) == 0;
		for (uint32_t i = 0; i < d->n; i++)
			ok |= strncmp(name, "<operator ", 10) == 0
			    && strncmp(name + 10, d->op[i], strlen(d->op[i]))
			        == 0;
		ok |= node != UINT32_MAX && d->structural & bit(node);
		if (!ok)
			return COMPLAIN("'%s' is no host candidate", name);
	}
	if ((uint32_t)cJSON_GetArraySize(want) != n)
		return COMPLAIN("%u host candidates", n);
	return true;
}

/* The sets a rule makes, ours or as upstream does. */
static void
apply_rule(
    const struct dag *d, const cJSON *rule, bool upstream, struct sets *s)
{
	const cJSON *keep = get(rule, "filter"), *item;
	struct rules r;

	s->n = 0;
	if (get(rule, "pattern"))
		seed_by_pattern(d, get(rule, "pattern"), s);
	cJSON_ArrayForEach(item, get(rule, "union"))
	    seed_by_pattern(d, get(item, "pattern"), s);
	if (get(rule, "op_by_kind") || get(rule, "seed"))
		seed_by_kind(d, s);
	read_rules(rule, &r);
	combine(d, s, &r, upstream);
	if (keep) {
		struct limits l = {
		    (uint32_t)cJSON_GetNumberValue(get(keep, "max_depth")),
		    (uint32_t)cJSON_GetNumberValue(get(keep, "max_exits")),
		    cJSON_IsTrue(get(keep, "allow_taps"))};

		filter(d, s, &l);
	}
}

static bool
includes(const struct sets *more, const struct sets *less)
{
	for (uint32_t i = 0; i < less->n; i++) {
		bool found = false;

		for (uint32_t k = 0; k < more->n; k++)
			found |= more->of[k] == less->of[i];
		if (!found)
			return false;
	}
	return true;
}

/* Upstream's loop must give what upstream gives, and the complete one all of
 * that; where the case lists what upstream misses, exactly that more. */
static bool
run_enumeration(const struct dag *d, const cJSON *test)
{
	const cJSON *rule = get(test, "rule");
	const cJSON *expected = get(test, "expected");
	const cJSON *want = get(expected, "candidates");
	const cJSON *missing = get(expected, "missing_due_to_upstream_bug");
	static struct sets theirs, ours;

	if (get(rule, "host"))
		return host_candidates(d, want);
	apply_rule(d, rule, true, &theirs);
	apply_rule(d, rule, false, &ours);
	if (!same_sets(d, &theirs, want, NULL))
		return false;
	if (!includes(&ours, &theirs))
		return COMPLAIN("the complete loop misses a candidate");
	return !missing || same_sets(d, &ours, want, missing);
}

/* ---- kind=subgraph_partition ---- */

static bool
same_names(const struct dag *d, set nodes, set fed, const cJSON *want)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, want)
	{
		uint32_t n = find_node(d, item->valuestring);
		bool found = n != UINT32_MAX && nodes & bit(n);

		for (uint32_t i = 0; i < d->ninputs; i++)
			found |= fed & bit(i)
			    && strcmp(d->input[i], item->valuestring) == 0;
		if (!found)
			return COMPLAIN(
			    "'%s' is not on the boundary", item->valuestring);
	}
	if ((uint32_t)cJSON_GetArraySize(want) != size(nodes) + size(fed))
		return COMPLAIN(
		    "the boundary has %u tensors", size(nodes) + size(fed));
	return true;
}

static bool
check_boundary(const struct dag *d, set s, const cJSON *in, const cJSON *out)
{
	set from = 0, fed = 0;

	for (uint32_t i = 0; i < d->n; i++)
		if (s & bit(i)) {
			from |= d->in[i] & ~s;
			fed |= d->reads[i];
		}
	return same_names(d, from, fed, in)
	    && same_names(d, exits(d, s), 0, out);
}

static bool
run_subgraph(const struct dag *d, const cJSON *test)
{
	const cJSON *run, *group;
	set s;

	cJSON_ArrayForEach(run, get(test, "runs"))
	{
		const cJSON *expected = get(run, "expected");
		struct limits l = {0,
		    (uint32_t)cJSON_GetNumberValue(get(run, "max_exits")),
		    cJSON_IsTrue(get(run, "allow_taps"))};
		bool valid;

		if (!read_set(d, get(run, "inside"), &s))
			return false;
		valid = is_valid(d, s, &l);
		if (valid != (bool)cJSON_IsTrue(get(expected, "valid")))
			return COMPLAIN("valid: %d", valid);
		if (valid
		    && !check_boundary(d, s, get(expected, "region_inputs"),
		        get(expected, "region_outputs")))
			return false;
		cJSON_ArrayForEach(group, get(run, "nested_groups"))
		{
			const cJSON *want =
			    get(get(expected, "nested"), group->string);

			if (!read_set(d, group, &s)
			    || !check_boundary(d, s, get(want, "inputs"),
			        get(want, "outputs")))
				return false;
		}
	}
	return true;
}

/* ---- costs ---- */

/* What a set costs on a backend; infinite: it cannot be built. */
static double
per_op_cost(const struct dag *d, set s, double op_cost, double factor)
{
	double cost = 0, each = op_cost;

	for (uint32_t i = size(s & ~d->structural & ~d->constants); i > 0;
	     i--) {
		cost += each;
		each *= factor;
	}
	return cost;
}

static bool
row_fits(const struct dag *d, const cJSON *nodes, set s)
{
	const char *name = nodes->child && cJSON_IsString(nodes->child)
	    ? nodes->child->valuestring
	    : "";
	set exact;

	if (strcmp(name, "any single op") == 0)
		return size(s) == 1;
	if (strcmp(name, "any pair") == 0)
		return size(s) == 2;
	return read_set(d, nodes, &exact) && exact == s;
}

/* Rows that name nodes come before those that say "any". */
static double
table_cost(const struct dag *d, const cJSON *rows, const char *backend, set s)
{
	double cost = (double)INFINITY;
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		const cJSON *name = row->child, *nodes = name->next;

		if (strcmp(name->valuestring, backend) == 0
		    && row_fits(d, nodes, s))
			return cJSON_IsNumber(nodes->next)
			    ? nodes->next->valuedouble
			    : (double)INFINITY;
	}
	return cost;
}

static double
cost_of(const struct dag *d, const cJSON *model, const char *backend, set s)
{
	const cJSON *each = get(get(model, "op_cost"), backend);

	if (strcmp(text_of(model, "type"), "table") == 0)
		return table_cost(d, get(model, "rows"), backend, s);
	return per_op_cost(d, s, each ? each->valuedouble : (double)INFINITY,
	    cJSON_GetNumberValue(get(model, "fusion_factor")));
}

/* ---- kind=partition, kind=beat_collage ---- */

struct offer {
	uint32_t backend;
	set nodes;
};

struct trial {
	struct dag *d;
	struct arena arena;
	struct problem problem;
	const char *backend[8];
	uint32_t nbackends; /* one more target is the host's */
	struct offer offer[SETS_MAX];
	uint32_t noffers, nmeasured;
	struct search_result result;
};

/* What a backend offers. whole: regions of any depth, priced as wholes. */
static void
backend_sets(
    const struct dag *d, const cJSON *backend, bool whole, struct sets *s)
{
	static const struct rules arbitrary = {
	    .pair = {{FUSABLE, FUSABLE}}, .npairs = 1};
	const char *style = text_of(backend, "fusion_style");
	uint32_t cap =
	    (uint32_t)cJSON_GetNumberValue(get(backend, "max_depth"));
	struct limits l = {whole ? 0 : cap, 1, false};
	struct rules r = {0};
	const cJSON *item;

	s->n = 0;
	if (strcmp(text_of(backend, "rule"), "fuse-by-kind") == 0) {
		seed_by_kind(d, s);
		r = native_like;
	} else {
		cJSON_ArrayForEach(item, get(backend, "patterns"))
		    seed_by_pattern(d, item, s);
		if (strcmp(style, "arbitrary") == 0)
			r = arbitrary;
		if (strcmp(style, "native-like") == 0) {
			r = native_like;
			r.tuple_arg = r.tuple_proj = false;
		}
	}
	r.max_depth = whole ? 0 : cap;
	combine(d, s, &r, false);
	filter(d, s, &l);
}

static void
build_graph(struct trial *t)
{
	const struct dag *d = t->d;
	struct problem *p = &t->problem;

	p->nnodes = d->n;
	p->nvalues = d->n + d->ninputs;
	p->node = arena_new(&t->arena, struct problem_node, d->n);
	p->value = arena_new(&t->arena, struct problem_value, p->nvalues);
	for (uint32_t i = 0; i < d->ninputs; i++)
		p->value[d->n + i] = (struct problem_value){
		    .producer = NO_NODE, .class = NO_CLASS, .initial = 1};
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t *in = arena_new(&t->arena, uint32_t, 2 * NODES_MAX);
		uint32_t *out = arena_new(&t->arena, uint32_t, 1), n = 0;

		for (uint32_t k = 0; k < d->n; k++)
			if (d->in[i] & bit(k))
				in[n++] = k;
		for (uint32_t k = 0; k < d->ninputs; k++)
			if (d->reads[i] & bit(k))
				in[n++] = d->n + k;
		out[0] = i;
		p->node[i] = (struct problem_node){n, 1, in, out, NULL};
		p->value[i] = (struct problem_value){.producer = i,
		    .class = NO_CLASS,
		    .required = d->asked >> i & 1};
	}
}

static void
add_candidate(struct trial *t, uint32_t target, set s, double cost)
{
	const struct dag *d = t->d;
	struct problem_candidate *c =
	    &t->problem.candidate[t->problem.ncandidates++];
	uint32_t *node = arena_new(&t->arena, uint32_t, NODES_MAX);
	struct problem_port *in =
	    arena_new(&t->arena, struct problem_port, 2 * NODES_MAX);
	struct problem_port *out =
	    arena_new(&t->arena, struct problem_port, NODES_MAX);
	set from = 0, fed = 0;

	*c = (struct problem_candidate){.target = target,
	    .cost =
	        isfinite(cost) ? (cost_ns)llround(cost * SCALE) : COST_NEVER,
	    .node = node,
	    .input = in,
	    .output = out};
	for (uint32_t i = 0; i < d->n; i++) {
		if (!(s & bit(i)))
			continue;
		node[c->nnodes++] = i;
		from |= d->in[i] & ~s;
		fed |= d->reads[i];
		if (exits(d, s) & bit(i))
			out[c->noutputs++] = (struct problem_port){i, 0};
	}
	for (uint32_t i = 0; i < d->n; i++)
		if (from & bit(i))
			in[c->ninputs++] = (struct problem_port){i, 0};
	for (uint32_t i = 0; i < d->ninputs; i++)
		if (fed & bit(i))
			in[c->ninputs++] = (struct problem_port){d->n + i, 0};
}

/* Offers of all backends at prices of the model, and the host's for free. */
static void
build_problem(struct trial *t, const cJSON *test, bool whole)
{
	struct problem *p = &t->problem;
	static struct sets s;
	const cJSON *item;

	build_graph(t);
	p->nformats = 1;
	p->target = arena_new(&t->arena, struct problem_target, 9);
	p->candidate = arena_new(&t->arena, struct problem_candidate, SETS_MAX);
	cJSON_ArrayForEach(item, get(test, "backends"))
	{
		const char *name = text_of(item, "id");

		if (t->nbackends == 8)
			break;
		backend_sets(t->d, item, whole, &s);
		for (uint32_t i = 0; i < s.n && t->noffers < SETS_MAX - 64;
		     i++) {
			t->offer[t->noffers++] =
			    (struct offer){t->nbackends, s.of[i]};
			add_candidate(t, t->nbackends, s.of[i],
			    cost_of(
			        t->d, get(test, "cost_model"), name, s.of[i]));
		}
		t->backend[t->nbackends++] = name;
	}
	for (uint32_t i = 0; i < t->d->n; i++)
		if ((t->d->structural | t->d->constants) & bit(i)) {
			t->offer[t->noffers++] =
			    (struct offer){t->nbackends, bit(i)};
			add_candidate(t, t->nbackends, bit(i), 0);
		}
	p->ntargets = t->nbackends + 1;
	for (uint32_t i = 0; i < p->ntargets; i++)
		p->target[i] = (struct problem_target){
		    .name = i < t->nbackends ? t->backend[i] : "host",
		    .max_runs = NO_LIMIT,
		    .max_run_nodes = NO_LIMIT,
		    .capacity = UINT64_MAX};
}

/* Distinct kernels whose price had to be asked for: the model gives bounds for
 * all, so only what lies on a cheapest plan is asked, once per structure. */
static void
count_measured(struct trial *t)
{
	const struct cover *c = &t->result.cover;

	for (uint32_t i = 0; i < c->nsteps; i++) {
		const struct offer *x = &t->offer[c->step[i].candidate];
		bool again = x->backend == t->nbackends;

		for (uint32_t k = 0; k < i; k++) {
			const struct offer *y = &t->offer[c->step[k].candidate];

			again |= x->backend == y->backend && size(x->nodes) == 1
			    && size(y->nodes) == 1
			    && strcmp(t->d->op[__builtin_ctzll(x->nodes)],
			           t->d->op[__builtin_ctzll(y->nodes)])
			        == 0;
		}
		t->nmeasured += !again;
	}
}

static bool
solve(struct trial *t)
{
	struct search_options o = {0};
	struct search_result brute;
	struct err err = {0};

	if (!problem_index(&t->problem, &t->arena, &err)
	    || !search_exact(&t->result, &t->problem, &o, &t->arena, &err))
		return COMPLAIN("%s", err.text);
	if (!t->result.found || !t->result.proven)
		return COMPLAIN("no proven cover");
	if (t->problem.nnodes <= 5
	    && (!search_brute(&brute, &t->problem, &o, &t->arena, &err)
	        || brute.cover.cost != t->result.cover.cost))
		return COMPLAIN("brute force finds another optimum");
	count_measured(t);
	return true;
}

/* Merge touching sets of one backend while there are any. */
static void
coalesce(const struct dag *d, struct offer *x, uint32_t *n)
{
	for (bool again = true; again;) {
		again = false;
		for (uint32_t i = 0; i < *n && !again; i++)
			for (uint32_t k = 0; k < *n && !again; k++) {
				if (i == k || x[i].backend != x[k].backend
				    || !are_touching(d, x[i].nodes, x[k].nodes))
					continue;
				x[i].nodes |= x[k].nodes;
				x[k] = x[--*n];
				again = true;
			}
	}
}

static uint32_t
chosen(const struct trial *t, struct offer *x)
{
	const struct cover *c = &t->result.cover;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->nsteps; i++)
		if (t->offer[c->step[i].candidate].backend < t->nbackends)
			x[n++] = t->offer[c->step[i].candidate];
	coalesce(t->d, x, &n);
	return n;
}

static bool
same_offers(
    const struct offer *x, uint32_t n, const struct offer *y, uint32_t m)
{
	for (uint32_t i = 0; i < n; i++) {
		bool found = false;

		for (uint32_t k = 0; k < m; k++)
			found |= x[i].backend == y[k].backend
			    && x[i].nodes == y[k].nodes;
		if (!found)
			return false;
	}
	return n == m;
}

static uint32_t
backend_named(const struct trial *t, const char *name)
{
	for (uint32_t i = 0; i < t->nbackends; i++)
		if (strcmp(t->backend[i], name) == 0)
			return i;
	return UINT32_MAX;
}

/* [{"backend", "nodes"}] or [[backend, nodes]], merged. */
static bool
read_partition(
    const struct trial *t, const cJSON *list, struct offer *x, uint32_t *n)
{
	const cJSON *item;

	*n = 0;
	cJSON_ArrayForEach(item, list)
	{
		bool pair = cJSON_IsArray(item);
		const char *name =
		    pair ? item->child->valuestring : text_of(item, "backend");
		set s;

		if (!read_set(t->d,
		        pair ? item->child->next : get(item, "nodes"), &s))
			return false;
		if (backend_named(t, name) != UINT32_MAX && *n < NODES_MAX)
			x[(*n)++] = (struct offer){backend_named(t, name), s};
	}
	coalesce(t->d, x, n);
	return true;
}

static bool
check_total(const struct trial *t, const cJSON *want)
{
	double got = (double)t->result.cover.cost / SCALE;

	if (cJSON_IsNumber(want) && fabs(got - want->valuedouble) > 1e-5)
		return COMPLAIN("total %g, not %g", got, want->valuedouble);
	return true;
}

/* The external regions and the native nodes, as upstream reports them. */
static bool
check_reported(const struct trial *t, const cJSON *expected)
{
	struct offer x[NODES_MAX];
	uint32_t n = chosen(t, x), regions = 0;
	uint32_t ext = backend_named(t, "ext");
	set native = 0, want;
	const cJSON *item;

	for (uint32_t i = 0; i < n; i++) {
		bool found = x[i].backend != ext;

		if (found)
			native |= x[i].nodes;
		regions += !found;
		cJSON_ArrayForEach(item,
		    get(expected, "ext_regions_after_coalescing")) found |=
		    read_set(t->d, item, &want) && want == x[i].nodes;
		if (!found)
			return COMPLAIN(
			    "region %" PRIx64 " is not expected", x[i].nodes);
	}
	if ((int)regions
	    != cJSON_GetArraySize(
	        get(expected, "ext_regions_after_coalescing")))
		return COMPLAIN("%u external regions", regions);
	if (!read_set(t->d, get(expected, "native_nodes"), &want))
		return false;
	if ((native & ~t->d->structural) != want)
		return COMPLAIN("native nodes %" PRIx64, native);
	return true;
}

static bool
check_ties(const struct trial *t, const cJSON *listed)
{
	struct offer x[NODES_MAX], y[NODES_MAX];
	uint32_t n = chosen(t, x), m;
	const cJSON *item;

	cJSON_ArrayForEach(item, listed)
	{
		if (!read_partition(t, item, y, &m))
			return false;
		if (same_offers(x, n, y, m))
			return true;
	}
	return COMPLAIN("a partition that is not listed among the cheapest");
}

static bool
check_partition(struct trial *t, const cJSON *test)
{
	const cJSON *derived = get(test, "derived_by_model");
	const cJSON *most = get(test, "max_distinct_measurements");

	if (!check_total(t, get(derived, "min_total_cost")))
		return false;
	if (cJSON_IsNumber(most) && t->nmeasured > (uint32_t)most->valuedouble)
		return COMPLAIN("%u measured", t->nmeasured);
	return cJSON_IsTrue(get(derived, "tie"))
	    ? check_ties(t, get(derived, "all_min_cost_partitions"))
	    : check_reported(t, get(test, "expected"));
}

static bool
check_beat(struct trial *t, const cJSON *test)
{
	const cJSON *want = get(test, "required_of_new_system");
	struct offer x[NODES_MAX], y[NODES_MAX];
	uint32_t n = chosen(t, x), m;

	if (!check_total(t, get(want, "total")))
		return false;
	if (!cJSON_IsArray(get(want, "partition")))
		return true;
	if (!read_partition(t, get(want, "partition"), y, &m))
		return false;
	return same_offers(x, n, y, m) || COMPLAIN("another partition");
}

static bool
run_trial(struct dag *d, const cJSON *test, bool beat)
{
	struct trial *t = calloc(1, sizeof *t);
	bool ok;

	t->d = d;
	arena_init(&t->arena);
	build_problem(t, test, beat);
	ok =
	    solve(t) && (beat ? check_beat(t, test) : check_partition(t, test));
	arena_release(&t->arena);
	free(t);
	return ok;
}

/* ---- kind=candidate_cost ---- */

/* A plan that must use the candidate costs what the candidate costs; one that
 * was refused leaves no plan. */
static bool
run_step(struct dag *d, const cJSON *test, const cJSON *step)
{
	const cJSON *model = get(test, "cost_model"), *had, *want;
	struct trial *t = calloc(1, sizeof *t);
	struct search_options o = {0};
	struct err err = {0};
	double cost;
	bool ok = true;
	set s;

	t->d = d;
	arena_init(&t->arena);
	build_problem(t, test, false);
	had = get(step, "candidate_has_cost");
	want = get(step, "expected_cost");
	ok = read_set(d, get(step, "candidate"), &s);
	cost = per_op_cost(d, s, cJSON_GetNumberValue(get(step, "op_cost")),
	    cJSON_GetNumberValue(get(model, "fusion_factor")));
	if (cJSON_IsNumber(had))
		cost = had->valuedouble;
	if (get(step, "validator"))
		cost = (double)INFINITY;
	t->problem.ncandidates = t->noffers = 0;
	add_candidate(t, 0, s, cost);
	for (uint32_t i = 0; i < d->n; i++)
		if (!(s & bit(i)))
			add_candidate(t, 0, bit(i), 0);
	if (ok
	    && (!problem_index(&t->problem, &t->arena, &err)
	        || !search_exact(&t->result, &t->problem, &o, &t->arena, &err)))
		ok = COMPLAIN("%s", err.text);
	if (ok && cJSON_IsNumber(want))
		ok = t->result.found && check_total(t, want);
	else if (ok && t->result.found)
		ok = COMPLAIN("a candidate that was refused is used");
	arena_release(&t->arena);
	free(t);
	return ok;
}

static bool
run_cost(struct dag *d, const cJSON *test)
{
	const cJSON *step;

	cJSON_ArrayForEach(step, get(test, "steps"))
	{
		if (!run_step(d, test, step))
			return false;
	}
	return true;
}

static bool
run_case(const cJSON *test)
{
	const char *kind = text_of(test, "kind");
	struct dag d;

	if (!read_graph(&d, test))
		return false;
	if (strcmp(kind, "candidate_enumeration") == 0)
		return run_enumeration(&d, test);
	if (strcmp(kind, "subgraph_partition") == 0)
		return run_subgraph(&d, test);
	if (strcmp(kind, "candidate_cost") == 0)
		return run_cost(&d, test);
	if (strcmp(kind, "partition") == 0)
		return run_trial(&d, test, false);
	if (strcmp(kind, "beat_collage") == 0)
		return run_trial(&d, test, true);
	return COMPLAIN("kind '%s' is not known", kind);
}

int
main(int argc, char **argv)
{
	struct err err = {0};
	const cJSON *test;
	cJSON *doc;
	unsigned passed = 0, failed = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: collage CASES.json\n");
		return 2;
	}
	doc = jsonin_open(argv[1], 64u << 20, &err);
	if (!doc) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	cJSON_ArrayForEach(test, get(doc, "cases"))
	{
		complaint[0] = '\0';
		if (run_case(test)) {
			passed++;
			continue;
		}
		failed++;
		printf("FAILED %s: %s\n", text_of(test, "id"), complaint);
	}
	jsonin_close(doc);
	printf("%u passed, %u failed\n", passed, failed);
	return failed > 0 || passed == 0;
}
