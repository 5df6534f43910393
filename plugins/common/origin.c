#include "plugins/common/origin.h"

#include <stdlib.h>
#include <string.h>

static int
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
	    || (c >= '0' && c <= '9');
}

static int
has(const uint32_t *node, uint32_t n, uint32_t id)
{
	for (uint32_t i = 0; i < n; i++)
		if (node[i] == id)
			return 1;
	return 0;
}

uint32_t
origin_nodes(const char *name, uint32_t nnodes, uint32_t *node, uint32_t room)
{
	uint32_t n = 0;

	for (const char *s = name; *s != '\0' && n < room; s++) {
		size_t digits = *s == 'n' ? strspn(s + 1, "0123456789") : 0;
		unsigned long id;

		if (digits == 0 || digits > 9 || is_word(s[digits + 1])
		    || (s > name && is_word(s[-1])))
			continue;
		id = strtoul(s + 1, NULL, 10);
		if (id < nnodes && !has(node, n, (uint32_t)id))
			node[n++] = (uint32_t)id;
	}
	return n;
}
