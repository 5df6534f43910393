#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/night/night.h"
#include "cli/night/words.h"
#include "ir/base/file.h"
#include "ir/base/folder.h"
#include "ir/base/json.h"
#include "ir/base/jsonin.h"
#include "ir/base/order.h"

#define SCHEMA "marq.night/1"

static const char *const states[] = {
    [NIGHT_RUNNING] = "running",
    [NIGHT_COMPLETE] = "complete",
    [NIGHT_KILLED] = "killed",
};

const char *
night_state_word(enum night_state s)
{
	return states[s];
}

const char *
night_path(
    const char *out, uint32_t number, const char *suffix, struct arena *a)
{
	return arena_printf(a, "%s/nights/%04u%s", out, number, suffix);
}

/* ---- writing ---- */

static void
write_unit(struct json *j, const struct night_unit *u)
{
	json_object(j);
	json_key_str(j, "unit", u->name);
	json_key_str(j, "model", u->model);
	json_key_str(j, "mix", u->mix);
	json_key_str(j, "shape", u->shape);
	json_key_str(j, "db", u->db);
	json_key_bool(j, "ended", u->status.ended);
	json_key_bool(j, "ran", u->ran);
	json_key_str(j, "fingerprint", u->status.fingerprint);
	unit_status_put(j, &u->status);
	json_key_str(j, "result", u->result);
	json_key_str(j, "plan", u->plan);
	json_key_str(j, "kinds", u->kinds);
	json_key_str(j, "targets", u->targets);
	json_key_str(j, "notes", u->notes);
	json_key_str(j, "first_unbuilt", u->unbuilt);
	json_key_uint(j, "unbuilt", u->nunbuilt);
	json_key_uint(j, "unpriced", u->unpriced);
	json_key_uint(j, "drift_permille", u->drift_permille);
	put_measured_why(j, u->why);
	json_close(j);
}

struct record_out {
	const struct night *night;
	struct arena *a;
};

static bool
write_record(FILE *f, void *context, struct err *err)
{
	const struct record_out *o = context;
	const struct night *n = o->night;
	struct json j;

	(void)err;
	json_init(&j, f, 1);
	json_object(&j);
	json_key_str(&j, "schema", SCHEMA);
	json_key_uint(&j, "night", n->number);
	json_key_str(&j, "state", states[n->state]);
	json_key_uint(&j, "began_s", n->began);
	json_key_str(&j, "began", night_time(n->began, o->a));
	json_key_uint(&j, "ended_s", n->ended);
	json_key_str(&j, "ended", night_time(n->ended, o->a));
	json_key_uint(&j, "calls", n->calls);
	json_key(&j, "facts");
	json_object(&j);
	for (uint32_t i = 0; i < n->nfacts; i++)
		json_key_str(&j, n->fact[i].key, n->fact[i].value);
	json_close(&j);
	json_key(&j, "units");
	json_array(&j);
	for (uint32_t i = 0; i < n->nunits; i++)
		write_unit(&j, &n->unit[i]);
	json_close(&j);
	json_close(&j);
	return true;
}

bool
night_write(
    const struct night *n, const char *out, struct arena *a, struct err *err)
{
	struct record_out o = {n, a};

	return file_write(
	    night_path(out, n->number, ".json", a), write_record, &o, err);
}

/* ---- reading: members may be absent ---- */

static uint32_t
get_u32(const cJSON *o, const char *key)
{
	uint64_t n;

	return jsonin_is_u62(cJSON_GetObjectItemCaseSensitive(o, key), &n)
	        && n <= UINT32_MAX
	    ? (uint32_t)n
	    : 0;
}

static uint64_t
get_time(const cJSON *o, const char *key)
{
	uint64_t n;

	return jsonin_is_u62(cJSON_GetObjectItemCaseSensitive(o, key), &n) ? n
	                                                                   : 0;
}

static const char *
get_str(const cJSON *o, const char *key, struct arena *a)
{
	const char *s =
	    cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));

	return s ? arena_str(a, s) : "";
}

static bool
get_bool(const cJSON *o, const char *key)
{
	return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, key));
}

static void
read_unit(struct night_unit *u, const cJSON *o, struct arena *a)
{
	const cJSON *why = cJSON_GetObjectItemCaseSensitive(o, "measured_why");
	const char *fingerprint = get_str(o, "fingerprint", a);

	*u = (struct night_unit){
	    .name = get_str(o, "unit", a),
	    .model = get_str(o, "model", a),
	    .mix = get_str(o, "mix", a),
	    .shape = get_str(o, "shape", a),
	    .db = get_str(o, "db", a),
	    .ran = get_bool(o, "ran"),
	    .result = get_str(o, "result", a),
	    .plan = get_str(o, "plan", a),
	    .kinds = get_str(o, "kinds", a),
	    .targets = get_str(o, "targets", a),
	    .notes = get_str(o, "notes", a),
	    .unbuilt = get_str(o, "first_unbuilt", a),
	    .nunbuilt = get_u32(o, "unbuilt"),
	    .unpriced = get_u32(o, "unpriced"),
	    .drift_permille = get_u32(o, "drift_permille"),
	};
	snprintf(u->status.fingerprint, sizeof u->status.fingerprint, "%s",
	    fingerprint);
	unit_status_get(&u->status, o, a);
	u->status.ended = get_bool(o, "ended");
	for (int i = 0; i < NWHY; i++)
		u->why[i] = get_u32(why, why_name(i));
}

