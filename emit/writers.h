/* The writers, generated from artefacts.def. */
#ifndef EMIT_WRITERS_H
#define EMIT_WRITERS_H

#include "emit/work.h"

/* One file each: write_<name>(). */
#define ARTEFACT(name, group, file, what) \
	bool write_##name(FILE *f, const struct emit_work *w, struct err *err);
/* A file per region: write_<name>() opens them itself. */
#define ARTEFACTS(name, group, folder, what) \
	bool write_##name(const struct emit_work *w, const struct outdir *o, \
	    struct err *err);
#define EXTRA ARTEFACTS
#include "emit/artefacts.def"
#undef EXTRA
#undef ARTEFACT
#undef ARTEFACTS

#endif
