#include "ir/base/jsonlist.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "ir/base/buf.h"

/* ---- the extent of things; what is no JSON is refused by who parses it ---- */

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t
skip_blank(const char *s, size_t at, size_t end)
{
	while (at < end && is_blank(s[at]))
		at++;
	return at < end ? at : end;
}

/* One past the string that begins at `at`. */
static size_t
skip_string(const char *s, size_t at, size_t end)
{
	for (at++; at < end && s[at] != '"'; at++)
		at += s[at] == '\\';
	return at < end ? at + 1 : end;
}

static const bool is_mark[UCHAR_MAX + 1] = {
    [','] = true, ['['] = true, [']'] = true, ['{'] = true, ['}'] = true};

/* The comma or bracket behind what begins at `at`. */
static size_t
skip_value(const char *s, size_t at, size_t end)
{
	size_t depth = 0;

	while (at < end) {
		const char c = s[at];

		if (c == '"') {
			at = skip_string(s, at, end);
			continue;
		}
		if (!is_mark[(unsigned char)c]) {
			at++;
			continue;
		}
		if (depth == 0 && (c == ',' || c == ']' || c == '}'))
			break;
		if (c == '[' || c == '{')
			depth++;
		if (c == ']' || c == '}')
			depth--;
		at++;
	}
	return at;
}

/* ---- the document ---- */

static struct jsonlist *
find(struct jsonlist *list, uint32_t n, const char *key, size_t nkey)
{
	for (uint32_t i = 0; i < n; i++)
		if (strlen(list[i].key) == nkey
		    && memcmp(list[i].key, key, nkey) == 0)
			return &list[i];
	return NULL;
}

/* A member from its key on; what stays in the tree is added to b. The end. */
static size_t
take_member(struct jsonlist *list, uint32_t n, const char *s, size_t at,
    size_t end, struct buf *b)
{
	const size_t key = at, colon = skip_string(s, key, end);
	const size_t value = skip_blank(s, skip_blank(s, colon, end) + 1, end);
	const size_t behind = skip_value(s, value, end);
	struct jsonlist *l = colon - key < 2
	    ? NULL
	    : find(list, n, s + key + 1, colon - key - 2);
	size_t last = behind;

	while (last > value && is_blank(s[last - 1]))
		last--;
	if (!l || l->apart || last < value + 2 || s[value] != '['
	    || s[last - 1] != ']') {
		buf_add(b, s + key, behind - key);
		return behind;
	}
	l->apart = true;
	l->at = value + 1;
	l->end = last - 1;
	buf_add(b, s + key, value - key);
	buf_str(b, "[]");
	return behind;
}

/* The document with empty lists. */
static void
take_lists(
    struct jsonlist *list, uint32_t n, const char *s, size_t end, struct buf *b)
{
	size_t at = skip_blank(s, 0, end);

	if (at < end && s[at] == '{') {
		do {
			buf_add(b, s + at, 1); /* the brace, or a comma */
			at = skip_blank(s, at + 1, end);
			if (at < end && s[at] == '"')
				at = take_member(list, n, s, at, end, b);
		} while (at < end && s[at] == ',');
	}
	buf_add(b, s + at, end - at);
}

struct cJSON *
jsonlist_parse(struct jsonlist *list, uint32_t n, const char *text,
    size_t nbytes, const char *name, struct err *err)
{
	struct cJSON *doc;
	struct buf b;

	if (n == 0)
		return jsonin_parse(text, nbytes, name, err);
	buf_init(&b);
	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct jsonlist){.key = list[i].key, .text = text};
	take_lists(list, n, text, nbytes, &b);
	doc = jsonin_parse(b.data, b.n, name, err);
	buf_release(&b);
	if (doc)
		return doc;
	/* again, for the place of what is wrong */
	err_clear(err);
	doc = jsonin_parse(text, nbytes, name, err);
	for (uint32_t i = 0; i < n; i++)
		list[i].apart = false;
	return doc;
}

/* ---- items ---- */

/* The comma behind what begins at `at`, or the end of the list. */
static size_t
item_end(const struct jsonlist *l, size_t at)
{
	at = skip_value(l->text, at, l->end);
	return at < l->end && l->text[at] == ',' ? at : l->end;
}

bool
jsonlist_begin(
    struct jsonlist *l, const struct cJSON *doc, uint32_t *n, struct err *err)
{
	const struct cJSON *array;

	if (!jsonin_array(doc, l->key, &array, err))
		return false;
	l->next = array->child;
	*n = (uint32_t)cJSON_GetArraySize(array);
	if (!l->apart)
		return true;
	if (skip_blank(l->text, l->at, l->end) == l->end)
		l->at = l->end + 1;
	for (size_t at = l->at; at <= l->end; (*n)++)
		at = item_end(l, at) + 1;
	return true;
}

bool
jsonlist_next(struct jsonlist *l, const struct cJSON **item, struct err *err)
{
	const size_t from = l->at;

	jsonlist_close(l);
	*item = l->next;
	if (l->next)
		l->next = l->next->next;
	if (!l->apart || from > l->end)
		return true;
	l->at = item_end(l, from);
	l->item = jsonin_parse_part(l->text, from, l->at, err);
	l->at++;
	*item = l->item;
	return l->item != NULL;
}

void
jsonlist_close(struct jsonlist *l)
{
	jsonin_close(l->item);
	l->item = NULL;
}
