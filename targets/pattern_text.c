#include "targets/pattern.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/buf.h"
#include "ir/base/map.h"

/* pattern := [name ':'] primary
 * primary := '*' | 'var' | 'const' | 'absent' | 'op' | '...'
 *          | '(' pattern { '|' pattern } ')'
 *          | Op ['?'] '(' [ pattern { ',' pattern } ] ')'
 *          | 'each' '(' pattern ')' | idiom '(' pattern ')' | number */

static const struct {
	const char *word;
	enum pattern_kind kind;
} leaves[] = {
    {"*", PATTERN_ANY},
    {"var", PATTERN_VARIABLE},
    {"const", PATTERN_CONSTANT},
    {"absent", PATTERN_ABSENT},
    {"...", PATTERN_REST},
    {"op", PATTERN_OPERATOR},
};
#define EACH_WORD "each"
#define NLEAVES (sizeof leaves / sizeof leaves[0])

/* ---- printing ---- */

/* A part of a pattern that several others may point to, for patterns are constant
 * data. */
struct pattern_part {
	uint32_t times;
	uint32_t number; /* what it is called; 0: nothing so far */
};

struct pattern_printer {
	struct buf text;
	struct map seen; /* a pointer to a part -> part */
	struct pattern_part *part; /* [nparts] */
	uint32_t nparts, capacity;
	const struct pattern **called; /* [ncalled] by number, from 1 on */
	uint32_t ncalled;
	struct arena *arena;
};

/* Is it longer than what it would be called? */
static bool
has_parts(const struct pattern *p)
{
	for (uint32_t i = 0; i < p->nargs; i++)
		if (p->arg[i]->nargs > 0)
			return true;
	return false;
}

/* Those that are worth a number, where they are pointed to: `at` is a pattern's. */
static void
count_parts(struct pattern_printer *t, const struct pattern *const *at)
{
	const struct pattern *p = *at;
	uint32_t part;

	if (!has_parts(p))
		return;
	part = map_add(&t->seen, at, sizeof *at, t->nparts);
	if (part < t->nparts) {
		t->part[part].times++;
		return;
	}
	t->part = arena_grow(
	    t->arena, t->part, &t->capacity, t->nparts + 1, sizeof *t->part);
	t->part[t->nparts++] = (struct pattern_part){.times = 1};
	for (uint32_t i = 0; i < p->nargs; i++)
		count_parts(t, &p->arg[i]);
}

static void print_into(struct pattern_printer *t, const struct pattern *p);

static void
print_args(
    struct pattern_printer *t, const struct pattern *p, const char *between)
{
	buf_str(&t->text, "(");
	for (uint32_t i = 0; i < p->nargs; i++) {
		if (i)
			buf_str(&t->text, between);
		print_into(t, p->arg[i]);
	}
	buf_str(&t->text, ")");
}

static void
print_whole(struct pattern_printer *t, const struct pattern *p)
{
	for (size_t i = 0; i < NLEAVES; i++)
		if (leaves[i].kind == p->kind)
			buf_str(&t->text, leaves[i].word);
	switch (p->kind) {
	case PATTERN_NODE:
	case PATTERN_MAYBE:
		buf_str(&t->text, op_get(p->op)->type);
		if (p->kind == PATTERN_MAYBE)
			buf_str(&t->text, "?");
		print_args(t, p, ", ");
		break;
	case PATTERN_EITHER:
		print_args(t, p, " | ");
		break;
	case PATTERN_AS:
		buf_printf(&t->text, "%s:", p->name);
		print_into(t, p->arg[0]);
		break;
	case PATTERN_NUMBER:
		buf_printf(&t->text, "%.17g", p->number);
		break;
	case PATTERN_EVERY:
		buf_str(&t->text, EACH_WORD);
		print_args(t, p, ", ");
		break;
	case PATTERN_IDIOM:
		buf_str(&t->text, idiom_name(p->idiom));
		print_args(t, p, ", ");
		break;
	default:
		break;
	}
}

