#include "cli/night/between.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/answer.h"
#include "cli/night/store.h"
#include "cli/night/words.h"

static bool
has_nights(const char *folder, struct arena *a)
{
	struct stat st;

	return stat(arena_printf(a, "%s/nights", folder), &st) == 0
	    && S_ISDIR(st.st_mode);
}

/* OUT/UNIT, where OUT has nights. */
static bool
split(struct between *b, const char *path, const char **out, struct arena *a)
{
	char *copy = arena_str(a, path), *slash;
	size_t n = strlen(copy);

	while (n > 1 && copy[n - 1] == '/')
		copy[--n] = '\0';
	b->unit = NULL;
	*out = copy;
	if (has_nights(copy, a))
		return true;
	slash = strrchr(copy, '/');
	b->unit = slash ? slash + 1 : copy;
	*out = slash ? arena_strn(a, copy, (size_t)(slash - copy)) : ".";
	return has_nights(*out, a);
}

static const struct night *
night_at(const struct history *h, int64_t which)
{
	if (which <= 0)
		return (uint64_t)-which < h->n
		    ? &h->night[h->n - 1 - (uint32_t)-which]
		    : NULL;
	for (uint32_t i = 0; i < h->n; i++)
		if (h->night[i].number == which)
			return &h->night[i];
	return NULL;
}

bool
between_open(struct between *b, const char *path, const int64_t night[2],
    struct arena *a, struct err *err)
{
	const char *out;

	if (!split(b, path, &out, a))
		return err_set(
		    err, ERR_INPUT, "%s: no batch's nights are there", path);
	if (!history_read(&b->history, out, a, err))
		return false;
	for (int i = 0; i < 2; i++) {
		b->night[i] = night_at(&b->history, night[i]);
		if (!b->night[i])
			return err_set(err, ERR_INPUT,
			    "%s: no night %" PRId64 " (%" PRIu32 " are kept)",
			    path, night[i], b->history.n);
	}
	return true;
}

bool
between_result(const struct between *b, int which, const char **path,
    const char **name, struct arena *a, struct err *err)
{
	const struct night *n = b->night[which];
	const struct night_unit *u = night_unit_find(n, b->unit);

	if (!u || !unit_succeeded(u))
		return err_set(err, ERR_INPUT, "%s: no result in night %u",
		    b->unit, n->number);
	*path = store_path(b->history.out, u->result, a);
	*name = arena_printf(a, "%s of night %u", b->unit, n->number);
	return true;
}

/* ---- all of them ---- */

/* Two records of one result differ in nothing. */
static bool
compare_unit(const struct between *b, const struct night_unit *x,
    const struct night_unit *y, double threshold, enum verdict_of_diff *verdict,
    struct arena *a, struct err *err)
{
	const char *out = b->history.out;
	struct result_view s = {.path = NULL}, t = {.path = NULL};
	struct diff d;
	bool ok;

	*verdict = DIFF_SAME;
	if (strcmp(x->result, y->result) == 0)
		return true;
	ok = result_view_read(&s, store_path(out, x->result, a), a, err)
	    && result_view_read(&t, store_path(out, y->result, a), a, err);
	if (ok) {
		diff_make(&d, &s, &t, threshold, a);
		*verdict = d.verdict;
	}
	result_view_close(&s);
	result_view_close(&t);
	return ok;
}

static void
tell(struct answer *out, const struct night_unit *x, const struct night_unit *y,
    enum verdict_of_diff verdict, struct arena *a)
{
	const uint64_t was = x->status.cost_ns, now = y->status.cost_ns;

	ANSWER_LINE(out,
	    "  {unit:-32} {was:12} {now:12} {change:10}  {verdict}\n",
	    F("unit", y->name), F("before_ns", was), F("cost_ns", now),
	    T("was", brief(was, a)), T("now", brief(now, a)),
	    T("change", change(was, now, a)),
	    F("verdict", verdict_word(verdict)));
}

bool
between_compare_all(const struct between *b, double threshold,
    uint32_t verdicts[DIFF_SLOWER + 1], struct cli *c, struct err *err)
{
	struct answer out;
	bool ok = true;

	answer_begin(&out, c, "marq.compare.nights/1");
	ANSWER(&out, "night {before} and night {night}\n",
	    F("before", b->night[0]->number), F("night", b->night[1]->number));
	answer_list(&out, "units");
	for (uint32_t i = 0; ok && i < b->night[1]->nunits; i++) {
		const struct night_unit *y = &b->night[1]->unit[i];
		const struct night_unit *x =
		    night_unit_find(b->night[0], y->name);
		enum verdict_of_diff verdict;

		if (!x || !unit_succeeded(x) || !unit_succeeded(y))
			continue;
		ok = compare_unit(b, x, y, threshold, &verdict, c->run, err);
		if (ok) {
			verdicts[verdict]++;
			tell(&out, x, y, verdict, c->run);
		}
	}
	answer_close(&out);
	if (ok)
		ANSWER(&out,
		    "{slower} slower, {faster} faster, {same} the same\n",
		    F("slower", verdicts[DIFF_SLOWER]),
		    F("faster", verdicts[DIFF_FASTER]),
		    F("same", verdicts[DIFF_SAME]));
	answer_end(&out);
	return ok;
}
