#include "targets/mrvl/calibrate.h"

#include <math.h>
#include <string.h>

/* Levenberg-Marquardt on the logarithms of the parameters and of the times:
 * residual i is log(simulated_i / measured_i), so that every sample counts by
 * its relative error. Granularity is a whole number the model is a staircase
 * in, whether depthwise kernels go dense is a yes or no: they are tried out. */

/* SOURCE: what a sweep over sizes can determine (published figures are
 * not fitted). */
static const enum param fitted[] = {PARAM_int8_tops, PARAM_fp16_ratio,
    PARAM_vector_gbps, PARAM_layer_ns, PARAM_dma_gbps, PARAM_job_ns,
    PARAM_quant_gbps};
#define NFITTED (sizeof fitted / sizeof fitted[0])

static const double granularities[] = {8, 16, 32, 64, 128};
#define NGRANULARITIES (sizeof granularities / sizeof granularities[0])

#define ROUNDS 200
/* A parameter moves the residuals by less than this a unit of its logarithm:
 * nothing is known about it. */
#define MUTE 1e-6

struct system {
	const struct board_samples *samples;
	struct setting at;
	double residual_sum; /* of squares */
	double normal[NFITTED][NFITTED], gradient[NFITTED];
	bool mute[NFITTED];
	bool both_types; /* else the ratio of their rates is not in them */
};

double
sample_ns(const struct tool_sample *s, const struct setting *p)
{
	struct mrvl m = {.num_tiles = s->tiles, .int8 = s->int8};
	double size = s->int8 ? 1 : 2, bytes, pinned = 0;

	switch (s->kind) {
	case SAMPLE_JOB:
		return p->value[PARAM_job_ns];
	case SAMPLE_QUANTIZE:
		return s->elements * (4 + size) / p->value[PARAM_quant_gbps];
	case SAMPLE_LAYER:
		break;
	}
	bytes = s->work.in_bytes + s->work.out_bytes;
	if (s->pinned)
		pinned = s->work.weight_bytes;
	return layer_ns(&s->work, p, &m, bytes, pinned)
	    + bytes / p->value[PARAM_dma_gbps];
}

static double
residual(const struct tool_sample *s, const struct setting *p)
{
	return log(sample_ns(s, p) / s->ns);
}

static double
sum_of_squares(const struct board_samples *s, const struct setting *p)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		double r = residual(&s->sample[i], p);

		sum += r * r;
	}
	return sum;
}

static struct setting
stepped(const struct setting *p, size_t k, double log_step)
{
	struct setting out = *p;

	out.value[fitted[k]] *= exp(log_step);
	return out;
}

/* Normal equations at the current setting, by central differences. */
static void
linearize(struct system *y)
{
	const double h = 1e-4;
	struct setting up[NFITTED], down[NFITTED];

	memset(y->normal, 0, sizeof y->normal);
	memset(y->gradient, 0, sizeof y->gradient);
	for (size_t k = 0; k < NFITTED; k++) {
		up[k] = stepped(&y->at, k, h);
		down[k] = stepped(&y->at, k, -h);
	}
	for (uint32_t i = 0; i < y->samples->n; i++) {
		const struct tool_sample *s = &y->samples->sample[i];
		double r = residual(s, &y->at), row[NFITTED];

		for (size_t k = 0; k < NFITTED; k++)
			row[k] = (residual(s, &up[k]) - residual(s, &down[k]))
			    / (2 * h);
		for (size_t k = 0; k < NFITTED; k++) {
			y->gradient[k] += row[k] * r;
			for (size_t j = 0; j < NFITTED; j++)
				y->normal[k][j] += row[k] * row[j];
		}
	}
	for (size_t k = 0; k < NFITTED; k++)
		y->mute[k] = y->normal[k][k] < MUTE
		    || (fitted[k] == PARAM_fp16_ratio && !y->both_types);
}

/* Solve a x = b by Gauss with pivoting; false when singular. */
static bool
solve(double a[NFITTED][NFITTED], double *b)
{
	for (size_t c = 0; c < NFITTED; c++) {
		size_t best = c;

		for (size_t r = c + 1; r < NFITTED; r++)
			if (fabs(a[r][c]) > fabs(a[best][c]))
				best = r;
		if (fabs(a[best][c]) < 1e-300)
			return false;
		for (size_t k = 0; k < NFITTED; k++) {
			double swap = a[c][k];

			a[c][k] = a[best][k];
			a[best][k] = swap;
		}
		double swap = b[c];
		b[c] = b[best];
		b[best] = swap;
		for (size_t r = 0; r < NFITTED; r++) {
			double factor = r == c ? 0 : a[r][c] / a[c][c];

			for (size_t k = c; k < NFITTED; k++)
				a[r][k] -= factor * a[c][k];
			b[r] -= factor * b[c];
		}
	}
	for (size_t c = 0; c < NFITTED; c++)
		b[c] /= a[c][c];
	return true;
}

/* One damped step; true when it lowered the residual. */
static bool
try_step(struct system *y, double damping)
{
	double a[NFITTED][NFITTED], step[NFITTED], sum;
	struct setting next = y->at;

	memcpy(a, y->normal, sizeof a);
	for (size_t k = 0; k < NFITTED; k++) {
		a[k][k] += damping * y->normal[k][k] + (y->mute[k] ? 1 : 0);
		step[k] = y->mute[k] ? 0 : -y->gradient[k];
	}
	if (!solve(a, step))
		return false;
	for (size_t k = 0; k < NFITTED; k++) {
		/* TUNING: at most a factor of e at once */
		double bounded = step[k] > 1 ? 1 : step[k] < -1 ? -1 : step[k];

		if (!y->mute[k])
			next = stepped(&next, k, bounded);
	}
	sum = sum_of_squares(y->samples, &next);
	if (!(sum < y->residual_sum))
		return false;
	y->at = next;
	y->residual_sum = sum;
	return true;
}

