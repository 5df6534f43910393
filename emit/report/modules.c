/* The author's modules as a tree, and lines of Python: what each costs, and why
 * it is not on the accelerator. A fused composite counts where its heaviest
 * operator was written. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "emit/report/sections.h"
#include "emit/report/text.h"

/* TUNING: more rows are the page's weight; `explain --by module` has all */
#define MOST_ROWS 1500u
/* TUNING: causes beyond these are too rare to be named beside a module */
#define NAMED_CAUSES 32u
#define MOST_LINES 40u
/* TUNING: this many alike in a row become one */
#define LEAST_ALIKE 3u
/* Deeper trees are cut: nobody writes them, and a page must not recurse on */
#define DEEPEST 40u

struct module {
	uint64_t all, own; /* with what is inside, and without */
	uint64_t *work; /* [ntargets + 1], the last one moves and launches */
	uint64_t *held; /* [NAMED_CAUSES] work not on the accelerator */
	uint32_t nnodes, nkids;
};

struct module_tree {
	FILE *f;
	const struct page_facts *p;
	const struct page_view *v;
	struct module *module; /* by scope */
	struct page_index kids; /* scope -> scopes, in order */
	uint32_t rows;
};

static void
count_composite(struct module_tree *t, uint32_t id)
{
	const struct page_view *v = t->v;
	const struct page_composite *c = &v->composite[id];
	uint32_t acc = t->p->accelerator, cause = PAGE_NONE;
	struct module *m;

	if (c->anchor == PAGE_NONE)
		return;
	m = &t->module[v->node[c->anchor].scope];
	m->own += composite_all(c);
	m->work[c->target] += c->work;
	m->work[v->ntargets] += c->moves + c->launch;
	m->nnodes += composite_nodes(v, id);
	if (acc != PAGE_NONE && c->target != acc)
		cause = t->p->causes[acc].of[c->anchor];
	if (cause < NAMED_CAUSES)
		m->held[cause] += c->work;
}

static void
add_module(struct module *to, const struct module *from, uint32_t ntargets)
{
	to->all += from->all;
	to->nnodes += from->nnodes;
	for (uint32_t i = 0; i <= ntargets; i++)
		to->work[i] += from->work[i];
	for (uint32_t i = 0; i < NAMED_CAUSES; i++)
		to->held[i] += from->held[i];
}

static struct module
empty_module(const struct page_view *v)
{
	return (struct module){
	    .work = arena_new(v->arena, uint64_t, v->ntargets + 1u),
	    .held = arena_new(v->arena, uint64_t, NAMED_CAUSES)};
}

static void
sum_modules(struct module_tree *t)
{
	const struct page_view *v = t->v;
	uint32_t *parent = arena_new(v->arena, uint32_t, v->nscopes);

	t->module = arena_new(v->arena, struct module, v->nscopes);
	for (uint32_t s = 0; s < v->nscopes; s++)
		t->module[s] = empty_module(v);
	for (uint32_t c = 0; c < v->ncomposites; c++)
		count_composite(t, c);
	for (uint32_t s = v->nscopes; s-- > 0;) {
		struct module *m = &t->module[s];

		m->all += m->own;
		parent[s] = PAGE_NONE;
		if (s == 0 || m->nnodes == 0)
			continue;
		parent[s] = v->scope[s].parent;
		add_module(&t->module[parent[s]], m, v->ntargets);
		t->module[parent[s]].nkids++;
	}
	t->kids = page_index_new(v->arena, parent, v->nscopes, v->nscopes);
}

/* The two causes that keep most of a module from the accelerator. */
static void
put_held(const struct module_tree *t, const struct module *m)
{
	uint32_t first = PAGE_NONE, second = PAGE_NONE;

	for (uint32_t i = 0; i < NAMED_CAUSES; i++) {
		if (m->held[i] == 0)
			continue;
		if (first == PAGE_NONE || m->held[i] > m->held[first]) {
			second = first;
			first = i;
		} else if (second == PAGE_NONE
		    || m->held[i] > m->held[second]) {
			second = i;
		}
	}
	for (int k = 0; k < 2; k++) {
		uint32_t i = k ? second : first;

		if (i == PAGE_NONE)
			continue;
		html(t->f, "%r%p ", k ? "; " : "", m->held[i], m->all);
		put_cause(t->f, &t->p->causes[t->p->accelerator].item[i]);
	}
}

/* "pkg.module.Class": the class. */
static const char *
short_class(const char *class)
{
	const char *dot = strrchr(class, '.');

	return dot ? dot + 1 : class;
}

