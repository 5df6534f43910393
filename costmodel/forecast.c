#include "costmodel/forecast.h"

#include <assert.h>
#include <string.h>

#include "costmodel/pricer.h"
#include "costmodel/pricer_parts.h"
#include "ir/base/buf.h"

/* Average span of attempts in each environment, [mix->n + 1]; where there are
 * none, of all attempts. */
static bool
read_spans(
    const struct pricer *p, uint64_t *span, uint64_t *attempts, struct err *err)
{
	uint64_t all, n, ns;

	*attempts = 0;
	if (!p->db)
		return true;
	if (!costdb_span(p->db, DB_NO_ID, attempts, &ns, err))
		return false;
	all = *attempts ? ns / *attempts : 0;
	for (uint32_t t = 0; t <= p->mix->n; t++) {
		db_id env = p->environment[t].id;

		span[t] = all;
		if (env == DB_NO_ID)
			continue;
		if (!costdb_span(p->db, env, &n, &ns, err))
			return false;
		if (n)
			span[t] = ns / n;
	}
	return true;
}

static struct hash128
key_of(const struct pricer *p, const struct subject *s)
{
	const char *hard = p->environment[s->target].hard;
	struct hash128 h;
	struct buf b;

	buf_init(&b);
	buf_add(&b, hard, strlen(hard) + 1);
	buf_add(&b, s->db.bytes, s->db.n);
	h = hash128(b.data, b.n);
	buf_release(&b);
	return h;
}

bool
pricer_forecast(const struct pricer *p, struct forecast *out, struct arena *a,
    struct err *err)
{
	uint64_t *span = arena_new(a, uint64_t, (size_t)p->mix->n + 1);

	*out = (struct forecast){
	    .item = arena_new(a, struct unpriced, p->nsubjects),
	    .workers = pricer_workers(p),
	};
	if (!read_spans(p, span, &out->attempts, err))
		return false;
	for (uint32_t i = 0; i < p->nsubjects; i++) {
		const struct subject *s = &p->subject[i];

		if (price_of(p, s)->state != PRICE_BOUND)
			continue;
		out->item[out->n++] = (struct unpriced){
		    .key = key_of(p, s),
		    .span_ns = span[s->target],
		};
	}
	assert(out->n <= p->nsubjects && out->workers > 0);
	if (p->o.max_measure && out->n > p->o.max_measure)
		out->n = p->o.max_measure;
	return true;
}

uint64_t
forecast_ns(const struct forecast *f)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < f->n; i++)
		sum += f->item[i].span_ns;
	return sum / (f->workers ? f->workers : 1);
}
