/* What a search and a board say to each other: lines of JSON (links.h asks,
 * serve.h answers).
 *
 *	> {"marq":"open","protocol":1,"session":"...","want":{marq.want/1}}
 *	< {"marq":"ready","protocol":1,"workers":3,"env":{marq.env/1}}
 *	> {"marq":"measure","jobs":[{"id":7,"kind":"price","target":0,"key":"..."}]}
 *	< {"marq":"sample","id":7,"outcome":"ok","n":30,"low":1200,...}
 *	> {"marq":"bye"}
 *	< {"marq":"fault","text":"..."}		and the end, at any time
 *
 * A job keeps its id over a lost connection: who opens the same session again
 * is told what was measured meanwhile, and nothing is measured twice. */
#ifndef COSTMODEL_WIRE_H
#define COSTMODEL_WIRE_H

#include "costmodel/want.h"
#include "ir/base/buf.h"
#include "ir/base/sample.h"

#define WIRE_PROTOCOL 1

enum wire_kind { WIRE_PRICE, WIRE_PROBE, WIRE_PAIR };

struct wire_job {
	uint64_t id;
	enum wire_kind kind;
	struct wanted_subject of, second; /* second: of a pair */
};

void wire_job_write(const struct wire_job *x, struct json *j);
bool wire_job_read(
    struct wire_job *out, const struct cJSON *doc, struct err *err);

void wire_sample_write(uint64_t id, const struct sample *x, struct json *j);
bool wire_sample_read(
    uint64_t *id, struct sample *out, const struct cJSON *doc, struct err *err);

/* Lines of a stream, as they come in; a line is no longer than `most` bytes. */
struct wire_lines {
	int fd;
	bool waits; /* for more when no line is there */
	size_t most;
	struct buf in;
	size_t done; /* bytes of `in` that are of lines given out */
	size_t searched; /* bytes of `in` that end no further line */
};

enum wire_heard { WIRE_LINE, WIRE_NOTHING, WIRE_END, WIRE_TOO_LONG };

/* The next line that is here, without its end, valid until the next call;
 * WIRE_NOTHING: not a whole one, yet. */
enum wire_heard wire_next(struct wire_lines *l, const char **line, size_t *n);

/* All of it; false when nobody listens any more. */
bool wire_say(int fd, const char *text, size_t n);

#endif
