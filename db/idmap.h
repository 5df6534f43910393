/* Ids of one database by ids of another. */
#ifndef DB_IDMAP_H
#define DB_IDMAP_H

#include <stdbool.h>

#include "db/db.h"
#include "ir/base/map.h"

struct idmap {
	struct map map; /* of 8 bytes to an index into to[] */
	db_id *to;
	uint32_t n, cap;
	struct arena *arena;
};

void idmap_init(struct idmap *m, struct arena *a);
bool idmap_find(const struct idmap *m, db_id from, db_id *to);
/* The first id given for `from` stays. */
void idmap_add(struct idmap *m, db_id from, db_id to);

#endif
