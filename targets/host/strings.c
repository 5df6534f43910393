/* Operators that make strings. New characters lie in the arena of the outputs;
 * what only moves strings refers to them (host_out in call.h). */
#include "targets/host/strings.h"

#include <locale.h>
#include <string.h>
#include <wctype.h>

#include "targets/host/kernels.h"

int
string_order(struct string_view x, struct string_view y)
{
	const size_t n = x.n < y.n ? x.n : y.n;
	const int order = n ? memcmp(x.s, y.s, n) : 0;

	return order ? order : (x.n > y.n) - (x.n < y.n);
}

static struct string_view
joined(struct string_view x, struct string_view y, struct arena *a)
{
	char *both = arena_alloc(a, x.n + y.n + 1);

	if (x.n)
		memcpy(both, x.s, x.n);
	if (y.n)
		memcpy(both + x.n, y.s, y.n);
	return (struct string_view){both, x.n + y.n};
}

bool
stringconcat_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0], *y = c->in[1];
	struct shape s = shape_of(x);
	struct sink to;
	ptrdiff_t stride[RANK_MAX];
	struct string_view *z;
	struct walk w;

	if (!shape_broadcast(&s, y->rank, y->dim))
		return err_set(err, ERR_INPUT, "shapes do not broadcast");
	if (!host_out(c, 0, DT_STRING, &s, &to, err))
		return false;
	z = to.data;
	walk_init(&w, s.rank, s.dim);
	broadcast_strides(x->rank, x->dim, s.rank, s.dim, stride);
	walk_operand(&w, stride);
	broadcast_strides(y->rank, y->dim, s.rank, s.dim, stride);
	walk_operand(&w, stride);
	for (walk_start(&w); !w.done; walk_next(&w))
		for (size_t i = 0; i < w.n; i++)
			*z++ = joined(
			    x->string[w.at[0] + (ptrdiff_t)i * w.step[0]],
			    y->string[w.at[1] + (ptrdiff_t)i * w.step[1]],
			    c->arena);
	return true;
}

/* How strings are split: at `by`, or at white space where it is empty. */
struct splitting {
	struct string_view by;
	int64_t most; /* splits; < 0: any number */
};

static bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Take the next part off `rest`; `last` takes all. */
static struct string_view
next_part(const struct splitting *how, struct string_view *rest, bool last)
{
	struct string_view part = *rest;
	size_t n = 0;

	if (how->by.n == 0)
		while (n < part.n && !is_space(part.s[n]))
			n++;
	else
		while (n < part.n
		    && (part.n - n < how->by.n
		        || memcmp(part.s + n, how->by.s, how->by.n) != 0))
			n++;
	if (last || n == part.n) {
		*rest = (struct string_view){NULL, 0};
		return part;
	}
	part.n = n;
	n += how->by.n;
	while (how->by.n == 0 && n < rest->n && is_space(rest->s[n]))
		n++;
	*rest = (struct string_view){rest->s + n, rest->n - n};
	return part;
}

/* The parts of `x`, into `part` where that is not NULL; their number. Nothing is
 * left of white space at the ends. */
static size_t
split(
    const struct splitting *how, struct string_view x, struct string_view *part)
{
	size_t n = 0;

	while (how->by.n == 0 && x.n && is_space(*x.s))
		x = (struct string_view){x.s + 1, x.n - 1};
	while (how->by.n == 0 && x.n && is_space(x.s[x.n - 1]))
		x.n--;
	if (x.n == 0)
		return 0;
	while (x.s) {
		const bool last = how->most >= 0 && n >= (uint64_t)how->most;
		const struct string_view next = next_part(how, &x, last);

		if (part)
			part[n] = next;
		n++;
	}
	return n;
}

/* Rows are as long as the longest; shorter ones end in empty strings. */
bool
stringsplit_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	const struct splitting how = {
	    .by = attr_str_or(c->node, "delimiter", ""),
	    .most = attr_int_or(c->node, "maxsplit", -1)};
	struct shape s = shape_of(x);
	struct sink to, counts = {NULL, DT_INT64};
	struct string_view *row;
	size_t width = 0;

	if (s.rank >= RANK_MAX)
		return err_set(err, ERR_INPUT, "rank %u", s.rank);
	if (call_wants(c, 1) && !host_out(c, 1, DT_INT64, &s, &counts, err))
		return false;
	for (size_t i = 0; i < x->count; i++) {
		const int64_t n = (int64_t)split(&how, x->string[i], NULL);

		width = (size_t)n > width ? (size_t)n : width;
		if (counts.data)
			store_int(&counts, i, 1, 1, &n);
	}
	s.dim[s.rank++] = (int64_t)width;
	if (!call_wants(c, 0))
		return true;
	if (!host_out(c, 0, DT_STRING, &s, &to, err))
		return false;
	row = to.data;
	for (size_t i = 0; i < x->count; i++, row += width)
		for (size_t n = split(&how, x->string[i], row); n < width; n++)
			row[n] = (struct string_view){"", 0};
	return true;
}

enum letters { LETTERS_SAME, LETTERS_LOWER, LETTERS_UPPER };

/* One character of UTF-8 at the front of `x`; its bytes, or 0. */
static size_t
read_character(struct string_view x, wint_t *code)
{
	const unsigned char *b = (const unsigned char *)x.s;
	const size_t n = b[0] < 0x80 ? 1
	    : b[0] >> 5 == 6         ? 2
	    : b[0] >> 4 == 14        ? 3
	    : b[0] >> 3 == 30        ? 4
	                             : 0;

	if (n == 0 || n > x.n)
		return 0;
	*code = n == 1 ? b[0] : b[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (b[i] >> 6 != 2)
			return 0;
		*code = *code << 6 | (b[i] & 0x3fu);
	}
	return n;
}

