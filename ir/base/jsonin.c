#include "ir/base/jsonin.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/cost.h"
#include "ir/base/file.h"
#include "ir/base/json_memory.h"
#include "ir/base/map.h"

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* TUNING: so many keys are compared with each other sooner than put into a map. */
#define FEW 12

static const char *
repeated_of_few(const cJSON *object)
{
	for (const cJSON *item = object->child; item; item = item->next)
		for (const cJSON *x = object->child; x != item; x = x->next)
			if (*x->string == *item->string
			    && strcmp(x->string, item->string) == 0)
				return item->string;
	return NULL;
}

/* Does any object below (iteratively, depth-first) repeat a key? */
static const char *
repeated_key(const cJSON *object, struct arena *scratch)
{
	struct arena_mark mark = arena_mark(scratch);
	struct map seen;
	const cJSON *item;
	const char *found = NULL;

	if (cJSON_GetArraySize(object) <= FEW)
		return repeated_of_few(object);
	map_init(&seen, scratch);
	cJSON_ArrayForEach(item, object)
	{
		size_t n = strlen(item->string);

		if (map_find(&seen, item->string, n) != MAP_NONE)
			found = item->string;
		map_put(&seen, item->string, n, 0);
	}
	arena_back(scratch, mark);
	return found;
}

/* cJSON limits nesting to 1000, so this recursion is bounded. */
static const char *
repeated_key_below(const cJSON *item, struct arena *scratch)
{
	const char *found = NULL;
	const cJSON *child;

	if (cJSON_IsObject(item))
		found = repeated_key(item, scratch);
	for (child = item->child; child && !found; child = child->next)
		if (child->child)
			found = repeated_key_below(child, scratch);
	return found;
}

/* ---- numbers ---- */

/* A number of the text: one past its end, or NULL where JSON has no such number
 * (cJSON reads 010 and 1. as well). */
static const char *
number_end(const char *s, const char *end)
{
	const char *digits;

	s += s < end && *s == '-';
	digits = s;
	while (s < end && is_digit(*s))
		s++;
	if (s == digits || (*digits == '0' && s > digits + 1))
		return NULL;
	if (s < end && *s == '.') {
		digits = ++s;
		while (s < end && is_digit(*s))
			s++;
		if (s == digits)
			return NULL;
	}
	if (s < end && (*s == 'e' || *s == 'E')) {
		s++;
		s += s < end && (*s == '+' || *s == '-');
		digits = s;
		while (s < end && is_digit(*s))
			s++;
		if (s == digits)
			return NULL;
	}
	return s;
}

/* The first number of a valid document from `s` on. */
static const char *
next_number(const char *s, const char *end)
{
	for (; s < end && *s != '-' && !is_digit(*s); s++) {
		if (*s != '"')
			continue;
		for (s++; s < end && *s != '"'; s++)
			s += *s == '\\';
	}
	return s;
}

static bool
is_whole(const char *s, const char *end)
{
	s += *s == '-';
	while (s < end && is_digit(*s))
		s++;
	return s == end;
}

/* Items come in the order of the text. Numbers that a double may not hold keep
 * their digits in `valuestring`, which cJSON frees. False: *at is no number. */
static bool
keep_digits(cJSON *item, const char **at, const char *end)
{
	for (; item; item = item->next) {
		const char *from;

		if (item->child && !keep_digits(item->child, at, end))
			return false;
		if (!cJSON_IsNumber(item))
			continue;
		from = *at = next_number(*at, end);
		*at = number_end(from, end);
		if (!*at) {
			*at = from;
			return false;
		}
		if (fabs(item->valuedouble) < JSON_EXACT
		    || !is_whole(from, *at))
			continue;
		item->valuestring = cJSON_malloc((size_t)(*at - from) + 1);
		memcpy(item->valuestring, from, (size_t)(*at - from));
		item->valuestring[*at - from] = '\0';
	}
	return true;
}

