#include "db/origin.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/facts.h"
#include "ir/base/buf.h"
#include "ir/base/hash.h"

static bool
begins_with(const char *line, const char *prefix)
{
	return strncmp(line, prefix, strlen(prefix)) == 0;
}

static bool
is_of_machine(const char *line)
{
	static const char *const key[] = {"cpu.", "machine.",
	    "isa=", "cache=", "threads=", "protocol=", "build="};

	if (begins_with(line, FACT_SOLD_AS "="))
		return false;
	for (size_t i = 0; i < sizeof key / sizeof *key; i++)
		if (begins_with(line, key[i]))
			return true;
	return false;
}

const char *
origin_name(const char *hard, struct arena *a)
{
	const char *facts = facts_canonical(hard, a);
	char name[33];
	struct buf b;

	buf_init(&b);
	while (*facts) {
		size_t n = strcspn(facts, "\n") + 1;

		if (is_of_machine(facts))
			buf_add(&b, facts, n);
		facts += n;
	}
	hash128_print(hash128(b.n ? b.data : "", b.n), name);
	buf_release(&b);
	return arena_strn(a, name, ORIGIN_CHARS);
}

/* SOURCE: Arm's Technical Reference Manuals, MIDR_EL1 of each core. */
static const struct {
	const char *part, *name;
} arm[] = {
    {"0xd03", "Cortex-A53"},
    {"0xd05", "Cortex-A55"},
    {"0xd07", "Cortex-A57"},
    {"0xd08", "Cortex-A72"},
    {"0xd09", "Cortex-A73"},
    {"0xd0a", "Cortex-A75"},
    {"0xd0b", "Cortex-A76"},
    {"0xd0c", "Neoverse-N1"},
    {"0xd40", "Neoverse-V1"},
    {"0xd41", "Cortex-A78"},
    {"0xd49", "Neoverse-N2"},
    {"0xd4f", "Neoverse-V2"},
    {"0xd8e", "Neoverse-N3"},
};

/* "0x41/0xd0c/0x3/1": implementer, part, variant, revision. */
static const char *
core_words(const char *core, struct arena *a)
{
	char implementer[12], part[12], variant[12];
	int revision;

	if (sscanf(core, "%11[^/]/%11[^/]/%11[^/]/%d", implementer, part,
	        variant, &revision)
	        != 4
	    || strcmp(implementer, "0x41") != 0)
		return core;
	for (size_t i = 0; i < sizeof arm / sizeof *arm; i++)
		if (strcmp(arm[i].part, part) == 0)
			return arena_printf(a, "%s r%ldp%d", arm[i].name,
			    strtol(variant, NULL, 16), revision);
	return core;
}

static const char *
part_of(const char *hard, const char *key, struct arena *a)
{
	const char *value = facts_get(hard, key, a);

	return value ? value : "?";
}

const char *
origin_words(const char *hard, struct arena *a)
{
	const char *cores = facts_get(hard, "cpu.core", a), *words = "";
	const char *kind = facts_get(hard, "cpu.kind", a);

	if (!cores && !facts_get(hard, "cpu.model", a))
		return "a processor nobody named";
	if (!cores)
		return arena_printf(a, "%s %s/%s/%s%s%s",
		    part_of(hard, "cpu.vendor_id", a),
		    part_of(hard, "cpu.cpu family", a),
		    part_of(hard, "cpu.model", a),
		    part_of(hard, "cpu.stepping", a), kind ? " " : "",
		    kind ? kind : "");
	while (*cores) {
		size_t n = strcspn(cores, ",");

		words = arena_printf(a, "%s%s%s", words, *words ? " + " : "",
		    core_words(arena_strn(a, cores, n), a));
		cores += n + (cores[n] == ',');
	}
	if (facts_get(hard, "cpu.vendor_id", a))
		return arena_printf(a, "%s, emulated", words);
	return words;
}
