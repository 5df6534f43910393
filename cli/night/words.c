#include "cli/night/words.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/plural.h"

const char *
brief(uint64_t ns, struct arena *a)
{
	static const struct {
		double size;
		const char *name;
	} unit[] = {{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}};
	double x = (double)ns;
	int u = 0;

	while (u < 3 && x / unit[u].size >= 999.5)
		u++;
	x /= unit[u].size;
	return arena_printf(a, "%.*f %s",
	    u == 0 || x >= 99.95 ? 0
	        : x >= 9.995     ? 1
	                         : 2,
	    x, unit[u].name);
}

const char *
unit_cost(const struct night_unit *u, struct arena *a)
{
	return arena_printf(a, "%s%s",
	    u->unpriced               ? "at least "
	        : u->status.estimated ? "estimated "
	                              : "",
	    brief(u->status.cost_ns, a));
}

const char *
proof_of(const struct unit_status *u, struct arena *a)
{
	if (!u->proven)
		return "not proven";
	return u->among_regions ? arena_printf(a, "proven among %u region%s",
	           u->among_regions, plural(u->among_regions))
	                        : "proven";
}

const char *
confirmation_of(const struct unit_status *u, struct arena *a)
{
	if (!*u->confirmation)
		return "";
	return u->confirmed > 0
	    ? arena_printf(a, "; %s: %.2f", u->confirmation, u->confirmed)
	    : arena_printf(a, "; %s", u->confirmation);
}

const char *
change(uint64_t was, uint64_t now, struct arena *a)
{
	const double share = was ? (double)now / (double)was - 1 : 0;

	return arena_printf(a, "%s%.1f %%", share < 0 ? "−" : "+",
	    100 * (share < 0 ? -share : share));
}

const char *
long_time(uint64_t ms, struct arena *a)
{
	const unsigned long long s = ms / 1000;

	if (s < 1)
		return arena_printf(a, "%llu ms", (unsigned long long)ms);
	if (s < 120)
		return arena_printf(a, "%llu s", s);
	if (s < 7200)
		return arena_printf(a, "%llu min", s / 60);
	return arena_printf(a, "%llu h %llu min", s / 3600, s / 60 % 60);
}

const char *
row_name(const struct night_unit *u, struct arena *a)
{
	return u->shape[0] ? arena_printf(a, "%s@%s", u->model, u->shape)
	                   : u->model;
}

const char *
why_name(int why)
{
	static const char *const names[NWHY] = {
#define WHY(member, words, fact) #member,
#include "costmodel/why.def"
	};

	return names[why];
}

void
put_measured_why(struct json *j, const uint32_t why[NWHY])
{
	json_key(j, "measured_why");
	json_inline_object(j);
	for (int i = 0; i < NWHY; i++)
		json_key_uint(j, why_name(i), why[i]);
	json_close(j);
}
