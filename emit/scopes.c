#include "emit/scopes.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/map.h"

#define PREFIX "pkg.torch.onnx."

/* TUNING: beyond what any model nests or calls; deeper parts are left out, so
 * that a hostile name cannot make a path for each of its characters. */
#define MOST_PARTS 64u
#define MOST_FRAMES 64u
#define MOST_TEXT 200u

struct text_span {
	const char *s;
	size_t n;
};

struct scope_builder {
	struct arena *arena;
	struct source_scope *scope;
	struct source_line *line;
	uint32_t n, cap, nlines, line_cap;
	struct map by_path, by_line;
};

/* ---- the tree ---- */

/* The scope of a path; new ones are below `parent`. */
static uint32_t
scope_of(struct scope_builder *b, uint32_t parent, const char *path,
    const char *name, const char *class)
{
	uint32_t id = map_find(&b->by_path, path, strlen(path));

	if (id != MAP_NONE) {
		if (!*b->scope[id].class)
			b->scope[id].class = class;
		return id;
	}
	b->scope =
	    arena_grow(b->arena, b->scope, &b->cap, b->n + 1, sizeof *b->scope);
	b->scope[b->n] = (struct source_scope){parent, name, path, class};
	map_put(&b->by_path, path, strlen(path), b->n);
	return b->n++;
}

/* Below `parent`, by the last part of its path. */
static uint32_t
scope_below(struct scope_builder *b, uint32_t parent, const char *name)
{
	const char *above = b->scope[parent].path;
	const char *path =
	    *above ? arena_printf(b->arena, "%s.%s", above, name) : name;

	return scope_of(b, parent, path, name, "");
}

/* ---- torch's own words ---- */

static const char *
meta_of(const struct onnx_node *n, const char *key)
{
	for (uint32_t i = 0; i < n->nmeta; i++)
		if (strcmp(n->meta[i].key, key) == 0)
			return n->meta[i].value;
	return NULL;
}

/* The next string of a Python list, "['', 'm', \"it's\"]"; false at its end. */
static bool
next_string(const char **at, struct text_span *out)
{
	const char *s = *at + strcspn(*at, "'\"");
	char quote = *s;

	if (!quote)
		return false;
	out->s = ++s;
	while (*s && *s != quote)
		s += s[0] == '\\' && s[1] ? 2 : 1;
	out->n = (size_t)(s - out->s);
	*at = *s ? s + 1 : s;
	return *s != '\0';
}

/* All but the last, which is the operator. */
static uint32_t
strings_of(const char *list, struct text_span *out)
{
	uint32_t n = 0;
	struct text_span t;

	while (n < MOST_PARTS && next_string(&list, &t))
		out[n++] = t;
	return n ? n - 1 : 0;
}

static const char *
copy(struct scope_builder *b, struct text_span t)
{
	return arena_strn(b->arena, t.s, t.n);
}

/* A path below its parent's: what the parent's has in front is left out. */
static const char *
below(const char *path, const char *above)
{
	size_t n = strlen(above);

	return n && strncmp(path, above, n) == 0 && path[n] == '.'
	    ? path + n + 1
	    : path;
}

/* SCOPE_ROOT where torch says nothing. */
static uint32_t
torch_scope(struct scope_builder *b, const struct onnx_node *n)
{
	const char *names = meta_of(n, PREFIX "name_scopes");
	const char *classes = meta_of(n, PREFIX "class_hierarchy");
	struct text_span name[MOST_PARTS], class[MOST_PARTS];
	uint32_t count, nclasses, at = SCOPE_ROOT;

	if (!names)
		return SCOPE_ROOT;
	count = strings_of(names, name);
	nclasses = classes ? strings_of(classes, class) : 0;
	for (uint32_t i = 0; i < count; i++) {
		const char *path = copy(b, name[i]);

		at = scope_of(b, at, path, below(path, b->scope[at].path),
		    i < nclasses ? copy(b, class[i]) : "");
	}
	return at;
}

/* ---- names ---- */

/* The part up to a slash, and past it. */
static struct text_span
next_part(const char **at)
{
	struct text_span t = {*at, strcspn(*at, "/;")};

	*at += t.n;
	if (**at == '/')
		++*at;
	return t;
}

/* "/layer1/layer1.0/conv1/Conv": a part that begins with the one before it
 * takes its place; the last is the operator, unless all are modules. */
