/* What a user should know about stored prices before believing them: keys of an
 * earlier program, other conditions, times that depend on data nobody has; and
 * canaries of runs that measure nothing. */
#include "costmodel/board.h"
#include "costmodel/pricer.h"
#include "costmodel/pricer_parts.h"

#include <string.h>
#include <time.h>

#include "costmodel/environment.h"
#include "db/facts.h"

/* ---- keys of an earlier program ---- */

static bool
note_old_keys(struct pricer *p, struct err *err)
{
	uint64_t n;

	if (costdb_damaged(p->db))
		notes_add(p->o.notes,
		    "%s: at least %llu stored attempts are damaged and not "
		    "used; 'marq db repair FILE' copies the others",
		    costdb_path(p->db),
		    (unsigned long long)costdb_damaged(p->db));
	if (p->counts.missed == 0)
		return true;
	if (!costdb_older_keys(p->db, KEY_VERSION, &n, err))
		return false;
	if (n)
		notes_add(p->o.notes,
		    "%llu stored subjects have keys of an earlier version of "
		    "marq (this one writes version %d): their prices are not "
		    "used, what is needed is measured again",
		    (unsigned long long)n, KEY_VERSION);
	return true;
}

/* ---- conditions ---- */

void
doubts_see(struct pricer *p, db_id conditions)
{
	for (uint32_t i = 0; i < p->nunder; i++)
		if (p->under[i].conditions == conditions) {
			p->under[i].hits++;
			return;
		}
	p->under = arena_grow(
	    p->arena, p->under, &p->under_cap, p->nunder + 1, sizeof *p->under);
	p->under[p->nunder++] = (struct measured_under){conditions, 1};
}

/* The conditions that prices are known to depend on. */
static const char *const condition[] = {
    "governor", "turbo_off", "huge_pages", "microcode", "jobs"};

/* "governor: powersave -> performance"; NULL when nothing known differs. */
static const char *
find_difference(const char *stored, const char *now, struct arena *a)
{
	for (size_t i = 0; i < sizeof condition / sizeof *condition; i++) {
		const char *x = facts_get(stored, condition[i], a);
		const char *y = facts_get(now, condition[i], a);

		if (x && y && strcmp(x, y) != 0)
			return arena_printf(
			    a, "%s: %s -> %s", condition[i], x, y);
	}
	return NULL;
}

static bool
note_conditions(struct pricer *p, struct err *err)
{
	const char *now = p->o.board
	    ? p->o.board->soft
	    : environment_soft(pricer_workers(p), p->arena);
	const char *first = NULL;
	uint32_t all = 0, differ = 0;

	for (uint32_t i = 0; i < p->nunder; i++) {
		const struct measured_under *u = &p->under[i];
		const char *stored, *what;

		all += u->hits;
		if (u->conditions == DB_NO_ID)
			continue;
		if (!costdb_conditions(
		        p->db, u->conditions, &stored, p->arena, err))
			return false;
		what = find_difference(stored, now, p->arena);
		first = first ? first : what;
		differ += what ? u->hits : 0;
	}
	if (differ)
		notes_add(p->o.notes,
		    "%u of %u stored prices were measured under other "
		    "conditions (%s): 'marq db canary' times some again",
		    differ, all, first);
	return true;
}

/* ---- data ---- */

#define INPUT_NONE UINT32_MAX

static bool
is_variable(const struct graph *g, const struct node *n, uint32_t input)
{
	const struct value *v =
	    input < n->ninputs ? node_in(g, n, input) : NULL;

	return v && v->constant == NULL;
}

/* The input whose content decides how long n takes, and is made up where a
 * kernel is tried; INPUT_NONE: none is. */
static uint32_t
made_up_input(const struct graph *g, const struct node *n)
{
	switch (n->op) {
	case OP_LOOP:
		return is_variable(g, n, 0) ? 0
		    : is_variable(g, n, 1)  ? 1
		                            : INPUT_NONE;
	case OP_LSTM:
	case OP_GRU:
	case OP_RNN:
		return is_variable(g, n, 4) ? 4 : INPUT_NONE;
	case OP_NONMAXSUPPRESSION:
		return is_variable(g, n, 0) ? 0 : INPUT_NONE;
	default:
		return INPUT_NONE;
	}
}

static void
note_made_up(struct pricer *p)
{
	const struct graph *g = p->graph;
	uint32_t count = 0, input = INPUT_NONE;
	node_id first = NODE_NONE;

	for (node_id id = 0; id < g->nnodes; id++) {
		uint32_t which = made_up_input(g, graph_node(g, id));

		if (which == INPUT_NONE)
			continue;
		if (count++ == 0) {
			first = id;
			input = which;
		}
	}
	if (count)
		notes_add(p->o.notes,
		    "how long %u nodes take depends on data that is not in "
		    "the model (first: '%s', %s, input %u): priced with a "
		    "made-up value, 1",
		    count, node_label(g, first, p->arena),
		    graph_node(g, first)->op_type, input);
}

bool
doubts_note(struct pricer *p, struct err *err)
{
	note_made_up(p);
	return !p->db || (note_old_keys(p, err) && note_conditions(p, err));
}

/* ---- canaries of runs that measure nothing ---- */

/* TUNING: drift shows over days; a few short kernels take well under a second. */
#define CANARY_SECONDS (24 * 3600)
#define CANARY_KEY "canary_utc"
#define CANARIES_IDLE 3

void
canary_remember(struct pricer *p)
{
	struct err ignored = {.kind = ERR_NONE};
	char utc[24];
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(utc, sizeof utc, "%Y-%m-%dT%H:%M:%SZ", &tm);
	/* Failing costs another look at the machine next time. */
	if (p->db)
		costdb_meta_put(p->db, CANARY_KEY, utc, &ignored);
}

static bool
canary_is_due(struct pricer *p, struct err *err)
{
	char due[24];
	const char *last;
	time_t then = time(NULL) - CANARY_SECONDS;
	struct tm tm;

	if (!costdb_meta_get(p->db, CANARY_KEY, &last, p->arena, err))
		return false;
	gmtime_r(&then, &tm);
	strftime(due, sizeof due, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return !last || strcmp(last, due) < 0;
}

bool
canary_once_in_a_while(struct pricer *p, struct err *err)
{
	if (!p->db || !p->o.canary || !p->o.measure || p->canary_done
	    || p->counts.exact == 0 || p->counts.missed || p->counts.stale
	    || p->counts.compatible || pricing_is_over(p))
		return true;
	if (!canary_is_due(p, err))
		return err->kind == ERR_NONE;
	return pricer_canary(p, CANARIES_IDLE, err);
}
