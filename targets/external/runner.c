#include "targets/external/runner.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cJSON.h>

#include "ir/base/buf.h"
#include "ir/base/clock.h"
#include "ir/base/folder.h"
#include "ir/base/jsonin.h"
#include "ir/base/limits.h"
#include "targets/process.h"

#define WORDS_MAX 400

struct runner {
	const char *command;
	uint32_t timeout_ms;
	uint32_t next_id, nholders;
	bool has_answered; /* this process, a question */
	long owner; /* the process that started it: a fork has none */
	struct process process; /* pid 0: not running */
	const char *folder; /* of its log, or NULL */
	struct arena arena; /* as long as the process */
	struct buf line; /* what came in behind the last answer */
};

struct runner *
runner_new(const char *command, uint32_t timeout_ms, struct arena *a)
{
	struct runner *r = arena_new(a, struct runner, 1);

	r->command = command;
	r->timeout_ms = timeout_ms;
	r->process.socket = -1;
	return r;
}

/* ---- the process ---- */

static struct process_job
job_of(const struct runner *r)
{
	return (struct process_job){r->command, r->folder, "runner.log"};
}

/* After a fork what is known of it is the parent's. */
static void
forget_if_forked(struct runner *r)
{
	if (r->owner == (long)getpid())
		return;
	r->owner = (long)getpid();
	r->process = (struct process){.socket = -1};
	r->folder = NULL;
	r->has_answered = false;
	arena_init(&r->arena);
	buf_init(&r->line);
}

/* End it; how it ended, and its last words (of WORDS_MAX). */
static struct process_end
stop(struct runner *r, char *words)
{
	struct process_end end = {ENDED_WELL, 0};
	const struct process_job job = job_of(r);

	if (words)
		words[0] = '\0';
	if (r->process.keeper)
		end = process_stop(&r->process);
	if (words && r->folder)
		snprintf(words, WORDS_MAX, "%s",
		    process_last_words(&job, &r->arena));
	if (r->folder)
		folder_remove(r->folder);
	r->folder = NULL;
	r->has_answered = false;
	buf_release(&r->line);
	buf_init(&r->line);
	arena_release(&r->arena);
	arena_init(&r->arena);
	return end;
}

static bool
start(struct runner *r, struct err *err)
{
	struct process_job job;

	r->folder = folder_new(NULL, &r->arena, err);
	if (!r->folder)
		return false;
	job = job_of(r);
	return process_start(&r->process, &job, err);
}

/* ---- lines ---- */

enum heard { HEARD_LINE, HEARD_NOTHING, HEARD_END, HEARD_TOO_MUCH };

static bool
say(struct runner *r, const char *line)
{
	size_t n = strlen(line), sent = 0;

	while (sent < n) {
		ssize_t k = send(
		    r->process.socket, line + sent, n - sent, MSG_NOSIGNAL);

		if (k < 0 && errno != EINTR)
			return false;
		sent += k > 0 ? (size_t)k : 0;
	}
	return true;
}

/* More bytes, or why there are none. */
static enum heard
hear_more(struct runner *r, uint64_t deadline)
{
	struct pollfd fd = {.fd = r->process.socket, .events = POLLIN};
	uint64_t now = clock_ns();
	char bytes[4096];
	ssize_t n;

	if (r->line.n > limit_of(LIMIT_RUNNER_LINE))
		return HEARD_TOO_MUCH;
	if (now >= deadline)
		return HEARD_NOTHING;
	if (poll(&fd, 1, (int)((deadline - now) / 1000000u) + 1) <= 0)
		return HEARD_LINE; /* look at the clock again */
	n = recv(r->process.socket, bytes, sizeof bytes, 0);
	if (n <= 0)
		return HEARD_END;
	buf_add(&r->line, bytes, (size_t)n);
	return HEARD_LINE;
}

/* The next line; its bytes stay in r->line until forget_line(). */
static enum heard
hear(struct runner *r, size_t *n)
{
	uint64_t deadline = clock_ns() + (uint64_t)r->timeout_ms * 1000000u;

	for (;;) {
		const char *end =
		    r->line.n ? memchr(r->line.data, '\n', r->line.n) : NULL;
		enum heard h;

		if (end) {
			*n = (size_t)(end - r->line.data);
			return HEARD_LINE;
		}
		h = hear_more(r, deadline);
		if (h != HEARD_LINE)
			return h;
	}
}

static void
forget_line(struct runner *r, size_t n)
{
	memmove(r->line.data, r->line.data + n + 1, r->line.n - n - 1);
	r->line.n -= n + 1;
}

/* ---- questions ---- */

/* The process is no use any more: *outcome and words from how that came. */
static struct cJSON *
lose(struct runner *r, enum heard h, enum outcome *outcome, char *detail,
    size_t size)
{
	char words[WORDS_MAX];
	struct process_end end = stop(r, words);
	const char *colon = words[0] ? ": " : "";

	switch (h) {
	case HEARD_NOTHING:
		*outcome = OUTCOME_TIMEOUT;
		snprintf(detail, size,
		    "the runner did not answer in %" PRIu32 " ms%s%s",
		    r->timeout_ms, colon, words);
		return NULL;
	case HEARD_TOO_MUCH:
		*outcome = OUTCOME_WRONG;
		snprintf(detail, size, "the runner's answer has no end");
		return NULL;
	case HEARD_LINE:
	case HEARD_END:
		break;
	}
	*outcome = OUTCOME_CRASH;
	if (end.how == ENDED_MISSING)
		snprintf(
		    detail, size, "the runner is not there%s%s", colon, words);
	else
		snprintf(detail, size, "the runner ended with status %d%s%s",
		    end.status, colon, words);
	return NULL;
}

