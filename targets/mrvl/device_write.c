/* The package: all of its files, read back before they count. */
#include <inttypes.h>

#include "ir/base/file.h"
#include "targets/mrvl/device.h"
#include "targets/mrvl/device_assets.h"
#include "targets/mrvl/device_read.h"
#include "targets/mrvl/options.h"
#include "targets/toolchain.h"

/* One region that is the whole model: its binary alone is what the driver
 * loads. */
static bool
is_one_region(const struct device *d)
{
	return d->nfunctions == 1 && d->nregions == 1;
}

/* What build.sh makes, of how many regions; a line each. */
void
device_write_script(FILE *f, const struct device *d)
{
	fprintf(f, "%s %u\n", is_one_region(d) ? "bin" : "tar", d->nregions);
	for (uint32_t i = 0; i < d->nregions; i++)
		fprintf(f, "%s %" PRIi64 " %s\n", d->region[i].layers.symbol,
		    d->region[i].batch, d->region[i].options);
}

#define ASSET(name) \
	static void write_##name(FILE *f, const struct device *d) \
	{ \
		(void)d; \
		fwrite(asset_##name, 1, asset_##name##_size, f); \
	}
ASSET(build_sh)
ASSET(Makefile)
ASSET(ops_h)

static const struct {
	const char *name;
	void (*write)(FILE *f, const struct device *d);
} files[] = {
    {"build.sh", write_build_sh},
    {"Makefile", write_Makefile},
    {"regions.txt", device_write_script},
    {"ops.h", write_ops_h},
    {"cpu.c", device_write_code},
    {"module.s", device_write_module},
    {"map.json", device_write_map},
    {"mod.json", device_write_json},
    {"mod.params", device_write_params},
};

/* Does the reader see in the file what was meant? */
static bool
check_files(const char *folder, const struct device *d, struct arena *a,
    struct err *err)
{
	struct device_facts facts;

	if (!device_read(&facts, arena_printf(a, "%s/mod.json", folder),
	        arena_printf(a, "%s/mod.params", folder), err)) {
		err->kind = ERR_INTERNAL;
		return err_in(err, "what was written does not read back");
	}
	if (facts.ninputs != d->ninputs || facts.noutputs != d->nheads
	    || facts.nparams != d->nparams || facts.nregions != d->nregions
	    || facts.nfunctions != d->nfunctions)
		return err_set(err, ERR_INTERNAL,
		    "%s: not the graph that was written", folder);
	return true;
}

static bool
init(struct device *d, const struct toolchain_plan *p, struct arena *a,
    struct err *err)
{
	for (uint32_t i = 0; i < p->nsteps; i++)
		if (p->step[i].region
		    && mrvl_of(p->step[i].region->target)->int8) {
			*d = (struct device){0};
			return err_set(err, ERR_UNSUPPORTED,
			    "mrvl: quantize=int8: how Marvell's compiler is "
			    "given scales is not public");
		}
	return device_init(d, p, a, err);
}

static bool
write_package(const struct outdir *o, const char *folder,
    const struct toolchain_plan *p, struct arena *a, struct err *err)
{
	struct device d;
	bool ok = init(&d, p, a, err);

	for (size_t i = 0; ok && i < sizeof files / sizeof files[0]; i++) {
		const char *name =
		    arena_printf(a, "%s/%s", folder, files[i].name);
		FILE *f = out_open(o, name, a, err);

		ok = f != NULL;
		if (f) {
			files[i].write(f, &d);
			ok = out_close(f, name, err);
		}
	}
	ok = ok
	    && check_files(
	        arena_printf(a, "%s/%s", o->temporary, folder), &d, a, err);
	device_release(&d);
	return ok;
}

static bool
functions_of(struct toolchain_functions *out, const struct toolchain_plan *p,
    struct arena *a, struct err *err)
{
	struct device d;
	struct toolchain_function *list;
	bool ok = init(&d, p, a, err);

	list = arena_new(a, struct toolchain_function, d.nfunctions);
	for (uint32_t i = 0; ok && i < d.nfunctions; i++) {
		const struct device_function *f = &d.function[i];
		struct device_ref r = {DEVICE_FUNCTION, i, 0};

		list[i] = (struct toolchain_function){
		    .name = f->name,
		    .symbol = f->region == DEVICE_NO_REGION
		        ? NULL
		        : d.region[f->region].layers.symbol,
		    .operation = f->operation,
		    .index = device_node(&d, r),
		    .region = f->plan_region,
		    .nnodes = f->nnodes,
		    .node = f->node,
		};
	}
	*out = (struct toolchain_functions){ok ? d.nfunctions : 0, list};
	device_release(&d);
	return ok;
}

const struct toolchain_package device_package = {
    .functions = functions_of,
    .write = write_package,
};
