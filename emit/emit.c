#include "emit/emit.h"

#include <string.h>

#include "emit/layers.h"
#include "emit/lent.h"
#include "emit/qdq.h"
#include "emit/work.h"
#include "emit/writers.h"

struct artefact {
	const char *name, *group, *path;
	bool extra; /* written only where it is named */
	bool (*one)(FILE *f, const struct emit_work *w, struct err *err);
	bool (*many)(
	    const struct emit_work *w, const struct outdir *o, struct err *err);
};

static const struct artefact artefacts[] = {
#define ARTEFACT(name, group, file, what) \
	{#name, #group, file, false, write_##name, NULL},
#define ARTEFACTS(name, group, folder, what) \
	{#name, #group, folder, false, NULL, write_##name},
#define EXTRA(name, group, folder, what) \
	{#name, #group, folder, true, NULL, write_##name},
#include "emit/artefacts.def"
#undef EXTRA
#undef ARTEFACT
#undef ARTEFACTS
};

#define KNOWN_NAME(name, group, file, what) #name ", "
static const char known_names[] =
#define ARTEFACT KNOWN_NAME
#define ARTEFACTS KNOWN_NAME
#define EXTRA(name, group, folder, what) #group ", "
#include "emit/artefacts.def"
#undef EXTRA
#undef ARTEFACT
#undef ARTEFACTS
    "and the groups json, code, onnx, report";

#define NARTEFACTS (sizeof artefacts / sizeof artefacts[0])

static bool
is_word(const char *word, const char *s, size_t n)
{
	return strlen(word) == n && memcmp(word, s, n) == 0;
}

/* Toolchains' artefacts go by the kind's name, too. */
static bool
is_kind(const struct artefact *a, const char *s, size_t n)
{
	uint32_t nkinds;
	const struct target_kind *const *kind = target_kinds(&nkinds);

	if (a->many != write_toolchain && a->many != write_package)
		return false;
	for (uint32_t i = 0; i < nkinds; i++)
		if (kind[i]->toolchain && is_word(kind[i]->name, s, n))
			return true;
	return false;
}

static bool
is_named(const struct artefact *a, const char *s, size_t n)
{
	return is_word(a->name, s, n) || is_word(a->group, s, n)
	    || (is_word("all", s, n) && !a->extra) || is_kind(a, s, n);
}

/* Is the artefact named in the comma-separated list? The result always is. */
static bool
is_wanted(const struct artefact *a, const char *only)
{
	if (!only || strcmp(a->name, "result") == 0)
		return !a->extra;
	for (const char *s = only;;) {
		size_t n = strcspn(s, ",");

		if (is_named(a, s, n))
			return true;
		if (s[n] == '\0')
			return false;
		s += n + 1;
	}
}

static bool
is_known(const char *s, size_t n)
{
	for (size_t i = 0; i < NARTEFACTS; i++)
		if (is_named(&artefacts[i], s, n))
			return true;
	return false;
}

bool
emit_check(const char *only, struct err *err)
{
	for (const char *s = only; s;) {
		size_t n = strcspn(s, ",");

		if (!is_known(s, n))
			return err_set(err, ERR_USAGE,
			    "no artefact '%.*s'; known are: all, %s", (int)n, s,
			    known_names);
		s = s[n] ? s + n + 1 : NULL;
	}
	return true;
}

static bool
write_one(const struct artefact *artefact, const struct emit_work *w,
    const struct outdir *o, struct err *err)
{
	FILE *f = out_open(o, artefact->path, w->arena, err);

	if (!f)
		return false;
	if (!artefact->one(f, w, err)) {
		return emit_leave_out(w, o, f, artefact->path, err);
	}
	return out_close(f, artefact->path, err);
}

bool
emit_all(const struct emit_in *in, const struct outdir *o, const char *only,
    struct arena *a, struct err *err)
{
	struct lent lent = {0};
	struct emit_work w;

	if (!emit_check(only, err))
		return false;
	emit_work_init(&w, in, a);
	w.qdq = qdq_of(&w);
	w.lent = &lent;
	w.out = o;
	w.layers = arena_new(a, struct known_layers, w.plan->nregions);
	for (size_t i = 0; i < NARTEFACTS; i++) {
		const struct artefact *artefact = &artefacts[i];

		if (!is_wanted(artefact, only))
			continue;
		if (artefact->one ? !write_one(artefact, &w, o, err)
		                  : !artefact->many(&w, o, err))
			return false;
	}
	return true;
}
