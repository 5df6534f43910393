/* A JSON document as the tree that reading its text would give, for who wants to read
 * what was just made: see `tree` of struct json. */
#ifndef IR_BASE_JSON_TREE_H
#define IR_BASE_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"

struct cJSON;

struct json_tree {
	struct arena *a; /* the tree lives there: nobody frees it */
	struct cJSON *root; /* NULL: nothing was put yet */
	struct cJSON
	    *open; /* the innermost list or object that is not closed */
	char *key; /* of the next value */
	struct json_tree_level *level; /* `open` and those around it */
};

void json_tree_init(struct json_tree *t, struct arena *a);

/* What struct json does, one value at a time; texts are copied, with U+FFFD for what is
 * no UTF-8. */
void json_tree_open(struct json_tree *t, bool object);
void json_tree_close(struct json_tree *t);
void json_tree_key(struct json_tree *t, const char *key, size_t n);
void json_tree_text(struct json_tree *t, const char *s, size_t n);
void json_tree_number(struct json_tree *t, double x);
/* Its digits stand for it: what a double does not hold keeps them. */
void json_tree_whole(struct json_tree *t, bool negative, uint64_t size);
void json_tree_bool(struct json_tree *t, bool x);
void json_tree_null(struct json_tree *t);

#endif
