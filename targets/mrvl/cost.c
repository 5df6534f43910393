#include "targets/mrvl/cost.h"

#include <math.h>
#include <string.h>

#include "targets/mrvl/build.h"

struct setting
setting_of(const struct params *p)
{
	struct setting s;

	for (uint32_t i = 0; i < NPARAM; i++)
		s.value[i] = p->param[i].value;
	return s;
}

/* ---- work ---- */

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
conv_work(struct work *w, const struct layer *l)
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
fc_work(struct work *w, const struct layer *l)
{
	const struct dims *k = &l->constant[CONST_KERNEL]->dims;

	w->pixels = l->out.dim[0];
	w->channels_in = k->dim[1];
	w->channels_out = k->dim[0];
	w->macs = (double)w->pixels * (double)dims_count(k);
}

struct work
work_of(const struct layer *l, bool int8)
{
	double size = int8 ? 1 : 2;
	struct work w = {.dense_factor = 1};

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

/* ---- time ---- */

static double
padded(double n, double to)
{
	return ceil(n / to) * to;
}

/* The share of the MAC array that does useful work. */
static double
utilisation(const struct work *w, double grain, double tiles)
{
	double in =
	    (double)w->channels_in / padded((double)w->channels_in, grain);
	double out =
	    (double)w->channels_out / padded((double)w->channels_out, grain);
	double blocks = ceil((double)w->channels_out / grain);
	double pixels = (double)w->pixels;
	double by_pixel = pixels / padded(pixels, tiles);
	double by_channel = blocks / padded(blocks, tiles);

	return in * out * (by_pixel > by_channel ? by_pixel : by_channel);
}

static double
mac_ns(const struct work *w, const struct setting *s, const struct mrvl *m)
{
	const double *p = s->value;
	double tiles = m->num_tiles;
	double tops = p[PARAM_int8_tops] * (m->int8 ? 1 : p[PARAM_fp16_ratio]);
	double rate = tops * 1e3 * tiles / p[PARAM_tiles]; /* ops a ns */
	double dense = 1 + (w->dense_factor - 1) * p[PARAM_depthwise_as_dense];

	if (w->macs == 0)
		return 0;
	return w->macs * dense * 2
	    / (rate * utilisation(w, p[PARAM_granularity], tiles));
}

double
layer_ns(const struct work *w, const struct setting *s, const struct mrvl *m,
    double live, double pinned)
{
	const double *p = s->value;
	double tiles = m->num_tiles, compute, bytes = 0, room;

	if (w->free)
		return 0;
	compute =
	    mac_ns(w, s, m) + w->vector_bytes / (p[PARAM_vector_gbps] * tiles);
	if (pinned == 0)
		bytes = w->weight_bytes;
	room = tiles * p[PARAM_ocm_tile_bytes] - pinned;
	if (room < tiles * p[PARAM_scratch_floor])
		room = tiles * p[PARAM_scratch_floor];
	if (live > room)
		bytes += 2 * (live - room); /* out and back in */
	bytes /= p[PARAM_dma_gbps];
	return (compute > bytes ? compute : bytes) + p[PARAM_layer_ns];
}

/* ---- ranges ---- */

/* A price as a function of the parameters. */
typedef double (*price_fn)(const struct setting *s, const void *context);

static cost_ns
rounded(double ns)
{
	if (!(ns > 0))
		return 0;
	return ns < 9e18 ? (cost_ns)(ns + 0.5) : COST_NEVER - 1;
}

static void
set_extreme(struct setting *s, const struct params *p, enum param i, bool fast)
{
	bool high = param_info(i)->high_is_fast == fast;

	s->value[i] = high ? p->param[i].high : p->param[i].low;
}

static bool
is_unsure(const struct params *p, uint32_t i)
{
	return p->param[i].provenance != PROVENANCE_PUBLISHED
	    && p->param[i].low < p->param[i].high;
}

/* Price at the values, at the favourable and unfavourable ends of all ranges,
 * and the one parameter whose own range moves it most. */
static void
estimate_over(const struct params *p, price_fn price, const void *context,
    struct estimate *out)
{
	struct setting mid = setting_of(p), fast = mid, slow = mid;
	double swing = 0;

	*out = (struct estimate){.ns = rounded(price(&mid, context))};
	for (uint32_t i = 0; i < NPARAM; i++) {
		struct setting one = mid, other = mid;
		double width;

		if (!is_unsure(p, i))
			continue;
		set_extreme(&fast, p, (enum param)i, true);
		set_extreme(&slow, p, (enum param)i, false);
		if (p->param[i].provenance == PROVENANCE_CALIBRATED)
			continue;
		set_extreme(&one, p, (enum param)i, true);
		set_extreme(&other, p, (enum param)i, false);
		width = price(&other, context) - price(&one, context);
		if (width > swing) {
			swing = width;
			out->assumed = param_info((enum param)i)->name;
		}
	}
	out->low = rounded(price(&fast, context));
	out->high = rounded(price(&slow, context));
}

/* ---- regions ---- */

struct step {
	struct work work;
	double live; /* bytes of activations while it runs */
};

struct region_cost {
	const struct mrvl *mrvl;
	uint32_t n;
	struct step *step;
};

static double
region_price(const struct setting *s, const void *context)
{
	const struct region_cost *r = (const struct region_cost *)context;
	double split =
	    s->value[PARAM_weights_split] > 0 ? (double)r->mrvl->num_tiles : 1;
	double pinned = 0, ns = 0;

	/* what the weights take on all tiles together */
	for (uint32_t i = 0; r->mrvl->pin && i < r->n; i++)
		pinned += r->step[i].work.weight_bytes
		    * (double)r->mrvl->num_tiles / split;
	for (uint32_t i = 0; i < r->n; i++)
		ns += layer_ns(
		    &r->step[i].work, s, r->mrvl, r->step[i].live, pinned);
	return ns;
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
set_live(struct region_cost *r, const struct layer *layer)
{
	for (uint32_t i = 0; i < r->n; i++) {
		const struct work *w = &r->step[i].work;

		r->step[i].live = w->in_bytes + w->out_bytes;
	}
	for (uint32_t from = 0; from < r->n; from++) {
		uint32_t last = from;

		for (uint32_t i = from + 1; i < r->n; i++)
			if (reads(&layer[i], layer[from].result))
				last = i;
		for (uint32_t i = from + 1; i < last; i++)
			if (!reads(&layer[i], layer[from].result))
				r->step[i].live += r->step[from].work.out_bytes;
	}
}

bool
mrvl_simulate_region(const struct target *t, const struct graph *g,
    const struct candidate *const *c, uint32_t n, struct estimate *out)
{
	struct arena scratch;
	struct region_cost r = {.mrvl = mrvl_of(t), .n = n};
	struct layer *layer;

	arena_init(&scratch);
	layer = arena_new(&scratch, struct layer, n);
	r.step = arena_new(&scratch, struct step, n);
	for (uint32_t i = 0; i < n; i++) {
		mrvl_layer_of(&layer[i], g, c[i]->rule, c[i]->match, &scratch);
		r.step[i].work = work_of(&layer[i], r.mrvl->int8);
	}
	set_live(&r, layer);
	estimate_over(&r.mrvl->params, region_price, &r, out);
	arena_release(&scratch);
	return true;
}

bool
mrvl_simulate(const struct target *t, const struct graph *g,
    const struct candidate *c, struct estimate *out)
{
	return mrvl_simulate_region(t, g, &c, 1, out);
}

/* ---- launch, transfer, residency ---- */

static double
launch_price(const struct setting *s, const void *context)
{
	(void)context;
	return s->value[PARAM_job_ns];
}

cost_ns
mrvl_launch_ns(const struct target *t, struct estimate *out)
{
	struct estimate e;

	estimate_over(&mrvl_of(t)->params, launch_price, NULL, &e);
	if (out)
		*out = e;
	return e.ns;
}

struct transfer_cost {
	double elements, size; /* bytes of one on the accelerator */
};

static double
transfer_price(const struct setting *s, const void *context)
{
	const struct transfer_cost *x = (const struct transfer_cost *)context;

	return x->elements * (4 + x->size) / s->value[PARAM_quant_gbps]
	    + x->elements * x->size / s->value[PARAM_dma_gbps];
}

static bool
is_host_end(struct format f)
{
	return f.space == SPACE_HOST
	    && (f.layout == LAYOUT_PLAIN || f.layout == LAYOUT_NHWC)
	    && (f.dtype == DT_UNDEFINED || f.dtype == DT_FLOAT);
}

bool
mrvl_transfer(const struct target *t, struct format from, struct format to,
    const struct type *type, struct estimate *out)
{
	const struct mrvl *m = mrvl_of(t);
	struct transfer_cost x = {.elements = 1, .size = m->int8 ? 1 : 2};

	if (type->kind != TYPE_TENSOR || type->dtype != DT_FLOAT
	    || !type_is_static(type))
		return false;
	if (!(from.space == SPACE_MRVL && is_host_end(to))
	    && !(to.space == SPACE_MRVL && is_host_end(from)))
		return false;
	for (uint32_t i = 0; i < type->rank; i++)
		x.elements *= (double)type->dim[i];
	estimate_over(&m->params, transfer_price, &x, out);
	return true;
}

/* Bytes of one tile's memory that the candidate's weights keep, in whole
 * pages. SOURCE: DPDK's cn10k driver counts pages per region, from the weights'
 * first to last byte; whole pages per layer are never fewer. */
uint64_t
mrvl_resident(
    const struct target *t, const struct graph *g, const struct candidate *c)
{
	const struct mrvl *m = mrvl_of(t);
	struct setting s = setting_of(&m->params);
	struct arena scratch;
	struct layer l;
	double bytes;

	if (!m->pin)
		return 0;
	arena_init(&scratch);
	mrvl_layer_of(&l, g, c->rule, c->match, &scratch);
	bytes = work_of(&l, m->int8).weight_bytes;
	arena_release(&scratch);
	if (s.value[PARAM_weights_split] > 0)
		bytes /= (double)m->num_tiles;
	return (uint64_t)padded(bytes, s.value[PARAM_ocm_page_bytes]);
}

uint64_t
mrvl_capacity(const struct target *t)
{
	const struct mrvl *m = mrvl_of(t);
	struct setting s = setting_of(&m->params);
	double page = s.value[PARAM_ocm_page_bytes];

	if (!m->pin)
		return 0;
	return (uint64_t)(s.value[PARAM_ocm_tile_bytes]
	    - padded(s.value[PARAM_scratch_floor], page));
}
