#include "cli/batch_forecast.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "ir/base/cost.h"
#include "ir/base/jsonin.h"

void
batch_forecast_init(struct batch_forecast *f, struct arena *a)
{
	*f = (struct batch_forecast){.arena = a, .workers = 1};
	map_init(&f->keys, a);
}

static bool
add_item(struct batch_forecast *f, const struct cJSON *item,
    struct unit_forecast *unit, struct err *err)
{
	const char *key;
	uint64_t ns;

	if (!jsonin_str(item, "key", &key, err)
	    || !jsonin_u62(item, "ns", &ns, err))
		return false;
	unit->missing++;
	key = arena_str(f->arena, key);
	if (map_find(&f->keys, key, strlen(key)) != MAP_NONE) {
		unit->shared++;
		return true;
	}
	map_add(&f->keys, key, strlen(key), f->missing++);
	unit->ns = cost_add(unit->ns, ns);
	return true;
}

static bool
add_items(struct batch_forecast *f, const struct cJSON *doc,
    struct unit_forecast *unit, struct err *err)
{
	const struct cJSON *list, *item;
	int64_t attempts;

	if (!jsonin_u32(doc, "workers", &f->workers, err)
	    || !jsonin_i64(doc, "attempts_on_record", &attempts, err)
	    || !jsonin_array(doc, "unpriced", &list, err))
		return false;
	cJSON_ArrayForEach(item, list)
	{
		if (!add_item(f, item, unit, err))
			return false;
	}
	unit->ns /= f->workers ? f->workers : 1;
	f->ns = cost_add(f->ns, unit->ns);
	f->units++;
	if ((uint64_t)attempts > f->attempts)
		f->attempts = (uint64_t)attempts;
	return true;
}

bool
batch_forecast_add(struct batch_forecast *f, const char *path,
    struct unit_forecast *unit, struct err *err)
{
	struct cJSON *doc = jsonin_open(path, LIMIT_READ_RECORD, err);
	bool ok;

	*unit = (struct unit_forecast){.missing = 0};
	if (!doc)
		return false;
	ok = add_items(f, doc, unit, err);
	jsonin_close(doc);
	return ok || err_in(err, "%s", path);
}
