/* The toolchain's side of code generation: what emit/ writes with. */
#include "targets/toolchain.h"

#include "targets/mrvl/build.h"
#include "targets/mrvl/codegen.h"
#include "targets/mrvl/device.h"
#include "targets/mrvl/layer.h"
#include "targets/mrvl/options.h"

static bool
layers_of(struct toolchain_layers *out, const struct region *r,
    const struct toolchain_memory *m, struct arena *a, struct err *err)
{
	struct layers l;
	struct toolchain_layer *list;

	(void)m;
	if (!mrvl_layers(&l, r, a, err))
		return false;
	list = arena_new(a, struct toolchain_layer, l.nlayers);
	for (uint32_t i = 0; i < l.nlayers; i++) {
		struct toolchain_constant *constant =
		    arena_new(a, struct toolchain_constant, MRVL_CONSTANTS);

		list[i] = (struct toolchain_layer){
		    .symbol = l.symbol,
		    .name = layer_info(l.layer[i].kind)->layer_name,
		    .func_name = mrvl_func_name(&l, i, a),
		    .nnodes = l.layer[i].nnodes,
		    .node = l.layer[i].node,
		    .nconstants = mrvl_constants(&l, i, constant, a),
		    .constant = constant,
		};
	}
	*out = (struct toolchain_layers){l.nlayers, list};
	return true;
}

enum { FILE_NODES, FILE_CONSTS, FILE_MAP };

static const char *const names[] = {
    [FILE_NODES] = "nodes.json",
    [FILE_CONSTS] = "consts.json",
    [FILE_MAP] = "map.json",
    NULL,
};

static bool
write_files(FILE *const *file, const struct region *r, struct err *err)
{
	struct arena scratch;
	struct layers layers;
	bool ok;

	arena_init(&scratch);
	ok = mrvl_layers(&layers, r, &scratch, err);
	if (ok) {
		mrvl_write_nodes(file[FILE_NODES], &layers, &scratch);
		mrvl_write_consts(file[FILE_CONSTS], &layers, &scratch);
		mrvl_write_map(file[FILE_MAP], &layers, r->graph, &scratch);
	}
	arena_release(&scratch);
	for (uint32_t i = 0; ok && names[i]; i++)
		if (ferror(file[i]))
			ok = err_set(
			    err, ERR_IO, "cannot write region %u", r->number);
	return ok;
}

static const char *
command(const struct region *r, struct arena *a, struct err *err)
{
	struct layers l;

	return mrvl_layers(&l, r, a, err) ? mrvl_command(r->target, &l, a)
	                                  : NULL;
}

const struct toolchain mrvl_toolchain = {
    .file = names,
    .layer_index = "mrvl_nodes_idx",
    .symbol = mrvl_symbol,
    .layers = layers_of,
    .write = write_files,
    .command = command,
    .package = &device_package,
};
