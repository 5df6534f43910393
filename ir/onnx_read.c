#include "ir/onnx_read.h"

#include <inttypes.h>
#include <string.h>

#include "ir/functions.h"
#include "ir/infer/early.h"
#include "ir/onnx_import.h"
#include "ir/wire.h"

/* SOURCE: ONNX IR versions released as of November 2026. */
#define IR_OLDEST 3
#define IR_NEWEST 14

static bool
check_header(struct importer *imp, const Onnx__ModelProto *p)
{
	if (!p->has_ir_version)
		return err_set(
		    imp->err, ERR_INPUT, "no ir_version: not an ONNX model");
	if (p->ir_version < IR_OLDEST || p->ir_version > IR_NEWEST)
		return err_set(imp->err, ERR_UNSUPPORTED,
		    "IR version %" PRId64 ", known are %d to %d", p->ir_version,
		    IR_OLDEST, IR_NEWEST);
	if (!p->graph)
		return err_set(imp->err, ERR_INPUT, "the model has no graph");
	if (p->n_opset_import == 0)
		return err_set(imp->err, ERR_INPUT,
		    "no opset_import, which IR version %" PRId64 " requires",
		    p->ir_version);
	return true;
}

const char *
import_word(struct importer *imp, const char *s)
{
	const size_t n = s ? strlen(s) : 0;
	uint32_t i;

	if (n == 0)
		return "";
	i = map_find(&imp->words, s, n);
	if (i != MAP_NONE)
		return imp->word[i];
	imp->word = arena_grow(imp->passing, imp->word, &imp->word_cap,
	    imp->nwords + 1, sizeof *imp->word);
	imp->word[imp->nwords] = arena_strn(imp->a, s, n);
	map_add(&imp->words, imp->word[imp->nwords], n, imp->nwords);
	return imp->word[imp->nwords++];
}

struct string_view
import_bytes(struct importer *imp, const ProtobufCBinaryData *p)
{
	return (struct string_view){
	    p->len ? arena_copy(imp->a, p->data, p->len) : "", p->len};
}

const struct onnx_meta *
import_meta(struct importer *imp, size_t n, Onnx__StringStringEntryProto **p)
{
	struct onnx_meta *meta = arena_new(imp->a, struct onnx_meta, n);

	for (size_t i = 0; i < n; i++)
		meta[i] = (struct onnx_meta){
		    import_word(imp, p[i]->key), import_word(imp, p[i]->value)};
	return meta;
}

static void
read_meta(struct importer *imp, const Onnx__ModelProto *p)
{
	struct model *m = imp->model;
	const char *version = p->producer_version;

	m->meta = import_meta(imp, p->n_metadata_props, p->metadata_props);
	m->nmeta = (uint32_t)p->n_metadata_props;
	m->graph_meta = import_meta(
	    imp, p->graph->n_metadata_props, p->graph->metadata_props);
	m->ngraph_meta = (uint32_t)p->graph->n_metadata_props;
	m->ir_version = (uint32_t)p->ir_version;
	m->no_weights = imp->options->no_weights;
	m->producer = arena_printf(imp->a, "%s%s%s",
	    p->producer_name ? p->producer_name : "",
	    version && version[0] ? " " : "", version ? version : "");
}

static bool
says_weightless(const struct model *m)
{
	for (uint32_t i = 0; i < m->nmeta; i++)
		if (strcmp(m->meta[i].key, MARK_WEIGHTS) == 0
		    && strcmp(m->meta[i].value, MARK_WEIGHTS_NONE) == 0)
			return true;
	return false;
}

/* Every binding of the command line must have meant something. */
static bool
check_bindings(struct importer *imp)
{
	const struct onnx_options *o = imp->options;

	for (uint32_t i = 0; i < o->nshapes; i++)
		if (!imp->shape_used[i] && !o->shape[i].weak)
			return err_set(imp->err, ERR_USAGE,
			    "--shape %s: neither an input of the model nor "
			    "what an operator makes that is not known here",
			    o->shape[i].value);
	for (uint32_t i = 0; i < o->ndims; i++)
		if (!imp->dim_used[i])
			return err_set(imp->err, ERR_USAGE,
			    "the model has no dimension '%s'", o->dim[i].name);
	return true;
}

static bool
build(struct importer *imp, const Onnx__ModelProto *p)
{
	struct opsets *opsets = arena_new(imp->a, struct opsets, 1);

	if (!check_header(imp, p)
	    || !import_opsets(imp, p->n_opset_import, p->opset_import, opsets))
		return false;
	read_meta(imp, p);
	imp->lacks_weights = says_weightless(imp->model);
	imp->model->opset = opsets->opset;
	imp->model->nopsets = opsets->n;
	return functions_check(imp, p) && import_graph(imp, p->graph, opsets)
	    && check_bindings(imp);
}

