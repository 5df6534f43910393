#include "db/facts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/buf.h"

struct fact {
	const char *key; /* not terminated */
	size_t nkey;
	const char *value; /* not terminated */
	size_t nvalue;
	uint32_t line;
};

struct facts {
	struct fact *fact;
	uint32_t n, cap;
};

static int
compare_keys(const struct fact *x, const struct fact *y)
{
	size_t n = x->nkey < y->nkey ? x->nkey : y->nkey;
	int order = memcmp(x->key, y->key, n);

	if (order != 0)
		return order;
	return (x->nkey > y->nkey) - (x->nkey < y->nkey);
}

static int
compare_facts(const void *a, const void *b)
{
	const struct fact *x = a, *y = b;
	int order = compare_keys(x, y);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* A line without '=' is a key with an empty value. */
static struct fact
parse_line(const char *s, size_t n)
{
	const char *equals = memchr(s, '=', n);
	size_t nkey = equals ? (size_t)(equals - s) : n;

	return (struct fact){
	    .key = s,
	    .nkey = nkey,
	    .value = equals ? equals + 1 : s + n,
	    .nvalue = equals ? n - nkey - 1 : 0,
	};
}

/* The next line that is not empty, and past it; false: there is none. */
static bool
next_fact(const char **s, struct fact *out)
{
	size_t n;

	*s += strspn(*s, "\n");
	n = strcspn(*s, "\n");
	*out = parse_line(*s, n);
	*s += n;
	return n > 0;
}

static struct facts
parse(const char *lines, struct arena *a)
{
	struct facts f = {NULL, 0, 0};
	struct fact x;

	while (next_fact(&lines, &x)) {
		f.fact = arena_grow(a, f.fact, &f.cap, f.n + 1, sizeof *f.fact);
		x.line = f.n;
		f.fact[f.n++] = x;
	}
	if (f.n > 1)
		qsort(f.fact, f.n, sizeof *f.fact, compare_facts);
	return f;
}

const char *
facts_canonical(const char *lines, struct arena *a)
{
	struct facts f = parse(lines, a);
	struct buf b;
	const char *text;

	buf_init(&b);
	for (uint32_t i = 0; i < f.n; i++) {
		const struct fact *x = &f.fact[i];

		if (i + 1 < f.n && compare_keys(x, x + 1) == 0)
			continue;
		buf_add(&b, x->key, x->nkey);
		buf_str(&b, "=");
		buf_add(&b, x->value, x->nvalue);
		buf_str(&b, "\n");
	}
	text = arena_strn(a, b.data, b.n);
	buf_release(&b);
	return text;
}

const char *
facts_gathered(struct buf *b, struct arena *a)
{
	const char *text = facts_canonical(b->n ? b->data : "", a);

	buf_release(b);
	return text;
}

const char *
facts_with(
    const char *lines, const char *key, const char *value, struct arena *a)
{
	struct facts f = parse(lines, a);
	const size_t nkey = strlen(key);
	struct buf b;

	buf_init(&b);
	for (uint32_t i = 0; i < f.n; i++) {
		const struct fact *x = &f.fact[i];

		if (x->nkey == nkey && memcmp(x->key, key, nkey) == 0)
			continue;
		buf_add(&b, x->key, x->nkey);
		buf_str(&b, "=");
		buf_add(&b, x->value, x->nvalue);
		buf_str(&b, "\n");
	}
	if (*value)
		buf_printf(&b, "%s=%s\n", key, value);
	return facts_gathered(&b, a);
}

/* As facts_canonical() has it: the last of equal keys. */
const char *
facts_get(const char *lines, const char *key, struct arena *a)
{
	const size_t nkey = strlen(key);
	struct fact found = {.value = NULL}, x;

	while (next_fact(&lines, &x))
		if (x.nkey == nkey && memcmp(x.key, key, nkey) == 0)
			found = x;
	return found.value ? arena_strn(a, found.value, found.nvalue) : NULL;
}

static bool
ends_in(const struct fact *x, const char *suffix)
{
	size_t n = strlen(suffix);

	return x->nkey >= n && memcmp(x->key + x->nkey - n, suffix, n) == 0;
}

static bool
begins_with(const struct fact *x, const char *prefix)
{
	size_t n = strlen(prefix);

	return x->nkey >= n && memcmp(x->key, prefix, n) == 0;
}

static bool
is_key(const struct fact *x, const char *key)
{
	return x->nkey == strlen(key) && memcmp(x->key, key, x->nkey) == 0;
}

/* Are both versions ("2.6.3", "2.6.4+debian") that agree up to the second dot?
 * Without two dots there is no patch level to differ in. */
static bool
differ_in_patch_only(const struct fact *x, const struct fact *y)
{
	size_t n = x->nvalue < y->nvalue ? x->nvalue : y->nvalue, dots = 0;

	for (size_t i = 0; i < n && dots < 2; i++) {
		char c = x->value[i];

		if (c != y->value[i] || (c != '.' && (c < '0' || c > '9')))
			return false;
		dots += c == '.';
	}
	return dots == 2;
}

/* Facts that programs before this one did not know: figures that lack them may
 * be as good, and nobody can tell. */
static bool
came_later(const struct fact *x)
{
	return ends_in(x, "_build") || is_key(x, "libm")
	    || is_key(x, "cpu.core") || is_key(x, "cpu.vector_bytes");
}

/* How bad is it that this fact differs? One of them is NULL where a side lacks
 * it. */
static enum facts_relation
weigh(const struct fact *stored, const struct fact *now)
{
	const struct fact *x = stored ? stored : now;

	if (is_key(x, FACT_SOLD_AS))
		return FACTS_SAME;
	if (is_key(x, FACT_BESIDE) || (!stored && came_later(x)))
		return FACTS_COMPATIBLE;
	if (is_key(x, "target") || begins_with(x, "cpu.")
	    || begins_with(x, "machine.") || is_key(x, "cost"))
		return FACTS_OTHER;
	if (!stored || !now)
		return FACTS_STALE;
	/* A new patch level of a library brings a new build with it; "build"
	 * alone is how this program was compiled. */
	if (differ_in_patch_only(stored, now) || ends_in(x, "_build"))
		return FACTS_COMPATIBLE;
	return FACTS_STALE;
}

static bool
same_value(const struct fact *x, const struct fact *y)
{
	return x->nvalue == y->nvalue
	    && memcmp(x->value, y->value, x->nvalue) == 0;
}

static void
explain(struct buf *why, const struct fact *stored, const struct fact *now)
{
	const struct fact *key = stored ? stored : now;

	if (why->n)
		buf_str(why, ", ");
	buf_add(why, key->key, key->nkey);
	buf_str(why, ": ");
	if (stored)
		buf_add(why, stored->value, stored->nvalue);
	else
		buf_str(why, "(absent)");
	buf_str(why, " -> ");
	if (now)
		buf_add(why, now->value, now->nvalue);
	else
		buf_str(why, "(absent)");
}

struct facts_gap
facts_compare(const char *stored, const char *now, struct arena *a)
{
	struct facts s = parse(stored, a), t = parse(now, a);
	struct facts_gap gap = {.relation = FACTS_SAME};
	struct buf b;

	buf_init(&b);
	for (uint32_t i = 0, j = 0; i < s.n || j < t.n;) {
		const struct fact *x = i < s.n ? &s.fact[i] : NULL;
		const struct fact *y = j < t.n ? &t.fact[j] : NULL;
		int order = !x ? 1 : !y ? -1 : compare_keys(x, y);
		enum facts_relation one;

		x = order <= 0 ? x : NULL;
		y = order >= 0 ? y : NULL;
		i += x != NULL;
		j += y != NULL;
		if (x && y && same_value(x, y))
			continue;
		one = weigh(x, y);
		gap.relation = one > gap.relation ? one : gap.relation;
		gap.n++;
		explain(&b, x, y);
	}
	gap.why = arena_strn(a, b.data, b.n);
	buf_release(&b);
	return gap;
}
