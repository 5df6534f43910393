#include "cli/shard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS_MAX UINT16_MAX

/* A decimal without a sign; moves past it. */
static bool
read_count(const char **text, uint32_t *out)
{
	char *end;
	unsigned long n;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	n = strtoul(*text, &end, 10);
	*text = end;
	*out = n <= UINT32_MAX ? (uint32_t)n : UINT32_MAX;
	return errno == 0;
}

void
shard_take(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct shard *out = at;
	const char *text = arg;

	if (!read_count(&text, &out->i) || *text++ != '/' || *text == '0'
	    || !read_count(&text, &out->n) || *text || out->i >= out->n
	    || out->n > SHARDS_MAX)
		argp_error(
		    s->argp, "--%s %s: want I/N, I below N", row->name, arg);
}

/* How schedulers number the tasks of an array. LSF and Slurm begin where the
 * user says; a job that is none of an array has no index, or 0 in LSF. */
static const struct scheduler {
	const char *index, *count, *last, *first, *step;
	uint32_t least; /* index of the first task where `first` is not told */
} scheduler[] = {
    /* SOURCE: sbatch(1), "OUTPUT ENVIRONMENT VARIABLES" */
    {.index = "SLURM_ARRAY_TASK_ID",
        .count = "SLURM_ARRAY_TASK_COUNT",
        .first = "SLURM_ARRAY_TASK_MIN",
        .step = "SLURM_ARRAY_TASK_STEP"},
    /* SOURCE: Kubernetes, Job with completionMode Indexed; it tells no number
     * of completions, so the manifest does. */
    {.index = "JOB_COMPLETION_INDEX", .count = "JOB_COMPLETIONS"},
    /* SOURCE: IBM Spectrum LSF, "Environment variables for job arrays" */
    {.index = "LSB_JOBINDEX",
        .last = "LSB_JOBINDEX_END",
        .step = "LSB_JOBINDEX_STEP",
        .least = 1},
};

/* `otherwise` where it is not set or the scheduler has no such variable. */
static bool
read_variable(
    const char *name, uint32_t otherwise, uint32_t *out, struct err *err)
{
	const char *value = name ? getenv(name) : NULL, *text = value;

	*out = otherwise;
	if (!value || !*value)
		return true;
	return (read_count(&text, out) && !*text)
	    || err_set(err, ERR_USAGE, "%s=%s is no number", name, value);
}

static bool
settle(struct shard *s, const struct scheduler *x, struct err *err)
{
	uint32_t index, count, last, first, step;

	if (!read_variable(x->index, 0, &index, err)
	    || !read_variable(x->count, 0, &count, err)
	    || !read_variable(x->last, 0, &last, err)
	    || !read_variable(x->first, x->least, &first, err)
	    || !read_variable(x->step, 1, &step, err))
		return false;
	step = step ? step : 1;
	if (x->last && last >= first)
		count = (last - first) / step + 1;
	if (count == 0)
		return err_set(err, ERR_USAGE,
		    "%s is set and %s is not: say --shard I/N", x->index,
		    x->count ? x->count : x->last);
	if (index < first || (index - first) / step >= count
	    || count > SHARDS_MAX)
		return err_set(err, ERR_USAGE,
		    "%s=%u is none of %u tasks from %u: say --shard I/N",
		    x->index, index, count, first);
	*s = (struct shard){(index - first) / step, count, x->index};
	return true;
}

bool
shard_settle(struct shard *s, struct err *err)
{
	for (size_t i = 0; i < sizeof scheduler / sizeof *scheduler; i++) {
		const struct scheduler *x = &scheduler[i];
		const char *index = getenv(x->index);

		if (s->n == 0 && index && *index
		    && !(x->last && strcmp(index, "0") == 0)
		    && !settle(s, x, err))
			return false;
	}
	return true;
}

bool
shard_owns(const struct shard *s, struct hash128 h)
{
	uint64_t high = 0;

	for (int i = 0; i < 8; i++)
		high = high << 8 | h.byte[i];
	return s->n == 0 || high % s->n == s->i;
}

bool
shard_owns_text(const struct shard *s, const char *text)
{
	return shard_owns(s, hash128(text, strlen(text)));
}
