/* Dimensions of a model's inputs that nobody bound: what is usual is taken, the
 * rest is asked for. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "cli/job.h"
#include "ir/base/buf.h"
#include "ir/base/shell.h"

/* TUNING: of sizes to suggest, by what a name contains; the last is of all. */
static const struct {
	const char *part;
	int64_t size;
} suggestions[] = {
    {"seq", 128},
    {"len", 128},
    {"time", 128},
    {"batch", 1},
    {"height", 224},
    {"width", 224},
    {"chan", 3},
    {"", 64},
};

/* SOURCE: names that exporters and the ONNX model zoo give to the batch. */
static const char *const batch_names[] = {
    "batch", "batch_size", "batchsize", "batch_dim", "bs", "n", "b"};

struct unbound {
	const char *name; /* NULL: it has none */
	value_id input;
	uint32_t axis; /* of the input; RANK_UNKNOWN: no axis is known */
	bool again; /* one of that name came before */
};

struct dim_args {
	struct job *job;
	struct unbound *item;
	uint32_t n, cap;
	struct bind_shape *shape; /* of the arguments to search with */
};

static const struct type *
type_of(const struct dim_args *d, value_id input)
{
	return &graph_value(d->job->model.graph, input)->type;
}

static const char *
name_of(const struct dim_args *d, value_id input)
{
	return graph_value(d->job->model.graph, input)->name;
}

static void
add(struct dim_args *d, value_id input, uint32_t axis)
{
	const struct graph *g = d->job->model.graph;
	int64_t dim =
	    axis == RANK_UNKNOWN ? DIM_UNKNOWN : type_of(d, input)->dim[axis];
	struct unbound u = {.input = input, .axis = axis};

	if (dim != DIM_UNKNOWN)
		u.name = g->symbol[DIM_SYMBOL(0) - dim];
	for (uint32_t i = 0; u.name && i < d->n; i++)
		u.again |=
		    d->item[i].name && strcmp(d->item[i].name, u.name) == 0;
	d->item = arena_grow(
	    d->job->arena, d->item, &d->cap, d->n + 1, sizeof *d->item);
	d->item[d->n++] = u;
}

static void
collect(struct dim_args *d)
{
	const struct graph *g = d->job->model.graph;

	for (uint32_t i = 0; i < g->ninputs; i++) {
		const struct type *t = type_of(d, g->input[i]);

		if (t->kind != TYPE_TENSOR)
			continue;
		if (t->rank == RANK_UNKNOWN)
			add(d, g->input[i], RANK_UNKNOWN);
		for (uint32_t k = 0; t->rank != RANK_UNKNOWN && k < t->rank;
		     k++)
			if (t->dim[k] < 0)
				add(d, g->input[i], k);
	}
}

/* Is it a batch, by its name or, without one, by its place? */
static bool
is_batch(const struct unbound *u)
{
	if (!u->name)
		return u->axis == 0;
	for (size_t i = 0; i < sizeof batch_names / sizeof *batch_names; i++)
		if (strcasecmp(u->name, batch_names[i]) == 0)
			return true;
	return false;
}

static int64_t
suggested(const struct unbound *u)
{
	size_t i = 0;

	if (is_batch(u))
		return 1;
	while (u->name && !strstr(u->name, suggestions[i].part))
		i++;
	return u->name ? suggestions[i].size : 64;
}

/* ---- what is usual ---- */

static struct search_args *
copy_args(struct dim_args *d)
{
	struct job *j = d->job;
	struct search_args *args =
	    arena_copy(j->arena, j->args, sizeof *j->args);
	struct onnx_options *o = &args->onnx;
	const uint32_t more = j->model.graph->ninputs;

	d->shape = arena_new(j->arena, struct bind_shape, o->nshapes + more);
	if (o->nshapes)
		memcpy(d->shape, o->shape, o->nshapes * sizeof *d->shape);
	o->shape = d->shape;
	return args;
}

static void
bind_shape_of(
    struct search_args *args, const struct dim_args *d, value_id input)
{
	const struct type *t = type_of(d, input);
	int64_t *dim = arena_new(d->job->arena, int64_t, t->rank);

	for (uint32_t k = 0; k < t->rank; k++)
		dim[k] = t->dim[k] < 0 ? 1 : t->dim[k];
	d->shape[args->onnx.nshapes++] = (struct bind_shape){
	    name_of(d, input), t->rank, dim, DT_UNDEFINED, false};
}

/* Every dimension that is left is a batch: of one. */
static void
bind_batches(
    struct search_args *args, const struct dim_args *d, struct buf *said)
{
	struct arena *a = d->job->arena;
	struct bind_dim *dim =
	    arena_new(a, struct bind_dim, args->onnx.ndims + d->n);

	if (args->onnx.ndims)
		memcpy(dim, args->onnx.dim, args->onnx.ndims * sizeof *dim);
	args->onnx.dim = dim;
	for (uint32_t i = 0; i < d->n; i++) {
		const struct unbound *u = &d->item[i];

		if (u->again)
			continue;
		if (u->name)
			dim[args->onnx.ndims++] = (struct bind_dim){u->name, 1};
		else
			bind_shape_of(args, d, u->input);
		buf_printf(said, "%s%s = 1", said->n ? ", " : "",
		    u->name ? u->name
		            : arena_printf(a, "first dimension of '%s'",
		                name_of(d, u->input)));
	}
}

