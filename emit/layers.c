#include "emit/layers.h"

const struct toolchain *
emit_toolchain(const struct emit_work *w, uint32_t region)
{
	return emit_target(w, region)->kind->toolchain;
}

struct region
emit_region(const struct emit_work *w, uint32_t region)
{
	struct region r = plan_region_of(w->plan, region, w->arena);

	r.number = w->number[region];
	return r;
}

static const char *
find_text(void *pricer, struct hash128 of)
{
	return pricer_find_text(pricer, of);
}

static void
keep_text(void *pricer, struct hash128 of, const char *text)
{
	pricer_keep_text(pricer, of, text);
}

const struct known_layers *
emit_layers(const struct emit_work *w, uint32_t region, struct err *err)
{
	const struct toolchain_memory memory = {
	    w->in->pricer, find_text, keep_text};
	static const struct known_layers none;
	const struct toolchain *toolchain = emit_toolchain(w, region);
	struct known_layers *known;
	struct region r;

	if (!toolchain)
		return &none;
	known = &w->layers[region];
	if (known->asked)
		return known;
	r = emit_region(w, region);
	known->index_name = toolchain->layer_index;
	if (!toolchain->layers(&known->layers, &r,
	        w->in->pricer ? &memory : NULL, w->arena, err)) {
		if (err->kind != ERR_UNSUPPORTED)
			return NULL;
		if (w->in->notes)
			notes_add(w->in->notes, "no layers of %s: %s",
			    w->region[region], err->text);
		err_clear(err);
		known->layers = (struct toolchain_layers){.n = 0};
	}
	known->asked = true;
	return known;
}
