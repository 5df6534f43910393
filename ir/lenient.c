#include "ir/lenient.h"

#include <assert.h>

static const struct {
	const char *word, *what;
} rules[] = {
#define LENIENT(id, word, what) {word, what},
#include "ir/lenient.def"
#undef LENIENT
};

const char *
lenient_word(enum lenient rule)
{
	assert(rule < NLENIENT);
	return rules[rule].word;
}

const char *
lenient_what(enum lenient rule)
{
	assert(rule < NLENIENT);
	return rules[rule].what;
}

void
lenient_note(struct notes *notes, enum lenient rule, const char *fmt, ...)
{
	va_list ap;

	if (!notes)
		return;
	va_start(ap, fmt);
	notes_vadd(notes, fmt, ap);
	va_end(ap);
	if (notes->lenient)
		return;
	notes->lenient = notes->text[notes->n - 1];
	notes->rule = lenient_word(rule);
}

bool
lenient_refuse(const struct notes *notes, struct err *err)
{
	if (!notes->lenient)
		return true;
	return err_set(err, ERR_INPUT, "%s (rule '%s', refused by --strict)",
	    notes->lenient, notes->rule);
}
