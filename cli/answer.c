#include "cli/answer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/units.h"
#include "ir/base/plural.h"

/* ---- fields ---- */

struct field
field_words(const char *name, bool text_only, const char *x)
{
	return (struct field){name, FIELD_WORDS, text_only, {.words = x}};
}

struct field
field_uint(const char *name, bool text_only, uint64_t x)
{
	return (struct field){name, FIELD_UINT, text_only, {.number = x}};
}

struct field
field_int(const char *name, bool text_only, int64_t x)
{
	return (struct field){name, FIELD_INT, text_only, {.whole = x}};
}

struct field
field_real(const char *name, bool text_only, double x)
{
	return (struct field){name, FIELD_REAL, text_only, {.real = x}};
}

struct field
field_bool(const char *name, bool text_only, bool x)
{
	return (struct field){name, FIELD_BOOL, text_only, {.truth = x}};
}

static bool
is_nothing(const struct field *f)
{
	switch (f->kind) {
	case FIELD_WORDS:
		return !f->is.words || !*f->is.words;
	case FIELD_REAL:
		return f->is.real == 0;
	case FIELD_BOOL:
		return !f->is.truth;
	default:
		return f->is.number == 0;
	}
}

/* ---- sentences ---- */

struct sentence {
	FILE *f; /* NULL: it is only checked */
	const struct field *field; /* [n] */
	uint32_t n;
};

static const struct field *
find(const struct sentence *s, const char *name, size_t n)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (strlen(s->field[i].name) == n
		    && memcmp(s->field[i].name, name, n) == 0)
			return &s->field[i];
	assert(false && "a sentence names its fields only");
	return NULL;
}

/* "[-+][width][.digits][letter]" */
struct spec {
	bool plus;
	int width, digits; /* digits < 0: not given */
	char letter;
};

static struct spec
read_spec(const char *s, const char *end)
{
	struct spec x = {.digits = -1};
	char *rest;

	x.plus = *s == '+';
	s += x.plus;
	if (s < end && (*s == '-' || (*s >= '0' && *s <= '9'))) {
		x.width = (int)strtol(s, &rest, 10);
		s = rest;
	}
	if (s < end && *s == '.') {
		x.digits = (int)strtol(s + 1, &rest, 10);
		s = rest;
	}
	if (s < end)
		x.letter = *s++;
	assert(s == end);
	return x;
}

static void
put_real(FILE *f, double x, struct spec p)
{
	int digits = p.digits < 0 ? 6 : p.digits;

	if (p.letter == 'f' && p.plus)
		fprintf(f, "%+*.*f", p.width, digits, x);
	else if (p.letter == 'f')
		fprintf(f, "%*.*f", p.width, digits, x);
	else
		fprintf(f, "%*.*g", p.width, digits, x);
}

static void
put_number(FILE *f, uint64_t x, struct spec p)
{
	char text[32];

	if (p.letter == 't')
		fputs(format_column(x, p.width, text, sizeof text), f);
	else if (p.letter == 'b')
		fprintf(f, "%*.*f MiB", p.width, p.digits < 0 ? 1 : p.digits,
		    (double)x / 1048576);
	else
		fprintf(f, "%*" PRIu64, p.width, x);
}

static void
put_field(const struct sentence *s, const struct field *f, struct spec p)
{
	if (!s->f)
		return;
	switch (f->kind) {
	case FIELD_WORDS:
		fprintf(s->f, "%*.*s", p.width, p.digits,
		    f->is.words ? f->is.words : "");
		break;
	case FIELD_REAL:
		put_real(s->f, f->is.real, p);
		break;
	case FIELD_BOOL:
		fprintf(s->f, "%*s", p.width, f->is.truth ? "true" : "false");
		break;
	case FIELD_INT:
		fprintf(s->f, "%*" PRId64, p.width, f->is.whole);
		break;
	case FIELD_UINT:
		put_number(s->f, f->is.number, p);
	}
}

/* The brace that closes the one before `s`. */
static const char *
closing(const char *s)
{
	unsigned depth = 1;

	for (;; s++) {
		assert(*s);
		depth += *s == '{';
		depth -= *s == '}';
		if (depth == 0)
			return s;
	}
}

static void put(const struct sentence *s, const char *text, const char *end);

