#include "targets/mrvl/params.h"

#include <assert.h>
#include <string.h>

#include <cJSON.h>

#include "ir/base/json.h"
#include "ir/base/jsonin.h"

#define LOW false
#define HIGH true

static const struct param_info info[NPARAM] = {
#define PARAM(name, value, low, high, provenance, favourable, unit, source) \
	[PARAM_##name] = {#name, unit, favourable},
#include "targets/mrvl/params.def"
#undef PARAM
};

static const struct params defaults = {{
#define PARAM(name, value, low, high, provenance, favourable, unit, source) \
	[PARAM_##name] = {value, low, high, PROVENANCE_##provenance, source},
#include "targets/mrvl/params.def"
#undef PARAM
}};

static const char *const provenances[] = {
    [PROVENANCE_PUBLISHED] = "published",
    [PROVENANCE_INFERRED] = "inferred",
    [PROVENANCE_ASSUMED] = "assumed",
    [PROVENANCE_CALIBRATED] = "calibrated",
};
#define NPROVENANCES (sizeof provenances / sizeof provenances[0])

/* TUNING: a parameter file has a few dozen lines. */

const struct param_info *
param_info(enum param p)
{
	assert(p < NPARAM);
	return &info[p];
}

enum param
param_find(const char *name)
{
	for (uint32_t i = 0; i < NPARAM; i++)
		if (strcmp(info[i].name, name) == 0)
			return (enum param)i;
	return NPARAM;
}

const char *
provenance_name(enum provenance p)
{
	return provenances[p];
}

void
params_default(struct params *p)
{
	*p = defaults;
}

static bool
read_provenance(enum provenance *out, const char *word, struct err *err)
{
	for (uint32_t i = 0; i < NPROVENANCES; i++)
		if (strcmp(provenances[i], word) == 0) {
			*out = (enum provenance)i;
			return true;
		}
	return err_set(err, ERR_INPUT, "provenance '%s' is unknown", word);
}

static bool
read_param(struct param_value *p, const struct cJSON *o, struct arena *a,
    struct err *err)
{
	static const char *const known[] = {
	    "value", "low", "high", "unit", "provenance", "source", NULL};
	const char *word;

	if (!jsonin_only(o, known, err)
	    || !jsonin_real(o, "value", &p->value, err))
		return false;
	p->low = p->high = p->value;
	if (jsonin_has(o, "low") && !jsonin_real(o, "low", &p->low, err))
		return false;
	if (jsonin_has(o, "high") && !jsonin_real(o, "high", &p->high, err))
		return false;
	if (!(p->low >= 0 && p->low <= p->value && p->value <= p->high))
		return err_set(err, ERR_INPUT,
		    "0 <= low (%g) <= value (%g) <= high (%g) does not hold",
		    p->low, p->value, p->high);
	if (!jsonin_str(o, "provenance", &word, err)
	    || !read_provenance(&p->provenance, word, err))
		return false;
	if (jsonin_has(o, "source")) {
		if (!jsonin_str(o, "source", &word, err))
			return false;
		p->source = arena_str(a, word);
	}
	return true;
}

static bool
read_document(
    struct params *p, const struct cJSON *doc, struct arena *a, struct err *err)
{
	const struct cJSON *list, *at;
	const char *format;
	uint32_t version;

	if (!jsonin_str(doc, "format", &format, err)
	    || !jsonin_u32(doc, "version", &version, err)
	    || !jsonin_object(doc, "params", &list, err))
		return false;
	if (strcmp(format, "marquetry-mrvl-params") != 0 || version != 1)
		return err_set(err, ERR_INPUT,
		    "'%s' version %u is not marquetry-mrvl-params version 1",
		    format, version);
	cJSON_ArrayForEach(at, list)
	{
		enum param which = param_find(at->string);

		if (which == NPARAM)
			return err_set(err, ERR_INPUT,
			    "parameter '%s' is unknown", at->string);
		if (!read_param(&p->param[which], at, a, err))
			return err_in(err, "parameter '%s'", at->string);
		if (p->param[which].value <= 0
		    && which != PARAM_depthwise_as_dense
		    && which != PARAM_weights_split && which != PARAM_layer_ns
		    && which != PARAM_job_ns && which != PARAM_scratch_floor)
			return err_set(err, ERR_INPUT,
			    "parameter '%s': %g is not positive", at->string,
			    p->param[which].value);
	}
	return true;
}

bool
params_load(
    struct params *p, const char *path, struct arena *a, struct err *err)
{
	struct cJSON *doc = jsonin_open(path, LIMIT_READ_PARAMETERS, err);
	bool ok;

	if (!doc)
		return false;
	ok = read_document(p, doc, a, err);
	jsonin_close(doc);
	return ok || err_in(err, "%s", path);
}

void
params_write(FILE *f, const struct params *p)
{
	struct json j;

	json_init(&j, f, 1);
	json_object(&j);
	json_key_str(&j, "format", "marquetry-mrvl-params");
	json_key_int(&j, "version", 1);
	json_key(&j, "params");
	json_object(&j);
	for (uint32_t i = 0; i < NPARAM; i++) {
		const struct param_value *v = &p->param[i];

		json_key(&j, info[i].name);
		json_object(&j);
		json_key_real(&j, "value", v->value);
		json_key_real(&j, "low", v->low);
		json_key_real(&j, "high", v->high);
		json_key_str(&j, "unit", info[i].unit);
		json_key_str(&j, "provenance", provenances[v->provenance]);
		json_key_str(&j, "source", v->source);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
	fputc('\n', f);
}
