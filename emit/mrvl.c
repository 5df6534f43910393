/* What Marvell's compiler takes: nodes and constants of each region, a map
 * beside them, and the commands. */
#include "emit/layers.h"
#include "emit/writers.h"

static const char *
file_name(const struct emit_work *w, const char *symbol, const char *what)
{
	return arena_printf(w->arena, "mrvl/%s-%s", symbol, what);
}

/* Close the files that are open; an error is kept only when none is pending. */
static bool
close_files(FILE *const *file, const char *const *name, uint32_t n, bool ok,
    struct err *err)
{
	for (uint32_t i = 0; i < n; i++) {
		if (ok)
			ok = out_close(file[i], name[i], err);
		else if (file[i])
			fclose(file[i]);
	}
	return ok;
}

/* Valid, but the code generator cannot: say so where its files would be. */
static bool
write_refusal(const struct emit_work *w, const struct outdir *o,
    const char *symbol, struct err *err)
{
	const char *name = file_name(w, symbol, "unsupported.txt");
	struct err why = *err;
	FILE *f;

	err_clear(err);
	f = out_open(o, name, w->arena, err);
	if (!f)
		return false;
	fprintf(f, "%s\n", why.text);
	return out_close(f, name, err);
}

static bool
write_files(const struct emit_work *w, const struct outdir *o,
    const struct mrvl_region *r, const char *symbol, struct err *err)
{
	const char *name[] = {
	    file_name(w, symbol, "nodes.json"),
	    file_name(w, symbol, "consts.json"),
	    file_name(w, symbol, "map.json"),
	};
	FILE *file[3] = {NULL};
	bool ok = true;

	for (uint32_t i = 0; i < 3 && ok; i++) {
		file[i] = out_open(o, name[i], w->arena, err);
		ok = file[i] != NULL;
	}
	ok = ok && mrvl_codegen(file[0], file[1], file[2], r, err);
	return close_files(file, name, 3, ok, err);
}

static bool
write_region(const struct emit_work *w, const struct outdir *o, FILE *commands,
    uint32_t region, struct err *err)
{
	struct mrvl_region r = emit_mrvl_region(w, region);
	const char *symbol = mrvl_symbol(r.number, w->arena);
	struct layers layers;

	if (!mrvl_layers(&layers, &r, w->arena, err))
		return err->kind == ERR_UNSUPPORTED
		    && write_refusal(w, o, symbol, err);
	if (!write_files(w, o, &r, symbol, err))
		return false;
	fprintf(commands, "%s\n", mrvl_command(r.target, &layers, w->arena));
	return true;
}

bool
write_mrvl(const struct emit_work *w, const struct outdir *o, struct err *err)
{
	static const char *const name = "mrvl/compile.sh";
	FILE *commands = NULL;
	bool ok = true;

	for (uint32_t i = 0; i < w->plan->nregions && ok; i++) {
		if (!emit_is_mrvl(w, i))
			continue;
		if (!commands) {
			commands = out_open(o, name, w->arena, err);
			if (!commands)
				return false;
			fputs("#!/bin/sh -e\ncd \"$(dirname \"$0\")\"\n",
			    commands);
		}
		ok = write_region(w, o, commands, i, err);
	}
	return commands ? close_files(&commands, &name, 1, ok, err) : ok;
}