static void
descend(struct system *y)
{
	double damping = 1e-3;

	y->residual_sum = sum_of_squares(y->samples, &y->at);
	for (uint32_t i = 0; i < ROUNDS && damping < 1e9; i++) {
		linearize(y);
		if (try_step(y, damping))
			damping /= 4;
		else
			damping *= 8;
	}
	linearize(y);
}

/* A parameter with few values, each of which is tried. */
struct param_choice {
	enum param param;
	const double *value;
	size_t n;
};

static const double yes_no[] = {1, 0};
static const struct param_choice choices[] = {
    {PARAM_granularity, granularities, NGRANULARITIES},
    {PARAM_depthwise_as_dense, yes_no, 2},
};
#define NCHOICES (sizeof choices / sizeof choices[0])

/* Does any sample depend on it? */
static bool
matters(const struct board_samples *s, const struct setting *p,
    const struct param_choice *c)
{
	struct setting other = *p;
	double first;

	other.value[c->param] = c->value[0];
	first = sum_of_squares(s, &other);
	for (size_t i = 1; i < c->n; i++) {
		other.value[c->param] = c->value[i];
		if (fabs(sum_of_squares(s, &other) - first) > MUTE)
			return true;
	}
	return false;
}

/* Two sigma of the logarithm of a fitted parameter. */
static double
spread_of(const struct system *y, size_t k)
{
	double a[NFITTED][NFITTED], unit[NFITTED] = {0}, variance;
	double n = (double)y->samples->n - (double)NFITTED;

	memcpy(a, y->normal, sizeof a);
	for (size_t j = 0; j < NFITTED; j++)
		if (y->mute[j])
			a[j][j] += 1;
	unit[k] = 1;
	if (!solve(a, unit))
		return 1;
	variance = y->residual_sum / (n > 1 ? n : 1) * unit[k];
	return variance > 0 ? 2 * sqrt(variance) : 0;
}

static bool
has_both_types(const struct board_samples *s)
{
	bool has[2] = {false, false};

	for (uint32_t i = 0; i < s->n; i++)
		if (s->sample[i].kind == SAMPLE_LAYER)
			has[s->sample[i].int8] = true;
	return has[0] && has[1];
}

static bool
enough(const struct system *y, const bool *tried, struct err *err)
{
	uint32_t unknown = 0;

	for (size_t c = 0; c < NCHOICES; c++)
		unknown += tried[c];
	for (size_t k = 0; k < NFITTED; k++)
		unknown += !y->mute[k];
	return y->samples->n > unknown
	    || err_set(err, ERR_INPUT,
	        "%u samples cannot determine %u parameters", y->samples->n,
	        unknown);
}

static void
keep(struct fit *out, enum param p, double value, double spread,
    const char *source)
{
	struct param_value *v = &out->params.param[p];

	out->spread[p] = spread;
	if (spread > FIT_SURE)
		return;
	*v = (struct param_value){.value = value,
	    .low = value / (1 + spread),
	    .high = value * (1 + spread),
	    .provenance = PROVENANCE_CALIBRATED,
	    .source = source};
	out->moved[p] = true;
}

static void
keep_fit(struct fit *out, const struct system *y, const bool *tried,
    const char *source)
{
	for (uint32_t i = 0; i < NPARAM; i++)
		out->spread[i] = (double)INFINITY;
	for (size_t k = 0; k < NFITTED; k++)
		if (!y->mute[k])
			keep(out, fitted[k], y->at.value[fitted[k]],
			    expm1(spread_of(y, k)), source);
	for (size_t c = 0; c < NCHOICES; c++)
		if (tried[c])
			keep(out, choices[c].param,
			    y->at.value[choices[c].param], 0, source);
}

/* Every combination of what is tried, the rest fitted. */
static void
fit_all(struct system *best, const struct board_samples *s,
    const struct setting *start, const bool *tried)
{
	bool both = has_both_types(s), first = true;

	for (size_t g = 0; g < (tried[0] ? choices[0].n : 1); g++)
		for (size_t d = 0; d < (tried[1] ? choices[1].n : 1); d++) {
			struct system y = {
			    .samples = s, .at = *start, .both_types = both};

			if (tried[0])
				y.at.value[choices[0].param] =
				    choices[0].value[g];
			if (tried[1])
				y.at.value[choices[1].param] =
				    choices[1].value[d];
			descend(&y);
			if (first || y.residual_sum < best->residual_sum)
				*best = y;
			first = false;
		}
}

bool
calibrate(struct fit *out, const struct board_samples *s,
    const struct params *from, struct arena *a, struct err *err)
{
	struct system best = {.samples = s};
	struct setting start = setting_of(from);
	bool tried[NCHOICES];

	if (s->n == 0)
		return err_set(err, ERR_INPUT, "no samples to fit");
	memset(out, 0, sizeof *out);
	out->params = *from;
	out->before = sqrt(sum_of_squares(s, &start) / (double)s->n);
	for (size_t c = 0; c < NCHOICES; c++)
		tried[c] = matters(s, &start, &choices[c]);
	fit_all(&best, s, &start, tried);
	if (!enough(&best, tried, err))
		return false;
	out->after = sqrt(best.residual_sum / (double)s->n);
	out->one_type = !best.both_types;
	out->at = best.at;
	keep_fit(
	    out, &best, tried, arena_printf(a, "calibrated: %s", s->board));
	return true;
}