bool
jsonin_is_u64(const cJSON *item, uint64_t *out)
{
	uint64_t sum = 0;

	if (!cJSON_IsNumber(item) || item->valuedouble < 0
	    || item->valuedouble != floor(item->valuedouble))
		return false;
	if (!item->valuestring) {
		if (item->valuedouble >= JSON_EXACT)
			return false;
		*out = (uint64_t)item->valuedouble;
		return true;
	}
	for (const char *s = item->valuestring; *s; s++) {
		uint64_t digit = (uint64_t)(*s - '0');

		if (sum > (UINT64_MAX - digit) / 10)
			return false;
		sum = sum * 10 + digit;
	}
	*out = sum;
	return true;
}

bool
jsonin_is_u62(const cJSON *item, uint64_t *out)
{
	return jsonin_is_u64(item, out) && *out <= COST_MAX;
}

/* ---- documents ---- */

static bool
all_blank(const char *s, const char *end)
{
	for (; s < end; s++)
		if (*s != ' ' && *s != '\t' && *s != '\n' && *s != '\r')
			return false;
	return true;
}

/* NULL: *at is where it is no JSON, or where a number is none (*numbers is false). */
static cJSON *
read_tree(const char **at, const char *end, bool *numbers)
{
	const char *from = *at, *behind = from;
	cJSON *doc = cJSON_ParseWithLengthOpts(
	    from, (size_t)(end - from), &behind, false);

	*numbers = true;
	if (!doc || !all_blank(behind, end)) {
		*at = behind;
	} else {
		*numbers = keep_digits(doc, at, end);
		if (*numbers)
			return doc;
	}
	cJSON_Delete(doc);
	return NULL;
}

struct cJSON *
jsonin_parse_part(const char *text, size_t from, size_t to, struct err *err)
{
	const char *at = text + from, *twice;
	struct arena scratch;
	bool numbers;
	cJSON *doc;

	json_memory_begin();
	doc = read_tree(&at, text + to, &numbers);
	json_memory_end(doc != NULL);
	if (!doc) {
		err_set(err, ERR_INPUT, "not valid JSON at byte %zu%s",
		    (size_t)(at - text), numbers ? "" : ": no such number");
		return NULL;
	}
	arena_init(&scratch);
	twice = repeated_key_below(doc, &scratch);
	if (twice) {
		err_set(err, ERR_INPUT, "key '%s' appears twice in one object",
		    twice);
		jsonin_close(doc);
		doc = NULL;
	}
	arena_release(&scratch);
	return doc;
}

struct cJSON *
jsonin_parse(const char *text, size_t n, const char *name, struct err *err)
{
	struct cJSON *doc = jsonin_parse_part(text, 0, n, err);

	if (!doc)
		err_in(err, "%s", name);
	return doc;
}

struct cJSON *
jsonin_open(const char *path, enum limit_id most, struct err *err)
{
	struct arena scratch;
	struct cJSON *doc = NULL;
	const char *text;
	size_t n;

	arena_init(&scratch);
	if (file_read(&text, &n, path, most, &scratch, err))
		doc = jsonin_parse(text, n, path, err);
	arena_release(&scratch);
	return doc;
}

void
jsonin_close(struct cJSON *doc)
{
	json_memory_free(doc);
}

static bool
want(const cJSON *object, const char *key, cJSON_bool (*is)(const cJSON *),
    const char *what, const cJSON **out, struct err *err)
{
	*out = cJSON_GetObjectItemCaseSensitive(object, key);
	if (!*out)
		return err_set(err, ERR_INPUT, "key '%s' is missing", key);
	if (!is(*out))
		return err_set(err, ERR_INPUT, "key '%s' is not %s", key, what);
	return true;
}

bool
jsonin_str(const struct cJSON *object, const char *key, const char **out,
    struct err *err)
{
	const cJSON *item;

	if (!want(object, key, cJSON_IsString, "a string", &item, err))
		return false;
	*out = item->valuestring;
	return true;
}

bool
jsonin_bool(
    const struct cJSON *object, const char *key, bool *out, struct err *err)
{
	const cJSON *item;

	if (!want(object, key, cJSON_IsBool, "true or false", &item, err))
		return false;
	*out = cJSON_IsTrue(item);
	return true;
}

