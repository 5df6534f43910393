#include "cli/night/tonight.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/night/learn.h"
#include "cli/night/store.h"
#include "ir/base/listing.h"

/* TUNING: a batch that is started again within half a day goes on with its
 * night; later than that the next one has come. */
#define NIGHT_SECONDS UINT64_C(43200)

/* What is behind "model@mix@" of a unit's name. */
static const char *
shape_of(const struct unit *u)
{
	const char *s =
	    u->name + strlen(u->model_name) + 1 + strlen(u->mix_name);

	return *s == '@' ? s + 1 : "";
}

/* The argument of the last --db, which is the one that counts. */
static const char *
db_of(const struct unit *u)
{
	const char *db = "";

	for (uint32_t i = 0; i < u->nargs; i++) {
		if (strcmp(u->arg[i], "--db") == 0 && i + 1 < u->nargs)
			db = u->arg[++i];
		else if (strncmp(u->arg[i], "--db=", 5) == 0)
			db = u->arg[i] + 5;
	}
	return db;
}

static struct night_unit
unit_begun(const struct unit *u, const struct unit_status *s)
{
	return (struct night_unit){.name = u->name,
	    .model = u->model_name,
	    .mix = u->mix_name,
	    .shape = shape_of(u),
	    .db = db_of(u),
	    .status = *s,
	    .result = "",
	    .plan = "",
	    .kinds = "",
	    .targets = "",
	    .notes = "",
	    .unbuilt = ""};
}

/* The same search with the same outcome? */
static bool
is_same(const struct night_unit *u, const struct unit_status *s)
{
	return u->status.ended == s->ended && u->status.exit == s->exit
	    && strcmp(u->status.fingerprint, s->fingerprint) == 0;
}

static bool
all_same(const struct night *n, const struct manifest *m,
    const struct unit_status *status)
{
	if (n->nunits != m->nunits)
		return false;
	for (uint32_t i = 0; i < m->nunits; i++)
		if (strcmp(n->unit[i].name, m->unit[i].name) != 0
		    || !is_same(&n->unit[i], &status[i]))
			return false;
	return true;
}

/* ---- beginning ---- */

/* A night more, after the last of what is kept, if any is. */
static struct night *
add_night(struct history *h, const struct night *last, struct arena *a)
{
	struct night *longer = arena_new(a, struct night, (size_t)h->n + 1);

	if (last)
		memcpy(longer, h->night, h->n * sizeof *longer);
	longer[h->n] = (struct night){.number = last ? last->number + 1 : 1,
	    .state = NIGHT_RUNNING,
	    .began = night_clock()};
	h->night = longer;
	return &h->night[h->n++];
}

/* The manifest may be another one than when the night began. */
static void
set_units(struct night *n, const struct manifest *m,
    const struct unit_status *status, struct arena *a)
{
	struct night_unit *list = arena_new(a, struct night_unit, m->nunits);

	for (uint32_t i = 0; i < m->nunits; i++) {
		const struct night_unit *old =
		    night_unit_find(n, m->unit[i].name);

		list[i] = old && is_same(old, &status[i])
		    ? *old
		    : unit_begun(&m->unit[i], &status[i]);
		list[i].name = m->unit[i].name;
	}
	n->unit = list;
	n->nunits = m->nunits;
}

static bool
choose(struct tonight *t, const struct manifest *m,
    const struct unit_status *status, uint32_t nwanted, struct err *err)
{
	struct history *h = &t->history;
	struct night *last = h->n ? &h->night[h->n - 1] : NULL;
	const bool recent = last && night_clock() < last->began + NIGHT_SECONDS;

	if (recent && last->state == NIGHT_COMPLETE && nwanted == 0
	    && all_same(last, m, status)) {
		t->night = last;
		return true;
	}
	if (recent && last->state == NIGHT_RUNNING) {
		t->night = last;
		return true;
	}
	if (last && last->state == NIGHT_RUNNING) {
		last->state = NIGHT_KILLED;
		if (!night_write(last, h->out, t->a, err))
			return false;
	}
	t->night = add_night(h, last, t->a);
	return true;
}

