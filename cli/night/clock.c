#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/night/night.h"

uint64_t
night_clock(void)
{
	const char *given = getenv("SOURCE_DATE_EPOCH");
	char *end;
	unsigned long long when;

	if (given && *given >= '0' && *given <= '9') {
		when = strtoull(given, &end, 10);
		if (*end == '\0')
			return when;
	}
	return (uint64_t)time(NULL);
}

const char *
night_time(uint64_t when, struct arena *a)
{
	time_t t = (time_t)when;
	struct tm tm;
	char text[64];

	if (when == 0 || !gmtime_r(&t, &tm)
	    || strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		return "";
	return arena_str(a, text);
}

const char *
night_date(uint64_t when, struct arena *a)
{
	const char *time = night_time(when, a);

	return arena_strn(a, time, strcspn(time, "T"));
}
