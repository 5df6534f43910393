#include "targets/plugin/greet.h"

#include <string.h>

#include "ir/base/limits.h"
#include "targets/plugin/aside.h"
#include "targets/plugin/library.h"
#include "targets/plugin/options.h"

/* What is asked, in a process of its own. */
struct greet_work {
	const struct target *target;
	const char *path;
};

/* ---- the process that loads it ---- */

/* A fact as one line. */
static void
on_fact(void *context, const char *key, const char *value)
{
	struct buf *b = context;
	size_t nkey, nvalue;

	if (!key || !value)
		return;
	nkey = strcspn(key, "=\n");
	nvalue = strcspn(value, "\n");
	if (nkey > 0 && b->n <= limit_of(LIMIT_PLUGIN_FACTS))
		buf_printf(
		    b, "fact.%.*s=%.*s\n", (int)nkey, key, (int)nvalue, value);
}

static bool
take_facts(const struct marq_plugin *p, struct marq_target *target,
    struct buf *b, struct err *err)
{
	const struct marq_sink sink = {
	    .size = sizeof sink, .context = b, .fact = on_fact};
	struct said said;
	marq_status status;

	said_init(&said);
	status = p->environment(target, &sink, &said.error);
	if (status != MARQ_OK)
		return err_set(err, ERR_TARGET, "environment: %s",
		    said_line(&said, status));
	return b->n <= limit_of(LIMIT_PLUGIN_FACTS)
	    || limit_exceeded(LIMIT_PLUGIN_FACTS, "its facts", err);
}

/* Load, read, open, ask. What was found out so far is told in any case. */
static bool
greet(const struct target *t, const char *path, struct marq_plugin *p,
    struct buf *facts, struct arena *a, struct err *err)
{
	struct about about;
	struct target named = *t;
	struct marq_target *target;
	const size_t most = limit_of(LIMIT_PLUGIN_ABOUT);

	if (!library_load(p, path, err))
		return false;
	if (strnlen(p->about, most) == most)
		return err_set(err, ERR_TARGET,
		    "what it says of itself is longer than %zu bytes", most);
	if (!about_read(&about, p->about, strlen(p->about), a, err)
	    || !options_settle(&named, about.option, a, err)
	    || !library_open(p, named.option, named.noptions, &target, err))
		return false;
	if (!take_facts(p, target, facts, err))
		return false;
	p->close(target);
	return true;
}

/* The declaration, a zero, the facts. */
static bool
greet_aside(void *context, struct buf *said, struct err *err)
{
	const struct greet_work *w = context;
	struct marq_plugin p = {.size = 0};
	struct arena a;
	struct buf facts;
	bool ok;

	arena_init(&a);
	buf_init(&facts);
	ok = greet(w->target, w->path, &p, &facts, &a, err);
	if (ok) {
		buf_add(said, p.about, strlen(p.about) + 1);
		buf_add(said, facts.data, facts.n);
	}
	buf_release(&facts);
	arena_release(&a);
	return ok;
}

/* ---- the one that reads ---- */

bool
plugin_greet(struct greeting *out, const struct target *t, const char *path,
    struct arena *a, struct err *err)
{
	struct greet_work w = {t, path};
	const struct aside aside = {
	    greet_aside, &w, "it was opened", LIMIT_PLUGIN_WORDS};
	struct buf said;
	bool ok;

	buf_init(&said);
	ok = aside_run(&aside, &said, err);
	if (ok) {
		const size_t nabout = strnlen(said.data, said.n);

		out->facts = nabout < said.n
		    ? arena_strn(a, said.data + nabout + 1, said.n - nabout - 1)
		    : "";
		ok = about_read(&out->about, said.data, nabout, a, err);
	}
	buf_release(&said);
	return ok;
}
