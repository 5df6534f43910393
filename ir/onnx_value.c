/* Files of a test_data_set: TensorProto, SequenceProto, OptionalProto. */
#include <string.h>

#include "ir/onnx_import.h"
#include "ir/onnx_read.h"
#include "ir/wire.h"

/* Sequences and optionals within one another; recursion is as deep as the
 * messages nest, which the pre-pass bounds. */
static bool optional(
    struct importer *imp, const Onnx__OptionalProto *p, struct tensor *t);
static bool sequence(
    struct importer *imp, const Onnx__SequenceProto *p, struct tensor *t);

static struct tensor
keys_of(struct importer *imp, const Onnx__MapProto *p)
{
	int64_t *dim = arena_new(imp->a, int64_t, 1);
	struct string_view *s;

	if (p->n_keys > 0) {
		*dim = (int64_t)p->n_keys;
		return tensor_view(DT_INT64, 1, dim, p->keys);
	}
	s = arena_new(imp->a, struct string_view, p->n_string_keys);
	for (size_t i = 0; i < p->n_string_keys; i++)
		s[i] =
		    (struct string_view){(const char *)p->string_keys[i].data,
		        p->string_keys[i].len};
	*dim = (int64_t)p->n_string_keys;
	return tensor_strings(1, dim, s);
}

/* A map is a sequence of two: its keys, and its values in a sequence. */
static bool
map(struct importer *imp, const Onnx__MapProto *p, struct tensor *t)
{
	struct tensor *item = arena_new(imp->a, struct tensor, 2);

	*t =
	    (struct tensor){.kind = TENSOR_SEQUENCE, .item = item, .nitems = 2};
	item[0] = keys_of(imp, p);
	item[1] = (struct tensor){.kind = TENSOR_SEQUENCE};
	return !p->values || sequence(imp, p->values, &item[1]);
}

static bool
sequence(struct importer *imp, const Onnx__SequenceProto *p, struct tensor *t)
{
	size_t n = p->n_tensor_values + p->n_sparse_tensor_values
	    + p->n_sequence_values + p->n_optional_values + p->n_map_values;
	struct tensor *item = arena_new(imp->a, struct tensor, n);
	uint32_t at = 0;
	bool ok = true;

	for (size_t i = 0; ok && i < p->n_tensor_values; i++)
		ok = import_tensor(imp, p->tensor_values[i], &item[at++]);
	for (size_t i = 0; ok && i < p->n_sparse_tensor_values; i++)
		ok =
		    import_sparse(imp, p->sparse_tensor_values[i], &item[at++]);
	for (size_t i = 0; ok && i < p->n_sequence_values; i++)
		ok = sequence(imp, p->sequence_values[i], &item[at++]);
	for (size_t i = 0; ok && i < p->n_optional_values; i++)
		ok = optional(imp, p->optional_values[i], &item[at++]);
	for (size_t i = 0; ok && i < p->n_map_values; i++)
		ok = map(imp, p->map_values[i], &item[at++]);
	*t = (struct tensor){
	    .kind = TENSOR_SEQUENCE, .item = item, .nitems = at};
	return ok;
}

static bool
optional(struct importer *imp, const Onnx__OptionalProto *p, struct tensor *t)
{
	if (p->tensor_value)
		return import_tensor(imp, p->tensor_value, t);
	if (p->sparse_tensor_value)
		return import_sparse(imp, p->sparse_tensor_value, t);
	if (p->sequence_value)
		return sequence(imp, p->sequence_value, t);
	if (p->optional_value)
		return optional(imp, p->optional_value, t);
	if (p->map_value)
		return map(imp, p->map_value, t);
	*t = (struct tensor){.kind = TENSOR_NONE};
	return true;
}

static bool
read_as(struct importer *imp, enum type_kind kind, const struct wire *in,
    struct tensor *t)
{
	const ProtobufCMessageDescriptor *type = kind == TYPE_SEQUENCE
	    ? &onnx__sequence_proto__descriptor
	    : kind == TYPE_OPTIONAL ? &onnx__optional_proto__descriptor
	                            : &onnx__tensor_proto__descriptor;
	const void *p = wire_unpack(type, in, imp->a, imp->err);

	if (!p)
		return false;
	if (kind == TYPE_SEQUENCE)
		return sequence(imp, p, t);
	if (kind == TYPE_OPTIONAL)
		return optional(imp, p, t);
	return import_tensor(imp, p, t);
}

bool
onnx_read_value(struct tensor *t, const struct type *type, const char *path,
    struct arena *a, struct err *err)
{
	struct importer imp = {
	    .a = a,
	    .external = {.folder = -1, .a = a},
	    .err = err,
	};
	enum type_kind kind = type ? type->kind : TYPE_TENSOR;
	struct wire in = {.mapped = false};
	const char *text;

	if (!file_read(&text, &in.n, path, LIMIT_READ_TENSOR, a, err))
		return false;
	in.bytes = imp.bytes = (const unsigned char *)text;
	imp.nbytes = in.n;
	return read_as(&imp, kind, &in, t) || err_in(err, "%s", path);
}

bool
onnx_read_tensor(
    struct tensor *t, const char *path, struct arena *a, struct err *err)
{
	return onnx_read_value(t, NULL, path, a, err);
}
