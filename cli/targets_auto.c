/* -t auto, the default: every target that this machine has. */
#include <string.h>

#include "cli/precision.h"
#include "cli/search_args.h"
#include "targets/target.h"

static bool
is_named(const struct text_list *list, const char *kind)
{
	size_t n = strlen(kind);

	for (uint32_t i = 0; i < list->n; i++)
		if (strncmp(list->text[i], kind, n) == 0
		    && (list->text[i][n] == '\0' || list->text[i][n] == ':'))
			return true;
	return false;
}

/* Why a kind is not taken; NULL: it is. One that has no rules of its own takes
 * them from what nobody named. */
static const char *
refusal_of(const struct target_kind *k, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};

	if (k->nrules == 0)
		return arena_printf(a, "%s (needs options)", k->name);
	if (!target_kind_there(k, &err))
		return arena_printf(a, "%s (%s)", k->name, err.text);
	return NULL;
}

/* What kinds stand for where it is installed, when it can be opened. */
static void
add_installed(struct text_list *list, const char **without, struct arena *a)
{
	const struct text_list named = *list;
	const char *name;

	for (uint32_t i = 0; (name = target_installed(i, a)) != NULL; i++) {
		struct err err = {.kind = ERR_NONE};
		struct mix mix;

		if (is_named(&named, name))
			continue;
		if (mix_open(&mix, &name, 1, a, &err))
			text_list_add(list, name, a);
		else
			*without = arena_printf(a, "%s%s%s (%s)", *without,
			    **without ? ", " : "", name, err.text);
	}
}

/* Those of the table that are not named already, the host last. */
static void
add_usable(struct text_list *list, const char **without, struct arena *a)
{
	uint32_t n;
	const struct target_kind *const *kind = target_kinds(&n);
	const struct text_list named = *list;

	for (uint32_t i = n; i-- > 0;) {
		const char *why = refusal_of(kind[i], a);

		if (is_named(&named, kind[i]->name))
			continue;
		if (why)
			*without = arena_printf(
			    a, "%s%s%s", *without, **without ? ", " : "", why);
		else
			text_list_add(list, kind[i]->name, a);
	}
}

void
targets_settle(struct search_args *args)
{
	struct arena *a = args->cli->run;
	struct text_list list = {.n = 0};
	const char *names = "", *without = "";
	bool automatic = args->targets.n == 0;

	for (uint32_t i = 0; i < args->targets.n; i++)
		if (strcmp(args->targets.text[i], "auto") == 0)
			automatic = true;
		else
			text_list_add(&list, args->targets.text[i], a);
	if (!automatic) {
		precision_targets(args);
		return;
	}
	add_installed(&list, &without, a);
	add_usable(&list, &without, a);
	args->targets = list;
	for (uint32_t i = 0; i < list.n; i++)
		names = arena_printf(
		    a, "%s%s%s", names, i ? ", " : "", list.text[i]);
	args->targets_note =
	    arena_printf(a, "targets of this machine: %s; not: %s", names,
	        *without ? without : "none");
	precision_targets(args);
}
