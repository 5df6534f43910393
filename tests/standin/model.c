/* standin_model FILE: a model whose first two operators change nothing, so that
 * a stand-in for an accelerator's simulator is `cp`. x[1,1,8,8] -> MaxPool 1x1
 * -> Conv 1x1 of weight 1 -> Sigmoid -> y. */
#include <stdio.h>

#include "ir/base/file.h"
#include "ir/onnx_write.h"
#include "tests/support/make.h"

static bool
write_model(FILE *f, void *context, struct err *err)
{
	const struct onnx_opset opset = {"", 13};
	const struct onnx_out o = {
	    .graph = context, .ir_version = 8, .nopsets = 1, .opset = &opset};

	return onnx_write(f, &o, err);
}

int
main(int argc, char **argv)
{
	struct attr kernel[] = {ATTR_OF_INTS("kernel_shape", 1, 1)};
	static const float one = 1;
	const int64_t shape[] = {1, 1, 1, 1};
	struct tensor weight = tensor_view(DT_FLOAT, 4, shape, &one);
	struct err err = {.kind = ERR_NONE};
	struct arena arena;
	struct maker m;
	value_id x, w;

	if (argc != 2)
		return 2;
	arena_init(&arena);
	make_begin(&m, &arena);
	x = make_input(&m, DIMS(1, 1, 8, 8));
	x = MAKE_WITH(&m, MAXPOOL, kernel, x);
	w = graph_add_constant(m.graph, "one", &weight);
	x = MAKE(&m, CONV, x, w);
	make_output(&m, MAKE(&m, SIGMOID, x));
	make_end(&m);
	if (!file_write(argv[1], write_model, m.graph, &err))
		fprintf(stderr, "%s\n", err.text);
	arena_release(&arena);
	return err.kind != ERR_NONE;
}