static int
base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool
jsonin_base64(const struct cJSON *object, const char *key, const void **out,
    size_t *n, struct arena *a, struct err *err)
{
	const char *text;
	uint32_t bits = 0, nbits = 0;
	uint8_t *bytes;

	if (!jsonin_str(object, key, &text, err))
		return false;
	bytes = arena_alloc(a, strlen(text) / 4 * 3 + 3);
	*n = 0;
	for (; *text && *text != '='; text++) {
		int digit = base64_digit(*text);

		if (digit < 0)
			return err_set(
			    err, ERR_INPUT, "\"%s\" is no base64", key);
		bits = bits << 6 | (uint32_t)digit;
		nbits += 6;
		if (nbits < 8)
			continue;
		nbits -= 8;
		bytes[(*n)++] = (uint8_t)(bits >> nbits);
	}
	*out = bytes;
	return true;
}

/* Does the double hold all digits that were kept? */
static bool
is_held(const cJSON *item)
{
	char text[400]; /* a double has 309 digits before its point */

	if (!item->valuestring)
		return true;
	snprintf(text, sizeof text, "%.0f", item->valuedouble);
	return strcmp(text, item->valuestring) == 0;
}

bool
jsonin_real(
    const struct cJSON *object, const char *key, double *out, struct err *err)
{
	const cJSON *item;

	if (!want(object, key, cJSON_IsNumber, "a number", &item, err))
		return false;
	/* 1e999 is read as infinity. */
	if (!isfinite(item->valuedouble))
		return err_set(err, ERR_INPUT,
		    "key '%s' is beyond what a double holds", key);
	if (!is_held(item))
		return err_set(err, ERR_INPUT,
		    "key '%s' is %.20s, which no double holds exactly", key,
		    item->valuestring);
	*out = item->valuedouble;
	return true;
}

bool
jsonin_u62(
    const struct cJSON *object, const char *key, uint64_t *out, struct err *err)
{
	const cJSON *item;

	if (!want(object, key, cJSON_IsNumber, "a number", &item, err))
		return false;
	return jsonin_is_u62(item, out)
	    || err_set(err, ERR_INPUT,
	        "key '%s' is not an integer from 0 to 2^62", key);
}

/* From 2^53 on only what kept its digits is known to be what was written. */
static bool
is_i64(const cJSON *item)
{
	const double size = fabs(item->valuedouble);

	if (size >= JSON_EXACT)
		return size == JSON_EXACT && item->valuestring && is_held(item);
	return item->valuedouble == floor(item->valuedouble);
}

bool
jsonin_i64(
    const struct cJSON *object, const char *key, int64_t *out, struct err *err)
{
	const cJSON *item;

	if (!want(object, key, cJSON_IsNumber, "a number", &item, err))
		return false;
	if (!is_i64(item))
		return err_set(err, ERR_INPUT,
		    "key '%s' is not an integer below 2^53", key);
	*out = (int64_t)item->valuedouble;
	return true;
}

bool
jsonin_u32(
    const struct cJSON *object, const char *key, uint32_t *out, struct err *err)
{
	int64_t x;

	if (!jsonin_i64(object, key, &x, err))
		return false;
	if (x < 0 || x >= UINT32_MAX)
		return err_set(
		    err, ERR_INPUT, "key '%s' is outside 0..2^32-2", key);
	*out = (uint32_t)x;
	return true;
}

bool
jsonin_array(const struct cJSON *object, const char *key,
    const struct cJSON **out, struct err *err)
{
	return want(object, key, cJSON_IsArray, "an array", out, err);
}

bool
jsonin_object(const struct cJSON *object, const char *key,
    const struct cJSON **out, struct err *err)
{
	return want(object, key, cJSON_IsObject, "an object", out, err);
}

bool
jsonin_has(const struct cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	return item && !cJSON_IsNull(item);
}

bool
jsonin_only(
    const struct cJSON *object, const char *const *known, struct err *err)
{
	const cJSON *item;

	if (!cJSON_IsObject(object))
		return err_set(err, ERR_INPUT, "not an object");
	cJSON_ArrayForEach(item, object)
	{
		uint32_t i = 0;

		while (known[i] && strcmp(known[i], item->string) != 0)
			i++;
		if (!known[i])
			return err_set(
			    err, ERR_INPUT, "unknown key '%s'", item->string);
	}
	return true;
}
