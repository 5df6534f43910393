#include "exec/plan_key.h"

static void
add_format(struct buf *b, const struct format *f)
{
	buf_str(b, f->space->name);
	buf_u32(b, (uint32_t)f->layout);
	buf_u32(b, (uint32_t)f->dtype);
}

/* What is priced, as a hash: the facts of its machine alone are hundreds of bytes. */
static void
add_candidate(struct buf *b, const struct pricer *pricer, uint32_t candidate,
    struct buf *scratch)
{
	struct hash128 h;

	scratch->n = 0;
	pricer_add_key(pricer, candidate, scratch);
	h = hash128(scratch->data, scratch->n);
	buf_add(b, h.byte, sizeof h.byte);
}

void
plan_add_key(struct buf *b, const struct plan *p, const struct pricer *pricer)
{
	struct buf scratch;

	buf_init(&scratch);
	buf_u32(b, p->ncomposites);
	for (uint32_t i = 0; i < p->ncomposites; i++) {
		const uint32_t id = p->composite[i].candidate;
		const struct candidate *c = &p->candidates->candidate[id];

		add_candidate(b, pricer, id, &scratch);
		for (uint32_t k = 0; k < c->ninputs; k++) {
			const node_id made =
			    graph_value(p->graph, c->input[k].value)->producer;

			buf_u32(b,
			    made == NODE_NONE ? UINT32_MAX
			                      : p->composite_of[made]);
		}
	}
	buf_release(&scratch);
	for (uint32_t i = 0; i < p->nconversions; i++) {
		const struct plan_conversion *c = &p->conversion[i];

		add_format(b, &p->mix->formats.format[c->from]);
		add_format(b, &p->mix->formats.format[c->to]);
		buf_u32(b, c->before);
	}
}
