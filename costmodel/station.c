#include "costmodel/station.h"

#include "costmodel/pricer_parts.h"
#include "ir/normalize.h"
#include "targets/host/host.h"

/* A key of the map: target and hash, without gaps. */
#define KEY_BYTES (sizeof(uint32_t) + sizeof(struct hash128))

static void
put_key(unsigned char *out, uint32_t target, struct hash128 h)
{
	for (size_t i = 0; i < sizeof target; i++)
		out[i] = (unsigned char)(target >> (8 * i));
	for (size_t i = 0; i < sizeof h.byte; i++)
		out[sizeof target + i] = h.byte[i];
}

static void
index_subjects(struct station *s)
{
	const struct pricer *p = s->pricer;

	map_init(&s->keys, s->arena);
	for (uint32_t i = 0; i < p->nsubjects; i++) {
		const struct subject *x = &p->subject[i];
		unsigned char *key = arena_alloc(s->arena, KEY_BYTES);

		put_key(key, x->target, hash128(x->db.bytes, x->db.n));
		map_add(&s->keys, key, KEY_BYTES, i);
	}
}

static bool
read_model(struct station *s, const struct want *w, struct err *err)
{
	const struct onnx_options options = {.ndims = 0};
	const struct infer_options infer = {.eval = host_eval};
	const struct candidate_options find = {.keep_nan = w->keep_nan,
	    .exact = w->exact,
	    .exact_halves = w->exact_halves};

	if (!onnx_read_bytes(
	        &s->model, w->onnx, w->nonnx, &options, s->arena, err))
		return false;
	return (normalize(s->model.graph, &infer, err)
	           && mix_open(&s->mix, w->target, w->ntargets, s->arena, err)
	           && candidates_find(&s->candidates, s->model.graph, &s->mix,
	               &find, s->arena, err))
	    || (model_close(&s->model), false);
}

static bool
open_pricer(struct station *s, const struct want *w,
    const struct pricer_options *o, struct err *err)
{
	struct pricer_options options = *o;

	options.threads = w->threads;
	options.reference = host_eval;
	if (options.timeout_ns == 0)
		options.timeout_ns = w->timeout_ns;
	return pricer_open(&s->pricer, s->model.graph, &s->mix, &s->candidates,
	    &options, s->arena, err);
}

bool
station_open(struct station *s, const struct want *w,
    const struct pricer_options *o, struct arena *a, struct err *err)
{
	*s = (struct station){.arena = a};
	if (!read_model(s, w, err))
		return err_in(err, "%s", w->model);
	if (!open_pricer(s, w, o, err)) {
		model_close(&s->model);
		return false;
	}
	if (!pricer_begin(s->pricer, &s->prices, err)) {
		station_close(s, &(struct err){.kind = ERR_NONE});
		return false;
	}
	index_subjects(s);
	return true;
}

uint32_t
station_find(const struct station *s, const struct wanted_subject *w)
{
	unsigned char key[KEY_BYTES];
	uint32_t i;

	if (w->target > s->mix.n)
		return SUBJECT_NONE;
	put_key(key, w->target, w->key);
	i = map_find(&s->keys, key, sizeof key);
	return i == MAP_NONE ? SUBJECT_NONE : i;
}

/* Is there nothing left to find out? */
static bool
is_answered(const struct station *s, const struct wanted_subject *w, uint32_t x)
{
	const struct price *price = price_at(s->pricer, x);

	return price->state != PRICE_BOUND
	    || (w->probes > 0 && price->probes >= w->probes);
}

/* Those of the list that lack a probe of this number; TO_PRICE: a price. */
#define TO_PRICE UINT32_MAX
static uint32_t
list_lacking(const struct station *s, const struct want *w, uint32_t probe,
    uint32_t *subject)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		const struct wanted_subject *one = &w->subject[i];
		uint32_t x = station_find(s, one);
		bool prices = one->probes == 0;

		if (x == SUBJECT_NONE || is_answered(s, one, x)
		    || prices != (probe == TO_PRICE)
		    || (!prices && price_at(s->pricer, x)->probes != probe))
			continue;
		if (s->pricer->subject[x].candidate != SUBJECT_NONE)
			subject_describe(s->pricer, x, s->arena);
		subject[n++] = x;
	}
	return n;
}

static void
count(const struct station *s, const struct want *w, uint32_t *absent,
    uint32_t *answered)
{
	*absent = *answered = 0;
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t x = station_find(s, &w->subject[i]);

		*absent += x == SUBJECT_NONE;
		*answered +=
		    x != SUBJECT_NONE && is_answered(s, &w->subject[i], x);
	}
}

/* ---- what this build does not offer ---- */

static bool
is_on_record(struct pricer *p, const struct wanted_subject *w, db_id env,
    bool *is, struct err *err)
{
	struct db_found f;

	if (!costdb_lookup(p->db, w->bytes, w->n, env, &f, err))
		return false;
	*is = f.attempts > 0;
	return true;
}

/* An outcome like others: else the search would want it for ever. */
static bool
record_absent(struct pricer *p, const struct wanted_subject *w, struct err *err)
{
	const struct sample failed = sample_failed(
	    OUTCOME_UNSUPPORTED, "not offered by the build that measures");
	const struct subject absent = {
	    .db = {.bytes = w->bytes,
	        .n = w->n,
	        .kind = w->target < p->mix->n ? "candidate" : "conversion",
	        .skeleton = w->key,
	        .family = w->key,
	        .summary = w->summary},
	    .target = w->target,
	};
	struct environment *e = &p->environment[w->target];
	bool is = false;

	if (!e->is_stored
	    || (e->id == DB_NO_ID
	        && !costdb_environment(p->db, e->hard, true, &e->id, err)))
		return err->kind == ERR_NONE || survive(p, err);
	return is_on_record(p, w, e->id, &is, err)
	    && (is || store_attempt(p, &absent, e->id, &failed, err));
}

static bool
record_all_absent(struct station *s, const struct want *w, struct err *err)
{
	struct pricer *p = s->pricer;

	if (!p->db || !recording_begin(p, NULL, 0, err))
		return !p->db;
	for (uint32_t i = 0; i < w->n; i++)
		if (w->subject[i].bytes
		    && station_find(s, &w->subject[i]) == SUBJECT_NONE
		    && !record_absent(p, &w->subject[i], err))
			return false;
	return costdb_flush(p->db, err) || survive(p, err);
}

/* TUNING: a list asks for no more of one subject. */
#define PROBES_MAX 2

bool
station_measure(struct station *s, const struct want *w,
    struct station_counts *out, struct err *err)
{
	struct pricer *p = s->pricer;
	uint32_t *subject = arena_new(s->arena, uint32_t, w->n), n, done;

	*out = (struct station_counts){.measured = 0};
	count(s, w, &out->absent, &out->known);
	if (out->absent && !record_all_absent(s, w, err))
		return false;
	for (uint32_t k = 0; k < PROBES_MAX; k++)
		if ((n = list_lacking(s, w, k, subject)) > 0
		    && !subjects_probe(p, subject, n, err))
			return false;
	if ((n = list_lacking(s, w, TO_PRICE, subject)) > 0
	    && !subjects_measure(p, subject, n, err))
		return false;
	count(s, w, &out->absent, &done);
	out->left = w->n - out->absent - done;
	out->measured = pricer_counts(p).measured;
	out->probed = pricer_counts(p).probed;
	out->failed = pricer_counts(p).failed;
	return true;
}

bool
station_close(struct station *s, struct err *err)
{
	bool ok = pricer_close(s->pricer, err);

	model_close(&s->model);
	return ok;
}
