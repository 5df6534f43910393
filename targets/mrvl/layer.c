#include "targets/mrvl/layer.h"

#include <assert.h>

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

const char *
mrvl_symbol(uint32_t number, struct arena *a)
{
	return arena_printf(a, "tvmgen_mrvl_main_%u", number);
}
