#include "emit/report/assumptions.h"

#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "emit/report/text.h"

static struct assumed_end
read_end(const cJSON *m)
{
	const cJSON *at = doc_field(m, "breaks_at");

	return (struct assumed_end){.value = doc_real(m, "value"),
	    .breaks_at = doc_real(m, "breaks_at"),
	    .flips = doc_is_true(m, "flips"),
	    .has_break = cJSON_IsNumber(at),
	    .kept = doc_ns(m, "kept_ns"),
	    .best = doc_ns(m, "best_ns"),
	    .moved = doc_index(m, "moved", UINT32_MAX)};
}

uint64_t
regret_of(const struct assumed_end *e)
{
	if (e->kept == NS_NEVER) /* the plan is not legal there */
		return e->best == NS_NEVER ? 0 : NS_NEVER;
	return e->kept > e->best ? e->kept - e->best : 0;
}

static int
most_regret_first(const void *a, const void *b)
{
	const struct assumed *x = a, *y = b;

	if (x->regret != y->regret)
		return x->regret > y->regret ? -1 : 1;
	return strcmp(x->parameter, y->parameter);
}

void
assumptions_init(struct assumptions *s, const struct page_view *v)
{
	const cJSON *m, *list = doc_field(v->result, "sensitivity");
	struct assumed *a;

	*s = (struct assumptions){.looked = cJSON_IsArray(list),
	    .left = doc_index(v->result, "sensitivity_left", UINT32_MAX)};
	s->item = arena_new(
	    v->arena, struct assumed, (size_t)cJSON_GetArraySize(list));
	cJSON_ArrayForEach(m, list)
	{
		a = &s->item[s->n++];
		a->parameter = doc_text(m, "parameter");
		a->unit = doc_text(m, "unit");
		a->target = doc_index(m, "target", v->ntargets);
		a->value = doc_real(m, "value");
		a->end[0] = read_end(doc_field(m, "low"));
		a->end[1] = read_end(doc_field(m, "high"));
		a->worse = regret_of(&a->end[1]) > regret_of(&a->end[0]);
		a->regret = regret_of(&a->end[a->worse]);
	}
	if (s->n)
		qsort(s->item, s->n, sizeof *s->item, most_regret_first);
}

bool
matters(const struct assumed *a, const struct page_view *v)
{
	return a->regret > v->total / 1000;
}

void
ends_of(const struct assumed *a, uint64_t *low, uint64_t *high)
{
	uint64_t x = a->end[0].best, y = a->end[1].best;

	*low = x < y ? x : y;
	*high = x < y ? y : x;
}

const struct assumed *
widest(const struct assumptions *s)
{
	const struct assumed *found = NULL;
	uint64_t most = 0, low, high;

	for (uint32_t i = 0; i < s->n; i++) {
		ends_of(&s->item[i], &low, &high);
		if (high != NS_NEVER && high - low > most) {
			most = high - low;
			found = &s->item[i];
		}
	}
	return found;
}
