#include "targets/external/files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/file.h"
#include "ir/base/folder.h"
#include "ir/cut.h"
#include "ir/onnx_write.h"

/* TUNING: domains in one candidate. */
#define OPSETS_MAX 16

struct opset_list {
	struct onnx_opset opset[OPSETS_MAX];
	uint32_t n;
};

/* ---- the model ---- */

static bool
add_opset(struct opset_list *s, const struct node *n, struct err *err)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (strcmp(s->opset[i].domain, n->domain) != 0)
			continue;
		return s->opset[i].version == n->opset
		    || err_set(err, ERR_UNSUPPORTED,
		        "operators of versions %u and %u of domain '%s' do "
		        "not fit into one model",
		        s->opset[i].version, n->opset, n->domain);
	}
	if (s->n == OPSETS_MAX)
		return err_set(err, ERR_UNSUPPORTED,
		    "operators of more than %d domains", OPSETS_MAX);
	s->opset[s->n++] = (struct onnx_opset){n->domain, n->opset};
	return true;
}

/* Bounded by what the importer lets nest. */
static bool
add_opsets(struct opset_list *s, const struct graph *g, struct err *err)
{
	for (node_id i = 0; i < g->nnodes; i++) {
		const struct node *n = graph_node(g, i);

		if (!add_opset(s, n, err))
			return false;
		for (uint32_t k = 0; k < n->nattrs; k++) {
			const struct attr *at = &n->attr[k];

			if (at->kind != ATTR_GRAPH && at->kind != ATTR_GRAPHS)
				continue;
			for (uint32_t j = 0; j < at->n; j++)
				if (!add_opsets(s, at->graphs[j], err))
					return false;
		}
	}
	return true;
}

static uint32_t
default_version(const struct opset_list *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (*s->opset[i].domain == '\0')
			return s->opset[i].version;
	return 1;
}

/* The oldest IR that has everything the opset has: runtimes refuse files that
 * are newer than they are. SOURCE: the table of versions in ONNX's
 * docs/Versioning.md. */
static uint32_t
ir_version(uint32_t opset)
{
	return opset >= 23 ? 11 : opset >= 21 ? 10 : 8;
}

static bool
write_model(FILE *f, void *context, struct err *err)
{
	const struct graph *g = context;
	struct opset_list s = {.n = 0};
	struct onnx_out o = {.graph = g, .opset = s.opset};

	if (!add_opsets(&s, g, err))
		return false;
	o.nopsets = s.n;
	o.ir_version = ir_version(default_version(&s));
	return onnx_write(f, &o, err);
}

static const value_id *
values_of(const struct port *port, uint32_t n, struct arena *a)
{
	value_id *v = arena_new(a, value_id, n);

	for (uint32_t i = 0; i < n; i++)
		v[i] = port[i].value;
	return v;
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
	const struct graph_part part = {
	    .name = "candidate",
	    .nnodes = c->nnodes,
	    .node = c->node,
	    .ninputs = c->ninputs,
	    .input = values_of(c->input, c->ninputs, a),
	    .noutputs = c->noutputs,
	    .output = values_of(c->output, c->noutputs, a),
	    .inline_max = SIZE_MAX,
	};

	*f = (struct files){.graph = g, .candidate = c};
	f->folder = folder_new(NULL, a, err);
	if (!f->folder)
		return false;
	f->model = arena_printf(a, "%s/model.onnx", f->folder);
	f->input = paths_of(f, "input", c->ninputs, a);
	f->output = paths_of(f, "output", c->noutputs, a);
	if (file_write(f->model, write_model, graph_cut(g, &part, a), err))
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
