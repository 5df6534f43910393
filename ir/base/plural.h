/* Counted nouns: printf("%u region%s", n, plural(n)). */
#ifndef IR_BASE_PLURAL_H
#define IR_BASE_PLURAL_H

#include <stdint.h>

/* "" of one, "s" of any other number. */
static inline const char *
plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

#endif
