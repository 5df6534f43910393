#include "db/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/order.h"

void
verdict_init(struct verdict *v)
{
	*v = (struct verdict){.newest_bad = DB_NO_ID, .wrong = DB_NO_ID};
}

/* A printf for each attempt took longer than the rest. */
static void
copy_time(char to[24], const char *from)
{
	const size_t n = strnlen(from, 23);

	memcpy(to, from, n);
	to[n] = '\0';
}

static void
see_good(struct verdict *v, const struct attempt *a)
{
	struct db_found *f = &v->found;
	bool is_ok = a->outcome == OUTCOME_OK;

	/* Settled figures push aside those that never settled. */
	if (is_ok != v->good_is_ok && v->ngood) {
		if (!is_ok)
			return;
		v->ngood = 0;
	}
	if (v->ngood == 0) {
		f->newest_good = a->id;
		f->conditions = a->conditions;
		f->cpu = a->cpu;
		copy_time(f->good_utc, a->at_utc);
		f->low = a->low;
		f->high = a->high;
		f->least = 0;
		f->n = 0;
		v->good_is_ok = is_ok;
	}
	f->low = a->low < f->low ? a->low : f->low;
	f->high = a->high > f->high ? a->high : f->high;
	if (a->min > 0 && (f->least == 0 || a->min < f->least))
		f->least = a->min;
	f->n += a->n;
	v->good[v->ngood++] = a->low;
}

void
verdict_see(struct verdict *v, const struct attempt *a)
{
	if (a->outcome == OUTCOME_WRONG && v->wrong == DB_NO_ID)
		v->wrong = a->id;
	if (v->attempts++ == 0)
		copy_time(v->found.at_utc, a->at_utc);
	if (v->attempts > VERDICT_ATTEMPTS)
		return;
	if ((a->outcome == OUTCOME_OK || a->outcome == OUTCOME_NOISY)
	    && a->low > 0) {
		see_good(v, a);
	} else if (v->newest_bad == DB_NO_ID) {
		v->newest_bad = a->id;
		v->bad = a->outcome;
	}
}

db_id
verdict_conclude(struct verdict *v)
{
	struct db_found *f = &v->found;

	f->attempts = v->attempts;
	if (v->attempts == 0)
		return DB_NO_ID;
	if (v->wrong != DB_NO_ID || v->ngood == 0) {
		f->outcome = v->wrong != DB_NO_ID ? OUTCOME_WRONG : v->bad;
		return v->wrong != DB_NO_ID ? v->wrong : v->newest_bad;
	}
	f->outcome = v->good_is_ok ? OUTCOME_OK : OUTCOME_NOISY;
	qsort(v->good, v->ngood, sizeof *v->good, by_u64);
	f->ns = v->good[(v->ngood - 1) / 2];
	return DB_NO_ID;
}
