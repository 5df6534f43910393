/* Einsum: an equation of index letters says what is summed. */
#include "ir/infer/rules.h"

#include <inttypes.h>

struct einsum_types {
	int64_t size[128]; /* of each letter; 0 entries in `seen` are unused */
	bool seen[128];
	struct type dots; /* what the ellipses broadcast to */
	const char *at, *end;
};

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Count the letters of one term and whether it has an ellipsis; stops at ','
 * or '-' or the end. */
static bool
scan_term(
    struct site *s, const struct einsum_types *e, uint32_t *letters, bool *dots)
{
	*letters = 0;
	*dots = false;
	for (const char *p = e->at; p < e->end && *p != ',' && *p != '-'; p++) {
		if (is_letter(*p)) {
			++*letters;
		} else if (*p == '.') {
			if (e->end - p < 3 || p[1] != '.' || p[2] != '.'
			    || *dots)
				return fault(s, "stray '.' in equation");
			*dots = true;
			p += 2;
		} else if (*p != ' ') {
			return fault(s, "'%c' in equation", *p);
		}
	}
	return true;
}

static bool
bind_letter(struct site *s, struct einsum_types *e, char letter, int64_t dim)
{
	int64_t *size = &e->size[(unsigned char)letter];

	if (!e->seen[(unsigned char)letter]) {
		e->seen[(unsigned char)letter] = true;
		*size = dim;
		return true;
	}
	return dim_broadcast(s, *size, dim, size);
}

/* Bind the letters of input i to its dimensions. */
static bool
bind_term(struct site *s, struct einsum_types *e, uint32_t i)
{
	const struct type *x = in_type(s, i);
	struct type lead = {.kind = TYPE_TENSOR};
	uint32_t letters, k = 0;
	bool dots;

	if (!scan_term(s, e, &letters, &dots))
		return false;
	if (dots ? letters > x->rank : letters != x->rank)
		return fault(s,
		    "input %" PRIu32 " has rank %" PRIu32 " but %" PRIu32
		    " letters",
		    i, x->rank, letters);
	for (; e->at < e->end && *e->at != ',' && *e->at != '-'; e->at++) {
		if (is_letter(*e->at)) {
			if (!bind_letter(s, e, *e->at, x->dim[k++]))
				return false;
		} else if (*e->at == '.') {
			lead.rank = x->rank - letters;
			lead.dim = x->dim + k;
			if (!type_broadcast(s, &e->dots, &lead, &e->dots))
				return false;
			k += lead.rank;
			e->at += 2;
		}
	}
	return true;
}

/* Without "->": the ellipsis, then letters that occur once, sorted. */
static bool
implicit_output(struct site *s, struct einsum_types *e, const char *equation)
{
	uint32_t times[128] = {0}, n = 0;
	int64_t *dim;

	for (const char *p = equation; p < e->end; p++)
		if (is_letter(*p))
			times[(unsigned char)*p]++;
	dim = dims_new(s, e->dots.rank + 52);
	for (uint32_t i = 0; i < e->dots.rank; i++)
		dim[n++] = e->dots.dim[i];
	for (int c = 0; c < 128; c++)
		if (times[c] == 1)
			dim[n++] = e->size[c];
	out_tensor(s, 0, in_dtype(s, 0), n, dim);
	return true;
}

static bool
explicit_output(struct site *s, struct einsum_types *e)
{
	uint32_t letters, n = 0;
	bool dots;
	int64_t *dim;

	e->at++;
	if (e->at == e->end || *e->at != '>')
		return fault(s, "stray '-' in equation");
	e->at++;
	if (!scan_term(s, e, &letters, &dots))
		return false;
	dim = dims_new(s, letters + e->dots.rank);
	for (; e->at < e->end; e->at++) {
		if (is_letter(*e->at)) {
			if (!e->seen[(unsigned char)*e->at])
				return fault(s, "'%c' is in no input", *e->at);
			dim[n++] = e->size[(unsigned char)*e->at];
		} else if (*e->at == '.') {
			for (uint32_t i = 0; i < e->dots.rank; i++)
				dim[n++] = e->dots.dim[i];
			e->at += 2;
		} else if (*e->at != ' ') {
			return fault(s, "'%c' in equation", *e->at);
		}
	}
	out_tensor(s, 0, in_dtype(s, 0), n, dim);
	return true;
}

bool
rule_einsum(struct site *s)
{
	struct string_view v = attr_str_or(s->n, "equation", "");
	struct einsum_types e = {.dots = {.kind = TYPE_TENSOR}};

	e.at = v.s;
	e.end = v.s + v.n;
	out_unranked(s, 0, in_dtype(s, 0));
	for (uint32_t i = 0; i < s->n->ninputs; i++)
		if (!in_ranked(s, i))
			return true;
	for (uint32_t i = 0; i < s->n->ninputs; i++) {
		if (i > 0 && (e.at == e.end || *e.at++ != ','))
			return fault(s, "%" PRIu32 " inputs but fewer terms",
			    s->n->ninputs);
		if (!bind_term(s, &e, i))
			return false;
	}
	if (e.at < e.end && *e.at == ',')
		return fault(s, "more terms than inputs");
	return e.at < e.end ? explicit_output(s, &e)
	                    : implicit_output(s, &e, v.s);
}
