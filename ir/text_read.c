#include "ir/text_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/size.h"

const char *const text_kind[ATTR_TYPES + 1] = {
    [ATTR_NONE] = "none",
    [ATTR_FLOAT] = "float",
    [ATTR_INT] = "int",
    [ATTR_STRING] = "string",
    [ATTR_TENSOR] = "tensor",
    [ATTR_GRAPH] = "graph",
    [ATTR_FLOATS] = "floats",
    [ATTR_INTS] = "ints",
    [ATTR_STRINGS] = "strings",
    [ATTR_TENSORS] = "tensors",
    [ATTR_GRAPHS] = "graphs",
    [ATTR_SPARSE] = "sparse",
    [ATTR_SPARSES] = "sparses",
    [ATTR_TYPE] = "type",
    [ATTR_TYPES] = "types",
};

bool
text_fault(struct reader *r, const char *expected)
{
	size_t line = 1, column = 1;

	for (const char *p = r->start; p < r->p; p++, column++)
		if (*p == '\n') {
			line++;
			column = 0;
		}
	return err_set(r->err, ERR_INPUT, "%s:%zu:%zu: expected %s", r->name,
	    line, column, expected);
}

static bool
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
	    || (c >= '0' && c <= '9');
}

static void
skip_blanks(struct reader *r)
{
	while (r->p < r->end
	    && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n'
	        || *r->p == '\r'))
		r->p++;
}

bool
text_takes(struct reader *r, const char *token)
{
	size_t n = strlen(token);

	skip_blanks(r);
	if ((size_t)(r->end - r->p) < n || memcmp(r->p, token, n) != 0)
		return false;
	if (is_word(token[n - 1]) && r->p + n < r->end && is_word(r->p[n]))
		return false;
	r->p += n;
	return true;
}

bool
text_ends(struct reader *r)
{
	skip_blanks(r);
	return r->p == r->end;
}

bool
text_needs(struct reader *r, const char *token)
{
	char expected[32] = "'";

	if (text_takes(r, token))
		return true;
	strncat(expected, token, sizeof expected - 3);
	strcat(expected, "'");
	return text_fault(r, expected);
}

bool
text_int(struct reader *r, int64_t *out)
{
	bool minus = text_takes(r, "-"), any = false;
	int64_t v = 0;

	for (; r->p < r->end && *r->p >= '0' && *r->p <= '9'; r->p++) {
		int64_t digit = *r->p - '0';

		any = true;
		if (!i64_mul(v, 10, &v)
		    || !i64_add(v, minus ? -digit : digit, &v))
			return text_fault(r, "a number of 64 bits");
	}
	*out = v;
	return any || text_fault(r, "a number");
}