static struct cJSON *
nonsense(struct runner *r, struct cJSON *doc, const char *why,
    enum outcome *outcome, char *detail, size_t size)
{
	*outcome = OUTCOME_WRONG;
	snprintf(detail, size, "the runner talks nonsense: %s", why);
	jsonin_close(doc);
	stop(r, NULL);
	return NULL;
}

/* Is it an object that says nothing is wrong? Else *err says what. */
static bool
is_answer(const struct cJSON *doc, struct err *err)
{
	const char *text;

	if (!cJSON_IsObject(doc))
		return err_set(err, ERR_INPUT, "the answer is no object");
	if (!jsonin_has(doc, "error"))
		return true;
	return jsonin_str(doc, "error", &text, err)
	    && err_set(err, ERR_INPUT, "error: %.200s", text);
}

/* A line and the line that answers it. */
static struct cJSON *
exchange(struct runner *r, const char *line, enum outcome *outcome,
    char *detail, size_t size)
{
	struct err err = {.kind = ERR_NONE};
	struct cJSON *doc;
	enum heard h;
	size_t n;

	if (!r->process.keeper && !start(r, &err)) {
		*outcome = OUTCOME_CRASH;
		snprintf(detail, size, "%s", err.text);
		return NULL;
	}
	(void)say(r, line); /* one that does not listen may still have spoken */
	h = hear(r, &n);
	if (h != HEARD_LINE)
		return lose(r, h, outcome, detail, size);
	doc = jsonin_parse(r->line.data, n, "answer", &err);
	forget_line(r, n);
	if (!doc || !is_answer(doc, &err))
		return nonsense(r, doc, err.text, outcome, detail, size);
	return doc;
}

static struct cJSON *
hello(struct runner *r, enum outcome *outcome, char *detail, size_t size)
{
	const char *what;
	struct err err = {.kind = ERR_NONE};
	uint32_t version;
	struct cJSON *doc = exchange(
	    r, "{\"marq\":\"hello\",\"version\":1}\n", outcome, detail, size);

	if (!doc)
		return NULL;
	if (!jsonin_str(doc, "marq", &what, &err)
	    || !jsonin_u32(doc, "version", &version, &err))
		return nonsense(r, doc, err.text, outcome, detail, size);
	if (strcmp(what, "hello") != 0 || version != RUNNER_PROTOCOL)
		return nonsense(r, doc,
		    "its hello is not of version 1 of the protocol", outcome,
		    detail, size);
	return doc;
}

/* One question, of a process that is started for it when there is none. */
static struct cJSON *
ask(struct runner *r, const char *line, uint32_t id, enum outcome *outcome,
    char *detail, size_t size)
{
	struct err err = {.kind = ERR_NONE};
	struct cJSON *doc;
	uint32_t back;

	if (!r->process.keeper) {
		doc = hello(r, outcome, detail, size);
		if (!doc)
			return NULL;
		jsonin_close(doc);
	}
	doc = exchange(r, line, outcome, detail, size);
	if (!doc)
		return NULL;
	if (!jsonin_u32(doc, "id", &back, &err) || back != id)
		return nonsense(r, doc,
		    err.kind ? err.text : "it answers another question",
		    outcome, detail, size);
	r->has_answered = true;
	return doc;
}

/* A process that answered and then ended, or talked on, did so on account of an
 * earlier question: this one is asked once more, of a fresh process. */
struct cJSON *
runner_ask(struct runner *r, const char *line, uint32_t id,
    enum outcome *outcome, char *detail, size_t size)
{
	struct cJSON *doc;
	bool is_used;

	forget_if_forked(r);
	is_used = r->has_answered;
	doc = ask(r, line, id, outcome, detail, size);
	if (doc || !is_used || *outcome == OUTCOME_TIMEOUT)
		return doc;
	return ask(r, line, id, outcome, detail, size);
}

uint32_t
runner_next_id(struct runner *r)
{
	return ++r->next_id;
}

void
runner_hold(struct runner *r)
{
	r->nholders++;
}

void
runner_drop(struct runner *r)
{
	if (--r->nholders > 0)
		return;
	forget_if_forked(r);
	stop(r, NULL);
}

/* ---- what it is ---- */

bool
runner_greet(struct runner *r, struct runner_hello *out, struct arena *a,
    struct err *err)
{
	enum outcome outcome;
	char detail[WORDS_MAX];
	struct cJSON *doc;
	bool ok;

	forget_if_forked(r);
	doc = hello(r, &outcome, detail, sizeof detail);
	if (!doc)
		return err_set(err, ERR_TARGET, "%s", detail);
	ok = runner_read_hello(out, doc, a, err);
	jsonin_close(doc);
	stop(r, NULL);
	if (!ok) {
		const struct err why = *err;

		err_clear(err);
		err_set(err, ERR_TARGET, "the runner's hello: %s", why.text);
	}
	return ok;
}