/* Itself, or what it is called where it occurs again. */
static void
print_into(struct pattern_printer *t, const struct pattern *p)
{
	const uint32_t at = map_find(&t->seen, &p, sizeof p);

	if (at == MAP_NONE || t->part[at].times == 1) {
		print_whole(t, p);
		return;
	}
	if (t->part[at].number == 0) {
		t->called[t->ncalled] = p;
		t->part[at].number = ++t->ncalled;
	}
	buf_printf(&t->text, "[%u]", (unsigned)t->part[at].number);
}

const char *
pattern_print(const struct pattern *p, struct arena *a)
{
	struct pattern_printer t = {.arena = a};
	const char *text;

	buf_init(&t.text);
	map_init(&t.seen, a);
	count_parts(&t, &p);
	t.called = arena_new(a, const struct pattern *, t.nparts);
	print_whole(&t, p);
	for (uint32_t i = 0; i < t.ncalled; i++) {
		buf_printf(&t.text, "%s [%u] is ", i == 0 ? " where" : ",",
		    (unsigned)i + 1);
		print_whole(&t, t.called[i]);
	}
	text = arena_strn(a, t.text.data, t.text.n);
	buf_release(&t.text);
	return text;
}

/* ---- parsing ---- */

struct parser {
	const char *text, *at;
	struct arena *arena;
	struct err *err;
	uint32_t depth, nnodes, ncaptures;
};

static const struct pattern *
fault(struct parser *p, const char *what)
{
	err_set(p->err, ERR_INPUT, "pattern '%.120s': column %zu: %s", p->text,
	    (size_t)(p->at - p->text) + 1, what);
	return NULL;
}

static void
skip_blanks(struct parser *p)
{
	while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n')
		p->at++;
}

