#include "exec/samples.h"

#include "costmodel/seed.h"

bool
samples_take(struct tensor *in, const struct samples *s, uint32_t i,
    const struct graph *g, struct arena *a, struct err *err)
{
	for (uint32_t k = 0; k < g->ninputs; k++) {
		const struct value *v = graph_value(g, g->input[k]);
		size_t n, bytes;
		void *data;

		if (s->in) {
			in[k] = s->in[i][k];
			continue;
		}
		if (v->type.kind != TYPE_TENSOR || !type_is_static(&v->type)
		    || !tensor_size(
		        v->type.dtype, v->type.dim, v->type.rank, &n, &bytes))
			return err_set(err, ERR_UNSUPPORTED,
			    "input '%s' has no static shape", v->name);
		data = seed_buffer(a, bytes);
		seed_sample(g, g->input[k], i, data);
		in[k] =
		    tensor_view(v->type.dtype, v->type.rank, v->type.dim, data);
	}
	return true;
}
