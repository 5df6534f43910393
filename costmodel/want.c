#include "costmodel/want.h"

#include <string.h>

#include <cJSON.h>

#include "ir/base/jsonin.h"
#include "targets/by_hand.h"

#define SCHEMA "marq.want/1"

void
want_write(const struct want *w, struct json *j)
{
	json_object(j);
	json_key_str(j, "schema", SCHEMA);
	json_key_str(j, "model", w->model);
	json_key(j, "targets");
	json_inline_array(j);
	for (uint32_t i = 0; i < w->ntargets; i++)
		json_str(j, w->target[i]);
	json_close(j);
	json_key_bool(j, "keep_nan", w->keep_nan);
	if (w->exact)
		json_key_bool(j, "exact", true);
	if (w->exact_halves)
		json_key_bool(j, "exact_halves", true);
	json_key_uint(j, "threads", w->threads);
	json_key_uint(j, "timeout_ms", w->timeout_ns / 1000000u);
	json_key(j, "onnx");
	json_base64(j, w->onnx, w->nonnx);
	json_key(j, "subjects");
	json_array(j);
	for (uint32_t i = 0; i < w->n; i++) {
		char key[33];

		hash128_print(w->subject[i].key, key);
		json_inline_object(j);
		json_key_uint(j, "target", w->subject[i].target);
		json_key_str(j, "key", key);
		json_key(j, "bytes");
		json_base64(j, w->subject[i].bytes, w->subject[i].n);
		json_key_str(j, "summary", w->subject[i].summary);
		if (w->subject[i].probes)
			json_key_uint(j, "probes", w->subject[i].probes);
		json_close(j);
	}
	json_close(j);
	json_close(j);
}

static int
hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0'
	    : c >= 'a' && c <= 'f'  ? c - 'a' + 10
	                            : -1;
}

bool
hash128_read(struct hash128 *out, const char *text)
{
	for (size_t i = 0; i < sizeof out->byte; i++) {
		int high = hex_digit(text[2 * i]);
		int low = high < 0 ? -1 : hex_digit(text[2 * i + 1]);

		if (low < 0)
			return false;
		out->byte[i] = (uint8_t)(high << 4 | low);
	}
	return text[2 * sizeof out->byte] == '\0';
}

static bool
read_targets(
    struct want *w, const struct cJSON *doc, struct arena *a, struct err *err)
{
	const struct cJSON *list, *x;

	if (!jsonin_array(doc, "targets", &list, err))
		return false;
	w->target =
	    arena_new(a, const char *, (size_t)cJSON_GetArraySize(list));
	cJSON_ArrayForEach(x, list)
	{
		if (!cJSON_IsString(x))
			return err_set(err, ERR_INPUT, "a target is no text");
		w->target[w->ntargets++] = arena_str(a, x->valuestring);
	}
	return w->ntargets > 0
	    || err_set(err, ERR_INPUT, "there are no targets in it");
}

static bool
is_hash_of(const struct wanted_subject *s)
{
	const struct hash128 h = hash128(s->bytes, s->n);

	return s->n > 0 && memcmp(&h, &s->key, sizeof h) == 0;
}

static bool
read_subject(
    struct want *w, const struct cJSON *x, struct arena *a, struct err *err)
{
	struct wanted_subject *s = &w->subject[w->n];
	const char *key, *summary;

	if (!jsonin_u32(x, "target", &s->target, err)
	    || !jsonin_str(x, "key", &key, err)
	    || !jsonin_str(x, "summary", &summary, err)
	    || (cJSON_HasObjectItem(x, "bytes")
	        && !jsonin_base64(x, "bytes", &s->bytes, &s->n, a, err))
	    || (cJSON_HasObjectItem(x, "probes")
	        && !jsonin_u32(x, "probes", &s->probes, err)))
		return false;
	if (s->target > w->ntargets || !hash128_read(&s->key, key)
	    || (s->bytes && !is_hash_of(s)))
		return err_set(err, ERR_INPUT, "'%.40s' is no subject", key);
	s->summary = arena_str(a, summary);
	w->n++;
	return true;
}

static bool
read_subjects(
    struct want *w, const struct cJSON *doc, struct arena *a, struct err *err)
{
	const struct cJSON *list, *x;

	if (!jsonin_array(doc, "subjects", &list, err))
		return false;
	w->subject = arena_new(
	    a, struct wanted_subject, (size_t)cJSON_GetArraySize(list));
	cJSON_ArrayForEach(x, list)
	{
		if (!read_subject(w, x, a, err))
			return false;
	}
	return true;
}

bool
want_read(
    struct want *out, const struct cJSON *doc, struct arena *a, struct err *err)
{
	const char *schema, *model;
	uint32_t timeout_ms;

	*out = (struct want){.model = ""};
	if (!jsonin_str(doc, "schema", &schema, err))
		return false;
	if (strcmp(schema, SCHEMA) != 0)
		return err_set(
		    err, ERR_INPUT, "schema '%.40s', not " SCHEMA, schema);
	if (!jsonin_str(doc, "model", &model, err)
	    || !read_targets(out, doc, a, err)
	    || !jsonin_bool(doc, "keep_nan", &out->keep_nan, err)
	    || !jsonin_u32(doc, "threads", &out->threads, err)
	    || !jsonin_u32(doc, "timeout_ms", &timeout_ms, err)
	    || !jsonin_base64(doc, "onnx", &out->onnx, &out->nonnx, a, err)
	    || !read_subjects(out, doc, a, err))
		return false;
	out->exact = cJSON_IsTrue(cJSON_GetObjectItem(doc, "exact"));
	out->exact_halves =
	    cJSON_IsTrue(cJSON_GetObjectItem(doc, "exact_halves"));
	out->model = arena_str(a, model);
	out->timeout_ns = (uint64_t)timeout_ms * 1000000u;
	return true;
}

bool
want_open(struct want *out, const char *path, struct arena *a, struct err *err)
{
	struct cJSON *doc = jsonin_open(path, LIMIT_READ_WANT, err);
	bool ok;

	if (!doc)
		return false;
	ok = want_read(out, doc, a, err) || err_in(err, "%s", path);
	jsonin_close(doc);
	return ok;
}

static bool
is_named(const char *target, const char *const *text, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(target, text[i]) == 0)
			return true;
	return false;
}

bool
want_allowed(const struct want *w, const char *const *text, uint32_t n,
    struct arena *a, struct err *err)
{
	for (uint32_t i = 0; i < w->ntargets; i++)
		if (target_by_hand(w->target[i], a)
		    && !is_named(w->target[i], text, n))
			return err_set(err, ERR_USAGE,
			    "the list is for '%s', which is opened only when "
			    "you name it, too",
			    w->target[i]);
	return true;
}
