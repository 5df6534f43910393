#include "cli/batch_state.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/file.h"
#include "ir/base/json.h"
#include "ir/base/jsonin.h"
#include "ir/base/listing.h"

bool
unit_fingerprint(struct batch_reads *reads, const struct unit *u, char text[33],
    struct err *err)
{
	struct hash128 h;

	if (!batch_reads_unit(reads, u, &h, err))
		return false;
	hash128_print(h, text);
	return true;
}

/* Members that may be absent: 0, "" or false then. */
static uint64_t
get_u64(const cJSON *o, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);
	uint64_t n;

	return jsonin_is_u64(item, &n) ? n : 0;
}

static const char *
get_str(const cJSON *o, const char *key, struct arena *a)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsString(item) ? arena_str(a, item->valuestring) : "";
}

static void
get_figures(struct unit_status *s, const cJSON *o, struct arena *a)
{
	const cJSON *basis;

	s->error = get_str(o, "error", a);
	s->cost_ns = get_u64(o, "cost_ns");
	s->lower_bound_ns = get_u64(o, "lower_bound_ns");
	s->proven = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "proven"));
	s->among_regions = (uint32_t)get_u64(o, "among_regions");
	basis = cJSON_GetObjectItemCaseSensitive(o, "basis");
	s->estimated = cJSON_IsString(basis)
	    && strcmp(basis->valuestring, "estimated") == 0;
	s->regions = (uint32_t)get_u64(o, "regions");
	s->measured = (uint32_t)get_u64(o, "measured");
	s->reused = (uint32_t)get_u64(o, "reused");
	s->took_ms = get_u64(o, "took_ms");
}

/* 0 for what is no ratio. */
static double
get_ratio(const cJSON *o, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsNumber(item) && item->valuedouble > 0
	        && item->valuedouble < 1e9
	    ? item->valuedouble
	    : 0;
}

void
unit_status_get(struct unit_status *s, const cJSON *o, struct arena *a)
{
	s->exit = (int)get_u64(o, "exit");
	s->attempts = (uint32_t)get_u64(o, "attempts");
	get_figures(s, o, a);
	s->baseline_ns = get_u64(o, "baseline_ns");
	s->baseline = get_str(o, "baseline", a);
	s->baseline_bound =
	    cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "baseline_bound"));
	s->confirmation = get_str(o, "confirmation", a);
	s->confirmed = get_ratio(o, "confirmed_ratio");
}

/* The cheapest of the searchers a user might have used instead. */
static void
get_baseline(struct unit_status *s, const cJSON *doc, struct arena *a)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(doc, "baselines");
	const cJSON *item;

	s->baseline = "";
	s->baseline_ns = 0; /* an earlier attempt may have had one */
	s->baseline_bound = false;
	cJSON_ArrayForEach(item, list)
	{
		uint64_t cost = get_u64(item, "cost_ns");

		if (cost && (s->baseline_ns == 0 || cost < s->baseline_ns)) {
			s->baseline_ns = cost;
			s->baseline = get_str(item, "name", a);
			s->baseline_bound = cJSON_IsTrue(
			    cJSON_GetObjectItemCaseSensitive(item, "bound"));
		}
	}
}

static void
get_confirmation(struct unit_status *s, const cJSON *doc, struct arena *a)
{
	const cJSON *c = cJSON_GetObjectItemCaseSensitive(doc, "confirmation");

	s->confirmation = get_str(c, "word", a);
	s->confirmed = get_ratio(c, "ratio");
}

static bool
no_search(struct err *err)
{
	err_clear(err);
	return err_set(err, ERR_USAGE,
	    "it made no search: an option of the manifest asks for something "
	    "else");
}

bool
unit_status_parse(
    struct unit_status *s, const char *path, struct arena *a, struct err *err)
{
	static const char searched[] = "marq.search/";
	struct cJSON *doc = jsonin_open(path, LIMIT_READ_STATE, err);
	const uint64_t took_ms = s->took_ms;
	bool is_search;

	s->error = s->baseline = s->confirmation = "";
	if (!doc)
		return err->kind == ERR_INPUT ? no_search(err) : false;
	is_search =
	    strncmp(get_str(doc, "schema", a), searched, sizeof searched - 1)
	    == 0;
	get_figures(s, doc, a);
	get_baseline(s, doc, a);
	get_confirmation(s, doc, a);
	s->took_ms = took_ms;
	jsonin_close(doc);
	return is_search || no_search(err);
}

static const char *
status_path(const struct manifest *m, const struct unit *u, char path[4096])
{
	snprintf(path, 4096, "%s/%s.status.json", m->out, u->name);
	return path;
}

/* A result that was deleted, cut short or edited has to be made again. */
static bool
result_is_whole(const struct manifest *m, const struct unit *u, struct arena *a)
{
	struct err ignored = {.kind = ERR_NONE};
	uint32_t n;

	return listing_verify(
	    arena_printf(a, "%s/%s", m->out, u->name), &n, a, &ignored);
}

void
unit_status_read(struct unit_status *s, const struct manifest *m,
    const struct unit *u, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	char path[4096];
	struct cJSON *doc =
	    jsonin_open(status_path(m, u, path), LIMIT_READ_STATE, &err);
	const char *fingerprint;

	s->ended = false;
	s->attempts = 0;
	s->error = s->baseline = s->confirmation = "";
	if (!doc)
		return;
	fingerprint = get_str(doc, "fingerprint", a);
	if (strcmp(fingerprint, s->fingerprint) == 0) {
		unit_status_get(s, doc, a);
		s->ended = s->exit != 0 || result_is_whole(m, u, a);
	}
	jsonin_close(doc);
}

struct status_out {
	const struct unit_status *status;
	const struct unit *unit;
};

void
unit_status_put(struct json *j, const struct unit_status *s)
{
	json_key_int(j, "exit", s->exit);
	json_key_uint(j, "attempts", s->attempts);
	json_key_str(j, "error", s->error);
	json_key_uint(j, "cost_ns", s->cost_ns);
	json_key_uint(j, "lower_bound_ns", s->lower_bound_ns);
	json_key_bool(j, "proven", s->proven);
	if (s->among_regions)
		json_key_uint(j, "among_regions", s->among_regions);
	if (s->estimated)
		json_key_str(j, "basis", "estimated");
	json_key_uint(j, "regions", s->regions);
	json_key_uint(j, "measured", s->measured);
	json_key_uint(j, "reused", s->reused);
	json_key_str(j, "baseline", s->baseline);
	json_key_uint(j, "baseline_ns", s->baseline_ns);
	json_key_bool(j, "baseline_bound", s->baseline_bound);
	if (*s->confirmation)
		json_key_str(j, "confirmation", s->confirmation);
	if (s->confirmed > 0)
		json_key_real(j, "confirmed_ratio", s->confirmed);
	json_key_uint(j, "took_ms", s->took_ms);
}

static bool
write_status(FILE *f, void *context, struct err *err)
{
	const struct status_out *o = context;
	const struct unit_status *s = o->status;
	struct json j;

	(void)err;
	json_init(&j, f, 2);
	json_object(&j);
	json_key_str(&j, "schema", "marq.unit/1");
	json_key_str(&j, "unit", o->unit->name);
	json_key_str(&j, "fingerprint", s->fingerprint);
	unit_status_put(&j, s);
	json_close(&j);
	return true;
}

bool
unit_status_write(const struct unit_status *s, const struct manifest *m,
    const struct unit *u, struct err *err)
{
	struct status_out o = {s, u};
	char path[4096];

	return file_write(status_path(m, u, path), write_status, &o, err);
}
