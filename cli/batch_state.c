#include "cli/batch_state.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/version.h"
#include "ir/base/buf.h"
#include "ir/base/file.h"
#include "ir/base/hash.h"
#include "ir/base/json.h"
#include "ir/base/jsonin.h"

#define MAX_STATUS ((size_t)1 << 20)

bool
unit_fingerprint(const struct unit *u, char text[33], struct err *err)
{
	struct mapped_file f;
	struct buf b;
	struct hash128 model;

	if (!file_map(&f, u->model, err))
		return err_in(err, "unit '%s'", u->name);
	model = hash128(f.data, f.bytes);
	file_unmap(&f);
	buf_init(&b);
	buf_add(&b, model.byte, sizeof model.byte);
	buf_add(&b, MARQ_VERSION, sizeof MARQ_VERSION);
	for (uint32_t i = 0; i < u->nargs; i++)
		buf_add(&b, u->arg[i], strlen(u->arg[i]) + 1);
	hash128_print(hash128(b.data, b.n), text);
	buf_release(&b);
	return true;
}

/* Members that may be absent: 0, "" or false then. */
static uint64_t
get_u64(const cJSON *o, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);

	if (!cJSON_IsNumber(item) || !(item->valuedouble > 0)
	    || item->valuedouble > 9007199254740992.0)
		return 0;
	return (uint64_t)item->valuedouble;
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
	s->error = get_str(o, "error", a);
	s->cost_ns = get_u64(o, "cost_ns");
	s->lower_bound_ns = get_u64(o, "lower_bound_ns");
	s->proven = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "proven"));
	s->regions = (uint32_t)get_u64(o, "regions");
	s->measured = (uint32_t)get_u64(o, "measured");
	s->reused = (uint32_t)get_u64(o, "reused");
}

/* The cheapest of the searchers a user might have used instead. */
static void
get_baseline(struct unit_status *s, const cJSON *doc, struct arena *a)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(doc, "baselines");
	const cJSON *item;

	s->baseline = "";
	cJSON_ArrayForEach(item, list)
	{
		uint64_t cost = get_u64(item, "cost_ns");

		if (cost && (s->baseline_ns == 0 || cost < s->baseline_ns)) {
			s->baseline_ns = cost;
			s->baseline = get_str(item, "name", a);
		}
	}
}

void
unit_status_parse(struct unit_status *s, const char *path, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	struct cJSON *doc = jsonin_open(path, MAX_STATUS, &err);

	s->error = s->baseline = "";
	if (!doc)
		return;
	get_figures(s, doc, a);
	get_baseline(s, doc, a);
	jsonin_close(doc);
}

static const char *
status_path(const struct manifest *m, const struct unit *u, char path[4096])
{
	snprintf(path, 4096, "%s/%s.status.json", m->out, u->name);
	return path;
}

void
unit_status_read(struct unit_status *s, const struct manifest *m,
    const struct unit *u, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	char path[4096];
	struct cJSON *doc =
	    jsonin_open(status_path(m, u, path), MAX_STATUS, &err);
	const char *fingerprint;

	s->ended = false;
	s->attempts = 0;
	s->error = s->baseline = "";
	if (!doc)
		return;
	fingerprint = get_str(doc, "fingerprint", a);
	if (strcmp(fingerprint, s->fingerprint) == 0) {
		s->ended = true;
		s->exit = (int)get_u64(doc, "exit");
		s->attempts = (uint32_t)get_u64(doc, "attempts");
		get_figures(s, doc, a);
		s->baseline_ns = get_u64(doc, "baseline_ns");
		s->baseline = get_str(doc, "baseline", a);
	}
	jsonin_close(doc);
}

struct status_out {
	const struct unit_status *status;
	const struct unit *unit;
};

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
	json_key_int(&j, "exit", s->exit);
	json_key_uint(&j, "attempts", s->attempts);
	json_key_str(&j, "error", s->error);
	json_key_uint(&j, "cost_ns", s->cost_ns);
	json_key_uint(&j, "lower_bound_ns", s->lower_bound_ns);
	json_key_bool(&j, "proven", s->proven);
	json_key_uint(&j, "regions", s->regions);
	json_key_uint(&j, "measured", s->measured);
	json_key_uint(&j, "reused", s->reused);
	json_key_str(&j, "baseline", s->baseline);
	json_key_uint(&j, "baseline_ns", s->baseline_ns);
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
