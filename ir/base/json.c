#define _DEFAULT_SOURCE /* fwrite_unlocked */
#include "ir/base/json.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/json_tree.h"
#include "ir/base/plain.h"
#include "ir/base/utf8.h"

static bool
breaks_lines(const struct json *j)
{
	return j->indent && (j->inline_at == 0 || j->depth < j->inline_at);
}

/* TUNING: what is put together before it is written: documents are keys and numbers
 * for the most part, and a call for each mark took longer than the rest. */
#define LEAD 64
#define SHORT 64

/* Nobody else writes to the stream meanwhile. */
static void
put(struct json *j, const char *s, size_t n)
{
	fwrite_unlocked(s, 1, n, j->out);
}

/* A line break, with what is in text[n] before it; the length of what is left there. */
static size_t
break_line(struct json *j, char text[LEAD], size_t n)
{
	size_t blanks = (size_t)j->depth * j->indent;

	text[n++] = '\n';
	while (blanks > 0) {
		const size_t now = blanks < LEAD - n ? blanks : LEAD - n;

		memset(text + n, ' ', now);
		n += now;
		blanks -= now;
		if (n == LEAD) {
			put(j, text, n);
			n = 0;
		}
	}
	return n;
}

/* What goes before a value or key: comma, line break; all or the rest of it is in
 * text[0 .. returned). */
static size_t
lead(struct json *j, char text[LEAD])
{
	size_t n = 0;

	if (j->after_key) {
		j->after_key = false;
		return 0;
	}
	if (j->depth == 0)
		return 0;
	if (j->level[j->depth - 1].filled) {
		text[n++] = ',';
		if (j->indent && !breaks_lines(j))
			text[n++] = ' ';
	}
	j->level[j->depth - 1].filled = true;
	return breaks_lines(j) ? break_line(j, text, n) : n;
}

/* The same and a short text that stands for itself. */
static void
put_after(struct json *j, const char *s, size_t n)
{
	char text[LEAD + SHORT];
	const size_t at = lead(j, text);

	assert(n <= SHORT);
	memcpy(text + at, s, n);
	put(j, text, at + n);
}

/* A value follows: goes it into a tree? */
static bool
in_tree(struct json *j)
{
	if (j->tree)
		j->after_key = false;
	return j->tree != NULL;
}

static void
open_level(struct json *j, bool object)
{
	if (in_tree(j))
		json_tree_open(j->tree, object);
	else
		put_after(j, object ? "{" : "[", 1);
	assert(j->depth < JSON_DEPTH);
	j->level[j->depth].object = object;
	j->level[j->depth].filled = false;
	j->depth++;
}

/* A control character (at most three bytes) by its number. */
static void
write_code(FILE *out, const char *s, size_t n)
{
	unsigned c = (unsigned char)s[0];

	if (n > 1)
		c &= n == 2 ? 0x1fu : 0xfu;
	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3fu);
	fprintf(out, "\\u%04x", c);
}

/* How many characters stand for themselves in any text. */
static size_t
plain_run(const char *s, size_t n)
{
	size_t i = 0;

	while (
	    i < n && s[i] >= ' ' && s[i] < 0x7f && s[i] != '"' && s[i] != '\\')
		i++;
	return i;
}

static void
write_escaped(FILE *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		const size_t run = plain_run(s + i, n - i);
		unsigned char c;
		size_t len;

		fwrite(s + i, 1, run, out);
		i += run;
		if (i == n)
			break;
		c = (unsigned char)s[i];
		len = utf8_length(s + i, n - i);
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c == '\n')
			fputs("\\n", out);
		else if (c == '\t')
			fputs("\\t", out);
		else if (len && plain_is_control(s + i, len))
			write_code(out, s + i, len);
		else if (len == 0)
			fputs("\xef\xbf\xbd", out);
		else
			fwrite(s + i, 1, len, out);
		i += len ? len : 1;
	}
}

/* A text in quotes, and what is behind it. */
static void
put_quoted(struct json *j, const char *s, size_t n, const char *behind)
{
	const size_t nbehind = strlen(behind);
	char text[LEAD + SHORT + 8];
	size_t at = lead(j, text);

	assert(1 + nbehind <= 8);
	text[at++] = '"';
	if (n <= SHORT && plain_run(s, n) == n) {
		memcpy(text + at, s, n);
		at += n;
	} else {
		put(j, text, at);
		at = 0;
		write_escaped(j->out, s, n);
	}
	for (size_t i = 0; i < nbehind; i++)
		text[at++] = behind[i];
	put(j, text, at);
}

void
json_init(struct json *j, FILE *out, unsigned indent)
{
	*j = (struct json){.out = out, .indent = indent};
}

void
json_init_tree(struct json *j, struct json_tree *tree)
{
	*j = (struct json){.tree = tree};
}

void
json_object(struct json *j)
{
	open_level(j, true);
}

void
json_array(struct json *j)
{
	open_level(j, false);
}

void
json_inline_array(struct json *j)
{
	open_level(j, false);
	if (j->inline_at == 0)
		j->inline_at = (unsigned char)j->depth;
}

