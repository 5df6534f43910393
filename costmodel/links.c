#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* getrandom, open_memstream */
#endif
#include "costmodel/links.h"

#include <assert.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <cJSON.h>

#include "costmodel/wire.h"
#include "ir/base/clock.h"
#include "ir/base/folder.h"
#include "ir/base/jsonin.h"
#include "ir/base/limits.h"
#include "targets/process.h"

/* TUNING: jobs a board has at a time: enough to spread their blocks, few enough
 * that several boards end together. */
#define CHUNK 8
/* TUNING: connections in a row that fail before a board is given up, and how
 * long the first and the longest pause between two is. */
#define FAILURES_MAX 8
#define PAUSE_NS UINT64_C(50000000)
#define PAUSE_MOST_NS UINT64_C(5000000000)
/* TUNING: for a model to be sent and read, and a measurement of an earlier
 * connection to end. */
#define OPENING_NS UINT64_C(300000000000)
/* Blocks of a job, and again after a crash. SOURCE: measure.c. */
#define BLOCKS_MOST 8
#define LINKS_MAX 64

enum link_state { LINK_DOWN, LINK_OPENING, LINK_READY, LINK_LOST };

struct board_link {
	const char *spec; /* as the user wrote it */
	const char *command; /* for the shell */
	const char *folder; /* of its log; NULL: not running */
	enum link_state state;
	struct process process;
	struct wire_lines lines;
	char session[33];
	uint32_t chunk[CHUNK], nchunk; /* jobs it has, by index */
	uint32_t failures; /* in a row */
	uint64_t again; /* when DOWN: not before */
	uint64_t deadline; /* for its next line */
	uint32_t workers;
	struct board board;
	char why[200]; /* how it was lost */
};

struct links {
	struct board_link link[LINKS_MAX]; /* [n] */
	uint32_t n;
	const struct want *want;
	uint64_t next_id;
	struct arena *arena;
	struct notes *notes;
	struct board board; /* what they all are; n 0: not known yet */
	const struct board_link *speaker; /* of the sample handed on, or NULL */
};

/* ---- what a worker is ---- */

static const char *
after(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(text, prefix, n) == 0 && text[n] ? text + n : NULL;
}

bool
link_check(const char *spec, struct err *err)
{
	const char *host = after(spec, "ssh:");

	if (after(spec, "cmd:"))
		return true;
	if (!host || *host == '-' || *host == ':' || strchr(host, '\''))
		return err_set(err, ERR_USAGE,
		    "--worker %s: want cmd:COMMAND or "
		    "ssh:USER@HOST[:PROGRAM]",
		    spec);
	return true;
}

/* For ssh the network is ssh's business: it says when a peer is gone. */
static const char *
command_of(const char *spec, struct arena *a)
{
	const char *host = after(spec, "ssh:"), *colon, *program;

	if (!host)
		return after(spec, "cmd:");
	colon = strchr(host, ':');
	program = colon && colon[1] ? colon + 1 : "marq-measure";
	return arena_printf(a,
	    "ssh -T -o BatchMode=yes -o ConnectTimeout=20 "
	    "-o ServerAliveInterval=15 -o ServerAliveCountMax=4 '%.*s' "
	    "'%s --serve'",
	    colon ? (int)(colon - host) : (int)strlen(host), host, program);
}

/* ---- the process ---- */

static struct process_job
job_of(const struct board_link *k)
{
	return (struct process_job){k->command, k->folder, "link.log"};
}

static void
hang_up(struct board_link *k, struct arena *a)
{
	const struct process_job job = job_of(k);

	if (!k->folder)
		return;
	process_stop(&k->process);
	if (!k->why[0])
		snprintf(
		    k->why, sizeof k->why, "%s", process_last_words(&job, a));
	folder_remove(k->folder);
	k->folder = NULL;
	buf_release(&k->lines.in);
}

/* The connection is of no use any more; it is made again after a while. */
static void
lose(struct links *l, struct board_link *k)
{
	uint64_t pause = PAUSE_NS << (k->failures < 7 ? k->failures : 7);

	hang_up(k, l->arena);
	k->again = clock_ns() + (pause < PAUSE_MOST_NS ? pause : PAUSE_MOST_NS);
	k->state = ++k->failures > FAILURES_MAX ? LINK_LOST : LINK_DOWN;
	if (k->state == LINK_LOST)
		notes_add(l->notes, "--worker %s is lost%s%s", k->spec,
		    k->why[0] ? ": " : "", k->why);
}

