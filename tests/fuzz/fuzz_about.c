/* What a plug-in says of itself: refused with words, or rules, options and
 * operator sets that can be used. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "targets/plugin/about.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {.kind = ERR_NONE};
	struct about about;
	struct arena a;

	arena_init(&a);
	if (!about_read(&about, (const char *)data, size, &a, &err)) {
		assert(err.kind != ERR_NONE && err.text[0] != '\0');
		arena_release(&a);
		return 0;
	}
	assert(about_name_ok(about.name));
	for (uint32_t i = 0; i < about.nrules; i++)
		assert(about.rule[i].name && about.rule[i].pattern);
	for (const struct target_option *o = about.option; o->name; o++)
		assert(about_name_ok(o->name) && strlen(o->help) <= size);
	arena_release(&a);
	return 0;
}
