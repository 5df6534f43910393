/* TensorProto -> struct tensor. */
#include <inttypes.h>
#include <string.h>

#include "ir/base/limits.h"
#include "ir/base/size.h"
#include "ir/onnx_import.h"
#include "ir/wire.h"

/* The fields of TensorProto that hold content, by number. */
enum { FLOATS = 4, INT32S = 5, STRINGS = 6, INT64S = 7, RAW = 9 };
enum { DOUBLES = 10, UINT64S = 11, EXTERNAL = 14 };

/* Where a tensor's content is. */
struct content {
	unsigned field; /* 0: none */
	const unsigned char *bytes; /* in place, as on the wire; or NULL */
	size_t n; /* bytes */
	size_t nitems; /* of an array protobuf-c unpacked (unpacked form) */
};

static const char *
field_name(unsigned field)
{
	static const char *const name[] = {
	    [FLOATS] = "float_data",
	    [INT32S] = "int32_data",
	    [STRINGS] = "string_data",
	    [INT64S] = "int64_data",
	    [RAW] = "raw_data",
	    [DOUBLES] = "double_data",
	    [UINT64S] = "uint64_data",
	    [EXTERNAL] = "external_data",
	};
	return name[field];
}

static bool
add_content(
    struct importer *imp, struct content *c, unsigned field, size_t nitems)
{
	if (c->field)
		return err_set(imp->err, ERR_INPUT, "content in both %s and %s",
		    field_name(c->field), field_name(field));
	c->field = field;
	c->nitems = nitems;
	return true;
}

/* Find the one field that holds the content. Empty fields are no content. */
static bool
find_content(
    struct importer *imp, const Onnx__TensorProto *p, struct content *c)
{
	const struct {
		unsigned field;
		size_t n;
	} array[] = {
	    {FLOATS, p->n_float_data},
	    {INT32S, p->n_int32_data},
	    {STRINGS, p->n_string_data},
	    {INT64S, p->n_int64_data},
	    {DOUBLES, p->n_double_data},
	    {UINT64S, p->n_uint64_data},
	    {EXTERNAL, p->data_location == 1},
	};

	*c = (struct content){.field = 0};
	for (size_t i = 0; i + 2 < p->n_payload; i += 3) {
		if (p->payload[i + 2] == 0)
			continue;
		if (!add_content(imp, c, (unsigned)p->payload[i], 0))
			return false;
		c->bytes = imp->bytes + p->payload[i + 1];
		c->n = (size_t)p->payload[i + 2];
	}
	for (size_t i = 0; i < sizeof array / sizeof array[0]; i++)
		if (array[i].n
		    && !add_content(imp, c, array[i].field, array[i].n))
			return false;
	return true;
}

/* The typed field that may hold a dtype's content. */
static unsigned
field_of(enum dtype dtype)
{
	switch (dtype) {
	case DT_FLOAT:
	case DT_COMPLEX64:
		return FLOATS;
	case DT_DOUBLE:
	case DT_COMPLEX128:
		return DOUBLES;
	case DT_INT64:
		return INT64S;
	case DT_UINT32:
	case DT_UINT64:
		return UINT64S;
	case DT_STRING:
		return STRINGS;
	default:
		return INT32S;
	}
}

static bool
wrong_size(struct importer *imp, const struct tensor *t, const char *field,
    size_t have, size_t need)
{
	return err_set(imp->err, ERR_INPUT,
	    "%s holds %zu, but %zu elements of %s take %zu", field, have,
	    t->count, dtype_name(t->dtype), need);
}

/* Content as it must lie in memory, already so on the wire. */
static bool
in_place(struct importer *imp, const struct content *c, struct tensor *t)
{
	if (c->n != t->bytes)
		return wrong_size(imp, t, field_name(c->field), c->n, t->bytes);
	t->data = c->bytes;
	return true;
}

/* Does an integer of a list fit the tensor's dtype? Float formats come as bit
 * patterns, of either sign. */
static bool
fits(enum dtype dtype, int64_t x)
{
	uint32_t bits = dtype_bits(dtype) < 8 ? 8 : dtype_bits(dtype);

	if (dtype == DT_BOOL)
		return x == 0 || x == 1;
	if (bits >= 64)
		return true;
	if (dtype_is_signed(dtype) && bits == dtype_bits(dtype))
		return x >= -(INT64_C(1) << (bits - 1))
		    && x < INT64_C(1) << (bits - 1);
	if (dtype_is_integer(dtype) && bits == dtype_bits(dtype))
		return x >= 0 && x < INT64_C(1) << bits;
	return x >= -(INT64_C(1) << (bits - 1)) && x < INT64_C(1) << bits;
}