/* One row: name, class, where it runs, how long, why not elsewhere. */
static void
put_row(struct module_tree *t, const struct module *m, const char *name,
    const char *class, uint32_t depth)
{
	const struct page_view *v = t->v;
	FILE *f = t->f;

	t->rows++;
	fprintf(f,
	    "<span class=mrow><span class=mn style=\"padding-left:%upx\"><b>",
	    depth * 14);
	html(f, "%s</b> <small class=mut>%s</small></span><span class=mt>",
	    name, short_class(class));
	for (uint32_t i = 0; i < v->ntargets; i++)
		if (m->work[i])
			html(f, "%i<span class=vh>%s </span>",
			    v->target[i].kind, v->target[i].text);
	html(f, "</span><span class=mb aria-hidden=true>");
	for (uint32_t i = 0; i <= v->ntargets; i++)
		if (m->work[i])
			html(f, "<i class=\"b k-%k\" style=\"width:%w\"></i>",
			    i < v->ntargets ? v->target[i].kind : "conv",
			    m->work[i], v->total);
	html(f,
	    "</span><span class=mv>%t</span><span class=mv>%p</span><span "
	    "class=\"mv mut\">",
	    m->all, m->all, v->total);
	if (m->own)
		html(f, "%t", m->own);
	else
		html(f, "–");
	html(f, "</span><span class=\"mw mut\">");
	put_held(t, m);
	html(f, "</span></span>");
}

/* The length of a name without the number at its end. */
static size_t
stem_length(const char *s)
{
	size_t n = strlen(s);

	while (n > 0 && isdigit((unsigned char)s[n - 1]))
		n--;
	return n;
}

/* Numbered alike, as large, and as expensive within a quarter. */
static bool
is_alike(const struct module_tree *t, uint32_t a, uint32_t b)
{
	const struct module *x = &t->module[a], *y = &t->module[b];
	const char *p = t->v->scope[a].name, *q = t->v->scope[b].name;
	uint64_t less = x->all < y->all ? x->all : y->all;
	uint64_t more = x->all < y->all ? y->all : x->all;

	return stem_length(p) < strlen(p) && stem_length(q) < strlen(q)
	    && stem_length(p) == stem_length(q)
	    && strncmp(p, q, stem_length(p)) == 0 && x->nnodes == y->nnodes
	    && x->nkids == y->nkids && more - less <= more / 4;
}

static void put_module(struct module_tree *t, uint32_t scope, uint32_t depth);

/* Scopes list[0 .. n - 1] as one row that opens. */
static void
put_alike(
    struct module_tree *t, const uint32_t *list, uint32_t n, uint32_t depth)
{
	const struct page_view *v = t->v;
	struct module sum = empty_module(v);
	struct arena_mark mark = arena_mark(v->arena);
	const char *name = arena_printf(v->arena, "%s … %s  ×%u",
	    v->scope[list[0]].name, v->scope[list[n - 1]].name, n);

	for (uint32_t i = 0; i < n; i++)
		add_module(&sum, &t->module[list[i]], v->ntargets);
	html(t->f, "<details><summary>");
	put_row(t, &sum, name, v->scope[list[0]].class, depth);
	html(t->f, "</summary>");
	arena_back(v->arena, mark);
	for (uint32_t i = 0; i < n; i++)
		put_module(t, list[i], depth + 1);
	html(t->f, "</details>");
}

