/* What an exporter is said to have written of a node: name, modules, classes and
 * stack trace, each up to a NUL. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "emit/scopes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const keys[] = {"pkg.torch.onnx.name_scopes",
	    "pkg.torch.onnx.class_hierarchy", "pkg.torch.onnx.stack_trace"};
	struct onnx_meta meta[3];
	struct onnx_node node = {.path = "", .nmeta = 3, .meta = meta};
	struct onnx_nodes table = {.node = &node, .n = 1};
	struct scopes s;
	struct arena arena;
	const char *text;

	arena_init(&arena);
	text = arena_strn(&arena, (const char *)data, size);
	node.name = text;
	for (int i = 0; i < 3; i++) {
		size_t n = strlen(text);

		text += (size_t)(text - node.name) + n < size ? n + 1 : n;
		meta[i] = (struct onnx_meta){keys[i], text};
	}
	scopes_init(&s, &table, &arena);
	assert(s.of[0].scope < s.n && s.n <= 65);
	assert(s.of[0].nlines <= 64);
	assert((s.of[0].line == LINE_NONE) == (s.of[0].nlines == 0));
	for (uint32_t i = 0; i < s.n; i++)
		assert(s.scope[i].parent < i || i == 0);
	for (uint32_t i = 0; i < s.of[0].nlines; i++)
		assert(s.of[0].lines[i] < s.nlines);
	arena_release(&arena);
	return 0;
}