static void
read_facts(struct night *n, const cJSON *list, struct arena *a)
{
	const cJSON *item;

	n->fact =
	    arena_new(a, struct night_fact, (size_t)cJSON_GetArraySize(list));
	cJSON_ArrayForEach(item, list) if (cJSON_IsString(item))
	    n->fact[n->nfacts++] = (struct night_fact){
	    arena_str(a, item->string), arena_str(a, item->valuestring)};
}

static bool
read_record(struct night *n, const char *path, bool *is_one, struct arena *a,
    struct err *err)
{
	struct cJSON *doc = jsonin_open(path, LIMIT_READ_RECORD, err);
	const cJSON *list, *item;

	*n = (struct night){.number = 0};
	*is_one = false;
	if (!doc) { /* a damaged one is none */
		if (err->kind != ERR_INPUT)
			return false;
		err_clear(err);
		return true;
	}
	*is_one = strcmp(get_str(doc, "schema", a), SCHEMA) == 0;
	n->number = get_u32(doc, "night");
	n->began = get_time(doc, "began_s");
	n->ended = get_time(doc, "ended_s");
	n->calls = get_u32(doc, "calls");
	for (int i = 0; i <= NIGHT_KILLED; i++)
		if (strcmp(get_str(doc, "state", a), states[i]) == 0)
			n->state = (enum night_state)i;
	read_facts(n, cJSON_GetObjectItemCaseSensitive(doc, "facts"), a);
	list = cJSON_GetObjectItemCaseSensitive(doc, "units");
	n->unit =
	    arena_new(a, struct night_unit, (size_t)cJSON_GetArraySize(list));
	cJSON_ArrayForEach(item, list)
	    read_unit(&n->unit[n->nunits++], item, a);
	jsonin_close(doc);
	return true;
}

static int
by_number(const void *x, const void *y)
{
	const struct night *a = x, *b = y;

	return (a->number > b->number) - (a->number < b->number);
}

/* "0012.json" */
static uint32_t
number_of(const char *name)
{
	char *end;
	unsigned long n = strtoul(name, &end, 10);

	return end != name && strcmp(end, ".json") == 0 && n < UINT32_MAX
	    ? (uint32_t)n
	    : 0;
}

static bool
add_record(struct history *h, uint32_t number, uint32_t *cap, struct arena *a,
    struct err *err)
{
	bool is_one;

	h->night = arena_grow(a, h->night, cap, h->n + 1, sizeof *h->night);
	if (!read_record(&h->night[h->n],
	        night_path(h->out, number, ".json", a), &is_one, a, err))
		return false;
	h->n += is_one && h->night[h->n].number == number;
	return true;
}

bool
history_read(
    struct history *h, const char *out, struct arena *a, struct err *err)
{
	const char *folder = arena_printf(a, "%s/nights", out);
	DIR *d = opendir(folder);
	const struct dirent *e;
	uint32_t cap = 0;
	bool ok = true;

	*h = (struct history){.out = out};
	if (!d)
		return errno == ENOENT
		    || err_set(err, ERR_IO, "%s: %s", folder, strerror(errno));
	while (ok && (e = folder_next(d, folder, err)) != NULL) {
		uint32_t number = number_of(e->d_name);

		if (number)
			ok = add_record(h, number, &cap, a, err);
	}
	closedir(d);
	if (h->n > 1)
		qsort(h->night, h->n, sizeof *h->night, by_number);
	return ok && err->kind == ERR_NONE;
}

/* ---- looking up ---- */

bool
unit_succeeded(const struct night_unit *u)
{
	return u->status.ended && u->status.exit == 0 && u->status.cost_ns > 0;
}

const struct night_unit *
night_unit_find(const struct night *n, const char *name)
{
	for (uint32_t i = 0; i < n->nunits; i++)
		if (strcmp(n->unit[i].name, name) == 0)
			return &n->unit[i];
	return NULL;
}

const struct night_unit *
history_last_good(
    const struct history *h, uint32_t i, const char *name, uint32_t *night)
{
	while (i-- > 0) {
		const struct night_unit *u =
		    night_unit_find(&h->night[i], name);

		if (u && unit_succeeded(u)) {
			*night = i;
			return u;
		}
	}
	return NULL;
}
