#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* flock, open_memstream */
#endif
#include "costmodel/serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cJSON.h>

#include "costmodel/board.h"
#include "costmodel/measure.h"
#include "costmodel/pricer_parts.h"
#include "costmodel/station.h"
#include "costmodel/wire.h"
#include "ir/base/file.h"
#include "ir/base/jsonin.h"
#include "ir/base/limits.h"

/* A line may carry a model. */

struct server {
	int out;
	struct wire_lines lines;
	const struct pricer_options *o;
	struct want want;
	struct station station;
	bool is_open; /* the station is */
	int journal;
	const char *journal_path;
	struct map answered; /* id -> index of answer[] */
	struct string_view *answer; /* [nanswers] lines */
	uint32_t nanswers, answer_cap;
	atomic_bool stop; /* nobody listens */
	struct arena *arena;
};

/* ---- saying ---- */

/* A line of JSON that `write` fills. */
struct spoken {
	char *text;
	size_t n;
	FILE *f;
	struct json json;
};

static bool
spoken_begin(struct spoken *s, struct err *err)
{
	*s = (struct spoken){.text = NULL};
	s->f = open_memstream(&s->text, &s->n);
	if (!s->f)
		return err_set(err, ERR_IO, "no memory for a line");
	json_init(&s->json, s->f, 0);
	return true;
}

static void
spoken_end(struct spoken *s)
{
	fclose(s->f);
}

static bool
say_ready(struct server *s, struct err *err)
{
	struct board here;
	struct spoken line;

	if (!board_of_here(&here, s->want.threads, s->arena, err)
	    || !spoken_begin(&line, err))
		return false;
	json_object(&line.json);
	json_key_str(&line.json, "marq", "ready");
	json_key_uint(&line.json, "protocol", WIRE_PROTOCOL);
	json_key_uint(&line.json, "workers", pricer_workers(s->station.pricer));
	json_key(&line.json, "env");
	board_put(&here, &line.json);
	json_close(&line.json);
	spoken_end(&line);
	if (!wire_say(s->out, line.text, line.n))
		atomic_store(&s->stop, true);
	free(line.text);
	return true;
}

static void
say_fault(struct server *s, const struct err *fault)
{
	struct err err = {.kind = ERR_NONE};
	struct spoken line;

	if (!spoken_begin(&line, &err))
		return;
	json_object(&line.json);
	json_key_str(&line.json, "marq", "fault");
	json_key_str(&line.json, "text", fault->text);
	json_close(&line.json);
	spoken_end(&line);
	wire_say(s->out, line.text, line.n);
	free(line.text);
}

/* ---- the journal ---- */

/* A session is named by hex digits. */
static bool
is_session(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	return n >= 16 && n <= 64 && text[n] == '\0';
}

static const char *
journal_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

static const char *
journal_path(const char *session, struct arena *a)
{
	return arena_printf(a, "%s/marq-%lu-%s.journal", journal_folder(),
	    (unsigned long)getuid(), session);
}

static void
remember(struct server *s, uint64_t id, const char *line, size_t n)
{
	uint64_t *key = arena_copy(s->arena, &id, sizeof id);

	if (map_add(&s->answered, key, sizeof *key, s->nanswers) != s->nanswers)
		return;
	s->answer = arena_grow(s->arena, s->answer, &s->answer_cap,
	    s->nanswers + 1, sizeof *s->answer);
	s->answer[s->nanswers++] =
	    (struct string_view){arena_copy(s->arena, line, n), n};
}

/* What whoever served this session before has measured; the last line may be
 * torn. */
static void
read_journal(struct server *s)
{
	struct wire_lines lines = {.fd = s->journal,
	    .waits = true,
	    .most = limit_of(LIMIT_SERVED_LINE)};
	enum wire_heard heard;
	const char *line;
	size_t n;

	buf_init(&lines.in);
	while ((heard = wire_next(&lines, &line, &n)) < WIRE_END) {
		struct err err = {.kind = ERR_NONE};
		struct sample ignored;
		struct cJSON *doc;
		uint64_t id;

		if (heard == WIRE_NOTHING)
			continue;
		doc = jsonin_parse(line, n, "journal", &err);
		if (doc && wire_sample_read(&id, &ignored, doc, &err))
			remember(s, id, line, n + 1);
		jsonin_close(doc);
	}
	buf_release(&lines.in);
	wire_say(s->journal, "\n", 1);
}

