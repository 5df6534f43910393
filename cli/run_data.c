#include "cli/run_data.h"

#include <errno.h>
#include <string.h>

#include "costmodel/seed.h"
#include "ir/base/file.h"
#include "ir/onnx_read.h"

static struct run_data *
new_set(struct run_sets *s, const char *name, const struct graph *g,
    struct arena *a)
{
	struct run_data *d;

	s->set = arena_grow(a, s->set, &s->cap, s->n + 1, sizeof *s->set);
	d = &s->set[s->n++];
	*d = (struct run_data){.name = name};
	d->in = arena_new(a, struct tensor, g->ninputs);
	return d;
}

bool
run_data_seeded(
    struct run_sets *s, const struct graph *g, struct arena *a, struct err *err)
{
	struct run_data *d = new_set(s, "seeded", g, a);

	for (uint32_t i = 0; i < g->ninputs; i++) {
		if (!seed_tensor(&d->in[i], g, g->input[i], 0, a))
			return err_set(err, ERR_UNSUPPORTED,
			    "input '%s' has no static shape; bind it with "
			    "--dim or --shape, or give --data",
			    graph_value(g, g->input[i])->name);
	}
	return true;
}

static bool
read_one(struct tensor *t, const char *path, const struct type *type,
    struct arena *a, struct err *err)
{
	return onnx_read_value(t, type, path, a, err);
}

static bool
read_set(struct run_sets *s, const struct graph *g, const char *path,
    struct arena *a, struct err *err)
{
	struct run_data *d = new_set(s, path, g, a);

	for (uint32_t i = 0; i < g->ninputs; i++)
		if (!read_one(&d->in[i],
		        arena_printf(a, "%s/input_%u.pb", path, (unsigned)i),
		        &graph_value(g, g->input[i])->type, a, err))
			return false;
	if (file_is_absent(arena_printf(a, "%s/output_0.pb", path)))
		return true;
	d->want = arena_new(a, struct tensor, g->noutputs);
	for (uint32_t i = 0; i < g->noutputs; i++)
		if (!read_one(&d->want[i],
		        arena_printf(a, "%s/output_%u.pb", path, (unsigned)i),
		        &graph_value(g, g->output[i])->type, a, err))
			return false;
	return true;
}

bool
run_data_read(struct run_sets *s, const struct graph *g, const char *path,
    struct arena *a, struct err *err)
{
	uint32_t found = 0;

	if (file_is_absent(path))
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	if (g->ninputs == 0
	    || !file_is_absent(arena_printf(a, "%s/input_0.pb", path)))
		return read_set(s, g, path, a, err);
	for (uint32_t k = 0;; k++) {
		const char *set =
		    arena_printf(a, "%s/test_data_set_%u", path, (unsigned)k);

		if (file_is_absent(set))
			break;
		if (!read_set(s, g, set, a, err))
			return false;
		found++;
	}
	return found > 0
	    || err_set(err, ERR_INPUT,
	        "%s: neither input_0.pb nor test_data_set_0 in it", path);
}

bool
run_data_shapes(struct onnx_options *o, const struct run_data *d,
    const struct graph *g, struct arena *a)
{
	const uint32_t given = o->nshapes;
	struct bind_shape *shape =
	    arena_new(a, struct bind_shape, given + g->ninputs);

	if (given > 0)
		memcpy(shape, o->shape, given * sizeof *shape);
	for (uint32_t i = 0; i < g->ninputs; i++) {
		const struct value *v = graph_value(g, g->input[i]);

		if (v->type.kind != TYPE_TENSOR || type_is_static(&v->type)
		    || d->in[i].kind > TENSOR_STRINGS)
			continue;
		shape[o->nshapes++] = (struct bind_shape){
		    v->name, d->in[i].rank, d->in[i].dim, DT_UNDEFINED, false};
	}
	o->shape = shape;
	return o->nshapes > given;
}
