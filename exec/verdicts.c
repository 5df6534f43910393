#include "exec/verdicts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/plan_key.h"
#include "targets/loaded.h"

/* Words of the database. */
static const struct {
	enum verified_kind kind;
	const char *word;
} kept[] = {
    {VERIFY_RIGHT, "right"},
    {VERIFY_BUILT, "built"},
    {VERIFY_BEYOND, "built, beyond"},
    {VERIFY_PARTS, "right in parts"},
};
#define NKEPT (sizeof kept / sizeof *kept)

struct hash128
verdict_key(const struct plan *p, const struct pricer *pricer,
    const struct verify_options *o)
{
	struct hash128 h;
	struct buf b;

	buf_init(&b);
	buf_str(&b, "verdict");
	loaded_program(&b, "program");
	buf_add(&b, o->model.byte, sizeof o->model.byte);
	buf_u32(&b, o->threads);
	buf_u8(&b, o->whatever_size);
	buf_u8(&b, o->only_build);
	plan_add_key(&b, p, pricer);
	h = hash128(b.data, b.n);
	buf_release(&b);
	return h;
}

/* "WORD:ERROR", which somebody else may have written. */
static bool
read_verdict(struct verified_as *out, const char *text)
{
	const size_t n = strcspn(text, ":");
	char *end;

	if (text[n] != ':')
		return false;
	out->error = strtod(text + n + 1, &end);
	if (end == text + n + 1 || *end || !isfinite(out->error)
	    || out->error < 0)
		return false;
	for (size_t i = 0; i < NKEPT; i++)
		if (strlen(kept[i].word) == n
		    && memcmp(kept[i].word, text, n) == 0) {
			out->kind = kept[i].kind;
			return true;
		}
	return false;
}

bool
verdict_find(struct verified_as *out, struct pricer *pricer, struct hash128 key)
{
	const char *text = pricer_find_text(pricer, key);

	*out = (struct verified_as){.on_record = true};
	return text && read_verdict(out, text);
}

void
verdict_keep(
    struct pricer *pricer, struct hash128 key, const struct verified_as *v)
{
	char text[64];

	for (size_t i = 0; i < NKEPT; i++)
		if (kept[i].kind == v->kind) {
			snprintf(text, sizeof text, "%s:%.9g", kept[i].word,
			    v->error);
			pricer_keep_text(pricer, key, text);
		}
}
