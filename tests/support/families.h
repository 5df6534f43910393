/* Large problems whose shapes are hard on memory: wide, deep, or both. */
#ifndef TESTS_SUPPORT_FAMILIES_H
#define TESTS_SUPPORT_FAMILIES_H

#include "ir/base/arena.h"
#include "search/problem.h"

extern const char *const family_name[]; /* ends with NULL */

/* A problem with about n nodes of a family, by name, indexed. */
struct problem *family_make(const char *name, uint32_t n, struct arena *a);

#endif
