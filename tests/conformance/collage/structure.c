#include "tests/conformance/collage/structure.h"

#include <string.h>

#include "tests/conformance/collage/sets.h"

/* Two sets, their nodes matched in order, and the values they read. */
struct pairing {
	const struct dag *d;
	set a, b;
	uint32_t partner[NODES_MAX]; /* of nodes of a */
	const char *read[2][2 * NODES_MAX]; /* outside values, by name */
	uint32_t nread;
};

static uint32_t
input_named(const struct dag *d, const char *id)
{
	for (uint32_t i = 0; i < d->ninputs; i++)
		if (strcmp(d->input[i], id) == 0)
			return i;
	return UINT32_MAX;
}

/* A property of a value; nodes that do not say have their first input's. */
static const cJSON *
property(const struct dag *d, const char *id, const char *key)
{
	for (uint32_t depth = 0; depth < NODES_MAX; depth++) {
		uint32_t node = dag_find(d, id), input = input_named(d, id);
		const cJSON *own, *first;

		if (node == UINT32_MAX)
			return input == UINT32_MAX
			    ? NULL
			    : get(d->input_item[input], key);
		own = get(d->item[node], key);
		first = d->args[node] ? d->args[node]->child : NULL;
		if (own || !cJSON_IsString(first))
			return own;
		id = first->valuestring;
	}
	return NULL;
}

static bool
same_item(const cJSON *a, const cJSON *b)
{
	return (!a && !b) || (a && b && cJSON_Compare(a, b, true));
}

/* Values from outside: of one type, and the same one whenever the other is. */
static bool
same_read(struct pairing *p, const char *a, const char *b)
{
	for (uint32_t i = 0; i < p->nread; i++)
		if (strcmp(p->read[0][i], a) == 0
		    || strcmp(p->read[1][i], b) == 0)
			return strcmp(p->read[0][i], a) == 0
			    && strcmp(p->read[1][i], b) == 0;
	if (p->nread == 2 * NODES_MAX)
		return false;
	p->read[0][p->nread] = a;
	p->read[1][p->nread++] = b;
	return same_item(property(p->d, a, "shape"), property(p->d, b, "shape"))
	    && same_item(
	        property(p->d, a, "dtype"), property(p->d, b, "dtype"));
}

static bool
same_arg(struct pairing *p, const cJSON *a, const cJSON *b)
{
	uint32_t i, k;
	bool inside;

	if (!cJSON_IsString(a) || !cJSON_IsString(b))
		return cJSON_Compare(a, b, true);
	i = dag_find(p->d, a->valuestring);
	k = dag_find(p->d, b->valuestring);
	inside = i != UINT32_MAX && (p->a & bit(i));
	if (inside != (k != UINT32_MAX && (p->b & bit(k))))
		return false;
	return inside ? p->partner[i] == k
	              : same_read(p, a->valuestring, b->valuestring);
}

/* All that a node says but its name and inputs. */
static bool
same_attributes(const cJSON *a, const cJSON *b)
{
	int n = cJSON_GetArraySize(a);

	if (n != cJSON_GetArraySize(b))
		return false;
	for (const cJSON *i = a ? a->child : NULL; i; i = i->next)
		if (strcmp(i->string, "id") != 0
		    && strcmp(i->string, "inputs") != 0
		    && !cJSON_Compare(i, get(b, i->string), true))
			return false;
	return true;
}

static bool
same_node(struct pairing *p, uint32_t i, uint32_t k)
{
	const struct dag *d = p->d;
	const cJSON *x = d->args[i] ? d->args[i]->child : NULL;
	const cJSON *y = d->args[k] ? d->args[k]->child : NULL;

	if (strcmp(d->op[i], d->op[k]) != 0 || d->kind[i] != d->kind[k]
	    || !same_attributes(d->item[i], d->item[k]))
		return false;
	if (!(set_exits(d, p->a) & bit(i)) != !(set_exits(d, p->b) & bit(k)))
		return false;
	for (; x && y; x = x->next, y = y->next)
		if (!same_arg(p, x, y))
			return false;
	return !x && !y;
}

bool
sets_are_alike(const struct dag *d, set a, set b)
{
	struct pairing p = {.d = d, .a = a, .b = b};
	uint32_t i, k;

	if (a == b)
		return true;
	if (size(a) != size(b))
		return false;
	for (; a; a &= a - 1, b &= b - 1) {
		i = (uint32_t)__builtin_ctzll(a);
		k = (uint32_t)__builtin_ctzll(b);
		p.partner[i] = k;
		if (!same_node(&p, i, k))
			return false;
	}
	return true;
}
