#include "cli/night/learn.h"
#include "cli/night/words.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "cli/result_view.h"
#include "ir/base/buf.h"
#include "ir/base/file.h"
#include "ir/base/hash.h"
#include "ir/base/jsonin.h"

static const cJSON *
item(const cJSON *o, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(o, key);
}

static uint32_t
number(const cJSON *o, const char *key)
{
	uint64_t n;

	return jsonin_is_u62(item(o, key), &n) && n <= UINT32_MAX ? (uint32_t)n
	                                                          : 0;
}

static const char *
text(const cJSON *o, const char *key)
{
	const char *s = cJSON_GetStringValue(item(o, key));

	return s ? s : "";
}

static const char *
end_text(struct buf *b, struct arena *a)
{
	const char *s = b->n ? arena_strn(a, b->data, b->n) : "";

	buf_release(b);
	return s;
}

/* What runs where: places, rules, implementations and nodes, in order. */
static const char *
plan_hash(const struct result_view *v, struct arena *a)
{
	struct hash128 h;
	struct buf b;
	char hex[33];

	buf_init(&b);
	for (uint32_t i = 0; i < v->ncomposites; i++)
		buf_add(&b, v->composite[i].price.key,
		    strlen(v->composite[i].price.key) + 1);
	h = hash128(b.data, b.n);
	buf_release(&b);
	hash128_print(h, hex);
	return arena_str(a, hex);
}

static const char *
join_notes(const cJSON *result, struct arena *a)
{
	const cJSON *note;
	struct buf b;

	buf_init(&b);
	cJSON_ArrayForEach(note, item(result, "notes"))
	{
		if (cJSON_IsString(note))
			buf_printf(
			    &b, "%s%s", b.n ? "; " : "", note->valuestring);
	}
	return end_text(&b, a);
}

static const char *
join(const char *const *word, uint32_t n, const char *between, struct arena *a)
{
	struct buf b;

	buf_init(&b);
	for (uint32_t i = 0; i < n; i++)
		buf_printf(&b, "%s%s", i ? between : "", word[i]);
	return end_text(&b, a);
}

/* ---- facts of the night ---- */

/* Where two searches disagree it is an option of theirs, and no fact. */
#define DISPUTED ""

static void
add_fact(struct night *n, const char *key, const char *value, struct arena *a)
{
	struct night_fact *longer;

	for (uint32_t i = 0; i < n->nfacts; i++)
		if (strcmp(n->fact[i].key, key) == 0) {
			if (strcmp(n->fact[i].value, value) != 0)
				n->fact[i].value = DISPUTED;
			return;
		}
	longer = arena_new(a, struct night_fact, (size_t)n->nfacts + 1);
	if (n->nfacts)
		memcpy(longer, n->fact, n->nfacts * sizeof *longer);
	longer[n->nfacts++] = (struct night_fact){key, arena_str(a, value)};
	n->fact = longer;
}

static void
learn_facts(struct night *n, const cJSON *mix, struct arena *a)
{
	const cJSON *target, *fact;

	cJSON_ArrayForEach(target, mix)
	{
		cJSON_ArrayForEach(fact, item(target, "environment"))
		{
			if (cJSON_IsString(fact))
				add_fact(n,
				    arena_printf(a, "%s %s",
				        text(target, "kind"), fact->string),
				    fact->valuestring, a);
		}
	}
}

/* ---- what its prices came of ---- */

/* What nobody tried to build, for measuring was off, did not fail. */
static bool
was_tried(const cJSON *failure)
{
	static const char *const never[] = {"estimated now", "nowhere"};

	for (size_t i = 0; i < sizeof never / sizeof *never; i++)
		if (strcmp(text(failure, "origin"), never[i]) == 0)
			return false;
	return true;
}

static void
learn_failures(struct night_unit *u, const cJSON *list, struct arena *a)
{
	const cJSON *f;

	u->nunbuilt = 0;
	cJSON_ArrayForEach(f, list)
	{
		if (was_tried(f) && u->nunbuilt++ == 0)
			u->unbuilt = arena_printf(a, "%s %s of %s: %s",
			    text(f, "target"), text(f, "rule"), text(f, "node"),
			    text(f, "detail"));
	}
}

/* --emit may have left it out. */
static bool
learn_prices(
    struct night_unit *u, const char *path, struct arena *a, struct err *err)
{
	struct cJSON *doc = file_is_absent(path)
	    ? NULL
	    : jsonin_open(path, LIMIT_READ_RESULT, err);
	const cJSON *counts = item(doc, "counts");

	if (!doc)
		return err->kind == ERR_NONE;
	u->drift_permille =
	    number(counts, "canaries") ? number(counts, "drift_permille") : 0;
	for (int i = 0; i < NWHY; i++)
		u->why[i] = number(item(counts, "measured_why"), why_name(i));
	learn_failures(u, item(doc, "failures"), a);
	jsonin_close(doc);
	return true;
}

bool
night_learn(struct night *n, struct night_unit *u, const char *result,
    struct arena *a, struct err *err)
{
	struct result_view v;

	if (!result_view_read(&v, result, a, err))
		return false;
	u->plan = plan_hash(&v, a);
	u->kinds = join(v.kind, v.ntargets, " ", a);
	u->targets = join(v.target, v.ntargets, "\n", a);
	u->notes = join_notes(v.result, a);
	u->unpriced = number(item(v.result, "total"), "unpriced");
	learn_facts(n, item(v.result, "mix"), a);
	result_view_close(&v);
	return learn_prices(
	    u, arena_printf(a, "%s/provenance.json", result), a, err);
}
