#include "exec/verified.h"

#include "costmodel/pricer.h"
#include "exec/verdicts.h"

/* Why a composite was barred, in words. */
static const char *
words_of(const struct verified_as *v, struct arena *a)
{
	switch (v->kind) {
	case VERIFY_REFUSED:
		return arena_printf(a, "cannot be built (%s)", v->detail);
	case VERIFY_DIED:
		return "ends its process";
	case VERIFY_WRONG_TOGETHER:
		return arena_printf(a,
		    "is right by itself, but not in the plan (%.2g of the "
		    "range off)",
		    v->error);
	default:
		return arena_printf(a,
		    "computes something else than the reference (%.2g of the "
		    "range off)",
		    v->error);
	}
}

static enum outcome
outcome_of(const struct verified_as *v)
{
	switch (v->kind) {
	case VERIFY_REFUSED:
		return OUTCOME_UNSUPPORTED;
	case VERIFY_DIED:
		return OUTCOME_CRASH;
	default:
		return OUTCOME_WRONG;
	}
}

static void
note_barring(const struct plan *p, uint32_t wrong, const char *words,
    const struct plan_request *r, struct arena *a)
{
	const struct candidate *c = &p->candidates->candidate[wrong];

	if (r->notes)
		notes_add(r->notes,
		    "%s%s%s at '%s' %s; barred, and searched again",
		    p->mix->target[c->target].text,
		    c->implementation_name[0] ? " " : "",
		    c->implementation_name, node_label(p->graph, c->node[0], a),
		    words);
}

/* One kernel has one key, wherever it stands in the model. */
static bool
bar(bool *only, struct verification *out, const struct plan *p,
    const struct plan_request *r, struct arena *a, struct err *err)
{
	const struct verified_as *v = &out->verdict;
	const uint32_t wrong = p->composite[v->composite].candidate;
	const struct candidate *all = p->candidates->candidate;
	const uint32_t key = p->prices->candidate[wrong];
	const char *words = words_of(v, a);

	for (uint32_t i = 0; i < p->candidates->n; i++)
		if (i == wrong
		    || (all[i].target == all[wrong].target
		        && p->prices->candidate[i] == key)) {
			out->nbarred += only[i];
			only[i] = false;
		}
	note_barring(p, wrong, words, r, a);
	return !r->pricer
	    || pricer_bar(r->pricer, wrong, outcome_of(v), words, err);
}

/* By running it, unless the database knows. */
static bool
judge(struct verified_as *out, const struct plan *p,
    const struct plan_request *r, const struct verify_options *o,
    struct err *err)
{
	struct hash128 key;

	if (!r->pricer)
		return verify_run(out, p, o, err);
	key = verdict_key(p, r->pricer, o);
	if (verdict_find(out, r->pricer, key))
		return true;
	if (!verify_run(out, p, o, err))
		return false;
	verdict_keep(r->pricer, key, out);
	return true;
}

bool
verified_search(struct plan *plan, const struct plan_request *r,
    const struct verify_options *o, struct verification *out, struct arena *a,
    struct err *err)
{
	struct plan_request again = *r;
	bool *only = arena_new(a, bool, r->candidates->n);

	*out = (struct verification){.nbarred = 0};
	for (uint32_t i = 0; i < r->candidates->n; i++)
		only[i] = r->only == NULL || r->only[i];
	again.only = only;
	for (;;) {
		if (!judge(&out->verdict, plan, r, o, err))
			return false;
		if (out->verdict.kind < VERIFY_REFUSED)
			return true;
		if (out->verdict.kind == VERIFY_WRONG_WHOLE)
			return err_set(err, ERR_VERDICT,
			    "the plan computes something else than the "
			    "reference (%.2g of the range off), and no "
			    "composite of it does (--no-verify writes it)",
			    out->verdict.error);
		if (!bar(only, out, plan, r, a, err)
		    || !plan_search(plan, &again, a, err))
			return false;
	}
}
