/* Words of a command line as a POSIX shell reads them. */
#ifndef IR_BASE_SHELL_H
#define IR_BASE_SHELL_H

#include <stddef.h>

#include "ir/base/arena.h"

/* The word as a shell reads it back: itself where it is plain, else in single
 * quotes. In arena `a`, or `word` itself. */
const char *shell_quote(const char *word, struct arena *a);

/* How many bytes the first word of `line` has, quotes included; 0 where a quote
 * is not closed or is one that shell_quote() never writes. */
size_t shell_word_length(const char *line);

#endif