/* "?name TEXT" and "!name TEXT" */
static void
put_choice(const struct sentence *s, const char *text, const char *end)
{
	size_t n = strcspn(text + 1, " ");
	const struct field *f = find(s, text + 1, n);
	struct sentence unsaid = *s;

	assert(text + 1 + n < end);
	if (is_nothing(f) != (*text == '!'))
		unsaid.f = NULL;
	put(&unsaid, text + n + 2, end);
}

/* What stands between braces. */
static void
put_place(const struct sentence *s, const char *text, const char *end)
{
	size_t n = strcspn(text, " :}");
	const struct field *f;

	if (*text == '?' || *text == '!') {
		put_choice(s, text, end);
	} else if (text[n] == ' ') {
		f = find(s, text + n + 1, (size_t)(end - text) - n - 1);
		assert(f->kind == FIELD_UINT);
		if (s->f && *plural(f->is.number))
			fwrite(text, 1, n, s->f);
	} else {
		f = find(s, text, n);
		put_field(
		    s, f, read_spec(text[n] == ':' ? text + n + 1 : end, end));
	}
}

static void
put(const struct sentence *s, const char *text, const char *end)
{
	while (text < end) {
		const char *open = memchr(text, '{', (size_t)(end - text));
		const char *upto = open ? open : end, *close;

		if (s->f)
			fwrite(text, 1, (size_t)(upto - text), s->f);
		if (!open)
			return;
		close = closing(open + 1);
		assert(close < end);
		put_place(s, open + 1, close);
		text = close + 1;
	}
}

/* ---- documents ---- */

void
answer_begin(struct answer *a, const struct cli *c, const char *schema)
{
	*a = (struct answer){c->format == OUT_JSON, .out = stdout};
	if (!a->is_json)
		return;
	json_init(&a->json, a->out, 2);
	json_object(&a->json);
	if (schema)
		json_key_str(&a->json, "schema", schema);
}

void
answer_end(struct answer *a)
{
	assert(!a->is_json || a->json.depth == 1);
	answer_close(a);
}

void
answer_list(struct answer *a, const char *key)
{
	if (!a->is_json)
		return;
	json_key(&a->json, key);
	json_array(&a->json);
}

void
answer_object(struct answer *a, const char *key)
{
	if (!a->is_json)
		return;
	json_key(&a->json, key);
	json_object(&a->json);
}

void
answer_row(struct answer *a)
{
	if (a->is_json)
		json_object(&a->json);
}

void
answer_close(struct answer *a)
{
	if (a->is_json)
		json_close(&a->json);
}

static void
write_field(struct json *j, const struct field *f)
{
	switch (f->kind) {
	case FIELD_WORDS:
		json_key_str(j, f->name, f->is.words);
		break;
	case FIELD_UINT:
		json_key_uint(j, f->name, f->is.number);
		break;
	case FIELD_INT:
		json_key_int(j, f->name, f->is.whole);
		break;
	case FIELD_REAL:
		json_key_real(j, f->name, f->is.real);
		break;
	case FIELD_BOOL:
		json_key_bool(j, f->name, f->is.truth);
	}
}

void
answer_fields(
    struct answer *a, const char *text, const struct field *f, uint32_t n)
{
	const struct sentence s = {a->is_json ? NULL : a->out, f, n};

	if (text)
		put(&s, text, text + strlen(text));
	for (uint32_t i = 0; a->is_json && i < n; i++)
		if (!f[i].text_only)
			write_field(&a->json, &f[i]);
}

void
answer_line(
    struct answer *a, const char *text, const struct field *f, uint32_t n)
{
	if (a->is_json)
		json_inline_object(&a->json);
	answer_fields(a, text, f, n);
	answer_close(a);
}

void
answer_words(
    struct answer *a, const char *key, const char *const *word, uint32_t n)
{
	answer_list(a, key);
	for (uint32_t i = 0; a->is_json && i < n; i++)
		json_str(&a->json, word[i]);
	answer_close(a);
}

void
answer_whole(const struct cli *c, const char *schema, const char *text,
    const struct field *f, uint32_t n)
{
	struct answer a;

	answer_begin(&a, c, schema);
	answer_fields(&a, text, f, n);
	answer_end(&a);
}
