/* What the figures rest on: the command, the targets, what was counted. */
#include <cJSON.h>
#include <string.h>

#include "emit/report/sections.h"
#include "emit/report/text.h"
#include "ir/base/jsonin.h"

static void
begin_fact(FILE *f, const char *key)
{
	html(f, "<div><dt>");
	for (const char *s = key; *s; s++)
		html(f, "%s", (char[2]){*s == '_' ? ' ' : *s, '\0'});
	html(f, "</dt><dd>");
}

/* The members of an object that are a text or a whole number. */
static void
put_facts(FILE *f, const cJSON *object)
{
	const cJSON *m;
	uint64_t x;

	cJSON_ArrayForEach(m, object)
	{
		if (!m->string)
			continue;
		if (cJSON_IsString(m)) {
			begin_fact(f, m->string);
			html(f, "%s</dd></div>", m->valuestring);
		} else if (jsonin_is_u62(m, &x) && x < UINT32_MAX) {
			begin_fact(f, m->string);
			html(f, "%n</dd></div>", (uint32_t)x);
		}
	}
}

/* The program's own name, without the folder it was in. */
static const char *
plain_command(const char *command, struct arena *a)
{
	size_t n = strcspn(command, " ");

	return command[n] ? arena_printf(a, "marq%s", command + n) : command;
}

static void
put_all_notes(FILE *f, const struct page_view *v)
{
	const cJSON *note, *list = doc_field(v->result, "notes");

	if (cJSON_GetArraySize(list) == 0)
		return;
	html(f, "<details open><summary>Notes</summary><ul>");
	cJSON_ArrayForEach(note, list) if (cJSON_IsString(note))
	    html(f, "<li>%s", note->valuestring);
	html(f, "</ul></details>");
}

void
put_environment(FILE *f, const struct page_facts *p)
{
	const struct page_view *v = p->v;
	const char *command = doc_text(v->provenance, "command");

	html(f, "<section id=environment><h2>Environment</h2>");
	if (*command)
		put_command(f, plain_command(command, v->arena));
	put_all_notes(f, v);
	html(f,
	    "<details><summary>Targets and what their prices depend on"
	    "</summary>");
	for (uint32_t t = 0; t < v->ntargets; t++) {
		html(f, "<h3>%i%s: %s prices</h3><dl>", v->target[t].kind,
		    v->target[t].text, v->target[t].prices);
		put_facts(f, v->target[t].environment);
		html(f, "</dl>");
	}
	html(f, "</details><details><summary>Model</summary><dl>");
	put_facts(f, doc_field(v->result, "model"));
	html(f, "</dl></details><details><summary>Counts</summary><dl>");
	put_facts(f, doc_field(v->result, "counts"));
	put_facts(f, doc_field(v->map, "counts"));
	html(f, "</dl><h3>Looked up and measured in this run</h3><dl>");
	put_facts(f, doc_field(v->provenance, "counts"));
	html(f, "</dl></details></section>");
}
