#include "emit/report/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "ir/base/plain.h"
#include "ir/base/plural.h"

/* No-break, so that a figure and its unit stay on one line. */
#define SPACE "\xc2\xa0"

static void
put_escaped(FILE *f, const char *s)
{
	size_t taken;
	char plain[4];

	for (; *s; s += taken) {
		size_t n = plain_next(plain, s, &taken);

		switch (*s) {
		case '&':
			fputs("&amp;", f);
			break;
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		case '\'':
			fputs("&#39;", f);
			break;
		default:
			fwrite(plain, 1, n, f);
		}
	}
}

const char *
dur_text(char text[DUR_BYTES], uint64_t ns)
{
	static const struct {
		double below, unit;
		const char *name;
	} units[] = {{999.5e3, 1e3, "µs"}, {999.5e6, 1e6, "ms"},
	    {(double)INFINITY, 1e9, "s"}};
	size_t u = 0;
	double x;

	if (ns == NS_NEVER) {
		snprintf(text, DUR_BYTES, "no legal plan");
		return text;
	}
	if (ns < 1000) {
		snprintf(text, DUR_BYTES, "%" PRIu64 SPACE "ns", ns);
		return text;
	}
	while ((double)ns >= units[u].below)
		u++;
	x = (double)ns / units[u].unit;
	snprintf(text, DUR_BYTES, "%.*f" SPACE "%s",
	    x < 9.995       ? 2
	        : x < 99.95 ? 1
	                    : 0,
	    x, units[u].name);
	return text;
}

static void
put_share(FILE *f, uint64_t part, uint64_t whole)
{
	double p = whole ? 100.0 * (double)part / (double)whole : 0;

	if (part == 0)
		fputs("0" SPACE "%", f);
	else if (p < 0.1)
		fputs("&lt;" SPACE "0.1" SPACE "%", f);
	else
		fprintf(f, "%.*f" SPACE "%%", p < 9.95 ? 1 : 0, p);
}

static void
put_count(FILE *f, uint32_t n)
{
	if (n >= 1000000)
		fprintf(f, "%u,", n / 1000000);
	if (n >= 1000)
		fprintf(f, n >= 1000000 ? "%03u,%03u" : "%u,%03u",
		    n / 1000 % 1000, n % 1000);
	else
		fprintf(f, "%u", n);
}

/* Kinds come from a document: only what can be part of a class is one. */
static void
put_kind(FILE *f, const char *kind)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

	fputs(*kind && strspn(kind, plain) == strlen(kind) ? kind : "other", f);
}

static void
put_number(FILE *f, double x)
{
	if (fabs(x) >= 1000 && fabs(x) < 4e9 && x >= 0)
		put_count(f, (uint32_t)(x + 0.5));
	else
		fprintf(f, "%.3g", x);
}

static void
put_parts(FILE *f, bool is_width, uint64_t part, uint64_t whole)
{
	double share = whole ? (double)part / (double)whole : 0;

	if (is_width)
		fprintf(f, "%.2f%%", 100 * (share > 1 ? 1 : share));
	else
		put_share(f, part, whole);
}

static void
put_noun(FILE *f, uint32_t n, const char *noun)
{
	put_count(f, n);
	fprintf(f, " %s%s", noun, plural(n));
}

/* One value: a flat switch over html()'s table. */
static void
put_value(FILE *f, char what, va_list *ap)
{
	char text[DUR_BYTES];
	uint64_t part;
	uint32_t n;

	switch (what) {
	case 's':
		put_escaped(f, va_arg(*ap, const char *));
		break;
	case 'r':
		fputs(va_arg(*ap, const char *), f);
		break;
	case 'n':
		put_count(f, va_arg(*ap, uint32_t));
		break;
	case 'g':
		put_number(f, va_arg(*ap, double));
		break;
	case 't':
		fputs(dur_text(text, va_arg(*ap, uint64_t)), f);
		break;
	case 'p':
	case 'w':
		part = va_arg(*ap, uint64_t);
		put_parts(f, what == 'w', part, va_arg(*ap, uint64_t));
		break;
	case 'k':
		put_kind(f, va_arg(*ap, const char *));
		break;
	case 'i':
		fputs("<i class=\"ic k-", f);
		put_kind(f, va_arg(*ap, const char *));
		fputs("\" aria-hidden=true></i>", f);
		break;
	case 'o':
		n = va_arg(*ap, uint32_t);
		put_noun(f, n, va_arg(*ap, const char *));
		break;
	default:
		putc(what, f);
	}
}

void
html(FILE *f, const char *form, ...)
{
	va_list ap;

	va_start(ap, form);
	for (const char *s = form; *s; s++)
		if (*s == '%' && s[1])
			put_value(f, *++s, &ap);
		else
			putc(*s, f);
	va_end(ap);
}

void
put_command(FILE *f, const char *line)
{
	html(f, "<div class=cmd><code tabindex=0>%s</code></div>", line);
}
