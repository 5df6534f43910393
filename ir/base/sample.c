#include "ir/base/sample.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct sample
sample_failed(enum outcome outcome, const char *fmt, ...)
{
	struct sample s = {.outcome = outcome};
	va_list args;

	va_start(args, fmt);
	vsnprintf(s.detail, sizeof s.detail, fmt, args);
	va_end(args);
	return s;
}

void
sample_verify(const struct sample *s)
{
	assert(s->outcome < NOUTCOME);
	assert(memchr(s->detail, '\0', sizeof s->detail));
	if (sample_has_figures(s)) { /* (S1) */
		assert(s->low <= s->median);
		assert(s->median <= s->high);
	}
}
