#include "cli/generators/generators.h"

#include <string.h>

static const struct generator entries[] = {
#define GENERATOR(name, function, what) {name, what, function},
#include "cli/generators/generators.def"
#undef GENERATOR
};

const struct generator *
generators(uint32_t *n)
{
	*n = sizeof entries / sizeof entries[0];
	return entries;
}

const struct generator *
generator_find(const char *name)
{
	for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
		if (strcmp(entries[i].name, name) == 0)
			return &entries[i];
	return NULL;
}