/* ---- what has to be asked for ---- */

static const char *
shape_to_give(const struct dim_args *d, value_id input)
{
	const struct type *t = type_of(d, input);
	struct arena *a = d->job->arena;
	const char *text = arena_printf(a, "%s=", name_of(d, input));

	if (t->rank == RANK_UNKNOWN)
		return arena_printf(a, "%s1x3x224x224", text);
	for (uint32_t k = 0; k < t->rank; k++) {
		struct unbound u = {.axis = k};

		text = arena_printf(a, "%s%s%" PRId64, text, k ? "x" : "",
		    t->dim[k] < 0 ? suggested(&u) : t->dim[k]);
	}
	return text;
}

/* The options that bind everything, with sizes as an example. */
static const char *
options_to_give(const struct dim_args *d)
{
	struct arena *a = d->job->arena;
	value_id shaped = VALUE_NONE;
	const char *text = "";

	for (uint32_t i = 0; i < d->n; i++) {
		const struct unbound *u = &d->item[i];

		if (u->again || (!u->name && u->input == shaped))
			continue;
		if (u->name) {
			text = arena_printf(a, "%s --dim %s", text,
			    shell_quote(arena_printf(a, "%s=%" PRId64, u->name,
			                    suggested(u)),
			        a));
			continue;
		}
		shaped = u->input;
		text = arena_printf(a, "%s --shape %s", text,
		    shell_quote(shape_to_give(d, u->input), a));
	}
	return text;
}

static const char *
place_of(const struct dim_args *d, const struct unbound *u)
{
	return u->axis == RANK_UNKNOWN
	    ? arena_printf(d->job->arena, "all of '%s'", name_of(d, u->input))
	    : arena_printf(d->job->arena, "'%s' axis %" PRIu32,
	        name_of(d, u->input), u->axis);
}

/* "'seq' (of 'ids' axis 1, 'mask' axis 1)". */
static void
describe(struct buf *b, const struct dim_args *d, const struct unbound *u)
{
	buf_printf(b, "%s%s%s (of %s", u->name ? "'" : "",
	    u->name ? u->name : "one without a name", u->name ? "'" : "",
	    place_of(d, u));
	for (const struct unbound *v = u + 1; v < d->item + d->n; v++)
		if (u->name && v->name && strcmp(u->name, v->name) == 0)
			buf_printf(b, ", %s", place_of(d, v));
	buf_printf(b, ")");
}

static bool
ask(const struct dim_args *d, struct err *err)
{
	const struct job *j = d->job;
	struct buf b;

	buf_init(&b);
	for (uint32_t i = 0; i < d->n; i++) {
		if (d->item[i].again)
			continue;
		if (b.n)
			buf_printf(&b, ", ");
		/* TUNING: an error has 512 bytes, the command goes first */
		if (b.n > 200) {
			buf_printf(&b, "... (`marq model info` shows all)");
			break;
		}
		describe(&b, d, &d->item[i]);
	}
	err_set(err, ERR_USAGE,
	    "%s: some dimensions are open; bind them like: marq %s %s%s; not bound: "
	    "%.*s",
	    j->args->model, j->args->cli->command,
	    shell_quote(j->args->model, j->arena), options_to_give(d), (int)b.n,
	    b.data);
	buf_release(&b);
	return false;
}

/* What a result that is searched again had for its inputs. */
static bool
bind_as_result(struct search_args *args, const struct dim_args *d)
{
	const struct onnx_options *known = &d->job->args->of_result;
	uint32_t bound = args->onnx.nshapes;

	for (uint32_t i = 0; i < d->n; i++) {
		const value_id input = d->item[i].input;

		if (i > 0 && input == d->item[i - 1].input)
			continue;
		for (uint32_t k = 0; k < known->nshapes; k++)
			if (strcmp(known->shape[k].value, name_of(d, input))
			    == 0)
				d->shape[args->onnx.nshapes++] =
				    known->shape[k];
	}
	return args->onnx.nshapes > bound;
}

static bool
bind_open(struct job *j, struct err *err)
{
	struct dim_args d = {.job = j};
	struct search_args *args;
	const char *said;
	bool usual = true;
	struct buf b;

	if (j->model.graph->origin_table->n == 0)
		return err_set(err, ERR_INPUT,
		    "%s: the graph has no nodes, so there is nothing to place",
		    j->args->model);
	collect(&d);
	for (uint32_t i = 0; i < d.n; i++)
		usual &= is_batch(&d.item[i]);
	if (d.n == 0)
		return true;
	args = copy_args(&d);
	buf_init(&b);
	if (!bind_as_result(args, &d)) {
		if (!usual)
			return ask(&d, err);
		bind_batches(args, &d, &b);
	}
	said = b.n ? arena_strn(j->arena, b.data, b.n) : NULL;
	buf_release(&b);
	model_close(&j->model);
	j->opened = false;
	if (!job_import(j, args, j->arena, err))
		return false;
	j->bound = said;
	if (said)
		cli_say(args->cli, 0,
		    "%s: taking %s, for no size is given (--dim or --shape)",
		    args->model, said);
	return true;
}

bool
job_bind(struct job *j, struct err *err)
{
	if (!bind_open(j, err))
		return false;
	if (j->args->targets_note)
		cli_say(j->args->cli, 0, "%s", j->args->targets_note);
	return true;
}
