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
	const struct candidate_options find = {
	    .keep_nan = w->keep_nan, .exact = w->exact};

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

bool
station_measure(struct station *s, const struct want *w,
    struct station_counts *out, struct err *err)
{
	struct pricer *p = s->pricer;
	uint32_t *subject = arena_new(s->arena, uint32_t, w->n), n = 0;

	*out = (struct station_counts){.measured = 0};
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t x = station_find(s, &w->subject[i]);

		if (x == SUBJECT_NONE) {
			out->absent++;
			continue;
		}
		if (price_at(p, x)->state != PRICE_BOUND) {
			out->known++;
			continue;
		}
		if (p->subject[x].candidate != SUBJECT_NONE)
			subject_describe(p, x, s->arena);
		subject[n++] = x;
	}
	if (n && !subjects_measure(p, subject, n, err))
		return false;
	out->measured = pricer_counts(p).measured;
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
