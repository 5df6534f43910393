/* Members of a document that has been checked: what is not there reads as nothing. */
#ifndef CLI_MEMBERS_H
#define CLI_MEMBERS_H

#include <stdint.h>

struct cJSON;

const struct cJSON *member(const struct cJSON *object, const char *key);

/* A text, or `otherwise`; "". */
const char *text_or(
    const struct cJSON *object, const char *key, const char *otherwise);
const char *text_of(const struct cJSON *object, const char *key);

/* A number from 0; 0. */
double number_of(const struct cJSON *object, const char *key);
/* A whole one, exactly; 0. */
uint64_t exact_of(const struct cJSON *object, const char *key);

#endif
