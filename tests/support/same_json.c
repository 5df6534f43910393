#include "tests/support/same_json.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct differ {
	char *why;
	size_t n;
};

#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
static bool
differ(const struct differ *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(d->why, d->n, fmt, ap);
	va_end(ap);
	return false;
}

static bool same(const struct differ *d, const cJSON *want, const cJSON *have,
    const char *path);

static bool
same_member(const struct differ *d, const cJSON *want, const cJSON *have,
    const char *path)
{
	char at[512];

	snprintf(at, sizeof at, "%s/%s", path, want->string);
	return same(
	    d, want, cJSON_GetObjectItemCaseSensitive(have, want->string), at);
}

static bool
same_object(const struct differ *d, const cJSON *want, const cJSON *have,
    const char *path)
{
	for (const cJSON *i = want->child; i; i = i->next)
		if (!same_member(d, i, have, path))
			return false;
	for (const cJSON *i = have->child; i; i = i->next)
		if (!cJSON_GetObjectItemCaseSensitive(want, i->string))
			return differ(
			    d, "%s/%s: not expected", path, i->string);
	return true;
}

static bool
same_array(const struct differ *d, const cJSON *want, const cJSON *have,
    const char *path)
{
	const cJSON *a = want->child, *b = have->child;
	char at[512];

	for (unsigned i = 0; a || b; a = a->next, b = b->next, i++) {
		if (!a || !b)
			return differ(d, "%s: %d entries, %d expected", path,
			    cJSON_GetArraySize(have), cJSON_GetArraySize(want));
		snprintf(at, sizeof at, "%s[%u]", path, i);
		if (!same(d, a, b, at))
			return false;
	}
	return true;
}

static bool
same_number(const struct differ *d, double want, double have, const char *path)
{
	return (want >= have && want <= have)
	    || differ(d, "%s: %g, expected %g", path, have, want);
}

static bool
same(const struct differ *d, const cJSON *want, const cJSON *have,
    const char *path)
{
	if (!have)
		return differ(d, "%s: missing", path);
	if ((want->type & 0xff) != (have->type & 0xff))
		return differ(d, "%s: another type", path);
	if (cJSON_IsObject(want))
		return same_object(d, want, have, path);
	if (cJSON_IsArray(want))
		return same_array(d, want, have, path);
	if (cJSON_IsString(want)
	    && strcmp(want->valuestring, have->valuestring) != 0)
		return differ(d, "%s: '%.80s', expected '%.80s'", path,
		    have->valuestring, want->valuestring);
	return !cJSON_IsNumber(want)
	    || same_number(d, want->valuedouble, have->valuedouble, path);
}

bool
same_json(
    const cJSON *want, const cJSON *have, const char *path, char *why, size_t n)
{
	struct differ d = {why, n};

	return same(&d, want, have, path);
}

cJSON *
json_written(void (*write)(FILE *f, const void *context), const void *context)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	cJSON *doc;

	if (!f)
		return NULL;
	write(f, context);
	fclose(f);
	doc = cJSON_ParseWithLength(text, n);
	free(text);
	return doc;
}
