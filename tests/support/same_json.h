/* Are two JSON documents the same, whatever the order of members? */
#ifndef TESTS_SUPPORT_SAME_JSON_H
#define TESTS_SUPPORT_SAME_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Where they differ first goes to `why`, paths starting with `path`. A `have`
 * of NULL is a missing document. */
bool same_json(const cJSON *want, const cJSON *have, const char *path,
    char *why, size_t n);

/* What `write` writes to a stream, parsed; NULL when that is no JSON. The
 * caller deletes it. */
cJSON *json_written(
    void (*write)(FILE *f, const void *context), const void *context);

#endif