static void
put_kids(struct module_tree *t, uint32_t scope, uint32_t depth)
{
	const uint32_t *kid = &t->kids.item[t->kids.start[scope]];
	uint32_t n = t->kids.start[scope + 1] - t->kids.start[scope], to;

	for (uint32_t i = 0; i < n; i = to) {
		to = i + 1;
		while (to < n && is_alike(t, kid[i], kid[to]))
			to++;
		if (to - i >= LEAST_ALIKE) {
			put_alike(t, &kid[i], to - i, depth);
			continue;
		}
		for (uint32_t k = i; k < to; k++)
			put_module(t, kid[k], depth);
	}
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as DEEPEST
static void
put_module(struct module_tree *t, uint32_t scope, uint32_t depth)
{
	const struct page_scope *s = &t->v->scope[scope];
	const struct module *m = &t->module[scope];
	bool leaf = m->nkids == 0 || depth >= DEEPEST;
	bool open = depth < 2 || (m->all > t->v->total / 4 && depth < 4);

	if (t->rows >= MOST_ROWS)
		return;
	html(t->f,
	    leaf ? "<div class=leaf id=\"module-%s\">"
	         : "<details id=\"module-%s\"%r><summary>",
	    s->path, open ? " open" : "");
	put_row(t, m, scope ? s->name : "whole model", s->class, depth);
	if (!leaf) {
		html(t->f, "</summary>");
		put_kids(t, scope, depth + 1);
	}
	html(t->f, "%r", leaf ? "</div>" : "</details>");
}

static void
put_unknown(FILE *f)
{
	html(f,
	    "<section id=modules><h2>Modules</h2><p>This file does not say "
	    "which module a node comes from. Export it with <code>"
	    "torch.onnx.export(..., dynamo=True)</code> and every row here "
	    "names its module and Python line. Until then: <a "
	    "href=#operators>by operator</a>, <a href=#regions>by region"
	    "</a>.</p></section>");
}

void
put_modules(FILE *f, const struct page_facts *p)
{
	struct module_tree t = {.f = f, .p = p, .v = p->v};

	if (!p->v->has_scopes) {
		put_unknown(f);
		return;
	}
	sum_modules(&t);
	html(f,
	    "<section id=modules><h2>Modules</h2><p>What each costs with all "
	    "that is inside it (moves and launches counted at the module that "
	    "waits for them), and by itself. A fused composite counts where "
	    "its heaviest operator was written.</p><div class=mtree "
	    "tabindex=0 role=region aria-label=Modules><div class=\"mrow "
	    "mhead\"><span class=mn>module</span><span class=mt>on</span>"
	    "<span class=mb></span><span class=mv>cost</span><span class=mv>"
	    "share</span><span class=mv>itself</span><span class=mw>");
	if (p->accelerator != PAGE_NONE && p->v->has_others)
		html(f, "why not on %s", p->v->target[p->accelerator].text);
	html(f, "</span></div>");
	put_module(&t, 0, 0);
	html(f, "</div>");
	if (t.rows >= MOST_ROWS)
		html(f,
		    "<p class=mut>Cut at %n modules; <code>marq explain %s "
		    "--by module</code> has all.</p>",
		    MOST_ROWS, p->v->folder);
	html(f, "</section>");
}

struct line_cost {
	uint32_t line, nnodes;
	uint64_t ns;
	uint64_t targets; /* a bit each */
};

static int
costlier_line_first(const void *a, const void *b)
{
	const struct line_cost *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static uint32_t
sum_lines(struct line_cost *sum, const struct page_view *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->nlines; i++)
		sum[i].line = i;
	for (uint32_t i = 0; i < v->ncomposites; i++) {
		const struct page_composite *c = &v->composite[i];
		uint32_t line = c->anchor == PAGE_NONE
		    ? PAGE_NONE
		    : v->node[c->anchor].line;

		if (line == PAGE_NONE)
			continue;
		sum[line].ns += composite_all(c);
		sum[line].nnodes += composite_nodes(v, i);
		sum[line].targets |= UINT64_C(1) << (c->target & 63);
	}
	qsort(sum, v->nlines, sizeof *sum, costlier_line_first);
	while (n < v->nlines && sum[n].nnodes)
		n++;
	return n;
}

/* What a package is below, or the file. */
static const char *
short_path(const char *file)
{
	static const char packages[] = "site-packages/";
	const char *at = strstr(file, packages), *slash = strrchr(file, '/');

	return at ? at + strlen(packages) : slash ? slash + 1 : file;
}

static void
put_line(FILE *f, const struct page_view *v, const struct line_cost *c)
{
	const struct page_line *l = &v->line[c->line];
	char number[16];

	snprintf(number, sizeof number, "%u", l->line);
	html(f,
	    "<tr id=\"line-%s-%s\"><td class=\"l line\"><code>%s:%s</code><td "
	    "class=l><code>%s</code><td class=\"l line\">",
	    short_path(l->file), number, short_path(l->file), number, l->text);
	for (uint32_t t = 0; t < v->ntargets && t < 64; t++)
		if (c->targets >> t & 1)
			html(f, "%i%s ", v->target[t].kind, v->target[t].kind);
	html(f, "<td>%n<td>%t<td>%p", c->nnodes, c->ns, c->ns, v->total);
}

void
put_lines(FILE *f, const struct page_facts *p)
{
	const struct page_view *v = p->v;
	struct line_cost *sum =
	    arena_new(v->arena, struct line_cost, v->nlines);
	uint32_t n;

	if (!v->has_lines)
		return;
	n = sum_lines(sum, v);
	html(f,
	    "<section id=lines><h2>Python lines <small>the author's, not the "
	    "framework's; %o cost%r something</small></h2><div class=scroll "
	    "tabindex=0 role=region aria-label=\"Python lines\"><table "
	    "class=num><thead><tr><th scope=col class=l>line<th scope=col "
	    "class=l>source<th scope=col class=l>on<th scope=col>nodes<th "
	    "scope=col>cost<th scope=col>share</thead><tbody>",
	    n, "line", n == 1 ? "s" : "");
	for (uint32_t i = 0; i < n && i < MOST_LINES; i++)
		put_line(f, v, &sum[i]);
	html(f, "</tbody></table></div>");
	if (n > MOST_LINES)
		html(f,
		    "<p class=mut>The costliest; <code>marq explain %s --by "
		    "line</code> has all.</p>",
		    v->folder);
	html(f, "</section>");
}
