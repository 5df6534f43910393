#include "targets/plugin/about.h"

#include <string.h>

#include <cJSON.h>

#include "ir/base/jsonin.h"

/* TUNING: written by hand. */
#define RULES_MAX 1024
#define OPTIONS_MAX 64
#define NAME_MAX_BYTES 31
#define OPSETS_MAX 16

/* ---- small things ---- */

/* A member that may be left out. */
static bool
text_or(const struct cJSON *o, const char *key, const char *otherwise,
    const char **out, struct arena *a, struct err *err)
{
	const char *text = otherwise;

	if (jsonin_has(o, key) && !jsonin_str(o, key, &text, err))
		return false;
	*out = arena_str(a, text);
	return true;
}

static bool
bool_or_false(
    const struct cJSON *o, const char *key, bool *out, struct err *err)
{
	*out = false;
	return !jsonin_has(o, key) || jsonin_bool(o, key, out, err);
}

/* A list that may be left out: NULL. */
static bool
list_or_none(const struct cJSON *o, const char *key, int max,
    const struct cJSON **out, struct err *err)
{
	*out = NULL;
	if (!jsonin_has(o, key))
		return true;
	if (!jsonin_array(o, key, out, err))
		return false;
	return cJSON_GetArraySize(*out) <= max
	    || err_set(err, ERR_INPUT, "%s: more than %d", key, max);
}

bool
about_name_ok(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return n > 0 && n <= NAME_MAX_BYTES && name[n] == '\0';
}

/* ---- parts ---- */

static bool
read_option(struct target_option *to, const struct cJSON *o, struct arena *a,
    struct err *err)
{
	const char *name;

	if (!jsonin_str(o, "name", &name, err))
		return false;
	if (!about_name_ok(name))
		return err_set(err, ERR_INPUT, "'%s' is no name", name);
	to->name = arena_str(a, name);
	return text_or(o, "values", "<text>", &to->values, a, err)
	    && text_or(o, "default", "", &to->otherwise, a, err)
	    && text_or(o, "help", "", &to->help, a, err);
}

static bool
read_options(struct about *out, const struct cJSON *doc, struct arena *a,
    struct err *err)
{
	const struct cJSON *list, *at;
	uint32_t n = 0;

	out->option = arena_new(a, struct target_option, OPTIONS_MAX + 1);
	if (!list_or_none(doc, "options", OPTIONS_MAX, &list, err))
		return false;
	cJSON_ArrayForEach(at, list)
	{
		if (!read_option(&out->option[n], at, a, err))
			return err_in(err, "option %u", n);
		for (uint32_t i = 0; i < n; i++)
			if (strcmp(out->option[i].name, out->option[n].name)
			    == 0)
				return err_set(err, ERR_INPUT,
				    "two options '%s'", out->option[n].name);
		n++;
	}
	return true;
}

static bool
read_rules(struct about *out, const struct cJSON *doc, struct arena *a,
    struct err *err)
{
	const struct cJSON *list, *at;
	uint32_t n;

	if (!jsonin_has(doc, "rules"))
		return err_set(err, ERR_INPUT, "no 'rules'");
	if (!list_or_none(doc, "rules", RULES_MAX, &list, err))
		return false;
	n = (uint32_t)cJSON_GetArraySize(list);
	/* one more, for who adds one */
	out->rule = arena_new(a, struct rule, (size_t)n + 1);
	out->declared = arena_new(a, struct declared, (size_t)n + 1);
	cJSON_ArrayForEach(at, list)
	{
		n = out->nrules;
		if (!declared_read(&out->rule[n], &out->declared[n], at, a, err)
		    || !declared_is_new(out->rule, n, err))
			return err_in(err, "rule %u", n);
		out->nrules++;
	}
	return out->nrules > 0 || err_set(err, ERR_INPUT, "no rules");
}

static bool
read_version(const struct cJSON *item, uint32_t *out)
{
	uint64_t n;

	if (!jsonin_is_u62(item, &n) || n > UINT32_MAX)
		return false;
	*out = (uint32_t)n;
	return true;
}

static bool
read_opsets(struct about *out, const struct cJSON *doc, struct arena *a,
    struct err *err)
{
	const struct cJSON *list, *at;

	if (!jsonin_has(doc, "opsets"))
		return true;
	if (!jsonin_object(doc, "opsets", &list, err))
		return false;
	if (cJSON_GetArraySize(list) > OPSETS_MAX)
		return err_set(
		    err, ERR_INPUT, "opsets: more than %d", OPSETS_MAX);
	out->opset = arena_new(a, struct about_opset, OPSETS_MAX);
	cJSON_ArrayForEach(at, list)
	{
		struct about_opset *o = &out->opset[out->nopsets];

		if (cJSON_GetArraySize(at) != 2
		    || !read_version(cJSON_GetArrayItem(at, 0), &o->first)
		    || !read_version(cJSON_GetArrayItem(at, 1), &o->last))
			return err_set(err, ERR_INPUT,
			    "opsets: '%s' is no pair of versions", at->string);
		o->domain = arena_str(a, at->string);
		out->nopsets++;
	}
	return true;
}

