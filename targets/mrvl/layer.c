#include "targets/mrvl/layer.h"

#include <assert.h>

#include "targets/target.h"

static const struct layer_info info[NLAYER] = {
#define LAYER(name, layer_name, composite) \
	[LAYER_##name] = {layer_name, composite},
#include "targets/mrvl/layer.def"
#undef LAYER
};

const struct layer_info *
layer_info(enum layer_kind kind)
{
	assert(kind < NLAYER);
	return &info[kind];
}

size_t
layer_kernel_row(const struct layer *l, size_t e)
{
	size_t c, h, w;

	if (!l->flattens)
		return e;
	h = (size_t)l->in[0].dim[1];
	w = (size_t)l->in[0].dim[2];
	c = e / (h * w);
	return e % (h * w) * (size_t)l->in[0].dim[3] + c;
}

const uint32_t *
layer_ports(const struct layer *l, const struct candidate *c, struct arena *a)
{
	uint32_t *port = arena_new(a, uint32_t, l->ninputs);

	for (uint32_t i = 0; i < l->ninputs; i++)
		while (c->input[port[i]].value != l->operand[i])
			port[i]++;
	return port;
}

void
layer_set_global(struct layer *l)
{
	if (l->kind != LAYER_GLOBALAVGPOOL && l->kind != LAYER_GLOBALMAXPOOL)
		return;
	for (int i = 0; i < 2; i++)
		l->stride[i] = l->dilation[i] = 1;
}

const char *
mrvl_symbol(uint32_t number, struct arena *a)
{
	return arena_printf(a, "tvmgen_mrvl_main_%u", number);
}
