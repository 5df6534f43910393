/* Differences for programs: schema "marq.compare/1". */
#include "cli/diff_print.h"
#include "ir/base/json.h"

static void
write_move(struct json *j, const struct diff *d, const struct move *m)
{
	const struct view_node *na = &d->a->node[m->before];
	const struct view_node *nb = &d->b->node[m->after];

	json_inline_object(j);
	json_key_str(j, "ref", na->ref);
	json_key_str(j, "node", na->label);
	json_key_str(
	    j, "from", d->a->target[d->a->composite[na->composite].target]);
	json_key_str(
	    j, "to", d->b->target[d->b->composite[nb->composite].target]);
	json_key_str(j, "reason", reason_word(m->reason));
	json_key_str(j, "text", m->text);
	json_close(j);
}

static void
write_unmatched(struct json *j, const char *key, const struct result_view *s,
    const uint32_t *match)
{
	json_key(j, key);
	json_array(j);
	for (uint32_t i = 0; i < s->nnodes; i++)
		if (match[i] == NO_MATCH)
			json_str(j, s->node[i].label);
	json_close(j);
}

static void
write_proof(struct json *j, const struct result_view *r)
{
	json_key_bool(j, "proven", r->proven);
	if (r->among_regions)
		json_key_uint(j, "among_regions", r->among_regions);
}

static void
write_diff(struct json *j, const struct diff *d)
{
	json_object(j);
	json_key_str(j, "path", d->b->path);
	json_key_str(j, "model", d->b->model);
	json_key_str(j, "verdict", verdict_word(d->verdict));
	json_key_uint(j, "cost_ns", d->b->cost);
	json_key_int(j, "delta_ns", d->delta);
	json_key_uint(j, "noise_ns", d->noise);
	write_proof(j, d->b);
	write_unmatched(j, "new", d->b, d->match.of_b);
	write_unmatched(j, "gone", d->a, d->match.of_a);
	json_key_uint(j, "matched_by_order", d->match.renamed);
	json_key_uint(j, "implementations_changed", d->nways);
	json_key(j, "moves");
	json_array(j);
	for (uint32_t i = 0; i < d->nmoves; i++)
		write_move(j, d, &d->move[i]);
	json_close(j);
	json_key(j, "repriced");
	json_array(j);
	for (uint32_t i = 0; i < d->nrepriced; i++) {
		json_inline_object(j);
		json_key_uint(j, "before", d->repriced[i].before);
		json_key_uint(j, "after", d->repriced[i].after);
		json_key_int(j, "delta_ns", d->repriced[i].delta);
		json_close(j);
	}
	json_close(j);
	json_key(j, "environment");
	json_array(j);
	for (uint32_t i = 0; i < d->nfacts; i++)
		json_str(j, d->fact[i]);
	json_close(j);
	json_close(j);
}

void
diffs_json(FILE *f, const struct diff *d, uint32_t n)
{
	struct json j;

	json_init(&j, f, 1);
	json_object(&j);
	json_key_str(&j, "schema", "marq.compare/1");
	json_key(&j, "base");
	json_object(&j);
	json_key_str(&j, "path", d->a->path);
	json_key_str(&j, "model", d->a->model);
	json_key_uint(&j, "cost_ns", d->a->cost);
	write_proof(&j, d->a);
	json_close(&j);
	json_key(&j, "results");
	json_array(&j);
	for (uint32_t i = 0; i < n; i++)
		write_diff(&j, &d[i]);
	json_close(&j);
	json_close(&j);
}
