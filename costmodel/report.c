/* What the database had of a model and what was new about the rest; and where
 * a model's candidates occur, for the record. */
#include "costmodel/pricer.h"
#include "costmodel/pricer_parts.h"

#include <string.h>

#include "costmodel/key.h"

/* What is like it is looked for only where it is not there itself: what it is like
 * takes as long to say as its key. */
static bool
find_near(struct pricer *p, uint32_t subject, enum db_near *near,
    const char **summary, struct arena *scratch, struct err *err)
{
	struct subject *s = &p->subject[subject];
	bool is_there;

	*near = DB_NEAR_SAME;
	if (!costdb_has_subject(p->db, s->db.bytes, s->db.n, &is_there, err))
		return false;
	if (is_there)
		return true;
	subject_identify(p, subject, scratch);
	return costdb_nearest(p->db, &s->db, near, summary, p->arena, err);
}

static bool
explain_miss(
    struct pricer *p, uint32_t subject, struct arena *scratch, struct err *err)
{
	struct subject *s = &p->subject[subject];
	enum db_near near;
	const char *summary;

	if (!find_near(p, subject, &near, &summary, scratch, err))
		return false;
	switch (near) {
	case DB_NEAR_NOTHING:
		s->why_missed = "operator: nothing like it in the database";
		s->why = WHY_new_operator;
		p->counts.operator_changed++;
		break;
	case DB_NEAR_FAMILY:
		s->why_missed =
		    arena_printf(p->arena, "attribute: nearest is %s", summary);
		s->why = WHY_new_attribute;
		p->counts.attribute_changed++;
		break;
	case DB_NEAR_SKELETON:
		s->why_missed =
		    arena_printf(p->arena, "shape: nearest is %s", summary);
		s->why = WHY_new_shape;
		p->counts.shape_changed++;
		break;
	case DB_NEAR_SAME:
		/* Leased, or invalidated: its figures are gone. */
		s->why_missed = "its figures were never taken, or were retired";
		s->why = WHY_expired;
		break;
	}
	return true;
}

bool
explain_misses(struct pricer *p, struct err *err)
{
	struct arena scratch;
	bool ok = true;

	if (!p->db)
		return true;
	arena_init(&scratch);
	for (uint32_t i = 0; ok && i < p->ncandidate_subjects; i++) {
		const struct subject *s = &p->subject[i];

		/* Ones that are in other environments are explained. */
		if (!p->environment[s->target].is_stored || !s->is_missed)
			continue;
		ok = explain_miss(p, i, &scratch, err);
	}
	arena_release(&scratch);
	return ok;
}

/* TUNING: places named of a subject; the count says how many there are. */
#define PLACES_NAMED 8

static const char *
places(const struct pricer *p, const struct subject *s, uint32_t *count,
    struct arena *a)
{
	struct buf b;
	const char *text;

	buf_init(&b);
	*count = 0;
	for (uint32_t c = s->candidate; c != SUBJECT_NONE; c = p->next[c]) {
		const struct candidate *x = &p->candidates->candidate[c];

		if (++*count > PLACES_NAMED)
			continue;
		for (uint32_t i = 0; i < x->nnodes; i++)
			buf_printf(&b, "%s%s",
			    i         ? "+"
			        : b.n ? "; "
			              : "",
			    node_label(p->graph, x->node[i], a));
	}
	text = arena_strn(a, b.data, b.n);
	buf_release(&b);
	return text;
}

static struct hash128
hash_of_graph(const struct graph *g, struct arena *scratch)
{
	struct hash128 h;
	struct buf b;

	buf_init(&b);
	key_graph(&b, g, scratch);
	h = hash128(b.data, b.n);
	buf_release(&b);
	return h;
}

static void
list_occurrences(
    const struct pricer *p, struct db_model *m, struct arena *scratch)
{
	struct db_occurrence *o =
	    arena_new(scratch, struct db_occurrence, p->ncandidate_subjects);

	for (uint32_t i = 0; i < p->ncandidate_subjects; i++) {
		const struct subject *s = &p->subject[i];

		if (!p->environment[s->target].is_stored
		    || price_of(p, s)->state == PRICE_BOUND)
			continue;
		o[m->n].subject = &s->db;
		o[m->n].nodes = places(p, s, &o[m->n].occurrences, scratch);
		m->n++;
	}
	m->occurrence = o;
}

bool
record_model(struct pricer *p, struct err *err)
{
	struct db_model m = {.name = p->o.model};
	struct arena scratch;
	bool known = false, ok;

	if (!p->o.model || !p->o.measure || p->db_is_full)
		return true;
	arena_init(&scratch);
	m.hash = hash_of_graph(p->graph, &scratch);
	m.nnodes = p->graph->nnodes;
	ok = costdb_knows_model(p->db, m.hash, &known, err);
	if (ok && (!known || p->counts.measured)) {
		list_occurrences(p, &m, &scratch);
		ok = costdb_model(p->db, &m, err);
	}
	arena_release(&scratch);
	return ok;
}
