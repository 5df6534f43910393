#include "targets/by_hand.h"

#include <string.h>

#include "targets/target.h"

/* Is the option given, as anything but a word of its own? */
static bool
gives(const char *text, const char *option)
{
	const size_t n = strlen(option);

	for (const char *at = strpbrk(text, ":,"); at;
	     at = strpbrk(at + 1, ":,"))
		if (strncmp(at + 1, option, n) == 0 && at[n + 1] == '=') {
			const char *value = at + n + 2;
			const size_t end = strcspn(value, ",");

			return !(end == 4 && strncmp(value, "auto", end) == 0)
			    && !(end == 3 && strncmp(value, "off", end) == 0);
		}
	return false;
}

/* Does it start a program of somebody's choice? */
static bool
starts_program(const struct target_kind *k, const char *text)
{
	const struct target_option *o = k->option;

	for (; o && o->name; o++)
		if (strncmp(o->values, "<command", 8) == 0
		    && gives(text, o->name))
			return true;
	return false;
}

bool
target_by_hand(const char *text, struct arena *a)
{
	const size_t n = strcspn(text, ":");
	const struct target_kind *k = target_kind_find(arena_strn(a, text, n));

	return k ? k->by_hand || starts_program(k, text) : text[n] != '\0';
}