/* TUNING: nobody takes up a session after so long. */
#define FORGOTTEN_SECONDS (7L * 24 * 3600)

/* Journals of searches that never said bye. */
static void
remove_forgotten(struct arena *a)
{
	const char *folder = journal_folder();
	const char *prefix =
	    arena_printf(a, "marq-%lu-", (unsigned long)getuid());
	DIR *d = opendir(folder);
	const struct dirent *e;

	while (d && (e = readdir(d)) != NULL) {
		size_t n = strlen(e->d_name);
		struct stat st;

		if (strncmp(e->d_name, prefix, strlen(prefix)) == 0 && n > 8
		    && strcmp(e->d_name + n - 8, ".journal") == 0
		    && fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW)
		        == 0
		    && st.st_mtime < time(NULL) - FORGOTTEN_SECONDS)
			unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		closedir(d);
}

/* Whoever still measures for the session is waited for. */
static bool
open_journal(struct server *s, const char *session, struct err *err)
{
	if (!is_session(session))
		return err_set(err, ERR_INPUT, "that is no session");
	remove_forgotten(s->arena);
	s->journal_path = journal_path(session, s->arena);
	s->journal = open(s->journal_path,
	    O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->journal < 0)
		return err_set(
		    err, ERR_IO, "%s: %s", s->journal_path, strerror(errno));
	while (flock(s->journal, LOCK_EX) != 0)
		if (errno != EINTR)
			return err_set(err, ERR_IO, "%s: %s", s->journal_path,
			    strerror(errno));
	read_journal(s);
	return true;
}

/* ---- measuring ---- */

/* TUNING: more than a search asks for at once. */
#define JOBS_MAX 256

struct asked {
	struct server *server;
	uint64_t id[JOBS_MAX];
	struct measure_job job[JOBS_MAX];
	uint32_t n;
};

static void
answer(struct server *s, uint64_t id, const struct sample *x)
{
	struct err err = {.kind = ERR_NONE};
	struct spoken line;

	if (!spoken_begin(&line, &err))
		return;
	wire_sample_write(id, x, &line.json);
	spoken_end(&line);
	remember(s, id, line.text, line.n);
	wire_say(s->journal, line.text, line.n);
	if (!wire_say(s->out, line.text, line.n))
		atomic_store(&s->stop, true);
	free(line.text);
}

static void
job_done(void *context, uint32_t job, const struct sample *x)
{
	struct asked *q = context;

	answer(q->server, q->id[job], x);
}

static bool
find(const struct server *s, const struct wanted_subject *w,
    const struct subject **out)
{
	uint32_t i = station_find(&s->station, w);

	if (i == SUBJECT_NONE)
		return false;
	*out = &s->station.pricer->subject[i];
	return true;
}

static bool
fill_job(
    const struct server *s, const struct wire_job *w, struct measure_job *out)
{
	const struct subject *x, *second;

	if (!find(s, &w->of, &x))
		return false;
	*out = (struct measure_job){
	    .candidate = x->candidate,
	    .value = x->value,
	    .from = x->from,
	    .to = x->to,
	    .probe = w->kind == WIRE_PROBE,
	};
	if (w->kind != WIRE_PAIR)
		return true;
	if (x->candidate == SUBJECT_NONE || !find(s, &w->second, &second)
	    || second->candidate == SUBJECT_NONE)
		return false;
	out->is_pair = true;
	out->second = second->candidate;
	return true;
}

/* One that was answered before is answered again, not measured. */
static bool
take_job(struct asked *q, const struct cJSON *doc, struct err *err)
{
	struct server *s = q->server;
	struct wire_job w;
	uint32_t known;

	if (!wire_job_read(&w, doc, err))
		return false;
	known = map_find(&s->answered, &w.id, sizeof w.id);
	if (known != MAP_NONE) {
		if (!wire_say(s->out, s->answer[known].s, s->answer[known].n))
			atomic_store(&s->stop, true);
		return true;
	}
	if (q->n == JOBS_MAX)
		return err_set(err, ERR_INPUT, "too many jobs at once");
	if (fill_job(s, &w, &q->job[q->n])) {
		q->id[q->n++] = w.id;
		return true;
	}
	answer(s, w.id,
	    &(struct sample){.outcome = OUTCOME_UNSUPPORTED,
	        .detail = "the libraries of the board do not offer it"});
	return true;
}