/* Never again: trying once more would not help. What was wrong before is what is
 * said. */
static void
lose_for_good(struct links *l, struct board_link *k, const char *why)
{
	if (!k->why[0])
		snprintf(k->why, sizeof k->why, "%s", why);
	k->failures = FAILURES_MAX;
	lose(l, k);
}

static void
give_up(struct links *l, struct board_link *k, const char *why)
{
	k->why[0] = '\0';
	lose_for_good(l, k, why);
}

/* ---- saying ---- */

/* A line that `write` makes; false: nobody listens. */
static bool
say(struct board_link *k,
    void (*write)(
        struct json *j, const struct board_link *k, const void *context),
    const void *context)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	struct json j;
	bool ok;

	if (!f)
		return false;
	json_init(&j, f, 0);
	write(&j, k, context);
	ok = fclose(f) == 0 && wire_say(k->process.socket, text, n);
	free(text);
	return ok;
}

static void
write_open(struct json *j, const struct board_link *k, const void *context)
{
	const struct links *l = context;

	json_object(j);
	json_key_str(j, "marq", "open");
	json_key_uint(j, "protocol", WIRE_PROTOCOL);
	json_key_str(j, "session", k->session);
	json_key(j, "want");
	want_write(l->want, j);
	json_close(j);
}

static void
write_bye(struct json *j, const struct board_link *k, const void *context)
{
	(void)k, (void)context;
	json_object(j);
	json_key_str(j, "marq", "bye");
	json_close(j);
}

static void
write_chunk(struct json *j, const struct board_link *k, const void *context)
{
	const struct wire_job *wire = context;

	json_object(j);
	json_key_str(j, "marq", "measure");
	json_key(j, "jobs");
	json_array(j);
	for (uint32_t i = 0; i < k->nchunk; i++)
		wire_job_write(&wire[k->chunk[i]], j);
	json_close(j);
	json_close(j);
}

static void
dial(struct links *l, struct board_link *k)
{
	struct err err = {.kind = ERR_NONE};
	struct process_job job;

	k->why[0] = '\0';
	k->folder = folder_new(NULL, l->arena, &err);
	job = job_of(k);
	if (!k->folder || !process_start(&k->process, &job, &err)) {
		if (k->folder)
			folder_remove(k->folder);
		k->folder = NULL;
		snprintf(k->why, sizeof k->why, "%s", err.text);
		lose(l, k);
		return;
	}
	k->lines = (struct wire_lines){
	    .fd = k->process.socket, .most = limit_of(LIMIT_WORKER_LINE)};
	buf_init(&k->lines.in);
	k->state = LINK_OPENING;
	k->deadline = clock_ns() + OPENING_NS;
	if (!say(k, write_open, l))
		lose(l, k);
}

/* ---- hearing ---- */

/* A run of jobs over the links. */
struct linked {
	struct links *links;
	struct wire_job *wire; /* [n] */
	uint32_t n, left; /* not answered yet */
	bool *answered; /* [n] */
	uint32_t next; /* not handed out to anybody yet */
	uint32_t *back; /* [nback] of boards that were lost */
	uint32_t nback;
	const struct links_run *run;
};

static bool
take_ready(struct links *l, struct board_link *k, const struct cJSON *doc,
    struct err *err)
{
	const struct cJSON *env;

	if (!jsonin_u32(doc, "workers", &k->workers, err)
	    || !jsonin_object(doc, "env", &env, err)
	    || !board_take(&k->board, env, l->arena, err))
		return false;
	if (l->board.n == 0)
		l->board = k->board;
	else if (!board_same(&l->board, &k->board, l->arena, err))
		return err_in(err, "another environment than the first board");
	k->state = LINK_READY;
	return true;
}

static void
take_sample(struct linked *r, struct board_link *k, uint64_t id,
    const struct sample *sample)
{
	for (uint32_t i = 0; i < k->nchunk; i++) {
		uint32_t job = k->chunk[i];

		if (r->wire[job].id != id)
			continue;
		k->chunk[i] = k->chunk[--k->nchunk];
		k->failures = 0;
		if (r->answered[job])
			return;
		r->answered[job] = true;
		r->left--;
		r->links->speaker = k;
		r->run->done(r->run->context, job, sample);
		r->links->speaker = NULL;
		return;
	}
}

