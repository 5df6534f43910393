#include "cli/result_view.h"

#include <cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "emit/report/page.h"
#include "ir/base/buf.h"
#include "ir/base/file.h"
#include "ir/base/jsonin.h"

/* TUNING: a result of 100,000 nodes is below */

/* Half of what a price may be off (price_spread()); its source is noted. */
static bool
read_noise(struct result_view *s, const cJSON *entry, struct view_price *out,
    struct err *err)
{
	const cJSON *price;
	const char *source;
	cost_ns low, high;
	bool is_measured;

	out->source = "";
	if (!jsonin_has(entry, "price"))
		return true;
	if (!jsonin_object(entry, "price", &price, err)
	    || !jsonin_str(price, "source", &source, err))
		return false;
	if (!strstr(s->sources, source) && s->nsources < SOURCES_MAX) {
		size_t n = strlen(s->sources);

		snprintf(s->sources + n, sizeof s->sources - n, "%s%s",
		    s->nsources++ ? ", " : "", source);
	}
	is_measured = strcmp(source, "measured") == 0;
	out->is_estimate = strcmp(source, "estimated") == 0;
	out->source = source;
	if (!jsonin_has(price, "low_ns") || !jsonin_has(price, "high_ns"))
		return true;
	if (!jsonin_u62(price, is_measured ? "ns" : "low_ns", &low, err)
	    || !jsonin_u62(price, "high_ns", &high, err))
		return false;
	out->noise = high > low ? (high - low) / 2 : 0;
	return true;
}

static bool
read_total(struct result_view *s, struct err *err)
{
	const cJSON *total, *proof, *model, *proven, *among;
	uint64_t n;

	if (!jsonin_object(s->result, "total", &total, err)
	    || !jsonin_object(s->result, "proof", &proof, err)
	    || !jsonin_object(s->result, "model", &model, err)
	    || !jsonin_str(model, "name", &s->model, err))
		return false;
	proven = cJSON_GetObjectItemCaseSensitive(proof, "proven");
	s->proven = cJSON_IsTrue(proven);
	among = cJSON_GetObjectItemCaseSensitive(proof, "among_regions");
	s->among_regions = jsonin_is_u62(among, &n) ? (uint32_t)n : 0;
	for (uint32_t t = 0; t < NTERMS; t++) /* older ones have no others */
		if ((t < NPARTS || cJSON_GetObjectItem(total, term_key(t)))
		    && !jsonin_u62(total, term_key(t), &s->term[t], err))
			return false;
	return jsonin_u62(total, "cost_ns", &s->cost, err);
}

static bool
read_mix(struct result_view *s, struct arena *a, struct err *err)
{
	const cJSON *mix = cJSON_GetObjectItem(s->result, "mix"), *t;

	s->target = arena_new(a, const char *, (size_t)cJSON_GetArraySize(mix));
	s->kind = arena_new(a, const char *, (size_t)cJSON_GetArraySize(mix));
	cJSON_ArrayForEach(t, mix)
	{
		if (!jsonin_str(t, "text", &s->target[s->ntargets], err)
		    || !jsonin_str(t, "kind", &s->kind[s->ntargets], err))
			return err_in(err, "mix[%" PRIu32 "]", s->ntargets);
		s->ntargets++;
	}
	return true;
}

static bool
read_nodes(struct result_view *s, struct arena *a, struct err *err)
{
	const cJSON *list = cJSON_GetObjectItem(s->result, "nodes"), *n;

	map_init(&s->by_ref, a);
	s->node =
	    arena_new(a, struct view_node, (size_t)cJSON_GetArraySize(list));
	cJSON_ArrayForEach(n, list)
	{
		struct view_node *node = &s->node[s->nnodes];

		if (!jsonin_str(n, "ref", &node->ref, err)
		    || !jsonin_str(n, "label", &node->label, err)
		    || !jsonin_str(n, "op_type", &node->op_type, err)
		    || !jsonin_u32(n, "composite", &node->composite, err))
			return err_in(err, "nodes[%" PRIu32 "]", s->nnodes);
		map_add(&s->by_ref, node->ref, strlen(node->ref), s->nnodes);
		s->nnodes++;
	}
	return true;
}

/* A target of other options is still the same place, if it is the only one. */
static const char *
place(const struct result_view *s, uint32_t target)
{
	for (uint32_t i = 0; i < s->ntargets; i++)
		if (i != target && strcmp(s->kind[i], s->kind[target]) == 0)
			return s->target[target];
	return s->kind[target];
}