static bool
measure(struct server *s, const struct cJSON *doc, struct err *err)
{
	struct asked q = {.server = s};
	const struct cJSON *list, *x;

	if (!s->is_open)
		return err_set(err, ERR_INPUT, "nothing was opened");
	if (!jsonin_array(doc, "jobs", &list, err))
		return false;
	cJSON_ArrayForEach(x, list)
	{
		if (!take_job(&q, x, err))
			return false;
	}
	return q.n == 0
	    || (measuring_begin(s->station.pricer, NULL, 0, err)
	        && measurer_run(s->station.pricer->measurer, q.job, q.n,
	            job_done, &q, err));
}

/* ---- the session ---- */

static bool
open_session(struct server *s, const struct cJSON *doc, struct err *err)
{
	struct pricer_options o = *s->o;
	const struct cJSON *want;
	const char *session;
	uint32_t protocol;

	if (s->is_open)
		return err_set(err, ERR_INPUT, "one session at a time");
	if (!jsonin_u32(doc, "protocol", &protocol, err))
		return false;
	if (protocol != WIRE_PROTOCOL)
		return err_set(err, ERR_UNSUPPORTED,
		    "protocol %u, this marq has %d: use the same version "
		    "on both machines",
		    protocol, WIRE_PROTOCOL);
	o.db = NULL;
	o.measure = true;
	o.stop = &s->stop;
	if (!jsonin_str(doc, "session", &session, err)
	    || !open_journal(s, session, err)
	    || !jsonin_object(doc, "want", &want, err)
	    || !want_read(&s->want, want, s->arena, err)
	    || !station_open(&s->station, &s->want, &o, s->arena, err))
		return false;
	s->is_open = true;
	return say_ready(s, err);
}

static bool
obey(struct server *s, const struct cJSON *doc, bool *bye, struct err *err)
{
	const char *what;

	if (!jsonin_str(doc, "marq", &what, err))
		return false;
	*bye = strcmp(what, "bye") == 0;
	if (*bye && s->journal_path)
		unlink(s->journal_path);
	if (*bye)
		return true;
	if (strcmp(what, "open") == 0)
		return open_session(s, doc, err);
	if (strcmp(what, "measure") == 0)
		return measure(s, doc, err);
	return err_set(err, ERR_INPUT, "'%.40s' is nothing to do", what);
}

static bool
listen(struct server *s, struct err *err)
{
	bool bye = false, ok = true;
	enum wire_heard heard;
	const char *line;
	size_t n;

	while (ok && !bye && !atomic_load(&s->stop)
	    && (heard = wire_next(&s->lines, &line, &n)) != WIRE_END) {
		struct cJSON *doc;

		if (heard == WIRE_TOO_LONG)
			return limit_exceeded(
			    LIMIT_SERVED_LINE, "a request", err);
		if (heard == WIRE_NOTHING)
			continue;
		doc = jsonin_parse(line, n, "request", err);
		ok = doc && obey(s, doc, &bye, err);
		jsonin_close(doc);
	}
	return ok;
}

bool
serve(int in, int out, const struct pricer_options *o, struct arena *a,
    struct err *err)
{
	struct server s = {.out = out,
	    .lines = {.fd = in,
	        .waits = true,
	        .most = limit_of(LIMIT_SERVED_LINE)},
	    .o = o,
	    .journal = -1,
	    .arena = a};
	bool ok;

	buf_init(&s.lines.in);
	map_init(&s.answered, a);
	ok = listen(&s, err);
	if (!ok)
		say_fault(&s, err);
	if (s.is_open)
		ok = station_close(&s.station, ok ? err : &(struct err){0})
		    && ok;
	if (s.journal >= 0)
		close(s.journal);
	buf_release(&s.lines.in);
	return ok;
}