bool
text_uint(struct reader *r, uint32_t *out)
{
	int64_t v;

	if (!text_int(r, &v))
		return false;
	if (v < 0 || v >= UINT32_MAX)
		return text_fault(r, "a number of 32 bits");
	*out = (uint32_t)v;
	return true;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* n bytes of two digits each. */
static bool
hex_bytes(struct reader *r, unsigned char *out, size_t n)
{
	if (n == 0)
		return true;
	skip_blanks(r);
	for (size_t i = 0; i < n; i++) {
		int high = r->end - r->p < 2 ? -1 : hex_digit(r->p[0]);
		int low = high < 0 ? -1 : hex_digit(r->p[1]);

		if (low < 0)
			return text_fault(r, "two hexadecimal digits");
		out[i] = (unsigned char)(high << 4 | low);
		r->p += 2;
	}
	if (r->p < r->end && is_word(*r->p))
		return text_fault(r, "the end of the bytes");
	return true;
}

/* "1.5", or "#7fc00000" for the bits of what is no number. */
bool
text_float(struct reader *r, float *out)
{
	char digits[40];
	size_t n = 0;
	unsigned char byte[4];
	uint32_t bits = 0;
	char *end;

	if (text_takes(r, "#")) {
		if (!hex_bytes(r, byte, 4))
			return false;
		for (uint32_t i = 0; i < 4; i++)
			bits = bits << 8 | byte[i];
		memcpy(out, &bits, sizeof bits);
		return true;
	}
	skip_blanks(r);
	while (r->p + n < r->end && n + 1 < sizeof digits
	    && (is_word(r->p[n]) || strchr("+-.", r->p[n])) && r->p[n]) {
		digits[n] = r->p[n];
		n++;
	}
	digits[n] = '\0';
	*out = strtof(digits, &end);
	if (n == 0 || *end || !isfinite(*out))
		return text_fault(r, "a finite float or # and its bits");
	r->p += n;
	return true;
}

/* The character behind a backslash. */
static bool
escaped(struct reader *r, char *out)
{
	int high, low;

	if (r->p == r->end)
		return text_fault(r, "a character behind '\\'");
	*out = *r->p++;
	if (*out == '"' || *out == '\\')
		return true;
	if (*out != 'x' || r->end - r->p < 2)
		return text_fault(r, "'\"', '\\' or x and two digits");
	high = hex_digit(r->p[0]);
	low = hex_digit(r->p[1]);
	if (high < 0 || low < 0)
		return text_fault(r, "two hexadecimal digits");
	*out = (char)(unsigned char)(high << 4 | low);
	r->p += 2;
	return true;
}

/* Bytes up to the closing quote; an upper bound of the string's length. */
static size_t
quoted_length(const struct reader *r)
{
	const char *p = r->p;

	while (p < r->end && *p != '"')
		p += *p == '\\' && p + 1 < r->end ? 2 : 1;
	return (size_t)(p - r->p);
}

bool
text_string(struct reader *r, struct string_view *out)
{
	char *s;
	size_t n = 0;

	if (!text_needs(r, "\""))
		return false;
	s = arena_alloc(r->a, quoted_length(r) + 1);
	while (r->p < r->end && *r->p != '"') {
		char c = *r->p++;

		if (c == '\\' && !escaped(r, &c))
			return false;
		s[n++] = c;
	}
	*out = (struct string_view){s, n};
	return text_needs(r, "\"");
}

bool
text_name(struct reader *r, const char **out)
{
	struct string_view v;

	if (!text_string(r, &v))
		return false;
	*out = v.s;
	return strlen(v.s) == v.n || text_fault(r, "a name without \\x00");
}

static bool
text_dtype(struct reader *r, enum dtype *out)
{
	char word[24];
	size_t n = 0;

	skip_blanks(r);
	while (r->p + n < r->end && is_word(r->p[n]) && n + 1 < sizeof word) {
		word[n] = r->p[n];
		n++;
	}
	word[n] = '\0';
	*out = dtype_find(word);
	if (n == 0 || (*out == DT_UNDEFINED && strcmp(word, "undefined") != 0))
		return text_fault(r, "an element type");
	r->p += n;
	return true;
}

static bool
text_dim(struct reader *r, int64_t *out)
{
	const char *name;

	if (text_takes(r, "?")) {
		*out = DIM_UNKNOWN;
		return true;
	}
	skip_blanks(r);
	if (r->p < r->end && *r->p == '"') {
		if (!text_name(r, &name))
			return false;
		*out = symbols_named(r->symbols, name);
		return true;
	}
	if (!text_int(r, out))
		return false;
	return *out >= 0 || text_fault(r, "a size");
}

/* "[...]" or "[2,?]" */
static bool
text_dims(struct reader *r, uint32_t *rank, const int64_t **dim)
{
	int64_t d[RANK_MAX];

	*rank = 0;
	*dim = NULL;
	if (!text_needs(r, "["))
		return false;
	if (text_takes(r, "...")) {
		*rank = RANK_UNKNOWN;
		return text_needs(r, "]");
	}
	while (!text_takes(r, "]")) {
		if (*rank == RANK_MAX)
			return text_fault(r, "fewer dimensions");
		if ((*rank && !text_needs(r, ",")) || !text_dim(r, &d[*rank]))
			return false;
		++*rank;
	}
	*dim = arena_copy(r->a, d, *rank * sizeof *d);
	return true;
}

bool
text_type(struct reader *r, struct type *out)
{
	struct type *elem;
	bool ok;

	*out = (struct type){.kind = TYPE_UNKNOWN};
	if (text_takes(r, "unknown"))
		return true;
	if (text_takes(r, "opaque")) {
		out->kind = TYPE_OPAQUE;
		return true;
	}
	if (text_takes(r, "sequence"))
		out->kind = TYPE_SEQUENCE;
	else if (text_takes(r, "optional"))
		out->kind = TYPE_OPTIONAL;
	if (out->kind == TYPE_UNKNOWN) {
		out->kind = TYPE_TENSOR;
		return text_dtype(r, &out->dtype)
		    && text_dims(r, &out->rank, &out->dim);
	}
	if (r->depth == TEXT_DEPTH)
		return text_fault(r, "less nesting");
	r->depth++;
	elem = arena_new(r->a, struct type, 1);
	out->elem = elem;
	ok = text_needs(r, "(") && text_type(r, elem) && text_needs(r, ")");
	r->depth--;
	return ok;
}

static bool
text_strings(struct reader *r, struct tensor *t)
{
	struct string_view *s;

	if (t->dtype != DT_STRING || t->count > (size_t)(r->end - r->p))
		return text_fault(r, "as many strings as the shape says");
	s = arena_new(r->a, struct string_view, t->count);
	for (size_t i = 0; i < t->count; i++)
		if (!text_string(r, &s[i]))
			return false;
	t->kind = TENSOR_STRINGS;
	t->string = s;
	return true;
}

static bool
text_bytes(struct reader *r, struct tensor *t)
{
	unsigned char *data;

	if (t->dtype == DT_STRING || t->bytes > (size_t)(r->end - r->p) / 2)
		return text_fault(r, "as many bytes as the shape says");
	data = arena_alloc(r->a, t->bytes);
	t->kind = TENSOR_VIEW;
	t->data = data;
	return hex_bytes(r, data, t->bytes);
}

/* Content that is not there: zeros stand for it. */
static bool
text_hash(struct reader *r, struct tensor *t)
{
	unsigned char ignored[16];

	t->kind = TENSOR_FILL;
	return hex_bytes(r, ignored, 16);
}

bool
text_tensor(struct reader *r, struct tensor *out)
{
	*out = (struct tensor){.kind = TENSOR_VIEW};
	if (!text_dtype(r, &out->dtype) || !text_dims(r, &out->rank, &out->dim))
		return false;
	if (out->dtype == DT_UNDEFINED || out->rank == RANK_UNKNOWN
	    || !tensor_size(
	        out->dtype, out->dim, out->rank, &out->count, &out->bytes))
		return text_fault(r, "a tensor of known size");
	if (text_takes(r, "strings"))
		return text_strings(r, out);
	if (text_takes(r, "hex"))
		return text_bytes(r, out);
	if (dtype_bits(out->dtype) < 8)
		return text_fault(r, "hex or strings");
	if (text_takes(r, "hash"))
		return text_hash(r, out);
	out->kind = TENSOR_FILL;
	return text_needs(r, "fill")
	    && hex_bytes(r, out->fill, dtype_bits(out->dtype) / 8);
}
