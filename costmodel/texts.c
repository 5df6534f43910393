/* Texts that the database keeps beside its figures: what a runtime made of a region,
 * say. Nothing depends on their being there. */
#include "costmodel/pricer.h"
#include "costmodel/pricer_parts.h"

static const char *
key_of(struct hash128 of, struct arena *a)
{
	char hash[33];

	hash128_print(of, hash);
	return arena_printf(a, "text.%s", hash);
}

const char *
text_find(struct costdb *db, struct hash128 of, struct arena *a)
{
	struct err ignored = {.kind = ERR_NONE};
	const char *text = NULL;

	if (!costdb_meta_get(db, key_of(of, a), &text, a, &ignored))
		return NULL;
	return text;
}

const char *
pricer_find_text(struct pricer *p, struct hash128 of)
{
	return p->db ? text_find(p->db, of, p->arena) : NULL;
}

void
pricer_keep_text(struct pricer *p, struct hash128 of, const char *text)
{
	struct err ignored = {.kind = ERR_NONE};

	if (p->db && p->o.measure && !p->db_is_full)
		costdb_meta_put(p->db, key_of(of, p->arena), text, &ignored);
}