static bool
unpack_and_build(struct importer *imp, const struct wire *in)
{
	const Onnx__ModelProto *p = wire_unpack(
	    &onnx__model_proto__descriptor, in, imp->passing, imp->err);
	bool built;

	if (!p)
		return false;
	imp->bytes = in->bytes;
	imp->nbytes = in->n;
	imp->dim_used = arena_new(imp->passing, bool, imp->options->ndims);
	imp->shape_used = arena_new(imp->passing, bool, imp->options->nshapes);
	map_init(&imp->words, imp->passing);
	map_init(&imp->taken, imp->passing);
	map_init(&imp->noted, imp->passing);
	built = build(imp, p);
	early_release(imp->early);
	return built;
}

static bool
import(struct importer *imp, const struct wire *in)
{
	struct arena passing;
	bool built;

	arena_init(&passing);
	imp->passing = &passing;
	built = unpack_and_build(imp, in);
	arena_release(&passing);
	if (built && imp->nfaults) {
		*imp->err = imp->first_fault;
		return false;
	}
	return built;
}

static const struct onnx_options no_options;

static void
model_init(struct model *m, const char *path, size_t n, struct arena *a)
{
	*m = (struct model){.path = path, .producer = "", .file_bytes = n};
	notes_init(&m->notes, a);
	notes_init(&m->faults, a);
}

bool
onnx_read_bytes(struct model *m, const void *bytes, size_t n,
    const struct onnx_options *o, struct arena *a, struct err *err)
{
	struct wire in = {bytes, n, false};
	struct importer imp = {
	    .model = m,
	    .options = o ? o : &no_options,
	    .a = a,
	    .external = {.folder = -1, .list = &m->mappings, .a = a},
	    .err = err,
	};

	model_init(m, "", n, a);
	if (import(&imp, &in))
		return true;
	model_close(m);
	return false;
}

static bool
read_mapped(struct importer *imp, const char *path)
{
	struct mapping *file = arena_new(imp->a, struct mapping, 1);
	struct wire in = {.mapped = true};
	bool ok;

	if (!file_map(&file->file, path, imp->err))
		return false;
	imp->model->mappings = file;
	imp->model->file_bytes = file->file.bytes;
	in.bytes = file->file.data;
	in.n = file->file.bytes;
	if (in.n == 0)
		return err_set(
		    imp->err, ERR_INPUT, "%s: the file is empty", path);
	ok = external_open(
	         &imp->external, path, &imp->model->mappings, imp->a, imp->err)
	    && import(imp, &in);
	external_close(&imp->external);
	file_forget(&file->file); /* what is looked at again comes back */
	return ok || err_in(imp->err, "%s", path);
}

bool
onnx_read(struct model *m, const char *path, const struct onnx_options *o,
    struct arena *a, struct err *err)
{
	struct importer imp = {
	    .model = m,
	    .options = o ? o : &no_options,
	    .a = a,
	    .external = {.folder = -1},
	    .err = err,
	};

	model_init(m, path, 0, a);
	if (read_mapped(&imp, path))
		return true;
	model_close(m);
	return false;
}

/* TUNING: as much of a file is in memory at a time. */
#define PIECE ((size_t)1 << 22)

static void
add_file(struct buf *b, const struct mapped_file *f)
{
	for (size_t at = 0; at < f->bytes; at += PIECE) {
		const size_t left = f->bytes - at;
		const struct hash128 h =
		    hash128(f->data + at, left < PIECE ? left : PIECE);

		buf_add(b, h.byte, sizeof h.byte);
		file_forget(f);
	}
}

struct hash128
model_hash(const struct model *m)
{
	struct hash128 h;
	struct buf b;

	buf_init(&b);
	for (const struct mapping *x = m->mappings; x; x = x->next) {
		buf_str(&b, x->location ? x->location : "");
		buf_u64(&b, x->file.bytes);
		add_file(&b, &x->file);
	}
	h = hash128(b.data, b.n);
	buf_release(&b);
	return h;
}

void
model_close(struct model *m)
{
	for (struct mapping *x = m->mappings; x; x = x->next)
		file_unmap(&x->file);
	for (struct mapping *x = m->zeros; x; x = x->next)
		file_unmap(&x->file);
	m->mappings = m->zeros = NULL;
}
