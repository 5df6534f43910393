#include "targets/plugin/options.h"

#include <string.h>

static const char *
value_of(const struct target *t, const struct target_option *o)
{
	for (uint32_t i = 0; i < t->noptions; i++)
		if (strcmp(t->option[i].name, o->name) == 0)
			return t->option[i].value;
	return o->otherwise;
}

bool
options_settle(struct target *t, const struct target_option *declared,
    struct arena *a, struct err *err)
{
	struct target_kind kind = *t->kind;
	struct target asked = *t;
	struct option_value *all;
	uint32_t n = 0;

	kind.option = declared;
	asked.kind = &kind;
	for (uint32_t i = 0; i < t->noptions; i++)
		if (strcmp(t->option[i].name, "path") != 0
		    && !target_option_check(&asked, &t->option[i], a, err))
			return false;
	while (declared[n].name)
		n++;
	all = arena_new(a, struct option_value, n + 1);
	for (uint32_t i = 0; i < n; i++)
		all[i] = (struct option_value){
		    declared[i].name, value_of(t, &declared[i])};
	t->option = all;
	t->noptions = n;
	return true;
}