/* False: the connection is of no use any more. */
static bool
heed(struct links *l, struct linked *r, struct board_link *k, const char *line,
    size_t n)
{
	struct err err = {.kind = ERR_NONE};
	struct cJSON *doc = jsonin_parse(line, n, "line", &err);
	const char *what, *text;
	struct sample sample;
	uint64_t id;
	bool ok = doc && jsonin_str(doc, "marq", &what, &err);

	if (ok && strcmp(what, "fault") == 0) {
		give_up(l, k,
		    jsonin_str(doc, "text", &text, &err) ? text : err.text);
		jsonin_close(doc);
		return true;
	}
	if (ok && strcmp(what, "ready") == 0) {
		if (!take_ready(l, k, doc, &err))
			give_up(l, k, err.text);
		jsonin_close(doc);
		return true;
	}
	ok = ok && strcmp(what, "sample") == 0
	    && wire_sample_read(&id, &sample, doc, &err);
	jsonin_close(doc);
	if (ok && r)
		take_sample(r, k, id, &sample);
	if (!ok)
		snprintf(k->why, sizeof k->why, "it says '%.*s'",
		    n < 60 ? (int)n : 60, line);
	return ok;
}

static uint64_t
patience(const struct linked *r, const struct board_link *k)
{
	uint64_t jobs = k->nchunk ? k->nchunk : 1;

	return OPENING_NS + r->run->timeout_ns * BLOCKS_MOST * jobs;
}

static void
attend(struct links *l, struct linked *r, struct board_link *k)
{
	enum wire_heard heard;
	const char *line;
	size_t n;

	while (k->folder
	    && (heard = wire_next(&k->lines, &line, &n)) == WIRE_LINE) {
		bool ok = heed(l, r, k, line, n);

		if (k->state == LINK_LOST)
			return;
		if (!ok) {
			lose(l, k);
			return;
		}
		k->deadline = clock_ns() + (r ? patience(r, k) : OPENING_NS);
	}
	if (k->folder && heard >= WIRE_END)
		lose(l, k);
}

/* ---- handing out ---- */

/* What a lost board had. */
static void
take_back(struct linked *r, struct board_link *k)
{
	for (uint32_t i = 0; i < k->nchunk; i++)
		r->back[r->nback++] = k->chunk[i];
	k->nchunk = 0;
}

static uint32_t
nready(const struct links *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n; i++)
		n += l->link[i].state == LINK_READY;
	return n;
}

static void
fill_chunk(struct linked *r, struct board_link *k)
{
	uint32_t left = r->nback + r->n - r->next, ready = nready(r->links);
	uint32_t share = (left + ready - 1) / (ready ? ready : 1);

	while (k->nchunk < CHUNK && k->nchunk < share) {
		if (r->nback)
			k->chunk[k->nchunk++] = r->back[--r->nback];
		else if (r->next < r->n)
			k->chunk[k->nchunk++] = r->next++;
		else
			break;
	}
}

/* Each link to what it should be doing. One that was lost and is back is asked
 * again for what it had: it knows what it measured. */
static void
tend(struct links *l, struct linked *r, struct board_link *k, bool *asked)
{
	if (k->state == LINK_DOWN && clock_ns() >= k->again)
		dial(l, k);
	if (k->state == LINK_LOST && r)
		take_back(r, k);
	if (k->state != LINK_READY) {
		*asked = false;
		return;
	}
	if (!r || (*asked && k->nchunk))
		return;
	if (k->nchunk == 0)
		fill_chunk(r, k);
	if (k->nchunk == 0)
		return;
	*asked = true;
	k->deadline = clock_ns() + patience(r, k);
	if (!say(k, write_chunk, r->wire)) {
		*asked = false;
		lose(l, k);
	}
}

/* Until something is said, or for a while. */
static void
wait_for_words(struct links *l, struct linked *r)
{
	struct pollfd fd[LINKS_MAX];

	for (uint32_t i = 0; i < l->n; i++)
		fd[i] = (struct pollfd){
		    .fd = l->link[i].folder ? l->link[i].process.socket : -1,
		    .events = POLLIN};
	if (poll(fd, l->n, 50) < 0)
		return; /* a signal: look at `stop` */
	for (uint32_t i = 0; i < l->n; i++) {
		struct board_link *k = &l->link[i];

		if (fd[i].fd >= 0 && fd[i].revents)
			attend(l, r, k);
		else if (k->folder && clock_ns() > k->deadline
		    && (k->state == LINK_OPENING || k->nchunk)) {
			snprintf(k->why, sizeof k->why, "it says nothing");
			lose(l, k);
		}
	}
}

static bool
all_lost(const struct links *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->link[i].state != LINK_LOST)
			return false;
	return true;
}