void
json_inline_object(struct json *j)
{
	open_level(j, true);
	if (j->inline_at == 0)
		j->inline_at = (unsigned char)j->depth;
}

void
json_close(struct json *j)
{
	char text[LEAD];
	bool broken, filled, object;

	assert(j->depth > 0 && !j->after_key);
	broken = breaks_lines(j);
	filled = j->level[j->depth - 1].filled;
	object = j->level[j->depth - 1].object;
	if (j->inline_at == j->depth)
		j->inline_at = 0;
	j->depth--;
	if (j->tree) {
		json_tree_close(j->tree);
		return;
	}
	if (filled && broken)
		put(j, text, break_line(j, text, 0));
	put(j, object ? "}\n" : "]\n", j->depth == 0 ? 2 : 1);
}

void
json_key_n(struct json *j, const char *key, size_t n)
{
	assert(j->depth > 0 && j->level[j->depth - 1].object && !j->after_key);
	if (j->tree)
		json_tree_key(j->tree, key, n);
	else
		put_quoted(j, key, n, j->indent ? "\": " : "\":");
	j->after_key = true;
}

void
json_key(struct json *j, const char *key)
{
	json_key_n(j, key, strlen(key));
}

void
json_strn(struct json *j, const char *s, size_t n)
{
	if (in_tree(j))
		json_tree_text(j->tree, s, n);
	else
		put_quoted(j, s, n, "\"");
}

void
json_str(struct json *j, const char *s)
{
	if (s)
		json_strn(j, s, strlen(s));
	else
		json_null(j);
}

void
json_strf(struct json *j, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	json_str(j, text);
}

/* A printf is slow to begin. */
static void
put_digits(struct json *j, bool negative, uint64_t x)
{
	char text[21];
	size_t at = sizeof text;

	if (in_tree(j)) {
		json_tree_whole(j->tree, negative, x);
		return;
	}
	do
		text[--at] = (char)('0' + x % 10);
	while ((x /= 10) > 0);
	if (negative)
		text[--at] = '-';
	put_after(j, text + at, sizeof text - at);
}

void
json_int(struct json *j, int64_t x)
{
	put_digits(j, x < 0, x < 0 ? -(uint64_t)x : (uint64_t)x);
}

void
json_uint(struct json *j, uint64_t x)
{
	put_digits(j, false, x);
}

void
json_real(struct json *j, double x)
{
	if (!isfinite(x)) {
		json_null(j);
		return;
	}
	if (in_tree(j)) {
		json_tree_number(j->tree, x);
		return;
	}
	put_after(j, "", 0);
	fprintf(j->out, "%.17g", x);
}

void
json_bool(struct json *j, bool x)
{
	if (in_tree(j))
		json_tree_bool(j->tree, x);
	else
		put_after(j, x ? "true" : "false", x ? 4 : 5);
}

void
json_null(struct json *j)
{
	if (in_tree(j))
		json_tree_null(j->tree);
	else
		put_after(j, "null", 4);
}

/* The text of at most 3 bytes. */
static void
base64_quad(const unsigned char *p, size_t n, char quad[4])
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                            "abcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t w = (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0)
	    | (n > 2 ? p[2] : 0);

	quad[0] = digit[w >> 18];
	quad[1] = digit[w >> 12 & 63];
	quad[2] = n > 1 ? digit[w >> 6 & 63] : '=';
	quad[3] = n > 2 ? digit[w & 63] : '=';
}

void
json_base64_open(struct json *j)
{
	assert(!j->tree);
	put_after(j, "\"", 1);
}

void
json_base64_more(struct json *j, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	char text[4096];
	size_t used = 0;

	for (; n > 0; n -= n < 3 ? n : 3, p += 3) {
		base64_quad(p, n, text + used);
		used += 4;
		if (used == sizeof text) {
			fwrite(text, 1, used, j->out);
			used = 0;
		}
	}
	fwrite(text, 1, used, j->out);
}

void
json_base64_close(struct json *j)
{
	putc('"', j->out);
}

void
json_base64(struct json *j, const void *bytes, size_t n)
{
	json_base64_open(j);
	json_base64_more(j, bytes, n);
	json_base64_close(j);
}

void
json_key_str(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_str(j, s);
}

void
json_key_int(struct json *j, const char *key, int64_t x)
{
	json_key(j, key);
	json_int(j, x);
}

void
json_key_uint(struct json *j, const char *key, uint64_t x)
{
	json_key(j, key);
	json_uint(j, x);
}

void
json_key_real(struct json *j, const char *key, double x)
{
	json_key(j, key);
	json_real(j, x);
}

void
json_key_bool(struct json *j, const char *key, bool x)
{
	json_key(j, key);
	json_bool(j, x);
}

void
json_key_facts(struct json *j, const char *key, const char *lines)
{
	json_key(j, key);
	json_object(j);
	while (*lines) {
		size_t n = strcspn(lines, "\n"), name = strcspn(lines, "=\n");

		if (name < n) {
			json_key_n(j, lines, name);
			json_strn(j, lines + name + 1, n - name - 1);
		}
		lines += n + (lines[n] == '\n');
	}
	json_close(j);
}