static bool
take(struct parser *p, char c)
{
	skip_blanks(p);
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

static size_t
word_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

static bool
is_word(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(s, word, n) == 0;
}

static const struct pattern *parse_pattern(struct parser *p);

/* Does it stand for all inputs that are left? */
static bool
is_last(const struct pattern *p)
{
	return p->kind == PATTERN_REST || p->kind == PATTERN_EVERY;
}

/* Arguments up to ')'; the '(' is taken. '\0' is between them where there is one
 * only: the text's end is never taken. */
static bool
parse_args(struct parser *p, struct pattern *to, char between)
{
	do {
		const struct pattern *arg;

		if (to->nargs == PATTERN_ARGS)
			return fault(p, "too many arguments") != NULL;
		arg = parse_pattern(p);
		if (!arg)
			return false;
		if (is_last(arg) && to->kind != PATTERN_NODE
		    && (to->kind != PATTERN_MAYBE || to->nargs == 0))
			return fault(p,
			           "'...' and 'each' stand for a node's "
			           "remaining inputs only")
			    != NULL;
		to->arg[to->nargs++] = arg;
		if (is_last(arg))
			break;
	} while (between != '\0' && take(p, between));
	if (!take(p, ')'))
		return fault(p, "')' expected") != NULL;
	return true;
}

/* One argument: what the idiom is over. */
static const struct pattern *
parse_idiom(struct parser *p, enum idiom idiom, size_t n)
{
	struct pattern *spelled = arena_new(p->arena, struct pattern, 1);

	if (++p->ncaptures > MATCH_CAPTURES)
		return fault(p, "too many names");
	spelled->kind = PATTERN_IDIOM;
	spelled->idiom = idiom;
	p->at += n;
	if (!take(p, '('))
		return fault(p, "'(' expected");
	if (!parse_args(p, spelled, '\0'))
		return NULL;
	return spelled;
}

/* What all inputs that are left are. */
static const struct pattern *
parse_each(struct parser *p)
{
	struct pattern *each = arena_new(p->arena, struct pattern, 1);

	each->kind = PATTERN_EVERY;
	p->at += strlen(EACH_WORD);
	if (!take(p, '('))
		return fault(p, "'(' expected");
	return parse_args(p, each, '\0') ? each : NULL;
}

static const struct pattern *
parse_number(struct parser *p)
{
	struct pattern *leaf = arena_new(p->arena, struct pattern, 1);
	char *end;

	leaf->kind = PATTERN_NUMBER;
	leaf->number = strtod(p->at, &end);
	if (!isfinite(leaf->number))
		return fault(p, "a finite number expected");
	p->at = end;
	return leaf;
}

static bool
at_number(const char *s)
{
	s += *s == '-';
	return isdigit((unsigned char)*s);
}

static const struct pattern *
parse_operator(struct parser *p, size_t n)
{
	struct pattern *node = arena_new(p->arena, struct pattern, 1);
	const enum idiom idiom = idiom_named(p->at, n);

	if (idiom != NIDIOMS)
		return parse_idiom(p, idiom, n);
	node->op = op_find(p->at, n);
	if (node->op == OP_CUSTOM)
		return fault(p, "no such operator or word");
	if (++p->nnodes > PATTERN_NODES)
		return fault(p, "too many operators");
	p->at += n;
	node->kind = *p->at == '?' ? PATTERN_MAYBE : PATTERN_NODE;
	p->at += node->kind == PATTERN_MAYBE;
	if (!take(p, '('))
		return fault(p, "'(' expected");
	if (node->kind == PATTERN_NODE && take(p, ')'))
		return node;
	return parse_args(p, node, ',') ? node : NULL;
}

static const struct pattern *
parse_either(struct parser *p)
{
	struct pattern *either = arena_new(p->arena, struct pattern, 1);

	either->kind = PATTERN_EITHER;
	if (!parse_args(p, either, '|'))
		return NULL;
	return either->nargs == 1 ? either->arg[0] : either;
}

static const struct pattern *
parse_leaf(struct parser *p, const char *word, enum pattern_kind kind)
{
	struct pattern *leaf = arena_new(p->arena, struct pattern, 1);

	p->at += strlen(word);
	leaf->kind = kind;
	return leaf;
}

static const struct pattern *
parse_capture(struct parser *p, size_t n)
{
	struct pattern *as = arena_new(p->arena, struct pattern, 1);

	if (++p->ncaptures > MATCH_CAPTURES)
		return fault(p, "too many names");
	as->kind = PATTERN_AS;
	as->name = arena_strn(p->arena, p->at, n);
	as->nargs = 1;
	p->at += n + 1;
	as->arg[0] = parse_pattern(p);
	if (as->arg[0] && is_last(as->arg[0]))
		return fault(p, "'...' and 'each' cannot be named");
	return as->arg[0] ? as : NULL;
}

static const struct pattern *
parse_primary(struct parser *p)
{
	size_t n;

	skip_blanks(p);
	n = word_length(p->at);
	if (n > 0 && p->at[n] == ':')
		return parse_capture(p, n);
	if (at_number(p->at))
		return parse_number(p);
	for (size_t i = 0; i < NLEAVES; i++) {
		const char *word = leaves[i].word;

		if (n ? is_word(p->at, n, word)
		      : strncmp(p->at, word, strlen(word)) == 0)
			return parse_leaf(p, word, leaves[i].kind);
	}
	if (is_word(p->at, n, EACH_WORD))
		return parse_each(p);
	if (n > 0)
		return parse_operator(p, n);
	if (take(p, '('))
		return parse_either(p);
	return fault(p, "pattern expected");
}

static const struct pattern *
parse_pattern(struct parser *p)
{
	const struct pattern *out;

	if (p->depth == PATTERN_DEPTH)
		return fault(p, "nested too deeply");
	p->depth++;
	out = parse_primary(p);
	p->depth--;
	return out;
}

const struct pattern *
pattern_parse(const char *text, struct arena *a, struct err *err)
{
	struct parser p = {.text = text, .at = text, .arena = a, .err = err};
	const struct pattern *out = parse_pattern(&p);

	if (!out)
		return NULL;
	skip_blanks(&p);
	if (*p.at != '\0')
		return fault(&p, "end expected");
	if (is_last(out))
		return fault(
		    &p, "'...' and 'each' are no patterns by themselves");
	return out;
}
