#include "targets/mrvl/cost.h"
#include "targets/mrvl/space.h"

#include <math.h>
#include <string.h>

struct setting
setting_of(const struct params *p)
{
	struct setting s;

	for (uint32_t i = 0; i < NPARAM; i++)
		s.value[i] = p->param[i].value;
	return s;
}

/* ---- time ---- */

static double
padded(double n, double to)
{
	return ceil(n / to) * to;
}

/* The share of the MAC array that does useful work. */
static double
utilisation(const struct mrvl_work *w, double grain, double tiles)
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
mac_ns(const struct mrvl_work *w, const struct setting *s, const struct mrvl *m)
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
layer_ns(const struct mrvl_work *w, const struct setting *s,
    const struct mrvl *m, double live, double pinned)
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
	return ns <= (double)COST_MAX ? (cost_ns)round(ns) : COST_NEVER;
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

struct region_cost {
	const struct mrvl *mrvl;
	uint32_t n;
	const struct layer_work *step;
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

bool
mrvl_simulate(const struct region *r, struct estimate *out)
{
	struct region_cost cost = {
	    .mrvl = mrvl_of(r->target), .n = r->ncandidates};
	struct arena scratch;
	bool made = true;

	arena_init(&scratch);
	cost.step = steps_of(r, &scratch);
	for (uint32_t i = 0; i < cost.n; i++)
		made &= !cost.step[i].unmade;
	if (made)
		estimate_over(&cost.mrvl->params, region_price, &cost, out);
	arena_release(&scratch);
	return made && out->ns != COST_NEVER;
}

/* ---- launch, transfer ---- */

static double
launch_price(const struct setting *s, const void *context)
{
	(void)context;
	return s->value[PARAM_job_ns];
}

struct estimate
mrvl_launch(const struct mrvl *m)
{
	struct estimate e;

	estimate_over(&m->params, launch_price, NULL, &e);
	return e;
}

struct transfer_cost {
	double elements;
	double outside, size; /* bytes of one on the host, on the accelerator */
};

static double
transfer_price(const struct setting *s, const void *context)
{
	const struct transfer_cost *x = (const struct transfer_cost *)context;

	return x->elements * (x->outside + x->size) / s->value[PARAM_quant_gbps]
	    + x->elements * x->size / s->value[PARAM_dma_gbps];
}

static bool
is_host_end(const struct format *f)
{
	return f->space == SPACE_HOST
	    && (f->layout == LAYOUT_PLAIN || f->layout == LAYOUT_NHWC)
	    && (f->dtype == DT_UNDEFINED || f->dtype == DT_FLOAT);
}

bool
mrvl_transfer(const struct target *t, const struct format *from,
    const struct format *to, const struct type *type, struct estimate *out)
{
	const struct mrvl *m = mrvl_of(t);
	const enum dtype there =
	    from->space == SPACE_MRVL ? from->dtype : to->dtype;
	const bool is_byte = dtype_is_byte(type->dtype);
	struct transfer_cost x = {
	    .elements = 1, .outside = is_byte ? 1 : 4, .size = m->int8 ? 1 : 2};

	if (type->kind != TYPE_TENSOR || !type_is_static(type)
	    || there != m->nhwc.dtype
	    || (type->dtype != DT_FLOAT && !(is_byte && m->int8)))
		return false;
	if (!(from->space == SPACE_MRVL && is_host_end(to))
	    && !(to->space == SPACE_MRVL && is_host_end(from)))
		return false;
	for (uint32_t i = 0; i < type->rank; i++)
		x.elements *= (double)type->dim[i];
	estimate_over(&m->params, transfer_price, &x, out);
	return out->ns != COST_NEVER;
}
