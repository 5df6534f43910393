#include "ir/base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* TUNING: longer words are not compared */
#define WORD_MAX 200u

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool
same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Edit distance (Levenshtein), where case does not matter and two letters that
 * changed places count as one edit. */
static size_t
edits(const char *a, const char *b)
{
	size_t row[3][WORD_MAX + 1];
	size_t na = strlen(a), nb = strlen(b);
	size_t *before = row[0], *last = row[1], *now = row[2];

	for (size_t j = 0; j <= nb; j++)
		last[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *oldest = before;

		now[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			bool same = same_letter(a[i - 1], b[j - 1]);

			now[j] = least(last[j - 1] + !same,
			    least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2])
			    && same_letter(a[i - 2], b[j - 1]))
				now[j] = least(now[j], before[j - 2] + 1);
		}
		before = last;
		last = now;
		now = oldest;
	}
	return last[nb];
}

void
nearest_try(struct nearest *n, const char *name)
{
	size_t word = strlen(n->word), length = strlen(name), distance;

	if (word == 0 || length == 0 || word > WORD_MAX || length > WORD_MAX)
		return;
	/* TUNING: a third of the letters may be wrong; a beginning is near */
	if (strncmp(name, n->word, word) == 0)
		distance = 1;
	else
		distance = edits(n->word, name);
	if (distance > 1 + word / 3 || distance >= least(word, length))
		return;
	if (!n->name || distance < n->distance) {
		n->name = name;
		n->distance = distance;
	}
}

const char *
nearest_text(const struct nearest *n, struct arena *a)
{
	return n->name ? arena_printf(a, "; did you mean '%s'?", n->name) : "";
}
