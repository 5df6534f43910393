/* What idioms are called. */
#include "targets/idiom.h"

#include <string.h>

static const char *const names[NIDIOMS] = {
#define IDIOM(kind, name, op, opset) [IDIOM_##kind] = name,
#include "targets/idiom.def"
#undef IDIOM
};

const char *
idiom_name(enum idiom kind)
{
	return kind < NIDIOMS ? names[kind] : "idiom";
}

enum idiom
idiom_named(const char *name, size_t n)
{
	uint32_t i = 0;

	while (i < NIDIOMS
	    && (strlen(names[i]) != n || memcmp(names[i], name, n) != 0))
		i++;
	return (enum idiom)i;
}

void
idioms_roots(const struct idioms *all, enum idiom kind, struct bitset ops)
{
	for (uint32_t i = 0; all && i < all->n; i++)
		if (kind == NIDIOMS || all->match[i].kind == kind)
			bitset_add(ops,
			    graph_node(&all->graph, all->match[i].root)->op);
}
