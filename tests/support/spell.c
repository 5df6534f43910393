#include "tests/support/spell.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 128
#define ARGS 8

struct speller {
	struct maker *m;
	const char *start, *p;
	const char *name[NAMES];
	value_id value[NAMES];
	uint32_t n;
};

static _Noreturn void
lost(const struct speller *s, const char *expected)
{
	fprintf(
	    stderr, "'%s': %s expected at '%s'\n", s->start, expected, s->p);
	abort();
}

static bool
take(struct speller *s, char c)
{
	while (isspace((unsigned char)*s->p))
		s->p++;
	if (*s->p != c)
		return false;
	s->p++;
	return true;
}

static void
need(struct speller *s, char c)
{
	if (!take(s, c))
		lost(s, (char[]){c, '\0'});
}

static const char *
word(struct speller *s)
{
	const char *from;

	while (isspace((unsigned char)*s->p))
		s->p++;
	from = s->p;
	while (isalnum((unsigned char)*s->p) || *s->p == '_')
		s->p++;
	if (s->p == from)
		lost(s, "a word");
	return arena_strn(s->m->arena, from, (size_t)(s->p - from));
}

static int64_t
integer(struct speller *s)
{
	char *end;
	int64_t x = strtoll(s->p, &end, 10);

	if (end == s->p)
		lost(s, "an integer");
	s->p = end;
	return x;
}

/* Integers up to `last`; how many. */
static uint32_t
integers(struct speller *s, char between, char last, int64_t x[ARGS])
{
	uint32_t n = 0;

	if (take(s, last))
		return 0;
	do {
		x[n++] = integer(s);
	} while (n < ARGS && take(s, between));
	need(s, last);
	return n;
}

static void
keep(struct speller *s, const char *name, value_id v)
{
	if (s->n == NAMES)
		lost(s, "fewer names");
	s->name[s->n] = name;
	s->value[s->n++] = v;
}

static value_id
find(const struct speller *s, const char *name)
{
	for (uint32_t i = s->n; i-- > 0;)
		if (strcmp(s->name[i], name) == 0)
			return s->value[i];
	lost(s, name);
}

/* The kind of triangle a constant's word names. */
static bool
triangle(struct speller *s, enum triangle *what)
{
	static const char *const names[] = {[TRIANGLE_ADDED] = "causal",
	    [TRIANGLE_SEEN] = "seen",
	    [TRIANGLE_HIDDEN] = "hidden"};

	for (*what = TRIANGLE_ADDED; *what <= TRIANGLE_HIDDEN; ++*what) {
		const size_t n = strlen(names[*what]);

		if (strncmp(s->p, names[*what], n) == 0) {
			s->p += n;
			return true;
		}
	}
	return false;
}

/* #2x3, #2x3:1 or #2x3:causal */
static value_id
weights(struct speller *s)
{
	enum triangle what;
	int64_t dim[ARGS + 1] = {0};
	float low = 0.5f, high = 1.5f;
	uint32_t n = 0;
	char *end;

	do {
		dim[n++] = integer(s);
	} while (n < ARGS && take(s, 'x'));
	if (take(s, ':')) {
		if (triangle(s, &what))
			return make_triangle(s->m, dim, what);
		low = high = strtof(s->p, &end);
		s->p = end;
	}
	return make_constant(s->m, dim, low, high);
}

static value_id
argument(struct speller *s)
{
	int64_t x[ARGS + 1];
	char *end;
	float number;

	if (take(s, '#'))
		return weights(s);
	if (take(s, '[')) {
		x[integers(s, ',', ']', x)] = INTS_END;
		return make_ints(s->m, x);
	}
	if (*s->p == '_' && !isalnum((unsigned char)s->p[1])) {
		s->p++;
		return VALUE_NONE;
	}
	if (isdigit((unsigned char)*s->p) || *s->p == '-') {
		number = strtof(s->p, &end);
		s->p = end;
		return make_scalar(s->m, number);
	}
	return find(s, word(s));
}

static void
attribute(struct speller *s, struct attr *a)
{
	struct arena *arena = s->m->arena;
	int64_t x[ARGS];
	struct string_view text;
	float f;
	char *end;

	*a = (struct attr){.name = word(s), .n = 1};
	need(s, '=');
	if (take(s, '[')) {
		a->kind = ATTR_INTS;
		a->n = integers(s, ',', ']', x);
		a->ints = arena_copy(arena, x, sizeof x);
	} else if (take(s, '"')) {
		text.s = s->p;
		text.n = strcspn(s->p, "\"");
		s->p += text.n + 1;
		a->kind = ATTR_STRING;
		a->strings = arena_copy(arena, &text, sizeof text);
	} else {
		f = strtof(s->p, &end);
		x[0] = strtoll(s->p, NULL, 10);
		a->kind = memchr(s->p, '.', (size_t)(end - s->p)) ? ATTR_FLOAT
		                                                  : ATTR_INT;
		if (a->kind == ATTR_FLOAT)
			a->floats = arena_copy(arena, &f, sizeof f);
		else
			a->ints = arena_copy(arena, x, sizeof *x);
		s->p = end;
	}
}

static value_id
node(struct speller *s)
{
	const char *type = word(s);
	const enum op op = op_find(type, strlen(type));
	value_id in[ARGS + 1];
	struct attr attr[ARGS];
	uint32_t n = 0, nattrs = 0;

	if (op == OP_CUSTOM)
		lost(s, "an operator");
	need(s, '(');
	do {
		while (isspace((unsigned char)*s->p))
			s->p++;
		in[n++] = argument(s);
	} while (n < ARGS && take(s, ','));
	need(s, ')');
	in[n] = VALUE_LAST;
	if (take(s, '{')) {
		do {
			attribute(s, &attr[nattrs++]);
		} while (nattrs < ARGS && take(s, ','));
		need(s, '}');
	}
	return make_node(s->m, op, in,
	    arena_copy(s->m->arena, attr, nattrs * sizeof *attr), nattrs);
}

static void
statement(struct speller *s)
{
	const char *name[ARGS] = {word(s)};
	int64_t dim[ARGS + 1] = {0};
	uint32_t n = 1;

	if (take(s, '[')) {
		dim[integers(s, ',', ']', dim)] = 0;
		keep(s, name[0], make_input(s->m, dim));
		return;
	}
	while (n < ARGS && take(s, ','))
		name[n++] = word(s);
	need(s, '=');
	keep(s, name[0], take(s, '#') ? weights(s) : node(s));
	for (uint32_t i = 1; i < n; i++)
		keep(s, name[i], make_more(s->m));
}

value_id
spell(struct maker *m, const char *text)
{
	struct speller s = {.m = m, .start = text, .p = text};

	do {
		statement(&s);
	} while (take(&s, ';') && s.p[strspn(s.p, " \n\t")] != '\0');
	if (s.p[strspn(s.p, " \n\t")] != '\0')
		lost(&s, "';'");
	return s.value[s.n - 1];
}
