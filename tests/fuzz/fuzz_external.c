/* References to external data nobody vouches for, as lines "KEY VALUE": what is
 * found lies in the model's folder and has all its bytes. The first byte says
 * how many are wanted. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/external.h"
#include "tests/support/infile.h"
#include "tests/support/scratch.h"

#define ENTRIES 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
touch(const unsigned char *data, size_t bytes)
{
	const volatile unsigned char *p = data;

	for (size_t i = 0; i < bytes; i++)
		(void)p[i];
}

static void
find(Onnx__TensorProto *t, size_t bytes, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	struct mapping *list = NULL;
	const void *found;
	struct external x;

	if (!external_open(&x,
	        arena_printf(a, "%s/model.onnx", scratch_folder()), &list, a,
	        &err))
		abort();
	if (external_find(&x, t, bytes, &found, &err))
		touch(found, bytes);
	external_close(&x);
	for (; list; list = list->next)
		file_unmap(&list->file);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t weights[64] = {1, 2, 3};
	Onnx__StringStringEntryProto entry[ENTRIES], *list[ENTRIES];
	Onnx__TensorProto t = ONNX__TENSOR_PROTO__INIT;
	struct arena a;
	char *text, *line, *rest;

	if (size < 1)
		return 0;
	infolder_put("w.bin", weights, sizeof weights);
	arena_init(&a);
	text = arena_strn(&a, (const char *)data + 1, size - 1);
	t.external_data = list;
	for (line = strtok_r(text, "\n", &rest);
	     line && t.n_external_data < ENTRIES;
	     line = strtok_r(NULL, "\n", &rest)) {
		Onnx__StringStringEntryProto *e = &entry[t.n_external_data];
		char *value = strchr(line, ' ');

		onnx__string_string_entry_proto__init(e);
		if (value)
			*value++ = '\0';
		e->key = line;
		e->value = value;
		list[t.n_external_data++] = e;
	}
	find(&t, data[0], &a);
	arena_release(&a);
	return 0;
}