static bool
make_folder(const char *out, struct arena *a, struct err *err)
{
	const char *path = arena_printf(a, "%s/nights", out);

	return mkdir(path, 0777) == 0 || errno == EEXIST
	    || err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
}

bool
tonight_begin(struct tonight *t, const struct manifest *m,
    const struct unit_status *status, uint32_t nwanted, struct arena *a,
    struct err *err)
{
	*t = (struct tonight){.a = a};
	if (!make_folder(m->out, a, err)
	    || !history_read(&t->history, m->out, a, err)
	    || !choose(t, m, status, nwanted, err))
		return false;
	set_units(t->night, m, status, a);
	if (t->night->state == NIGHT_COMPLETE)
		return true;
	t->night->calls++;
	return night_write(t->night, m->out, a, err);
}

/* ---- working ---- */

/* The result of the night before, when it is the same search's still. */
static bool
take_over(struct tonight *t, struct night_unit *u, const char *name)
{
	const struct night_unit *old;
	uint32_t when;

	old = history_last_good(&t->history, t->history.n - 1, u->name, &when);
	if (!old || strcmp(old->result, name) != 0)
		return false;
	u->result = old->result;
	u->plan = old->plan;
	u->kinds = old->kinds;
	u->targets = old->targets;
	u->notes = old->notes;
	u->unbuilt = old->unbuilt;
	u->nunbuilt = old->nunbuilt;
	u->unpriced = old->unpriced;
	u->drift_permille = old->drift_permille;
	return true;
}

static bool
keep_whole(struct tonight *t, const struct manifest *m, struct night_unit *u,
    const char *result, struct err *err)
{
	const char *name;

	if (!store_keep(m->out, result, &name, t->a, err))
		return err_in(err, "unit '%s'", u->name);
	if ((u->ran || !take_over(t, u, name))
	    && !night_learn(t->night, u, result, t->a, err))
		return false;
	u->result = name;
	return true;
}

/* Somebody may damage a result while the batch works on others: that fails its
 * unit, which the next call makes again. */
static bool
keep(struct tonight *t, const struct manifest *m, struct night_unit *u,
    struct unit_status *s, struct err *err)
{
	const char *result = arena_printf(t->a, "%s/%s", m->out, u->name);
	struct err damage = {.kind = ERR_NONE};
	uint32_t n;

	if (!unit_succeeded(u))
		return true;
	if (listing_verify(result, &n, t->a, &damage)
	    && keep_whole(t, m, u, result, err))
		return true;
	if (damage.kind == ERR_NONE
	    && listing_verify(result, &n, t->a, &damage))
		return false;
	err_clear(err);
	s->exit = err_exit(damage.kind);
	s->error = arena_str(t->a, damage.text);
	u->status = *s;
	return true;
}

bool
tonight_took(struct tonight *t, const struct manifest *m, uint32_t i,
    struct unit_status *status, struct err *err)
{
	struct night_unit *u = &t->night->unit[i];

	*u = unit_begun(&m->unit[i], status);
	u->ran = true;
	return keep(t, m, u, status, err)
	    && night_write(t->night, m->out, t->a, err);
}

/* Facts of searches that were not run again still hold: what a library was when
 * they ran is what their prices rest on. */
static void
inherit_facts(struct tonight *t)
{
	const struct history *h = &t->history;
	struct night *n = t->night;

	if (n->nfacts == 0 && h->n > 1) {
		n->fact = h->night[h->n - 2].fact;
		n->nfacts = h->night[h->n - 2].nfacts;
	}
}

bool
tonight_end(struct tonight *t, const struct manifest *m,
    struct unit_status *status, struct err *err)
{
	struct night *n = t->night;
	uint32_t left = 0;

	if (n->state == NIGHT_COMPLETE)
		return true;
	for (uint32_t i = 0; i < m->nunits; i++) {
		struct night_unit *u = &n->unit[i];

		u->status = status[i];
		left += !status[i].ended;
		if (u->result[0] == '\0' && !keep(t, m, u, &status[i], err))
			return false;
	}
	inherit_facts(t);
	n->ended = night_clock();
	n->state = left ? NIGHT_RUNNING : NIGHT_COMPLETE;
	return night_write(n, m->out, t->a, err);
}
