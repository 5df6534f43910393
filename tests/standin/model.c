/* standin_model FILE [OPERATORS]: x[1,1,8,8] -> operators, a letter each -> y.
 * p: MaxPool 1x1, c: Conv 1x1 of weight 1, s: Sigmoid, f: Flatten. "pcs" when
 * left out: the first two change nothing, so that a stand-in for an accelerator's
 * simulator is `cp`. */
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

static value_id
add(struct maker *m, char letter, value_id x, value_id w)
{
	struct attr kernel[] = {ATTR_OF_INTS("kernel_shape", 1, 1)};

	switch (letter) {
	case 'p':
		return MAKE_WITH(m, MAXPOOL, kernel, x);
	case 'c':
		return MAKE(m, CONV, x, w);
	case 'f':
		return MAKE(m, FLATTEN, x);
	default:
		return MAKE(m, SIGMOID, x);
	}
}

int
main(int argc, char **argv)
{
	static const float one = 1;
	const int64_t shape[] = {1, 1, 1, 1};
	struct tensor weight = tensor_view(DT_FLOAT, 4, shape, &one);
	struct err err = {.kind = ERR_NONE};
	struct arena arena;
	struct maker m;
	value_id x, w = VALUE_NONE;

	if (argc < 2)
		return 2;
	arena_init(&arena);
	make_begin(&m, &arena);
	x = make_input(&m, DIMS(1, 1, 8, 8));
	for (const char *s = argc > 2 ? argv[2] : "pcs"; *s; s++) {
		if (*s == 'c' && w == VALUE_NONE)
			w = graph_add_constant(m.graph, "one", &weight);
		x = add(&m, *s, x, w);
	}
	make_output(&m, x);
	make_end(&m);
	if (!file_write(argv[1], write_model, m.graph, &err))
		fprintf(stderr, "%s\n", err.text);
	arena_release(&arena);
	return err.kind != ERR_NONE;
}
