/* Long lists of a JSON document, item by item: a tree of a document of a GiB would
 * take ten. */
#ifndef IR_BASE_JSONLIST_H
#define IR_BASE_JSONLIST_H

#include "ir/base/jsonin.h"

/* A list under a key of the outermost object. */
struct jsonlist {
	const char *key;
	const char *text; /* the document */
	size_t at, end; /* of its items; `at`: of what is not given yet */
	bool apart; /* not in the tree: its items are parsed one by one */
	const struct cJSON *next; /* where it is in the tree */
	struct cJSON *item; /* the last that was parsed */
};

/* jsonin_parse() of a document whose lists[n] (their keys are set) are empty in the
 * tree; `text` is borrowed until the lists are closed. */
struct cJSON *jsonlist_parse(struct jsonlist *list, uint32_t n,
    const char *text, size_t nbytes, const char *name, struct err *err);

/* Begin, with the number of items; ERR_INPUT where the document has no such list. */
bool jsonlist_begin(
    struct jsonlist *l, const struct cJSON *doc, uint32_t *n, struct err *err);
/* The next item, valid until the next call; NULL: there is none. */
bool jsonlist_next(
    struct jsonlist *l, const struct cJSON **item, struct err *err);
void jsonlist_close(struct jsonlist *l);

#endif
