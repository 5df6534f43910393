#include "exec/plan_key.h"

static void
add_format(struct buf *b, const struct format *f)
{
	buf_str(b, f->space->name);
	buf_u32(b, (uint32_t)f->layout);
	buf_u32(b, (uint32_t)f->dtype);
}

void
plan_add_key(struct buf *b, const struct plan *p, const struct pricer *pricer)
{
	buf_u32(b, p->ncomposites);
	for (uint32_t i = 0; i < p->ncomposites; i++) {
		const uint32_t id = p->composite[i].candidate;
		const struct candidate *c = &p->candidates->candidate[id];

		pricer_add_key(pricer, id, b);
		for (uint32_t k = 0; k < c->ninputs; k++) {
			const node_id made =
			    graph_value(p->graph, c->input[k].value)->producer;

			buf_u32(b,
			    made == NODE_NONE ? UINT32_MAX
			                      : p->composite_of[made]);
		}
	}
	for (uint32_t i = 0; i < p->nconversions; i++) {
		const struct plan_conversion *c = &p->conversion[i];

		add_format(b, &p->mix->formats.format[c->from]);
		add_format(b, &p->mix->formats.format[c->to]);
		buf_u32(b, c->before);
	}
}