static size_t
write_character(char *to, wint_t code)
{
	static const unsigned char mark[] = {0, 0, 0xc0, 0xe0, 0xf0};
	const size_t n = code < 0x80 ? 1
	    : code < 0x800           ? 2
	    : code < 0x10000         ? 3
	                             : 4;

	for (size_t i = n; i-- > 1; code >>= 6)
		to[i] = (char)(0x80 | (code & 0x3f));
	to[0] = (char)(mark[n == 1 ? 0 : n] | code);
	return n;
}

/* `x` in small or capital letters. */
static bool
in_letters(struct string_view *x, enum letters letters, locale_t locale,
    struct arena *a, struct err *err)
{
	char *text = arena_alloc(a, 4 * x->n + 1);
	struct string_view rest = *x;
	size_t n = 0;

	while (rest.n) {
		wint_t code;
		const size_t took = read_character(rest, &code);

		if (took == 0)
			return err_set(
			    err, ERR_INPUT, "a string that is not UTF-8");
		n += write_character(text + n,
		    letters == LETTERS_LOWER ? towlower_l(code, locale)
		                             : towupper_l(code, locale));
		rest = (struct string_view){rest.s + took, rest.n - took};
	}
	*x = (struct string_view){text, n};
	return true;
}

/* Which strings stay, and in which letters. */
struct normalizer {
	const struct attr *stop; /* words that go, or NULL */
	struct string_view *small; /* those in small letters, or NULL */
	enum letters letters;
	locale_t locale;
};

static bool
stays(const struct normalizer *z, struct string_view x, bool *yes,
    struct arena *scratch, struct err *err)
{
	*yes = true;
	if (z->small && !in_letters(&x, LETTERS_LOWER, z->locale, scratch, err))
		return false;
	for (uint32_t i = 0; z->stop && *yes && i < z->stop->n; i++)
		*yes = string_order(
		           x, z->small ? z->small[i] : z->stop->strings[i])
		    != 0;
	return true;
}

/* Stop words in small letters, where case does not count. */
static bool
read_stop_words(struct normalizer *z, struct call *c, struct err *err)
{
	z->stop = node_attr(c->node, "stopwords");
	if (!z->stop || attr_int_or(c->node, "is_case_sensitive", 0))
		return true;
	z->small = arena_copy(c->scratch, z->stop->strings,
	    z->stop->n * sizeof *z->stop->strings);
	for (uint32_t i = 0; i < z->stop->n; i++)
		if (!in_letters(&z->small[i], LETTERS_LOWER, z->locale,
		        c->scratch, err))
			return false;
	return true;
}

/* The strings of `x` that stay, in the wanted letters; their number in *n. */
static bool
normalize(const struct normalizer *z, struct call *c, struct string_view *kept,
    size_t *n, struct err *err)
{
	const struct tensor *x = c->in[0];
	bool yes;

	*n = 0;
	for (size_t i = 0; i < x->count; i++) {
		kept[*n] = x->string[i];
		if (!stays(z, x->string[i], &yes, c->scratch, err))
			return false;
		if (yes && z->letters != LETTERS_SAME
		    && !in_letters(
		        &kept[*n], z->letters, z->locale, c->arena, err))
			return false;
		*n += yes;
	}
	return true;
}

/* What is left of [C] or [1, C]; one empty string where nothing is. */
static bool
normalized(struct call *c, struct normalizer *z, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape s = shape_of(x);
	struct string_view *kept =
	    arena_new(c->scratch, struct string_view, x->count + 1);
	struct sink to;
	size_t n;

	if (s.rank < 1 || s.rank > 2 || (s.rank == 2 && s.dim[0] != 1))
		return err_set(err, ERR_INPUT, "[C] or [1,C] is needed");
	if (!read_stop_words(z, c, err) || !normalize(z, c, kept, &n, err))
		return false;
	if (n == 0)
		kept[n++] = (struct string_view){"", 0};
	s.dim[s.rank - 1] = (int64_t)n;
	if (!host_out(c, 0, DT_STRING, &s, &to, err))
		return false;
	memcpy(to.data, kept, n * sizeof *kept);
	return true;
}

/* SOURCE: letters of these languages change otherwise than everywhere else. */
static bool
is_own_case(struct string_view locale)
{
	static const char *const own[] = {"tr", "az", "lt"};

	for (size_t i = 0; i < 3; i++)
		if (locale.n >= 2 && memcmp(locale.s, own[i], 2) == 0)
			return true;
	return false;
}

bool
stringnormalizer_run(struct call *c, struct err *err)
{
	const struct node *n = c->node;
	const struct string_view locale = attr_str_or(n, "locale", "");
	struct normalizer z = {
	    .letters = attr_is(n, "case_change_action", "NONE", "LOWER")
	        ? LETTERS_LOWER
	        : attr_is(n, "case_change_action", "NONE", "UPPER")
	        ? LETTERS_UPPER
	        : LETTERS_SAME};
	bool done;

	if (is_own_case(locale))
		return refuse(
		    err, "letters of locale '%.*s'", (int)locale.n, locale.s);
	z.locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!z.locale)
		return refuse(err, "letters without the locale C.UTF-8");
	done = normalized(c, &z, err);
	freelocale(z.locale);
	return done;
}
