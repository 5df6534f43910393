/* Reading JSON (through cJSON) from files nobody vouches for: size and depth
 * are limited, and every getter names the key and the path that is wrong. */
#ifndef IR_BASE_JSONIN_H
#define IR_BASE_JSONIN_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/limits.h"

struct cJSON;

/* 2^53: larger whole numbers keep their digits, as text of the number. */
#define JSON_EXACT 9007199254740992.0

/* Parse text (n bytes); NULL on error. Free with jsonin_close(). `name` is
 * what messages call the document. Duplicate keys are refused, and numbers that
 * JSON does not have (010, 1.). */
struct cJSON *jsonin_parse(
    const char *text, size_t n, const char *name, struct err *err);
/* The same of a part; messages count bytes from the document's begin, and do not
 * name it. */
struct cJSON *jsonin_parse_part(
    const char *text, size_t from, size_t to, struct err *err);
struct cJSON *jsonin_open(
    const char *path, enum limit_id most, struct err *err);
void jsonin_close(struct cJSON *doc);

/* Required members of an object; ERR_INPUT naming the key otherwise. Integers
 * are exact up to 2^53 and refused beyond, or when written as a fraction; a real
 * that is written as an integer is refused where a double does not hold it. */
bool jsonin_str(const struct cJSON *object, const char *key, const char **out,
    struct err *err);
bool jsonin_i64(
    const struct cJSON *object, const char *key, int64_t *out, struct err *err);
bool jsonin_u32(const struct cJSON *object, const char *key, uint32_t *out,
    struct err *err);
bool jsonin_real(
    const struct cJSON *object, const char *key, double *out, struct err *err);
bool jsonin_bool(
    const struct cJSON *object, const char *key, bool *out, struct err *err);
/* Whole, from 0 to 2^62, exactly: costs. */
bool jsonin_u62(const struct cJSON *object, const char *key, uint64_t *out,
    struct err *err);
/* A string of base64, as bytes in `a`. */
bool jsonin_base64(const struct cJSON *object, const char *key,
    const void **out, size_t *n, struct arena *a, struct err *err);
bool jsonin_array(const struct cJSON *object, const char *key,
    const struct cJSON **out, struct err *err);
bool jsonin_object(const struct cJSON *object, const char *key,
    const struct cJSON **out, struct err *err);

/* An item that is such a whole number. */
bool jsonin_is_u62(const struct cJSON *item, uint64_t *out);
/* The same up to 2^64 - 1: sums of costs. */
bool jsonin_is_u64(const struct cJSON *item, uint64_t *out);

/* Is the key there (and not null)? For optional members. */
bool jsonin_has(const struct cJSON *object, const char *key);

/* Refuse members that are not in `known` (NULL-terminated). */
bool jsonin_only(
    const struct cJSON *object, const char *const *known, struct err *err);

#endif
