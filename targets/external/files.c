#include "targets/external/files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/file.h"
#include "ir/base/folder.h"
#include "ir/onnx_write.h"
#include "targets/part.h"

static bool
write_model(FILE *f, void *context, struct err *err)
{
	return part_write(f, context, err);
}

static const char **
paths_of(const struct files *f, const char *what, uint32_t n, struct arena *a)
{
	const char **path = arena_new(a, const char *, n);

	for (uint32_t i = 0; i < n; i++)
		path[i] =
		    arena_printf(a, "%s/%s_%" PRIu32 ".pb", f->folder, what, i);
	return path;
}

bool
files_open(struct files *f, const struct graph *g, const struct candidate *c,
    struct arena *a, struct err *err)
{
	*f = (struct files){.graph = g, .candidate = c};
	f->folder = folder_new(NULL, a, err);
	if (!f->folder)
		return false;
	f->model = arena_printf(a, "%s/model.onnx", f->folder);
	f->input = paths_of(f, "input", c->ninputs, a);
	f->output = paths_of(f, "output", c->noutputs, a);
	if (file_write(f->model, write_model, part_of(g, c, a), err))
		return true;
	files_close(f);
	return false;
}

void
files_close(struct files *f)
{
	if (f->folder)
		folder_remove(f->folder);
	f->folder = NULL;
}

/* ---- tensors ---- */

static bool
write_tensor(
    const struct value *v, const char *path, const void *data, struct err *err)
{
	const struct tensor t =
	    tensor_view(v->type.dtype, v->type.rank, v->type.dim, data);
	FILE *f = fopen(path, "wbe");

	if (!f)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	if (onnx_write_tensor(f, v->name, &t, err))
		return out_close(f, path, err);
	fclose(f);
	return false;
}

bool
files_write_inputs(
    const struct files *f, const void *const *in, struct err *err)
{
	const struct candidate *c = f->candidate;

	for (uint32_t i = 0; i < c->noutputs; i++)
		(void)remove(f->output[i]); /* of an earlier run */
	for (uint32_t i = 0; i < c->ninputs; i++)
		if (!write_tensor(graph_value(f->graph, c->input[i].value),
		        f->input[i], in[i], err))
			return false;
	return true;
}

static bool
has_type(const struct tensor *t, const struct type *type)
{
	if (t->kind != TENSOR_VIEW || t->dtype != type->dtype
	    || t->rank != type->rank)
		return false;
	for (uint32_t i = 0; i < t->rank; i++)
		if (t->dim[i] != type->dim[i])
			return false;
	return true;
}

bool
files_read_outputs(const struct files *f, void *const *out, struct err *err)
{
	const struct candidate *c = f->candidate;
	struct arena scratch;

	arena_init(&scratch);
	for (uint32_t i = 0; i < c->noutputs && err->kind == ERR_NONE; i++) {
		const struct value *v =
		    graph_value(f->graph, c->output[i].value);
		struct tensor t;

		if (!onnx_read_tensor(&t, f->output[i], &scratch, err))
			break;
		if (!has_type(&t, &v->type))
			err_set(err, ERR_INPUT,
			    "output '%s' has another type or shape", v->name);
		else if (t.bytes)
			memcpy(out[i], t.data, t.bytes);
	}
	arena_release(&scratch);
	return err->kind == ERR_NONE;
}
