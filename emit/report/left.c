/* What is left on the table: groups of nodes that an accelerator does not run,
 * by what a plan that takes them would save; and what to do next. */
#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "emit/report/sections.h"
#include "emit/report/text.h"
#include "ir/base/shell.h"

enum gain { GAIN_OPEN, GAIN_EXACT, GAIN_AT_MOST, GAIN_GUESS };

struct leftover {
	uint32_t target, rank; /* rank: as found */
	enum cause_kind kind;
	const struct cause_op *op;
	uint32_t nops, nnodes;
	const cJSON *failed; /* of the search, or NULL */
	const cJSON *what_if; /* what it searched with, or NULL */
	uint32_t ntaken; /* nodes the target then runs */
	const struct cause *cause; /* of the page, or NULL */
	const char *why_not; /* it was not searched, or "" */
	enum gain gain;
	uint64_t saves; /* unless open */
	uint64_t now, moves;
};

struct leftovers {
	struct leftover *item;
	uint32_t n, searched;
};

static enum cause_kind
kind_named(const char *cause)
{
	return strcmp(cause, "refused") == 0 ? CAUSE_REFUSED
	    : strcmp(cause, "no_rule") == 0  ? CAUSE_NO_RULE
	                                     : CAUSE_DEARER;
}

static enum gain
gain_named(const char *s)
{
	return strcmp(s, "exact") == 0    ? GAIN_EXACT
	    : strcmp(s, "at_most") == 0   ? GAIN_AT_MOST
	    : strcmp(s, "estimated") == 0 ? GAIN_GUESS
	                                  : GAIN_OPEN;
}

static void
read_ops(struct leftover *l, const cJSON *m, struct arena *a)
{
	const cJSON *o, *list = doc_field(m, "operators");
	struct cause_op *op =
	    arena_new(a, struct cause_op, (size_t)cJSON_GetArraySize(list));

	cJSON_ArrayForEach(o, list)
	{
		uint32_t n = doc_index(o, "nodes", UINT32_MAX);

		op[l->nops++] = (struct cause_op){
		    doc_text(o, "op_type"), n == PAGE_NONE ? 0 : n};
		l->nnodes += op[l->nops - 1].n;
	}
	ops_sort(op, l->nops);
	l->op = op;
}

/* As the search found them, each searched again for what it would save. */
static void
read_searched(struct leftovers *s, const struct page_view *v)
{
	const cJSON *m, *list = doc_field(v->result, "opportunities");

	s->item = arena_new(
	    v->arena, struct leftover, (size_t)cJSON_GetArraySize(list));
	cJSON_ArrayForEach(m, list)
	{
		struct leftover l = {.failed = doc_field(m, "failed"),
		    .what_if = doc_field(m, "what_if"),
		    .ntaken = doc_index(m, "taken", UINT32_MAX),
		    .why_not = doc_text(m, "why_not")};

		l.target = doc_index(m, "target", v->ntargets);
		if (l.target == PAGE_NONE)
			continue;
		l.kind = kind_named(doc_text(m, "cause"));
		l.now = doc_ns(m, "now_ns");
		l.moves = doc_ns(m, "moves_ns");
		l.gain = gain_named(doc_text(m, "saving"));
		l.saves = doc_ns(
		    m, l.gain == GAIN_AT_MOST ? "at_most_ns" : "saves_ns");
		s->searched += l.gain != GAIN_OPEN;
		read_ops(&l, m, v->arena);
		l.rank = s->n;
		s->item[s->n++] = l;
	}
}

/* As the page counts them from alternatives.json: nothing is known of what
 * they would save. */
static void
add_counted(struct leftovers *s, uint32_t target, const struct cause *c)
{
	s->item[s->n] = (struct leftover){.target = target,
	    .rank = s->n,
	    .kind = c->kind,
	    .op = c->op,
	    .nops = c->nops,
	    .nnodes = c->nnodes,
	    .cause = c,
	    .why_not = "",
	    .now = c->work,
	    .moves = c->moves};
	s->n++;
}

