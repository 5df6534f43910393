/* ai.onnx.ml: scores with their labels, a map a row. A map is a sequence of two:
 * its keys, and its values in a sequence. */
#include "targets/host/kernels.h"
#include "targets/host/ml.h"

static struct tensor
keys_of(const struct attr *labels, const int64_t *width)
{
	if (labels->kind == ATTR_STRINGS)
		return tensor_strings(1, width, labels->strings);
	return tensor_view(DT_INT64, 1, width, labels->ints);
}

static struct tensor
sequence_of(const struct tensor *item, uint32_t n)
{
	return (struct tensor){
	    .kind = TENSOR_SEQUENCE, .item = item, .nitems = n};
}

static struct tensor
values_of(const double *row, uint32_t n, struct arena *a)
{
	struct tensor *item = arena_new(a, struct tensor, n);
	float *x = arena_new(a, float, n);

	for (uint32_t i = 0; i < n; i++) {
		x[i] = (float)row[i];
		item[i] = tensor_view(DT_FLOAT, 0, NULL, &x[i]);
	}
	return sequence_of(item, n);
}

bool
zipmap_run(struct call *c, struct err *err)
{
	const struct attr *labels = ml_labels_of(c->node);
	int64_t *width;
	struct tensor *map, *pair;
	struct ml_rows x;

	if (!ml_rows_of(&x, c, err))
		return false;
	if (!labels || labels->n != x.width || x.n > UINT32_MAX)
		return err_set(
		    err, ERR_INPUT, "labels and scores differ in number");
	width = arena_new(c->arena, int64_t, 1);
	*width = (int64_t)x.width;
	map = arena_new(c->arena, struct tensor, x.n);
	for (size_t i = 0; i < x.n; i++) {
		pair = arena_new(c->arena, struct tensor, 2);
		pair[0] = keys_of(labels, width);
		pair[1] = values_of(ml_row(&x, i), labels->n, c->arena);
		map[i] = sequence_of(pair, 2);
	}
	c->out[0] = sequence_of(map, (uint32_t)x.n);
	return true;
}
