#include "tests/support/written.h"

#include <stdlib.h>

#include "ir/base/arena.h"

const char *
layers_text(void (*write)(FILE *, const struct layers *, struct arena *),
    const struct layers *l, struct arena *a)
{
	char *bytes = NULL;
	const char *out;
	size_t n = 0;
	FILE *f = open_memstream(&bytes, &n);

	if (!f)
		abort();
	write(f, l, a);
	fclose(f);
	out = arena_strn(a, bytes, n);
	free(bytes);
	return out;
}
