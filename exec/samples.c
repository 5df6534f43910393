#include "exec/samples.h"

#include "costmodel/seed.h"

bool
samples_take(struct tensor *in, const struct samples *s, uint32_t i,
    const struct graph *g, struct arena *a, struct err *err)
{
	for (uint32_t k = 0; k < g->ninputs; k++) {
		if (s->in)
			in[k] = s->in[i][k];
		else if (!seed_tensor(&in[k], g, g->input[k], i, a))
			return err_set(err, ERR_UNSUPPORTED,
			    "input '%s' has no static shape",
			    graph_value(g, g->input[k])->name);
	}
	return true;
}