static bool
read_types(struct about *out, const struct cJSON *doc, struct err *err)
{
	const struct cJSON *list, *at;

	if (!list_or_none(doc, "types", NDTYPE, &list, err))
		return false;
	cJSON_ArrayForEach(at, list)
	{
		enum dtype t = cJSON_IsString(at) ? dtype_find(at->valuestring)
		                                  : DT_UNDEFINED;

		if (t == DT_UNDEFINED)
			return err_set(err, ERR_INPUT, "types: '%s' is none",
			    cJSON_IsString(at) ? at->valuestring : "?");
		out->types |= UINT64_C(1) << t;
	}
	return true;
}

static bool
has_option(const struct about *about, const char *name)
{
	for (const struct target_option *o = about->option; o->name; o++)
		if (strcmp(o->name, name) == 0)
			return true;
	return false;
}

static bool
read_unpriced(struct about *out, const struct cJSON *doc, struct arena *a,
    struct err *err)
{
	const struct cJSON *list, *at;

	if (!list_or_none(doc, "unpriced", OPTIONS_MAX, &list, err))
		return false;
	out->unpriced = arena_new(a, const char *, OPTIONS_MAX);
	cJSON_ArrayForEach(at, list)
	{
		if (!cJSON_IsString(at) || !has_option(out, at->valuestring))
			return err_set(err, ERR_INPUT,
			    "unpriced: '%s' is no option of its",
			    cJSON_IsString(at) ? at->valuestring : "?");
		out->unpriced[out->nunpriced++] = arena_str(a, at->valuestring);
	}
	return true;
}

static bool
read_matches(struct about *out, const struct cJSON *doc, struct err *err)
{
	const char *text = "all";

	if (jsonin_has(doc, "matches")
	    && !jsonin_str(doc, "matches", &text, err))
		return false;
	out->gaps = strcmp(text, "gaps") == 0;
	return out->gaps || strcmp(text, "all") == 0
	    || err_set(
	        err, ERR_INPUT, "matches: '%s' is not all or gaps", text);
}

static bool
read_compile_ms(struct about *out, const struct cJSON *doc, struct err *err)
{
	return !jsonin_has(doc, "compile_ms")
	    || jsonin_u32(doc, "compile_ms", &out->compile_ms, err);
}

/* ---- the whole ---- */

static bool
read_head(struct about *out, const struct cJSON *doc, struct arena *a,
    struct err *err)
{
	const char *format, *name;
	uint32_t version;

	if (!jsonin_str(doc, "format", &format, err)
	    || !jsonin_u32(doc, "version", &version, err)
	    || !jsonin_str(doc, "name", &name, err))
		return false;
	if (strcmp(format, "marq-plugin") != 0 || version != 1)
		return err_set(err, ERR_INPUT,
		    "'%s' version %u is not marq-plugin version 1", format,
		    version);
	if (!about_name_ok(name) || target_kind_find(name))
		return err_set(err, ERR_INPUT, "'%s' is no name for it", name);
	out->name = arena_str(a, name);
	return text_or(doc, "summary", "", &out->summary, a, err);
}

const struct about_opset *
about_opset(const struct about *about, const char *domain)
{
	for (uint32_t i = 0; i < about->nopsets; i++)
		if (strcmp(about->opset[i].domain, domain) == 0)
			return &about->opset[i];
	return NULL;
}

bool
about_read(struct about *out, const char *text, size_t n, struct arena *a,
    struct err *err)
{
	struct cJSON *doc =
	    jsonin_parse(text, n, "what it says of itself", err);
	bool ok;

	if (!doc)
		return false;
	*out = (struct about){.name = NULL};
	ok = read_head(out, doc, a, err) && read_options(out, doc, a, err)
	    && read_unpriced(out, doc, a, err) && read_rules(out, doc, a, err)
	    && read_opsets(out, doc, a, err) && read_types(out, doc, err)
	    && read_matches(out, doc, err) && read_compile_ms(out, doc, err)
	    && bool_or_false(doc, "regions", &out->regions, err)
	    && bool_or_false(doc, "authored", &out->authored, err)
	    && bool_or_false(doc, "spins", &out->spins, err);
	jsonin_close(doc);
	return ok || err_in(err, "what it says of itself");
}
