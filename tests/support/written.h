/* Marvell's files of a region as text. */
#ifndef TESTS_SUPPORT_WRITTEN_H
#define TESTS_SUPPORT_WRITTEN_H

#include <stdio.h>

struct arena;
struct layers;

const char *layers_text(
    void (*write)(FILE *, const struct layers *, struct arena *),
    const struct layers *l, struct arena *a);

#endif
