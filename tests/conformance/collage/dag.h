/* The graph of a case, as read from the file; what fails says so in
 * collage_complaint. */
#ifndef TESTS_CONFORMANCE_COLLAGE_DAG_H
#define TESTS_CONFORMANCE_COLLAGE_DAG_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define NODES_MAX 64u

/* Nodes, by position. */
typedef uint64_t set;

enum kind { ELEMWISE, BROADCAST, INJECTIVE, REDUCE, FUSABLE, OPAQUE };

/* The graph of a case: its nodes, then its constants, in topological order
 * among themselves; `in` and `out` are neighbours. */
struct dag {
	uint32_t n;
	const char *id[NODES_MAX], *op[NODES_MAX];
	enum kind kind[NODES_MAX];
	const cJSON *args[NODES_MAX], *item[NODES_MAX]; /* NULL: constants */
	set in[NODES_MAX], out[NODES_MAX];
	set structural, constants, asked;
	uint32_t ninputs;
	const char *input[NODES_MAX];
	const cJSON *input_item[NODES_MAX];
	set reads[NODES_MAX]; /* fed inputs, by index */
};

extern char collage_complaint[1024];

#define COMPLAIN(...) \
	(snprintf(collage_complaint, sizeof collage_complaint, __VA_ARGS__), \
	    false)

static inline set
bit(uint32_t i)
{
	return UINT64_C(1) << i;
}

static inline uint32_t
size(set s)
{
	uint32_t n = 0;

	for (; s; s &= s - 1)
		n++;
	return n;
}

static inline const char *
text_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsString(item) ? item->valuestring : "";
}

static inline const cJSON *
get(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* UINT32_MAX: there is none. */
uint32_t dag_find(const struct dag *d, const char *id);

/* By its letter in "EBIRAO". */
enum kind kind_named(const char *letter);

/* The graph of a case; it borrows from the document. */
bool dag_read(struct dag *d, const cJSON *test);

/* A list of nodes. */
bool dag_read_set(const struct dag *d, const cJSON *list, set *out);

#endif