static bool
is_over(const atomic_bool *stop, uint64_t deadline_ns)
{
	return (stop && atomic_load(stop))
	    || (deadline_ns && clock_ns() >= deadline_ns);
}

static bool
fail_lost(const struct links *l, struct err *err)
{
	const struct board_link *k = &l->link[l->n - 1];

	return err_set(err, ERR_MEASURE,
	    "no worker is left to measure; --worker %s: %s", k->spec,
	    k->why[0] ? k->why : "the connection was lost");
}

bool
links_run(struct links *l, struct wire_job *wire, uint32_t n,
    const struct links_run *run, struct err *err)
{
	bool asked[LINKS_MAX] = {false}, ok = true;
	struct arena scratch;
	struct linked r = {
	    .links = l, .wire = wire, .n = n, .left = n, .run = run};

	arena_init(&scratch);
	r.answered = arena_new(&scratch, bool, n);
	r.back = arena_new(&scratch, uint32_t, n + CHUNK);
	for (uint32_t i = 0; i < n; i++)
		wire[i].id = l->next_id++;
	while (ok && r.left && !is_over(run->stop, run->deadline_ns)) {
		for (uint32_t i = 0; i < l->n; i++)
			tend(l, &r, &l->link[i], &asked[i]);
		ok = !all_lost(l) || fail_lost(l, err);
		if (ok)
			wait_for_words(l, &r);
	}
	for (uint32_t i = 0; i < l->n; i++)
		l->link[i].nchunk = 0;
	arena_release(&scratch);
	return ok;
}

/* ---- opening and closing ---- */

static void
name_session(struct board_link *k)
{
	uint64_t x[2] = {clock_ns(), (uint64_t)getpid()};

	if (getrandom(x, sizeof x, 0) != (ssize_t)sizeof x)
		x[0] ^= (uint64_t)time(NULL) << 20;
	snprintf(k->session, sizeof k->session, "%016llx%016llx",
	    (unsigned long long)x[0], (unsigned long long)x[1]);
}

static bool
is_dialling(const struct board_link *k)
{
	return k->state == LINK_DOWN || k->state == LINK_OPENING;
}

static bool
is_opening(const struct links *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (is_dialling(&l->link[i]))
			return true;
	return false;
}

/* There is no time left to wait for those that have not answered. */
static void
lose_silent(struct links *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		struct board_link *k = &l->link[i];

		if (is_dialling(k))
			lose_for_good(l, k, "it has not answered yet");
	}
}

/* What is not reached in the beginning is seldom reached later. */
#define FAILURES_AT_FIRST 2

bool
links_open(struct links **out, const struct links_options *o,
    struct board *board, struct arena *a, struct err *err)
{
	struct links *l = arena_new(a, struct links, 1);
	bool ignored = false;

	if (o->n > LINKS_MAX)
		return err_set(
		    err, ERR_USAGE, "more than %d workers", LINKS_MAX);
	*l = (struct links){.n = o->n,
	    .want = o->want,
	    .next_id = 1,
	    .arena = a,
	    .notes = o->notes};
	for (uint32_t i = 0; i < o->n; i++) {
		struct board_link *k = &l->link[i];

		k->spec = o->spec[i];
		k->command = command_of(o->spec[i], a);
		k->failures = FAILURES_MAX - FAILURES_AT_FIRST;
		name_session(k);
	}
	while (is_opening(l) && !is_over(o->stop, o->deadline_ns)) {
		for (uint32_t i = 0; i < o->n; i++)
			tend(l, NULL, &l->link[i], &ignored);
		wait_for_words(l, NULL);
	}
	lose_silent(l);
	if (all_lost(l)) {
		fail_lost(l, err);
		links_close(l);
		return false;
	}
	for (uint32_t i = 0; i < o->n; i++)
		if (l->link[i].state == LINK_READY)
			l->link[i].failures = 0;
	*board = l->board;
	*out = l;
	return true;
}

uint32_t
links_workers(const struct links *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n; i++)
		if (l->link[i].state != LINK_LOST)
			n += l->link[i].workers;
	return n ? n : 1;
}

const char *
links_soft(const struct links *l)
{
	return l->speaker ? l->speaker->board.soft : NULL;
}

void
links_close(struct links *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		struct board_link *k = &l->link[i];

		if (k->state == LINK_READY)
			say(k, write_bye, NULL);
		hang_up(k, l->arena);
		k->state = LINK_LOST;
	}
}