static void
read_counted(struct leftovers *s, const struct page_facts *p)
{
	struct arena *a = p->v->arena;
	const struct causes *c;
	struct cause *norule;

	if (p->accelerator == PAGE_NONE)
		return;
	c = &p->causes[p->accelerator];
	s->item = arena_new(a, struct leftover, c->n + 1u);
	norule = arena_new(a, struct cause, 1);
	*norule = causes_joined(c, p->v, CAUSE_NO_RULE);
	if (norule->nnodes)
		add_counted(s, c->target, norule);
	for (uint32_t i = 0; i < c->n; i++)
		if (c->item[i].kind != CAUSE_NO_RULE)
			add_counted(s, c->target, &c->item[i]);
}

/* What would save most; then what was not searched and costs most today. */
static int
worth_more_first(const void *a, const void *b)
{
	const struct leftover *x = a, *y = b;
	uint64_t xs = x->gain ? x->saves : 0, ys = y->gain ? y->saves : 0;

	if (xs != ys)
		return xs > ys ? -1 : 1;
	if (x->now + x->moves != y->now + y->moves)
		return x->now + x->moves > y->now + y->moves ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* What nobody searched is told of the accelerator alone, and what stays where it is
 * even if moves were free is not left. */
static bool
is_worth_a_card(const struct leftover *l, const struct page_facts *p)
{
	const uint64_t least = p->v->total / 100;

	if (l->gain == GAIN_OPEN)
		return l->target == p->accelerator && l->now + l->moves > least;
	return l->saves > least && l->saves != NS_NEVER
	    && (l->kind != CAUSE_DEARER || l->ntaken > 0);
}

static void
put_words(FILE *f, const char *condition)
{
	for (const char *s = condition; *s; s++)
		if (*s == '_')
			putc(' ', f);
		else
			html(f, "%s", (char[2]){*s, '\0'});
}

static void
put_why_costlier(FILE *f, const struct leftover *l)
{
	if (l->gain == GAIN_OPEN)
		html(f, ": conversions and launches eat the gain.");
	else
		html(f, ". If its conversions were free, it would take %o:",
		    l->ntaken, "more node");
}

static void
put_why(FILE *f, const struct leftover *l)
{
	const cJSON *failed = l->failed ? l->failed->child : NULL;

	if (l->kind == CAUSE_DEARER) {
		put_ops(f, l->op, l->nops, 2);
		put_why_costlier(f, l);
	} else if (l->kind == CAUSE_NO_RULE) {
		html(f,
		    "What holds them runs elsewhere, and the tensors around "
		    "them move.");
	} else if (failed) {
		put_words(f, doc_text(failed, "condition"));
		html(f, ": %s, must be %s%r.", doc_text(failed, "actual"),
		    doc_text(failed, "required"),
		    failed->next ? " (and more)" : "");
	} else if (l->cause) {
		put_cause(f, l->cause);
		html(f, ".");
	}
}

static void
put_gain(FILE *f, const struct leftover *l)
{
	if (l->gain == GAIN_OPEN)
		return;
	html(f, " <b class=gain>%r save %r%t%r.</b>",
	    l->kind == CAUSE_DEARER ? "would" : "Would",
	    l->gain == GAIN_AT_MOST ? "at most " : "", l->saves,
	    l->gain == GAIN_GUESS ? " (estimated)" : "");
}

static void
put_question(FILE *f, const struct leftover *l, const struct page_view *v)
{
	const struct page_target *t = &v->target[l->target];
	const char *line = arena_printf(v->arena, "marq explain %s", v->folder);
	const cJSON *c;

	if (l->kind == CAUSE_NO_RULE)
		line = arena_printf(v->arena, "%s --op %s --not-on %s", line,
		    l->nops ? l->op[0].op : "", t->kind);
	else if (l->kind == CAUSE_DEARER && l->gain == GAIN_OPEN)
		line = arena_printf(v->arena, "%s --not-on %s", line, t->kind);
	else if (l->cause)
		line = arena_printf(v->arena, "%s --what-if %s", line,
		    shell_quote(arena_printf(v->arena, "%s:%s", t->kind,
		                    l->cause->condition),
		        v->arena));
	else
		cJSON_ArrayForEach(c, l->what_if) line = arena_printf(v->arena,
		    "%s --what-if %s", line,
		    cJSON_IsString(c) ? shell_quote(c->valuestring, v->arena)
		                      : "");
	put_command(f, line);
}

static void
put_card(FILE *f, const struct leftover *l, const struct page_view *v)
{
	html(f, "<div class=card><h3>%s %r ", v->target[l->target].text,
	    l->kind == CAUSE_REFUSED       ? "refused"
	        : l->kind == CAUSE_NO_RULE ? "has no rule for"
	                                   : "could run");
	if (l->kind == CAUSE_DEARER)
		html(f, "%o, but that is costlier", l->nnodes, "node");
	else
		put_ops(f, l->op, l->nops, 3);
	html(f, "</h3><p>");
	put_why(f, l);
	put_gain(f, l);
	html(f, " <span class=mut>Today %t of work", l->now);
	if (l->moves)
		html(f, " + %t of moves", l->moves);
	if (*l->why_not)
		html(f, "; not searched: %s", l->why_not);
	html(f, ".</span></p>");
	put_question(f, l, v);
	html(f, "</div>");
}

void
put_left(FILE *f, const struct page_facts *p)
{
	struct leftovers s = {.n = 0};
	uint32_t shown = 0;

	if (cJSON_IsArray(doc_field(p->v->result, "opportunities")))
		read_searched(&s, p->v);
	else
		read_counted(&s, p);
	if (s.n)
		qsort(s.item, s.n, sizeof *s.item, worth_more_first);
	html(f,
	    "<h2 id=left>Left on the table <small><a href=#refused>all causes"
	    "</a></small></h2>");
	for (uint32_t i = 0; i < s.n && shown < 3; i++) {
		if (!is_worth_a_card(&s.item[i], p))
			continue;
		put_card(f, &s.item[i], p->v);
		shown++;
	}
	if (shown)
		return;
	if (!p->v->has_others && !s.n)
		html(f,
		    "<p class=mut>Unknown: this result has no "
		    "<code>alternatives.json</code>.</p>");
	else if (s.searched)
		html(f,
		    "<p>Nothing above 1&nbsp;%%: %o searched again as if the "
		    "target took them.</p>",
		    s.searched, "group");
	else
		html(f, "<p>Nothing above 1&nbsp;%%.</p>");
}

static void
put_step(FILE *f, uint32_t *n, const char *what, const char *command)
{
	if ((*n)++ >= 3)
		return;
	html(f, "<div class=nx><span>%s</span>", what);
	put_command(f, command);
	html(f, "</div>");
}

static bool
has_simulated(const struct page_view *v)
{
	for (uint32_t i = 0; i < v->ncomposites; i++)
		if (strcmp(v->composite[i].source, "simulated") == 0)
			return true;
	return false;
}

static uint64_t
noisy_time(const struct page_view *v)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < v->ncomposites; i++)
		if (strcmp(v->composite[i].rests_on, "noisy") == 0)
			ns += v->composite[i].work;
	return ns;
}

void
put_next(FILE *f, const struct page_facts *p)
{
	const struct page_view *v = p->v;
	struct arena *a = v->arena;
	const struct assumed *w =
	    p->assumed.n && matters(&p->assumed.item[0], v)
	    ? &p->assumed.item[0]
	    : widest(&p->assumed);
	uint32_t n = 0;

	html(f, "<h2>Next</h2>");
	if (noisy_time(v) > v->total / 10)
		put_step(f, &n, "Count noisy prices",
		    "marq db invalidate --outcome=noisy");
	put_step(f, &n, "Check the outputs",
	    arena_printf(a, "marq run %s", v->folder));
	if (w && has_simulated(v))
		put_step(f, &n, arena_printf(a, "Pin down %s", w->parameter),
		    "marq calibrate measured.json");
	put_step(f, &n, "Ask of any node",
	    arena_printf(a, "marq explain %s --all", v->folder));
}
