/* Words of an outside program: what people see of them is one line of UTF-8
 * without anything that steers a terminal. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/plain.h"
#include "ir/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
expect_plain(const char *s)
{
	size_t n = strlen(s), len;

	for (size_t i = 0; i < n; i += len) {
		len = utf8_length(s + i, n - i);
		assert(len > 0 && !plain_is_control(s + i, len));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {.kind = ERR_NONE};
	struct arena a;
	char *text;

	arena_init(&a);
	text = arena_strn(&a, (const char *)data, size);
	err_set(&err, ERR_INPUT, "%s", text);
	expect_plain(err.text);
	err_in(&err, "%s", text);
	expect_plain(err.text);
	plain_line(text);
	expect_plain(text);
	arena_release(&a);
	return 0;
}