static bool
put_int(struct importer *imp, struct tensor *t, unsigned char *out, size_t i,
    int64_t x)
{
	size_t step = dtype_bits(t->dtype) < 8 ? 1 : dtype_bits(t->dtype) / 8;
	uint64_t bits = (uint64_t)x;

	if (!fits(t->dtype, x))
		return err_set(imp->err, ERR_INPUT,
		    "element %zu is %" PRId64 ", which is no %s", i, x,
		    dtype_name(t->dtype));
	for (size_t b = 0; b < step; b++)
		out[i * step + b] = (unsigned char)(bits >> 8 * b);
	return true;
}

/* Integers as varints, still on the wire. */
static bool
decode_varints(struct importer *imp, const struct content *c, struct tensor *t,
    unsigned char *out, size_t n)
{
	size_t at = 0, i = 0;
	uint64_t x;

	for (; at < c->n && i < n; i++) {
		if (!wire_varint(c->bytes, c->n, &at, &x))
			return err_set(imp->err, ERR_INPUT,
			    "element %zu of %s is a malformed varint", i,
			    field_name(c->field));
		if (!put_int(imp, t, out, i, (int64_t)x))
			return false;
	}
	if (i < n || at < c->n)
		return err_set(imp->err, ERR_INPUT,
		    "%s holds %s elements than %zu", field_name(c->field),
		    i < n ? "fewer" : "more", n);
	return true;
}

static int64_t
listed_int(const Onnx__TensorProto *p, unsigned field, size_t i)
{
	switch (field) {
	case INT32S:
		return p->int32_data[i];
	case INT64S:
		return p->int64_data[i];
	default:
		return (int64_t)p->uint64_data[i];
	}
}

/* Integers and what is stored as such: small floats, packed 4- and 2-bit. */
static bool
decode_ints(struct importer *imp, const Onnx__TensorProto *p,
    const struct content *c, struct tensor *t)
{
	size_t n = dtype_bits(t->dtype) < 8 ? t->bytes : t->count;
	unsigned char *out;

	/* one byte on the wire at least: never allocate for less */
	if (c->bytes ? c->n < n : c->nitems != n)
		return wrong_size(imp, t, field_name(c->field),
		    c->bytes ? c->n : c->nitems, n);
	t->data = out = arena_alloc(imp->a, t->bytes);
	if (c->bytes)
		return decode_varints(imp, c, t, out, n);
	for (size_t i = 0; i < n; i++)
		if (!put_int(imp, t, out, i, listed_int(p, c->field, i)))
			return false;
	return true;
}

static bool
decode_strings(
    struct importer *imp, const Onnx__TensorProto *p, struct tensor *t)
{
	struct string_view *s;

	if (p->n_string_data != t->count)
		return wrong_size(
		    imp, t, "string_data", p->n_string_data, t->count);
	s = arena_new(imp->a, struct string_view, t->count);
	for (size_t i = 0; i < t->count; i++)
		s[i] = import_bytes(imp, &p->string_data[i]);
	t->kind = TENSOR_STRINGS;
	t->string = s;
	return true;
}

/* Floating-point lists in their unpacked form, as protobuf-c read them. */
static bool
decode_reals(struct importer *imp, const Onnx__TensorProto *p,
    const struct content *c, struct tensor *t)
{
	size_t size = c->field == FLOATS ? 4 : 8;

	if (c->bytes)
		return in_place(imp, c, t);
	if (c->nitems * size != t->bytes)
		return wrong_size(
		    imp, t, field_name(c->field), c->nitems, t->bytes / size);
	t->data = arena_copy(imp->a,
	    c->field == FLOATS ? (const void *)p->float_data
	                       : (const void *)p->double_data,
	    t->bytes);
	return true;
}

/* TUNING: bounds, scales of a Resize and the like are shorter. */
#define WEIGHT_ELEMENTS 64

bool
tensor_is_bare_weight(const Onnx__TensorProto *p)
{
	uint64_t count = 1;

	for (size_t i = 0; i + 2 < p->n_payload; i += 3)
		if (p->payload[i + 2] != 0)
			return false;
	if (p->n_float_data || p->n_int32_data || p->n_string_data
	    || p->n_int64_data || p->n_double_data || p->n_uint64_data
	    || p->data_location == 1)
		return false;
	for (size_t i = 0; i < p->n_dims; i++)
		if (p->dims[i] <= 0
		    || (count *= (uint64_t)p->dims[i]) > UINT32_MAX)
			return p->dims[i] > 0;
	return count > WEIGHT_ELEMENTS;
}

static bool
may_be_weight(const struct importer *imp, const struct tensor *t)
{
	return imp->in_initializer && t->dtype != DT_INT64
	    && t->dtype != DT_STRING && t->dtype != DT_BOOL;
}