/* What a composite is the price of: place, rule, implementation, nodes. */
static bool
composite_key(struct view_composite *c, const struct result_view *s,
    struct arena *a, struct err *err)
{
	struct buf b;
	const cJSON *ref;

	buf_init(&b);
	buf_printf(
	    &b, "%s\n%s\n%s", place(s, c->target), c->rule, c->implementation);
	cJSON_ArrayForEach(ref, c->nodes)
	{
		if (!cJSON_IsString(ref)) {
			buf_release(&b);
			return err_set(err, ERR_INPUT,
			    "\"nodes\" holds something that is no name");
		}
		buf_printf(&b, "\n%s", ref->valuestring);
	}
	c->price.key = arena_strn(a, b.data, b.n);
	buf_release(&b);
	return true;
}

static bool
read_composites(struct result_view *s, struct arena *a, struct err *err)
{
	const cJSON *plan = cJSON_GetObjectItem(s->result, "plan"), *entry;
	const cJSON *list = cJSON_GetObjectItem(plan, "composites");

	s->composite = arena_new(
	    a, struct view_composite, (size_t)cJSON_GetArraySize(list));
	cJSON_ArrayForEach(entry, list)
	{
		struct view_composite *c = &s->composite[s->ncomposites];

		if (!jsonin_u32(entry, "target", &c->target, err)
		    || !jsonin_str(entry, "rule", &c->rule, err)
		    || !jsonin_str(
		        entry, "implementation", &c->implementation, err)
		    || !jsonin_array(entry, "nodes", &c->nodes, err)
		    || !jsonin_u62(entry, "cost_ns", &c->price.cost, err)
		    || !read_noise(s, entry, &c->price, err)
		    || !composite_key(c, s, a, err))
			return err_in(
			    err, "composites[%" PRIu32 "]", s->ncomposites);
		s->ncomposites++;
	}
	return true;
}

static bool
read_conversions(struct result_view *s, struct arena *a, struct err *err)
{
	const cJSON *plan = cJSON_GetObjectItem(s->result, "plan"), *entry;
	const cJSON *list = cJSON_GetObjectItem(plan, "conversions");

	s->conversion =
	    arena_new(a, struct view_price, (size_t)cJSON_GetArraySize(list));
	cJSON_ArrayForEach(entry, list)
	{
		struct view_price *c = &s->conversion[s->nconversions];
		const char *value, *from, *to;

		if (!jsonin_str(entry, "value", &value, err)
		    || !jsonin_str(entry, "from", &from, err)
		    || !jsonin_str(entry, "to", &to, err)
		    || !jsonin_u62(entry, "cost_ns", &c->cost, err)
		    || !read_noise(s, entry, c, err))
			return err_in(
			    err, "conversions[%" PRIu32 "]", s->nconversions);
		c->key = arena_printf(a, "%s\n%s\n%s", value, from, to);
		s->nconversions++;
	}
	return true;
}

/* Alternatives are there unless --emit left them out. */
static bool
open_docs(struct result_view *s, struct arena *a, struct err *err)
{
	struct stat st;
	const char *result = s->path, *alternatives;
	bool is_folder = stat(s->path, &st) == 0 && S_ISDIR(st.st_mode);

	if (is_folder)
		result = arena_printf(a, "%s/result.json", s->path);
	s->result = jsonin_open(result, LIMIT_READ_RESULT, err);
	if (!s->result)
		return false;
	alternatives = arena_printf(a, "%s/alternatives.json", s->path);
	if (is_folder && !file_is_absent(alternatives)) {
		s->alternatives =
		    jsonin_open(alternatives, LIMIT_READ_RESULT, err);
		if (!s->alternatives)
			return false;
	}
	return true;
}

bool
result_view_read(
    struct result_view *s, const char *path, struct arena *a, struct err *err)
{
	*s = (struct result_view){.path = path};
	if (open_docs(s, a, err) && page_check(s->result, NULL, err)
	    && read_total(s, err) && read_mix(s, a, err)
	    && read_nodes(s, a, err) && read_composites(s, a, err)
	    && read_conversions(s, a, err))
		return true;
	result_view_close(s);
	return strstr(err->text, path) ? false : err_in(err, "%s", path);
}

void
result_view_close(struct result_view *s)
{
	if (s->result)
		jsonin_close(s->result);
	if (s->alternatives)
		jsonin_close(s->alternatives);
	s->result = s->alternatives = NULL;
}
