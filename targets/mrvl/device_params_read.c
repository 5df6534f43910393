#include "targets/mrvl/device_params_read.h"

#include <string.h>

#include "targets/mrvl/device_stream.h"

struct param_stream {
	const unsigned char *bytes;
	size_t n, at;
	struct err *err;
};

static bool
ends(struct param_stream *s, const char *what)
{
	return err_set(s->err, ERR_INPUT,
	    "mod.params ends at byte %zu, inside %s", s->n, what);
}

static bool
get(struct param_stream *s, uint32_t bytes, const char *what, uint64_t *out)
{
	if (s->n - s->at < bytes)
		return ends(s, what);
	*out = 0;
	for (uint32_t i = bytes; i-- > 0;)
		*out = *out << 8 | s->bytes[s->at + i];
	s->at += bytes;
	return true;
}

static bool
expect(struct param_stream *s, uint32_t bytes, uint64_t want, const char *what)
{
	size_t at = s->at;
	uint64_t x;

	if (!get(s, bytes, what, &x))
		return false;
	return x == want
	    || err_set(s->err, ERR_INPUT,
	        "mod.params: %s at byte %zu must be 0x%llx, it is 0x%llx", what,
	        at, (unsigned long long)want, (unsigned long long)x);
}

/* Names come first, arrays later: the names' places, checked. */
static bool
read_names(struct param_stream *s, struct param_stream *names, uint64_t *count)
{
	if (!expect(s, 8, STREAM_LIST, "the magic number")
	    || !expect(s, 8, 0, "the reserved number")
	    || !get(s, 8, "the number of names", count))
		return false;
	*names = *s;
	for (uint64_t i = 0; i < *count; i++) {
		uint64_t n;

		if (!get(s, 8, "a name's length", &n))
			return false;
		if (n == 0 || n > s->n - s->at)
			return err_set(s->err, ERR_INPUT,
			    "mod.params: a name of %llu bytes at byte %zu",
			    (unsigned long long)n, s->at);
		s->at += (size_t)n;
	}
	return expect(s, 8, *count, "the number of arrays");
}

static const char *
name_of(uint64_t code, uint64_t bits)
{
	static const struct {
		uint64_t code, bits;
		const char *name;
	} known[] = {
	    {STREAM_INT, 8, "int8"},
	    {STREAM_INT, 16, "int16"},
	    {STREAM_INT, 32, "int32"},
	    {STREAM_INT, 64, "int64"},
	    {STREAM_UINT, 1, "bool"},
	    {STREAM_UINT, 8, "uint8"},
	    {STREAM_UINT, 16, "uint16"},
	    {STREAM_UINT, 32, "uint32"},
	    {STREAM_UINT, 64, "uint64"},
	    {STREAM_FLOAT, 16, "float16"},
	    {STREAM_FLOAT, 32, "float32"},
	    {STREAM_FLOAT, 64, "float64"},
	    {STREAM_BFLOAT, 16, "bfloat16"},
	};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (known[i].code == code && known[i].bits == bits)
			return known[i].name;
	return NULL;
}

static bool
read_type(struct param_stream *s, struct param_array *p, uint64_t *size)
{
	uint64_t rank, code, bits;
	size_t at = s->at;

	if (!get(s, 4, "a rank", &rank) || !get(s, 1, "a type", &code)
	    || !get(s, 1, "a type", &bits)
	    || !expect(s, 2, 1, "the number of lanes"))
		return false;
	p->dtype = name_of(code, bits);
	if (!p->dtype || rank > PARAM_RANK)
		return err_set(s->err, ERR_INPUT,
		    "mod.params: an array of rank %llu and type code %llu of "
		    "%llu bits at byte %zu",
		    (unsigned long long)rank, (unsigned long long)code,
		    (unsigned long long)bits, at);
	p->rank = (uint32_t)rank;
	*size = (bits + 7) / 8;
	return true;
}

static bool
read_array(struct param_stream *s, struct param_array *p)
{
	uint64_t size, x;

	if (!expect(s, 8, STREAM_ARRAY, "an array's magic number")
	    || !expect(s, 8, 0, "an array's reserved number")
	    || !expect(s, 4, STREAM_CPU, "an array's device")
	    || !expect(s, 4, 0, "an array's device number")
	    || !read_type(s, p, &size))
		return false;
	for (uint32_t i = 0; i < p->rank; i++) {
		if (!get(s, 8, "a shape", &x))
			return false;
		if (x > INT32_MAX || (x && size > (UINT64_C(1) << 47) / x))
			return err_set(s->err, ERR_INPUT,
			    "mod.params: a size of %llu at byte %zu",
			    (unsigned long long)x, s->at - 8);
		p->dim[i] = (int64_t)x;
		size *= x;
	}
	if (!expect(s, 8, size, "an array's number of bytes"))
		return false;
	if (s->n - s->at < size)
		return ends(s, "an array");
	p->bytes = size;
	p->data = s->bytes + s->at;
	s->at += (size_t)size;
	return true;
}

bool
params_read(const void *bytes, size_t n,
    bool (*take)(const struct param_array *p, void *context, struct err *err),
    void *context, struct err *err)
{
	struct param_stream s = {(const unsigned char *)bytes, n, 0, err},
	                    names;
	uint64_t count, length;

	if (!read_names(&s, &names, &count))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		struct param_array p = {0};

		if (!read_array(&s, &p)
		    || !get(&names, 8, "a name's length", &length))
			return false;
		p.name = (const char *)names.bytes + names.at;
		p.nname = (size_t)length;
		names.at += p.nname;
		if (!take(&p, context, err))
			return false;
	}
	return s.at == s.n
	    || err_set(err, ERR_INPUT,
	        "mod.params: %zu bytes after the last array", s.n - s.at);
}