/* `bytes` of zeros, read only and the same for all; NULL: err is set. */
static const void *
zeros(struct importer *imp, size_t bytes)
{
	static const unsigned char none;
	struct mapping *most = imp->model->zeros;

	if (bytes == 0)
		return &none;
	if (!most || most->file.bytes < bytes) {
		most = arena_new(imp->a, struct mapping, 1);
		if (!file_map_zeros(&most->file, bytes, imp->err))
			return NULL;
		most->next = imp->model->zeros;
		imp->model->zeros = most;
	}
	return most->file.data;
}

/* One number for all elements, as weights may be: 0 of integers, else small and
 * positive, so that it may be a variance too. */
static bool
make_up(struct importer *imp, struct tensor *t)
{
	const float x = 0.5f;
	const double d = 0.5;
	const uint16_t half = f32_to_f16(x), brain = f32_to_bf16(x);

	t->made_up = true;
	note_once(imp, LENIENT_WEIGHTLESS, "%s: numbers are made up",
	    imp->options->no_weights ? "weights are not read"
	                             : "weights have no content");
	if (dtype_bits(t->dtype) < 8) {
		if (t->count > limit_of(LIMIT_MADE_UP))
			return limit_exceeded(
			    LIMIT_MADE_UP, "numbers are made up", imp->err);
		t->data = zeros(imp, t->bytes);
		return t->data != NULL;
	}
	t->kind = TENSOR_FILL;
	memset(t->fill, 0, sizeof t->fill);
	if (t->dtype == DT_FLOAT)
		memcpy(t->fill, &x, sizeof x);
	else if (t->dtype == DT_DOUBLE)
		memcpy(t->fill, &d, sizeof d);
	else if (t->dtype == DT_FLOAT16)
		memcpy(t->fill, &half, sizeof half);
	else if (t->dtype == DT_BFLOAT16)
		memcpy(t->fill, &brain, sizeof brain);
	return true;
}

static bool
decode(struct importer *imp, const Onnx__TensorProto *p, struct content *c,
    struct tensor *t)
{
	if (imp->in_initializer && imp->options->no_weights
	    && t->count > WEIGHT_ELEMENTS && may_be_weight(imp, t))
		return make_up(imp, t);
	if (c->field == 0) {
		if (t->count && imp->lacks_weights && may_be_weight(imp, t))
			return make_up(imp, t);
		if (t->count)
			return err_set(imp->err, ERR_INPUT,
			    "%zu elements of %s, but no content%s", t->count,
			    dtype_name(t->dtype),
			    imp->lacks_weights && imp->in_initializer
			        ? "; only weights may lack it, not shapes and "
			          "indices"
			        : "");
		if (t->dtype == DT_STRING)
			t->kind = TENSOR_STRINGS;
		return true;
	}
	if (t->dtype == DT_STRING && c->field != STRINGS)
		return err_set(imp->err, ERR_INPUT,
		    "strings cannot be stored in %s", field_name(c->field));
	if (c->field == EXTERNAL)
		return external_find(
		    &imp->external, p, t->bytes, &t->data, imp->err);
	if (c->field == RAW)
		return in_place(imp, c, t);
	if (c->field != field_of(t->dtype))
		return err_set(imp->err, ERR_INPUT, "%s stored in %s",
		    dtype_name(t->dtype), field_name(c->field));
	if (c->field == STRINGS)
		return decode_strings(imp, p, t);
	if (c->field == FLOATS || c->field == DOUBLES)
		return decode_reals(imp, p, c, t);
	return decode_ints(imp, p, c, t);
}

/* dtype and dims; their product is known to fit afterwards. */
static bool
read_form(struct importer *imp, const Onnx__TensorProto *p, struct tensor *t)
{
	if (p->data_type <= 0 || p->data_type >= NDTYPE)
		return err_set(imp->err, ERR_UNSUPPORTED,
		    "element type %" PRId32 " is not known", p->data_type);
	if (p->segment)
		return err_set(imp->err, ERR_UNSUPPORTED,
		    "tensors in segments are not supported");
	if (p->n_dims > RANK_MAX)
		return err_set(imp->err, ERR_UNSUPPORTED,
		    "rank %zu is more than %u", p->n_dims, RANK_MAX);
	for (size_t i = 0; i < p->n_dims; i++)
		if (p->dims[i] < 0)
			return err_set(imp->err, ERR_INPUT,
			    "dimension %zu is %" PRId64, i, p->dims[i]);
	*t = (struct tensor){
	    .kind = TENSOR_VIEW,
	    .dtype = (enum dtype)p->data_type,
	    .rank = (uint32_t)p->n_dims,
	    .dim = arena_copy(imp->a, p->dims, p->n_dims * sizeof *p->dims),
	};
	if (!tensor_size(t->dtype, t->dim, t->rank, &t->count, &t->bytes))
		return err_set(imp->err, ERR_INPUT,
		    "its dimensions make it larger than any memory");
	return true;
}

