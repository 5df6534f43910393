/* Documents that go between machines: what a board says it is, and what somebody
 * wants measured on it. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "costmodel/board.h"
#include "costmodel/want.h"
#include "ir/base/jsonin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
take_board(const struct cJSON *doc, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	struct board board;

	if (!board_take(&board, doc, a, &err)) {
		assert(err.text[0] != '\0');
		return;
	}
	assert(board_same(&board, &board, a, &err));
	for (uint32_t i = 0; i < board.n; i++)
		assert(strlen(board.hard[i]) > 0);
}

static void
take_want(const struct cJSON *doc, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	struct want want;

	if (!want_read(&want, doc, a, &err)) {
		assert(err.text[0] != '\0');
		return;
	}
	for (uint32_t i = 0; i < want.n; i++)
		assert(want.subject[i].target <= want.ntargets);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {.kind = ERR_NONE};
	struct cJSON *doc =
	    jsonin_parse((const char *)data, size, "fuzz", &err);
	struct arena a;

	if (!doc)
		return 0;
	arena_init(&a);
	take_board(doc, &a);
	take_want(doc, &a);
	arena_release(&a);
	jsonin_close(doc);
	return 0;
}
