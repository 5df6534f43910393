#include "tests/support/folder.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "ir/normalize.h"
#include "ir/onnx_read.h"
#include "targets/host/host.h"

/* Beside the model where the data is not in a folder of its own. */
static const char *
data_path(const char *folder, uint32_t i, struct arena *a)
{
	const char *path = arena_printf(
	    a, "%s/test_data_set_0/input_%u.pb", folder, (unsigned)i);

	return access(path, R_OK) == 0
	    ? path
	    : arena_printf(a, "%s/input_%u.pb", folder, (unsigned)i);
}

bool
folder_input(struct tensor *out, const char *folder, const struct graph *g,
    uint32_t i, struct arena *a)
{
	const struct value *v = graph_value(g, g->input[i]);
	const char *path = data_path(folder, i, a);
	struct err ignored = {.kind = ERR_NONE};

	return access(path, R_OK) == 0 && v->type.kind == TYPE_TENSOR
	    && onnx_read_value(out, &v->type, path, a, &ignored);
}

static void
bind(struct onnx_options *o, const char *folder, const struct graph *g,
    struct arena *a)
{
	struct bind_shape *shape = arena_new(a, struct bind_shape, g->ninputs);
	struct tensor in;

	for (uint32_t i = 0; i < g->ninputs; i++)
		if (folder_input(&in, folder, g, i, a))
			shape[o->nshapes++] = (struct bind_shape){
			    .value = graph_value(g, g->input[i])->name,
			    .rank = in.rank,
			    .dim = in.dim};
	o->shape = shape;
}

bool
folder_model(
    struct model *out, const char *folder, struct arena *a, struct err *err)
{
	const char *path = arena_printf(a, "%s/model.onnx", folder);
	const struct infer_options infer = {.eval = host_eval};
	struct onnx_options o = {0};

	if (!onnx_read(out, path, &o, a, err))
		return false;
	bind(&o, folder, out->graph, a);
	model_close(out);
	return onnx_read(out, path, &o, a, err)
	    && normalize(out->graph, &infer, err);
}

static bool
check_one(const char *root, const char *name,
    bool (*check)(const char *folder, const char *name))
{
	struct arena a;
	bool ok;

	arena_init(&a);
	ok = check(arena_printf(&a, "%s/%s", root, name), name);
	arena_release(&a);
	return ok;
}

uint32_t
folders_each(int argc, char **argv,
    bool (*check)(const char *folder, const char *name), uint32_t *count)
{
	uint32_t wrong = 0;

	for (int i = 1; i < argc; i++) {
		struct dirent **entry;
		int n = scandir(argv[i], &entry, NULL, alphasort);

		for (int k = 0; k < n; k++) {
			if (entry[k]->d_name[0] != '.') {
				(*count)++;
				wrong += !check_one(
				    argv[i], entry[k]->d_name, check);
			}
			free(entry[k]);
		}
		if (n >= 0)
			free(entry);
	}
	return wrong;
}
