#include <inttypes.h>
#include <string.h>

#include <cJSON.h>

#include "ir/base/jsonin.h"
#include "targets/mrvl/calibrate.h"

/* TUNING: a sweep has hundreds of samples of some hundred bytes. */
#define SIZE_LIMIT 1000000u

static bool
read_size(const struct cJSON *o, const char *key, int64_t otherwise,
    int64_t *out, struct err *err)
{
	*out = otherwise;
	if (otherwise > 0 && !jsonin_has(o, key))
		return true;
	if (!jsonin_i64(o, key, out, err))
		return false;
	if (*out < 1 || *out > SIZE_LIMIT)
		return err_set(err, ERR_INPUT,
		    "'%s' is %" PRIi64 ", must be 1..%u", key, *out,
		    SIZE_LIMIT);
	return true;
}

/* The facts work_of() would find in a layer, from its sizes. */
static bool
read_layer(struct tool_sample *s, const struct cJSON *o, struct err *err)
{
	static const char *const known[] = {
	    "op", "n", "h", "w", "c", "o", "kernel", "groups", NULL};
	int64_t n, h, w, c, out, kernel, groups;
	double size = s->int8 ? 1 : 2, window, inputs;
	const char *op;

	if (!jsonin_only(o, known, err) || !jsonin_str(o, "op", &op, err)
	    || !read_size(o, "n", 1, &n, err) || !read_size(o, "h", 1, &h, err)
	    || !read_size(o, "w", 1, &w, err) || !read_size(o, "c", 0, &c, err)
	    || !read_size(o, "o", c, &out, err)
	    || !read_size(o, "kernel", 1, &kernel, err)
	    || !read_size(o, "groups", 1, &groups, err))
		return false;
	if (groups != 1 && (groups != c || groups != out))
		return err_set(err, ERR_INPUT,
		    "groups %" PRIi64 " is neither 1 nor the channels", groups);
	window = (double)(kernel * kernel);
	inputs = (double)c / (double)groups;
	s->work = (struct mrvl_work){.dense_factor = (double)groups,
	    .channels_in = c,
	    .channels_out = out,
	    .pixels = n * h * w,
	    .in_bytes = size * (double)(n * h * w * c),
	    .out_bytes = size * (double)(n * h * w * out)};
	if (strcmp(op, "conv") == 0 || strcmp(op, "fc") == 0) {
		s->work.weight_bytes =
		    window * inputs * (double)out * size + 4 * (double)out;
		s->work.macs =
		    (double)s->work.pixels * window * inputs * (double)out;
	} else if (strcmp(op, "pool") == 0) {
		s->work.vector_bytes = s->work.out_bytes * (1 + window);
	} else if (strcmp(op, "sum") == 0) {
		s->work.in_bytes *= 2;
		s->work.vector_bytes = s->work.in_bytes + s->work.out_bytes;
	} else {
		return err_set(err, ERR_INPUT,
		    "op '%s' is none of conv, fc, pool, sum", op);
	}
	return true;
}

static bool
read_flags(struct tool_sample *s, const struct cJSON *o, struct err *err)
{
	const char *quantize = "fp16";
	uint32_t pinned = 0;

	s->tiles = 8;
	if (jsonin_has(o, "num_tiles")
	    && !jsonin_u32(o, "num_tiles", &s->tiles, err))
		return false;
	if (s->tiles != 1 && s->tiles != 2 && s->tiles != 4 && s->tiles != 8)
		return err_set(err, ERR_INPUT,
		    "num_tiles %u is none of 1, 2, 4, 8", s->tiles);
	if (jsonin_has(o, "quantize")
	    && !jsonin_str(o, "quantize", &quantize, err))
		return false;
	if (strcmp(quantize, "fp16") != 0 && strcmp(quantize, "int8") != 0)
		return err_set(err, ERR_INPUT,
		    "quantize '%s' is none of fp16, int8", quantize);
	s->int8 = quantize[0] == 'i';
	if (jsonin_has(o, "wb_pin_ocm")
	    && !jsonin_u32(o, "wb_pin_ocm", &pinned, err))
		return false;
	s->pinned = pinned != 0;
	return true;
}

static bool
add(struct board_samples *list, struct tool_sample s, enum sample_kind kind,
    const struct cJSON *o, const char *key, struct arena *a, struct err *err)
{
	s.kind = kind;
	if (!jsonin_real(o, key, &s.ns, err))
		return false;
	if (!(s.ns > 0))
		return err_set(
		    err, ERR_INPUT, "'%s' is %g, must be above 0", key, s.ns);
	list->sample = (struct tool_sample *)arena_grow(
	    a, list->sample, &list->cap, list->n + 1, sizeof s);
	list->sample[list->n++] = s;
	return true;
}

static bool
read_sample(struct board_samples *list, const struct cJSON *o, struct arena *a,
    struct err *err)
{
	static const char *const known[] = {"layer", "elements", "num_tiles",
	    "quantize", "wb_pin_ocm", "hw_ns", "fw_ns", "cpu_ns", NULL};
	struct tool_sample s = {0};
	const struct cJSON *layer;

	if (!jsonin_only(o, known, err) || !read_flags(&s, o, err))
		return false;
	if (jsonin_has(o, "elements")) {
		return jsonin_real(o, "elements", &s.elements, err)
		    && add(list, s, SAMPLE_QUANTIZE, o, "cpu_ns", a, err);
	}
	if (!jsonin_object(o, "layer", &layer, err)
	    || !read_layer(&s, layer, err))
		return false;
	if (jsonin_has(o, "fw_ns")
	    && !add(list, s, SAMPLE_JOB, o, "fw_ns", a, err))
		return false;
	return add(list, s, SAMPLE_LAYER, o, "hw_ns", a, err);
}

static bool
read_samples(struct board_samples *s, const struct cJSON *doc, struct arena *a,
    struct err *err)
{
	const struct cJSON *list, *at;
	const char *format, *board = "unknown board";
	uint32_t version, i = 0;

	if (!jsonin_str(doc, "format", &format, err)
	    || !jsonin_u32(doc, "version", &version, err)
	    || !jsonin_array(doc, "samples", &list, err))
		return false;
	if (strcmp(format, "marquetry-mrvl-measurements") != 0 || version != 1)
		return err_set(err, ERR_INPUT,
		    "'%s' version %u is not marquetry-mrvl-measurements "
		    "version 1",
		    format, version);
	if (jsonin_has(doc, "board") && !jsonin_str(doc, "board", &board, err))
		return false;
	s->board = arena_str(a, board);
	cJSON_ArrayForEach(at, list)
	{
		if (!read_sample(s, at, a, err))
			return err_in(err, "sample %u", i);
		i++;
	}
	return true;
}

bool
samples_load(
    struct board_samples *s, const char *path, struct arena *a, struct err *err)
{
	struct cJSON *doc = jsonin_open(path, LIMIT_READ_SAMPLES, err);
	bool ok;

	*s = (struct board_samples){0};
	if (!doc)
		return false;
	ok = read_samples(s, doc, a, err);
	jsonin_close(doc);
	return ok || err_in(err, "%s", path);
}
