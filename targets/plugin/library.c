#include "targets/plugin/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/memory.h"

/* Up to here a table of version 1.0 goes without which there is no plug-in. */
#define TABLE_LEAST \
	(offsetof(struct marq_plugin, execute) + sizeof(void (*)(void)))

/* TUNING: versions that may have been, or will be. */
#define MAJORS 10

/* ---- what it says ---- */

void
said_init(struct said *s)
{
	memset(s, 0, sizeof *s);
	s->error.size = sizeof s->error;
	s->error.capacity = sizeof s->text;
	s->error.text = s->text;
}

static const char *
status_words(marq_status status)
{
	static const char *const words[] = {
	    [MARQ_OK] = "ok",
	    [MARQ_REFUSED] = "refused",
	    [MARQ_UNAVAILABLE] = "not available here",
	    [MARQ_BAD_DATA] = "bad data",
	    [MARQ_NO_MEMORY] = "out of memory",
	    [MARQ_FAILED] = "failed",
	};

	return status < sizeof words / sizeof *words ? words[status]
	                                             : "an unknown status";
}

const char *
said_line(struct said *s, marq_status status)
{
	s->text[sizeof s->text - 1] = '\0'; /* it may have left none */
	for (char *at = s->text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = ' ';
	return s->text[0] ? s->text : status_words(status);
}

/* ---- the table ---- */

static void *
symbol_of(void *library, int major)
{
	char name[32];

	snprintf(name, sizeof name, "marq_plugin_%d", major);
	return dlsym(library, name);
}

/* Why it has no symbol of ours. */
static bool
other_version(void *library, struct err *err)
{
	for (int major = 0; major < MAJORS; major++)
		if (symbol_of(library, major))
			return err_set(err, ERR_TARGET,
			    "made for version %d of the plug-in interface, "
			    "this marq has %d",
			    major, MARQ_PLUGIN_MAJOR);
	return err_set(err, ERR_TARGET, "no plug-in of marq: it has no %s",
	    MARQ_PLUGIN_SYMBOL);
}

static bool
is_whole(const struct marq_plugin *p)
{
	return p->about && p->open && p->close && p->environment && p->compile
	    && p->release && p->execute;
}

/* What it made of its table, and 0 for what is behind that. */
static bool
take_table(
    struct marq_plugin *out, const struct marq_plugin *p, struct err *err)
{
	memset(out, 0, sizeof *out);
	if (!p)
		return err_set(err, ERR_TARGET,
		    "it wants a newer marq (it refuses version %d.%d of the "
		    "plug-in interface)",
		    MARQ_PLUGIN_MAJOR, MARQ_PLUGIN_MINOR);
	if (p->size >= TABLE_LEAST)
		memcpy(out, p, p->size < sizeof *out ? p->size : sizeof *out);
	return is_whole(out)
	    || err_set(err, ERR_TARGET, "it has no whole table");
}

bool
library_load(struct marq_plugin *out, const char *path, struct err *err)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	union {
		void *symbol;
		marq_plugin_1_fn *call;
	} entry;

	if (!library)
		return err_set(
		    err, ERR_TARGET, "it cannot be loaded: %s", dlerror());
	entry.symbol = symbol_of(library, MARQ_PLUGIN_MAJOR);
	if (!entry.symbol)
		return other_version(library, err);
	return take_table(out, entry.call(MARQ_PLUGIN_MINOR), err);
}

/* ---- opening ---- */

static void
ignore_note(void *context, const char *text)
{
	(void)context, (void)text;
}

bool
library_open(const struct marq_plugin *p, const struct option_value *option,
    uint32_t noptions, struct marq_target **out, struct err *err)
{
	/* the sink lives until the target is closed: as long as the process */
	static const struct marq_sink sink = {
	    .size = sizeof sink, .note = ignore_note};
	struct marq_option *own = memory_get((noptions + 1) * sizeof *own);
	const struct marq_option **list =
	    memory_get((noptions + 1) * sizeof *list);
	struct said said;
	marq_status status;

	for (uint32_t i = 0; i < noptions; i++) {
		own[i] = (struct marq_option){.size = sizeof *own,
		    .name = option[i].name,
		    .value = option[i].value};
		list[i] = &own[i];
	}
	said_init(&said);
	*out = NULL;
	status = p->open(list, noptions, &sink, out, &said.error);
	free(own);
	free(list);
	if (status == MARQ_OK && !*out)
		return err_set(err, ERR_TARGET, "open: it gives no target");
	return status == MARQ_OK
	    || err_set(err, ERR_TARGET, "%s", said_line(&said, status));
}
