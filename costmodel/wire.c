#include "costmodel/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ir/base/jsonin.h"

/* ---- jobs ---- */

static const char *const kind_word[] = {
    [WIRE_PRICE] = "price",
    [WIRE_PROBE] = "probe",
    [WIRE_PAIR] = "pair",
};
#define NKINDS (sizeof kind_word / sizeof *kind_word)

static void
write_wanted(const struct wanted_subject *w, const char *target,
    const char *key, struct json *j)
{
	char text[33];

	hash128_print(w->key, text);
	json_key_uint(j, target, w->target);
	json_key_str(j, key, text);
}

void
wire_job_write(const struct wire_job *x, struct json *j)
{
	json_object(j);
	json_key_uint(j, "id", x->id);
	json_key_str(j, "kind", kind_word[x->kind]);
	write_wanted(&x->of, "target", "key", j);
	if (x->kind == WIRE_PAIR)
		write_wanted(&x->second, "second_target", "second", j);
	json_close(j);
}

static bool
read_wanted(struct wanted_subject *out, const struct cJSON *doc,
    const char *target, const char *key, struct err *err)
{
	const char *text;

	out->summary = "";
	if (!jsonin_u32(doc, target, &out->target, err)
	    || !jsonin_str(doc, key, &text, err))
		return false;
	return hash128_read(&out->key, text)
	    || err_set(err, ERR_INPUT, "'%.40s' is no key", text);
}

static bool
read_id(uint64_t *out, const struct cJSON *doc, struct err *err)
{
	int64_t id;

	if (!jsonin_i64(doc, "id", &id, err))
		return false;
	*out = (uint64_t)id;
	return id >= 0 || err_set(err, ERR_INPUT, "a negative id");
}

bool
wire_job_read(struct wire_job *out, const struct cJSON *doc, struct err *err)
{
	const char *kind;
	size_t k = 0;

	if (!read_id(&out->id, doc, err) || !jsonin_str(doc, "kind", &kind, err)
	    || !read_wanted(&out->of, doc, "target", "key", err))
		return false;
	while (k < NKINDS && strcmp(kind_word[k], kind) != 0)
		k++;
	if (k == NKINDS)
		return err_set(err, ERR_INPUT, "no kind of job '%.40s'", kind);
	out->kind = (enum wire_kind)k;
	return out->kind != WIRE_PAIR
	    || read_wanted(&out->second, doc, "second_target", "second", err);
}

/* ---- samples ---- */

static const char *const outcome_word[NOUTCOME] = {
#define OUTCOME(name, word) [OUTCOME_##name] = (word),
#include "ir/base/outcome.def"
#undef OUTCOME
};

/* JSON's readers are exact up to there; no time is longer. */
#define FIGURE_MOST (UINT64_C(1) << 53)

static void
write_figure(struct json *j, const char *key, uint64_t x)
{
	json_key_uint(j, key, x < FIGURE_MOST ? x : 0);
}

void
wire_sample_write(uint64_t id, const struct sample *x, struct json *j)
{
	json_object(j);
	json_key_str(j, "marq", "sample");
	json_key_uint(j, "id", id);
	json_key_str(j, "outcome", outcome_word[x->outcome]);
	json_key_uint(j, "n", x->n);
	write_figure(j, "low", x->low);
	write_figure(j, "median", x->median);
	write_figure(j, "high", x->high);
	write_figure(j, "min", x->min);
	if (x->cpu)
		write_figure(j, "cpu", x->cpu);
	write_figure(j, "span", x->span_ns);
	json_key_real(j, "max_error", x->max_error);
	json_key_str(j, "detail", x->detail);
	json_close(j);
}

static bool
read_figure(
    const struct cJSON *doc, const char *key, uint64_t *out, struct err *err)
{
	int64_t x;

	if (!jsonin_i64(doc, key, &x, err))
		return false;
	*out = (uint64_t)x;
	return x >= 0 || err_set(err, ERR_INPUT, "%s is negative", key);
}

static bool
is_ordered(const struct sample *x)
{
	return !sample_has_figures(x)
	    || (x->low <= x->median && x->median <= x->high
	        && (x->outcome != OUTCOME_OK || (x->low > 0 && x->n > 0)));
}

static bool
read_words(struct sample *out, const struct cJSON *doc, struct err *err)
{
	const char *word, *detail;
	int k = 0;

	if (!jsonin_str(doc, "outcome", &word, err)
	    || !jsonin_str(doc, "detail", &detail, err))
		return false;
	while (k < NOUTCOME && strcmp(outcome_word[k], word) != 0)
		k++;
	if (k == NOUTCOME)
		return err_set(err, ERR_INPUT, "no outcome '%.40s'", word);
	out->outcome = (enum outcome)k;
	snprintf(out->detail, sizeof out->detail, "%s", detail);
	return true;
}

bool
wire_sample_read(
    uint64_t *id, struct sample *out, const struct cJSON *doc, struct err *err)
{
	*out = (struct sample){.outcome = OUTCOME_OK};
	if (!read_id(id, doc, err) || !read_words(out, doc, err)
	    || !jsonin_u32(doc, "n", &out->n, err)
	    || !read_figure(doc, "low", &out->low, err)
	    || !read_figure(doc, "median", &out->median, err)
	    || !read_figure(doc, "high", &out->high, err)
	    || !read_figure(doc, "min", &out->min, err)
	    || !read_figure(doc, "span", &out->span_ns, err))
		return false;
	if (jsonin_has(doc, "cpu") && !read_figure(doc, "cpu", &out->cpu, err))
		return false;
	if (jsonin_has(doc, "max_error")
	    && !jsonin_real(doc, "max_error", &out->max_error, err))
		return false;
	return is_ordered(out)
	    || err_set(err, ERR_INPUT, "figures that cannot be");
}

/* ---- lines ---- */

/* Empty ones say nothing. */
static bool
take_line(struct wire_lines *l, const char **line, size_t *n)
{
	while (l->done < l->in.n) {
		const char *from = l->in.data + l->done;
		const char *end = memchr(
		    l->in.data + l->searched, '\n', l->in.n - l->searched);

		if (!end) {
			l->searched = l->in.n;
			return false;
		}
		*line = from;
		*n = (size_t)(end - from);
		l->searched = l->done += *n + 1;
		if (*n > 0)
			return true;
	}
	return false;
}

enum wire_heard
wire_next(struct wire_lines *l, const char **line, size_t *n)
{
	struct pollfd ready = {.fd = l->fd, .events = POLLIN};
	char bytes[1 << 16];
	ssize_t got;

	if (take_line(l, line, n))
		return WIRE_LINE;
	if (l->done) {
		memmove(l->in.data, l->in.data + l->done, l->in.n - l->done);
		l->in.n -= l->done;
		l->searched = l->in.n;
		l->done = 0;
	}
	if (!l->waits && poll(&ready, 1, 0) <= 0)
		return WIRE_NOTHING;
	got = read(l->fd, bytes, sizeof bytes);
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return WIRE_NOTHING;
	if (got <= 0)
		return WIRE_END;
	if (l->in.n + (size_t)got > l->most)
		return WIRE_TOO_LONG;
	buf_add(&l->in, bytes, (size_t)got);
	return take_line(l, line, n) ? WIRE_LINE : WIRE_NOTHING;
}

bool
wire_say(int fd, const char *text, size_t n)
{
	while (n > 0) {
		ssize_t k = write(fd, text, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		text += k;
		n -= (size_t)k;
	}
	return true;
}
