#include "ir/base/json_tree.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/jsonin.h"
#include "ir/base/utf8.h"

struct json_tree_level {
	cJSON *item;
	struct json_tree_level *around;
};

void
json_tree_init(struct json_tree *t, struct arena *a)
{
	*t = (struct json_tree){.a = a};
}

/* cJSON's lists: the first item knows the last one. */
static void
append(cJSON *list, cJSON *item)
{
	cJSON *first = list->child;

	if (!first) {
		list->child = item;
		item->prev = item;
		return;
	}
	item->prev = first->prev;
	first->prev->next = item;
	first->prev = item;
}

static cJSON *
add(struct json_tree *t, int type)
{
	cJSON *item = arena_new(t->a, cJSON, 1);

	item->type = type;
	item->string = t->key;
	t->key = NULL;
	if (t->open)
		append(t->open, item);
	else
		t->root = item;
	return item;
}

void
json_tree_open(struct json_tree *t, bool object)
{
	struct json_tree_level *l = arena_new(t->a, struct json_tree_level, 1);

	l->item = add(t, object ? cJSON_Object : cJSON_Array);
	l->around = t->level;
	t->level = l;
	t->open = l->item;
}

void
json_tree_close(struct json_tree *t)
{
	assert(t->level);
	t->level = t->level->around;
	t->open = t->level ? t->level->item : NULL;
}

/* So many bytes of the text are what it says. */
static size_t
valid_run(const char *s, size_t n)
{
	size_t i = 0, len;

	while (i < n && (len = utf8_length(s + i, n - i)) > 0)
		i += len;
	return i;
}

static char *
copy(struct json_tree *t, const char *s, size_t n)
{
	static const char mark[] = {'\xef', '\xbf', '\xbd'};
	size_t run = valid_run(s, n), at = 0;
	char *text;

	if (run == n)
		return arena_strn(t->a, s, n);
	text = arena_array(t->a, n + 1, sizeof mark);
	for (;; run = valid_run(s, n)) {
		memcpy(text + at, s, run);
		at += run;
		if (run == n)
			return text;
		memcpy(text + at, mark, sizeof mark);
		at += sizeof mark;
		s += run + 1;
		n -= run + 1;
	}
}

void
json_tree_key(struct json_tree *t, const char *key, size_t n)
{
	t->key = copy(t, key, n);
}

void
json_tree_text(struct json_tree *t, const char *s, size_t n)
{
	add(t, cJSON_String)->valuestring = copy(t, s, n);
}

static cJSON *
add_number(struct json_tree *t, double x)
{
	cJSON *item = add(t, cJSON_Number);

	item->valuedouble = x;
	item->valueint = x >= INT_MAX ? INT_MAX
	    : x <= (double)INT_MIN    ? INT_MIN
	                              : (int)x;
	return item;
}

void
json_tree_whole(struct json_tree *t, bool negative, uint64_t size)
{
	cJSON *item = add_number(t, negative ? -(double)size : (double)size);

	if (fabs(item->valuedouble) >= JSON_EXACT)
		item->valuestring =
		    arena_printf(t->a, "%s%" PRIu64, negative ? "-" : "", size);
}

void
json_tree_number(struct json_tree *t, double x)
{
	cJSON *item = add_number(t, x);
	char text[40];

	if (fabs(x) < JSON_EXACT)
		return;
	snprintf(text, sizeof text, "%.17g", x);
	if (!strpbrk(text, ".e"))
		item->valuestring = arena_str(t->a, text);
}

void
json_tree_bool(struct json_tree *t, bool x)
{
	add(t, x ? cJSON_True : cJSON_False)->valueint = x;
}

void
json_tree_null(struct json_tree *t)
{
	add(t, cJSON_NULL);
}
