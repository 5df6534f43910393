#include "cli/members.h"

#include <cjson/cJSON.h>

#include "ir/base/jsonin.h"

const cJSON *
member(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

const char *
text_or(const cJSON *object, const char *key, const char *otherwise)
{
	const char *text = cJSON_GetStringValue(member(object, key));

	return text ? text : otherwise;
}

const char *
text_of(const cJSON *object, const char *key)
{
	return text_or(object, key, "");
}

double
number_of(const cJSON *object, const char *key)
{
	const cJSON *item = member(object, key);

	return cJSON_IsNumber(item) && item->valuedouble >= 0
	    ? item->valuedouble
	    : 0;
}

uint64_t
exact_of(const cJSON *object, const char *key)
{
	uint64_t n;

	return jsonin_is_u64(member(object, key), &n) ? n : 0;
}
