/* Texts that the database keeps beside its figures: what a runtime made of a region,
 * say. Nothing depends on their being there. */
#include "costmodel/pricer.h"
#include "costmodel/pricer_parts.h"

static const char *
key_of(const struct pricer *p, struct hash128 of)
{
	char hash[33];

	hash128_print(of, hash);
	return arena_printf(p->arena, "text.%s", hash);
}

const char *
pricer_find_text(struct pricer *p, struct hash128 of)
{
	struct err ignored = {.kind = ERR_NONE};
	const char *text = NULL;

	if (!p->db
	    || !costdb_meta_get(
	        p->db, key_of(p, of), &text, p->arena, &ignored))
		return NULL;
	return text;
}

void
pricer_keep_text(struct pricer *p, struct hash128 of, const char *text)
{
	struct err ignored = {.kind = ERR_NONE};

	if (p->db && p->o.measure && !p->db_is_full)
		costdb_meta_put(p->db, key_of(p, of), text, &ignored);
}
