#include "targets/mrvl/work.h"

#include "targets/mrvl/build.h"

static double
const_bytes(const struct layer *l, bool int8)
{
	double bytes = 0;

	for (uint32_t i = 0; i < NCONST; i++) {
		double n;

		if (!l->constant[i])
			continue;
		n = (double)dims_count(&l->constant[i]->dims);
		/* kernels in the region's type, everything else float32 */
		bytes += n * (i == CONST_KERNEL ? (int8 ? 1 : 2) : 4);
	}
	return bytes;
}

static void
conv_work(struct mrvl_work *w, const struct layer *l)
{
	const struct dims *k = &l->constant[CONST_KERNEL]->dims;

	w->pixels = l->out.dim[0] * l->out.dim[1] * l->out.dim[2];
	w->channels_in = k->dim[3];
	w->channels_out = k->dim[0];
	w->macs = (double)w->pixels * (double)dims_count(k);
	if (l->groups > 1) {
		w->dense_factor = (double)l->groups;
		w->channels_in = l->groups;
	}
}

static void
fc_work(struct mrvl_work *w, const struct layer *l)
{
	const struct dims *k = &l->constant[CONST_KERNEL]->dims;

	w->pixels = 1; /* rows, where a rank above 2 is assumed */
	for (uint32_t i = 0; i + 1 < l->out.rank; i++)
		w->pixels *= l->out.dim[i];
	w->channels_in = k->dim[1];
	w->channels_out = k->dim[0];
	w->macs = (double)w->pixels * (double)dims_count(k);
}

struct mrvl_work
work_of(const struct layer *l, bool int8)
{
	double size = int8 ? 1 : 2;
	struct mrvl_work w = {.dense_factor = 1};

	if (l->unmade)
		return w;
	for (uint32_t i = 0; i < l->ninputs; i++)
		w.in_bytes += size * (double)dims_count(&l->in[i]);
	w.out_bytes = size * (double)dims_count(&l->out);
	w.weight_bytes = const_bytes(l, int8);
	switch (l->kind) {
	case LAYER_CONV:
		conv_work(&w, l);
		break;
	case LAYER_FC:
		fc_work(&w, l);
		break;
	case LAYER_MAXPOOL:
	case LAYER_AVGPOOL:
		/* each output element reads its window */
		w.vector_bytes =
		    w.out_bytes * (1 + (double)(l->kernel[0] * l->kernel[1]));
		break;
	case LAYER_LAYOUT:
	case LAYER_RESHAPE:
	case LAYER_FLATTEN:
	case LAYER_SQUEEZE:
		/* SOURCE: RFC 48, figure 2b: the compiler merges leading
		 * layout transforms and flattening into their neighbours */
		w.free = true;
		break;
	default:
		w.vector_bytes = w.in_bytes + w.out_bytes;
	}
	return w;
}

static bool
reads(const struct layer *l, value_id v)
{
	for (uint32_t i = 0; i < l->ninputs; i++)
		if (l->operand[i] == v)
			return true;
	return false;
}

/* Results of earlier layers that are read after layer i stay alive over it. */
static void
set_live(struct layer_work *step, const struct layer *layer, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct mrvl_work *w = &step[i].work;

		step[i].live = w->in_bytes + w->out_bytes;
	}
	for (uint32_t from = 0; from < n; from++) {
		uint32_t last = from;

		for (uint32_t i = from + 1; i < n; i++)
			if (reads(&layer[i], layer[from].result))
				last = i;
		for (uint32_t i = from + 1; i < last; i++)
			if (!reads(&layer[i], layer[from].result))
				step[i].live += step[from].work.out_bytes;
	}
}

struct layer_work *
steps_of(const struct region *r, struct arena *a)
{
	const bool int8 = mrvl_of(r->target)->int8;
	const uint32_t n = r->ncandidates;
	struct layer *layer = arena_new(a, struct layer, n);
	struct layer_work *step = arena_new(a, struct layer_work, n);

	for (uint32_t i = 0; i < n; i++) {
		const struct candidate *c = r->candidate[i];

		mrvl_layer_sizes_of(&layer[i], r->graph, c->rule, c->match, a);
		step[i].work = work_of(&layer[i], int8);
		step[i].unmade = layer[i].unmade;
	}
	set_live(step, layer, n);
	return step;
}
