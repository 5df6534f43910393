/* What a target's own compiler takes: files of each region and the commands, in
 * a folder of the kind's name. */
#include "emit/layers.h"
#include "emit/writers.h"

/* A region, and where its files go. */
struct region_files {
	const struct emit_work *w;
	const struct outdir *out;
	const struct toolchain *toolchain;
	struct region region;
	const char *symbol;
};

static const char *
file_name(const struct region_files *r, const char *what)
{
	return arena_printf(r->w->arena, "%s/%s-%s",
	    r->region.target->kind->name, r->symbol, what);
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

/* Valid, but the toolchain cannot: say so where its files would be. */
static bool
write_refusal(const struct region_files *r, struct err *err)
{
	const char *name = file_name(r, "unsupported.txt");
	struct err why = *err;
	FILE *f;

	err_clear(err);
	f = out_open(r->out, name, r->w->arena, err);
	if (!f)
		return false;
	fprintf(f, "%s\n", why.text);
	return out_close(f, name, err);
}

static bool
write_files(const struct region_files *r, struct err *err)
{
	const char *name[TOOLCHAIN_FILES];
	FILE *file[TOOLCHAIN_FILES] = {NULL};
	bool ok = true;
	uint32_t n;

	for (n = 0; ok && r->toolchain->file[n]; n++) {
		name[n] = file_name(r, r->toolchain->file[n]);
		file[n] = out_open(r->out, name[n], r->w->arena, err);
		ok = file[n] != NULL;
	}
	ok = ok && r->toolchain->write(file, &r->region, err);
	return close_files(file, name, n, ok, err);
}

static bool
write_region(const struct region_files *r, FILE *commands, struct err *err)
{
	const char *command =
	    r->toolchain->command(&r->region, r->w->arena, err);

	if (!command)
		return err->kind == ERR_UNSUPPORTED && write_refusal(r, err);
	if (!write_files(r, err))
		return false;
	fprintf(commands, "%s\n", command);
	return true;
}

/* All regions of a kind. */
static bool
write_kind(const struct emit_work *w, const struct outdir *o,
    const struct target_kind *kind, struct err *err)
{
	const char *name = arena_printf(w->arena, "%s/compile.sh", kind->name);
	struct region_files r = {
	    .w = w, .out = o, .toolchain = kind->toolchain};
	FILE *commands = NULL;
	bool ok = true;

	for (uint32_t i = 0; i < w->plan->nregions && ok; i++) {
		if (emit_target(w, i)->kind != kind)
			continue;
		if (!commands) {
			commands = out_open(o, name, w->arena, err);
			if (!commands)
				return false;
			fputs("#!/bin/sh -e\ncd \"$(dirname \"$0\")\"\n",
			    commands);
		}
		r.region = emit_region(w, i);
		r.symbol = kind->toolchain->symbol(r.region.number, w->arena);
		ok = write_region(&r, commands, err);
	}
	return commands ? close_files(&commands, &name, 1, ok, err) : ok;
}

/* There may be files beside it. */
static bool
note_refusal(const struct region_files *r, const struct err *err)
{
	if (r->w->in->notes)
		notes_add(r->w->in->notes, "no files of %s: %s", r->symbol,
		    err->text);
	return true;
}

/* Of a kind whose toolchain names the files itself. */
static bool
write_named(const struct emit_work *w, const struct outdir *o, uint32_t region,
    struct err *err)
{
	struct region_files r = {.w = w,
	    .out = o,
	    .region = emit_region(w, region),
	    .symbol = w->region[region]};

	return emit_toolchain(w, region)->write_region(
	           o, &r.region, w->arena, err)
	    || (err->kind == ERR_UNSUPPORTED && note_refusal(&r, err)
	        && write_refusal(&r, err));
}

bool
write_toolchain(
    const struct emit_work *w, const struct outdir *o, struct err *err)
{
	uint32_t n;
	const struct target_kind *const *kind = target_kinds(&n);

	for (uint32_t i = 0; i < n; i++)
		if (kind[i]->toolchain && !kind[i]->toolchain->write_region
		    && !write_kind(w, o, kind[i], err))
			return false;
	for (uint32_t i = 0; i < w->plan->nregions; i++)
		if (emit_toolchain(w, i) && emit_toolchain(w, i)->write_region
		    && !write_named(w, o, i, err))
			return false;
	return true;
}
