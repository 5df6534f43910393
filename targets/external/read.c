/* What runners say, taken apart. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "ir/base/buf.h"
#include "ir/base/jsonin.h"
#include "ir/base/limits.h"
#include "ir/base/order.h"
#include "targets/declared.h"
#include "targets/external/runner.h"

#define LATENCY_LIMIT_NS 1e15

static bool
is_counted(const struct cJSON *list, enum limit_id most, const char *key,
    struct err *err)
{
	int n = cJSON_GetArraySize(list);

	if (n < 1)
		return err_set(err, ERR_INPUT, "%s: empty", key);
	return (uint64_t)n <= limit_of(most) || limit_exceeded(most, key, err);
}

/* ---- the hello ---- */

static bool
read_rule(
    struct rule *rule, const struct cJSON *o, struct arena *a, struct err *err)
{
	static const char *const known[] = {"name", "pattern", "taps", NULL};

	return jsonin_only(o, known, err) && declared_rule(rule, o, a, err);
}

static bool
read_rules(struct runner_hello *h, const struct cJSON *doc, struct arena *a,
    struct err *err)
{
	const struct cJSON *list, *at;
	struct rule *rule;

	if (!jsonin_has(doc, "rules"))
		return true;
	if (!jsonin_array(doc, "rules", &list, err))
		return false;
	if (!is_counted(list, LIMIT_RUNNER_RULES, "rules", err))
		return false;
	rule = arena_new(a, struct rule, (size_t)cJSON_GetArraySize(list));
	cJSON_ArrayForEach(at, list)
	{
		if (!read_rule(&rule[h->nrules], at, a, err)
		    || !declared_is_new(rule, h->nrules, err))
			return err_in(err, "rule %u", h->nrules);
		h->nrules++;
	}
	h->rule = rule;
	return true;
}

/* Is the text one that a line of facts can hold? */
static bool
is_plain(const char *text)
{
	return *text && !strpbrk(text, "\r\n");
}

static bool
is_fact(const struct cJSON *at)
{
	return cJSON_IsString(at) && is_plain(at->valuestring)
	    && is_plain(at->string) && !strchr(at->string, '=');
}

static bool
read_facts(struct runner_hello *h, const struct cJSON *doc, struct arena *a,
    struct err *err)
{
	const struct cJSON *facts, *at;
	struct buf b;

	h->facts = "";
	if (!jsonin_has(doc, "facts"))
		return true;
	if (!jsonin_object(doc, "facts", &facts, err))
		return false;
	buf_init(&b);
	cJSON_ArrayForEach(at, facts)
	{
		if (!is_fact(at)) {
			err_set(err, ERR_INPUT,
			    "fact '%.60s' is no line of text", at->string);
			break;
		}
		buf_printf(&b, "fact.%s=%s\n", at->string, at->valuestring);
		if (b.n > limit_of(LIMIT_RUNNER_FACTS)) {
			limit_exceeded(LIMIT_RUNNER_FACTS, "facts", err);
			break;
		}
	}
	h->facts = arena_strn(a, b.data ? b.data : "", b.n);
	buf_release(&b);
	return err->kind == ERR_NONE;
}

static bool
read_flag(const struct cJSON *doc, const char *key)
{
	return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(doc, key));
}

bool
runner_read_hello(struct runner_hello *h, const struct cJSON *doc,
    struct arena *a, struct err *err)
{
	static const char *const known[] = {"marq", "version", "name",
	    "runner_version", "runs", "this_cpu", "facts", "rules", NULL};
	const char *name, *version;

	*h = (struct runner_hello){.nrules = 0};
	if (!jsonin_only(doc, known, err)
	    || !jsonin_str(doc, "name", &name, err)
	    || !jsonin_str(doc, "runner_version", &version, err))
		return false;
	if (!is_plain(name) || !is_plain(version))
		return err_set(err, ERR_INPUT,
		    "name and runner_version are one line each");
	h->name = arena_str(a, name);
	h->version = arena_str(a, version);
	h->runs = read_flag(doc, "runs");
	h->is_this_cpu = read_flag(doc, "this_cpu");
	return read_facts(h, doc, a, err) && read_rules(h, doc, a, err);
}

/* ---- latencies ---- */

bool
runner_read_latencies(
    struct sample *answer, const struct cJSON *doc, struct err *err)
{
	const struct cJSON *list, *at;
	uint32_t n = 0;
	cost_ns *ns;

	if (!jsonin_array(doc, "latencies_ns", &list, err))
		return false;
	if (!is_counted(list, LIMIT_RUNNER_LATENCIES, "latencies_ns", err))
		return false;
	ns = calloc((size_t)cJSON_GetArraySize(list), sizeof *ns);
	if (!ns)
		return err_set(err, ERR_INTERNAL, "no memory");
	cJSON_ArrayForEach(at, list)
	{
		if (!cJSON_IsNumber(at) || !(at->valuedouble >= 1)
		    || !(at->valuedouble <= LATENCY_LIMIT_NS))
			break;
		ns[n++] = (cost_ns)llround(at->valuedouble);
	}
	if (at) {
		err_set(err, ERR_INPUT,
		    "latency %u is no number of nanoseconds", n);
	} else {
		qsort(ns, n, sizeof *ns, by_u64);
		answer->n = n;
		answer->min = ns[0];
		answer->low = ns[(n - 1) / 4];
		answer->median = ns[(n - 1) / 2];
		answer->high = ns[(n - 1) - (n - 1) / 4];
	}
	free(ns);
	return err->kind == ERR_NONE;
}
