#include "cli/zoo/zoo.h"

#include <string.h>

static const struct zoo_entry entries[] = {
#define ZOO(name, function, what) {name, what, function},
#include "cli/zoo/zoo.def"
#undef ZOO
};

const struct zoo_entry *
zoo_entries(uint32_t *n)
{
	*n = sizeof entries / sizeof entries[0];
	return entries;
}

const struct zoo_entry *
zoo_find(const char *name)
{
	for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
		if (strcmp(entries[i].name, name) == 0)
			return &entries[i];
	return NULL;
}