static bool
in_tensor(struct importer *imp, const Onnx__TensorProto *p)
{
	return err_in(imp->err, "tensor '%s'", p->name ? p->name : "");
}

bool
import_tensor(
    struct importer *imp, const Onnx__TensorProto *p, struct tensor *t)
{
	struct content c;

	if (!read_form(imp, p, t) || !find_content(imp, p, &c)
	    || !decode(imp, p, &c, t))
		return in_tensor(imp, p);
	return true;
}

/* Position in the dense tensor of entry i, from indices [nnz] or [nnz,rank]. */
static bool
sparse_at(struct importer *imp, const struct tensor *index,
    const struct tensor *dense, size_t i, size_t *at)
{
	uint32_t rank = index->rank == 2 ? dense->rank : 1;

	*at = 0;
	for (uint32_t r = 0; r < rank; r++) {
		int64_t x = tensor_int(index, i * rank + r);
		int64_t limit =
		    index->rank == 2 ? dense->dim[r] : (int64_t)dense->count;

		if (x < 0 || x >= limit)
			return err_set(imp->err, ERR_INPUT,
			    "index %" PRId64
			    " of entry %zu is outside 0..%" PRId64,
			    x, i, limit - 1);
		*at = *at * (size_t)limit + (size_t)x;
	}
	return true;
}

static bool
sparse_form(struct importer *imp, const Onnx__SparseTensorProto *p,
    const struct tensor *value, const struct tensor *index)
{
	bool linear = index->rank == 1;

	if (index->dtype != DT_INT64)
		return err_set(imp->err, ERR_INPUT, "indices are %s, not int64",
		    dtype_name(index->dtype));
	if (value->rank != 1 || dtype_bits(value->dtype) < 8)
		return err_set(imp->err, ERR_UNSUPPORTED,
		    "values of a sparse tensor must be a vector of whole-byte "
		    "elements");
	if ((!linear && index->rank != 2)
	    || (!linear && (size_t)index->dim[1] != p->n_dims)
	    || (size_t)index->dim[0] != value->count)
		return err_set(imp->err, ERR_INPUT,
		    "indices of a sparse tensor must be [%zu] or [%zu,%zu]",
		    value->count, value->count, p->n_dims);
	return true;
}

/* TUNING: what all sparse tensors of a model may take when dense: the budget of
 * the wire pre-pass again. */
#define DENSE_FLOOR ((size_t)64 << 20)
#define DENSE_FACTOR 16

static bool
charge_dense(struct importer *imp, size_t bytes)
{
	size_t limit = DENSE_FLOOR + DENSE_FACTOR * imp->nbytes;

	if (bytes > limit - imp->dense_bytes)
		return err_set(imp->err, ERR_UNSUPPORTED,
		    "%zu bytes when dense; all sparse tensors of a file of %zu "
		    "bytes may take %zu",
		    bytes, imp->nbytes, limit);
	imp->dense_bytes += bytes;
	return true;
}

static bool
make_dense(
    struct importer *imp, const Onnx__SparseTensorProto *p, struct tensor *t)
{
	struct tensor value, index;
	Onnx__TensorProto form = ONNX__TENSOR_PROTO__INIT;
	unsigned char *out;
	size_t step;

	if (!p->values || !p->indices)
		return err_set(imp->err, ERR_INPUT,
		    "a sparse tensor needs values and indices");
	if (!import_tensor(imp, p->values, &value)
	    || !import_tensor(imp, p->indices, &index)
	    || !sparse_form(imp, p, &value, &index))
		return false;
	form.data_type = p->values->data_type;
	form.n_dims = p->n_dims;
	form.dims = p->dims;
	if (!read_form(imp, &form, t))
		return false;
	step = dtype_bits(t->dtype) / 8;
	if (!charge_dense(imp, t->bytes))
		return false;
	if (value.count > t->count)
		return err_set(imp->err, ERR_INPUT,
		    "%zu entries, but %zu elements", value.count, t->count);
	t->data = out = arena_alloc(imp->a, t->bytes);
	for (size_t i = 0; i < value.count; i++) {
		size_t at;

		if (!sparse_at(imp, &index, t, i, &at))
			return false;
		memcpy(out + at * step,
		    (const unsigned char *)value.data + i * step, step);
	}
	return true;
}

bool
import_sparse(
    struct importer *imp, const Onnx__SparseTensorProto *p, struct tensor *t)
{
	if (!make_dense(imp, p, t))
		return err_in(imp->err, "sparse tensor '%s'",
		    p->values && p->values->name ? p->values->name : "");
	return true;
}