static uint32_t
named_scope(struct scope_builder *b, const char *name, bool all)
{
	uint32_t at = SCOPE_ROOT;
	const char *before = "";

	if (*name == '/')
		name++;
	for (uint32_t i = 0; i < MOST_PARTS; i++) {
		struct text_span part = next_part(&name);
		const char *whole;

		if ((!*name && !all) || *name == ';')
			break;
		if (!part.n) {
			if (!*name)
				break;
			continue;
		}
		whole = copy(b, part);
		at = scope_below(b, at, below(whole, before));
		before = whole;
	}
	return at;
}

/* ---- stack traces ---- */

static uint32_t
line_of(struct scope_builder *b, const struct source_line *l)
{
	const char *key = arena_printf(b->arena, "%s:%u", l->file, l->line);
	uint32_t id = map_find(&b->by_line, key, strlen(key));

	if (id != MAP_NONE)
		return id;
	b->line = arena_grow(
	    b->arena, b->line, &b->line_cap, b->nlines + 1, sizeof *b->line);
	b->line[b->nlines] = *l;
	map_put(&b->by_line, key, strlen(key), b->nlines);
	return b->nlines++;
}

/* `File "a.py", line 7, in forward`; what stands there is on the next line. */
static bool
read_frame(struct scope_builder *b, const char *s, struct source_line *out)
{
	const char *file = s + strlen("File \"");
	const char *end = strstr(file, "\", line "), *in;
	char *number_end;
	unsigned long line;
	struct text_span text = {"", 0};

	if (!end || memchr(file, '\n', (size_t)(end - file)))
		return false;
	in = end + strlen("\", line ");
	line = strtoul(in, &number_end, 10);
	if (number_end == in || line > INT32_MAX)
		return false;
	s = number_end;
	in = strncmp(s, ", in ", 5) == 0 ? s + 5 : s;
	s = in + strcspn(in, "\n");
	*out = (struct source_line){
	    .file = copy(b, (struct text_span){file, (size_t)(end - file)}),
	    .line = (uint32_t)line,
	    .function = copy(b, (struct text_span){in, (size_t)(s - in)}),
	};
	if (*s) {
		text.s = s + 1 + strspn(s + 1, " \t");
		text.n = strcspn(text.s, "\n");
	}
	if (strncmp(text.s, "File \"", 6) == 0)
		text.n = 0;
	out->text = copy(b,
	    (struct text_span){
	        text.s, text.n < MOST_TEXT ? text.n : MOST_TEXT});
	return true;
}

/* Frames of the framework are nobody's own. */
static bool
is_own(const struct source_line *l)
{
	return !strstr(l->file, "/site-packages/torch/")
	    && !strstr(l->file, "/dist-packages/torch/");
}

static void
read_lines(
    struct scope_builder *b, const struct onnx_node *n, struct node_source *out)
{
	const char *s = meta_of(n, PREFIX "stack_trace");
	uint32_t list[MOST_FRAMES];
	struct source_line l;

	out->line = LINE_NONE;
	while (s && (s = strstr(s, "File \"")) && out->nlines < MOST_FRAMES) {
		if (read_frame(b, s, &l)) {
			list[out->nlines] = line_of(b, &l);
			if (is_own(&l))
				out->line = list[out->nlines];
			out->nlines++;
		}
		s++;
	}
	if (out->nlines && out->line == LINE_NONE)
		out->line = list[out->nlines - 1];
	if (out->nlines)
		out->lines = (const uint32_t *)arena_copy(
		    b->arena, list, out->nlines * sizeof *list);
}

/* ---- all nodes ---- */

static uint32_t
scope_of_node(struct scope_builder *b, const struct onnx_node *n)
{
	uint32_t at = torch_scope(b, n);

	if (at == SCOPE_ROOT && !meta_of(n, PREFIX "name_scopes"))
		at = named_scope(b, n->name, false);
	if (at == SCOPE_ROOT && *n->path)
		at = named_scope(b, n->path, true);
	return at;
}

void
scopes_init(struct scopes *s, const struct onnx_nodes *table, struct arena *a)
{
	struct scope_builder b = {.arena = a};
	uint32_t n = table ? table->n : 0;
	struct node_source *of = arena_new(a, struct node_source, n);

	map_init(&b.by_path, a);
	map_init(&b.by_line, a);
	scope_of(&b, SCOPE_ROOT, "", "", "");
	for (uint32_t i = 0; i < n; i++) {
		of[i].scope = scope_of_node(&b, &table->node[i]);
		read_lines(&b, &table->node[i], &of[i]);
	}
	*s = (struct scopes){
	    .n = b.n,
	    .nlines = b.nlines,
	    .scope = b.scope,
	    .line = b.line,
	    .of = of,
	};
}
