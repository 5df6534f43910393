#include "cli/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct size_unit {
	const char *name;
	uint64_t size;
};

static const struct size_unit durations[] = {
    {"h", UINT64_C(3600000000000)},
    {"ms", UINT64_C(1000000)},
    {"m", UINT64_C(60000000000)},
    {"s", UINT64_C(1000000000)},
    {"us", UINT64_C(1000)},
    {"µs", UINT64_C(1000)},
    {"ns", UINT64_C(1)},
    {NULL, 0},
};

static const struct size_unit sizes[] = {
    {"B", 1},
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
    {NULL, 0},
};

/* Digits at *s, moved past; false without any or on overflow. */
static bool
parse_digits(const char **s, uint64_t *out)
{
	const char *start = *s;

	for (*out = 0; **s >= '0' && **s <= '9'; ++*s) {
		uint64_t digit = (uint64_t)(**s - '0');

		if (*out > (UINT64_MAX - digit) / 10)
			return false;
		*out = *out * 10 + digit;
	}
	return *s != start;
}

static const struct size_unit *
parse_unit(const char **s, const struct size_unit *table)
{
	for (const struct size_unit *u = table; u->name; u++) {
		size_t n = strlen(u->name);

		if (strncmp(*s, u->name, n) == 0
		    && (table != sizes || (*s)[n] == '\0')) {
			*s += n;
			return u;
		}
	}
	return NULL;
}

/* A sum of number-unit pairs. */
static bool
parse_sum(const char *text, const struct size_unit *table, uint64_t *out)
{
	const char *s = text;

	*out = 0;
	do {
		const struct size_unit *u;
		uint64_t n;

		if (!parse_digits(&s, &n) || !(u = parse_unit(&s, table)))
			return false;
		if (n > (UINT64_MAX - *out) / u->size)
			return false;
		*out += n * u->size;
	} while (*s != '\0');
	return *out > 0;
}

bool
parse_duration(const char *text, uint64_t *ns, struct err *err)
{
	return parse_sum(text, durations, ns)
	    || err_set(err, ERR_USAGE,
	        "'%s' is not a duration above zero (like 90s, 7h30m, 200ms)",
	        text);
}

bool
parse_bytes(const char *text, uint64_t *bytes, struct err *err)
{
	return parse_sum(text, sizes, bytes)
	    || err_set(err, ERR_USAGE,
	        "'%s' is not a size above zero (like 512MiB, 4GiB)", text);
}

bool
parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *out,
    struct err *err)
{
	const char *s = text;

	/* (a leading 0 means eight to a digit elsewhere) */
	if (parse_digits(&s, out) && *s == '\0' && *out >= low && *out <= high
	    && (text[0] != '0' || text[1] == '\0'))
		return true;
	return err_set(err, ERR_USAGE,
	    "'%.60s' is not a number from %" PRIu64 " to %" PRIu64, text, low,
	    high);
}

char *
format_duration(uint64_t ns, char *text, size_t n)
{
	double x = (double)ns;

	if (ns < 1000)
		snprintf(text, n, "%llu ns", (unsigned long long)ns);
	else if (ns < 999500) /* from here on three digits make 1e+03 */
		snprintf(text, n, "%.3g µs", x / 1e3);
	else if (ns < 1000000000)
		snprintf(text, n, "%.4g ms", x / 1e6);
	else if (ns < 9999500000000)
		snprintf(text, n, "%.4g s", x / 1e9);
	else
		snprintf(text, n, "%.0f s", x / 1e9);
	return text;
}

const char *
price_detail(const char *detail, struct arena *a)
{
	if (!detail || !*detail)
		return "";
	return arena_printf(
	    a, " (%s%s)", strchr(detail, ' ') ? "" : "rests on ", detail);
}

char *
format_column(uint64_t ns, int width, char *text, size_t n)
{
	char plain[32];

	format_duration(ns, plain, sizeof plain);
	/* "µ" is two bytes in one column */
	snprintf(text, n, "%*s", width + (strstr(plain, "µ") != NULL), plain);
	return text;
}
