#include "ir/base/err.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/plain.h"

static const struct {
	int exit;
	const char *words;
} info[NERR] = {
#define ERR(name, exit, words) [ERR_##name] = {exit, words},
#include "ir/base/err.def"
#undef ERR
};

bool
err_set_at(struct err *err, enum err_kind kind, const char *file, int line,
    const char *fmt, ...)
{
	va_list ap;

	assert(err->kind == ERR_NONE);
	err->kind = kind;
	err->file = file;
	err->line = line;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof err->text, fmt, ap);
	va_end(ap);
	plain_line(err->text);
	return false;
}

bool
err_put_context(struct err *err, const char *fmt, ...)
{
	char context[sizeof err->text], whole[2 * sizeof err->text];
	va_list ap;

	assert(err->kind != ERR_NONE);
	va_start(ap, fmt);
	vsnprintf(context, sizeof context, fmt, ap);
	va_end(ap);
	snprintf(whole, sizeof whole, "%s: %s", context, err->text);
	memcpy(err->text, whole, sizeof err->text - 1);
	err->text[sizeof err->text - 1] = '\0';
	plain_line(err->text);
	return false;
}

void
err_clear(struct err *err)
{
	*err = (struct err){.kind = ERR_NONE};
}

int
err_exit(enum err_kind kind)
{
	return info[kind].exit;
}

const char *
err_words(enum err_kind kind)
{
	return info[kind].words;
}
