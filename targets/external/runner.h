/* A runner: somebody's program that is talked to in lines of JSON (README.md
 * has the protocol). It may refuse, hang, crash and talk nonsense. */
#ifndef TARGETS_EXTERNAL_RUNNER_H
#define TARGETS_EXTERNAL_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "targets/target.h"

struct cJSON;

#define RUNNER_PROTOCOL 1

/* What it said of itself. */
struct runner_hello {
	const char *name, *version;
	const char *facts; /* "fact.key=value" lines, or "" */
	bool runs; /* it computes outputs */
	bool is_this_cpu; /* its latencies are of this machine's cores */
	uint32_t nrules; /* 0: it may take any single node */
	const struct rule *rule;
};

/* One process of it at most; it is started when it is first needed, and again
 * when it was lost. */
struct runner;

struct runner *runner_new(
    const char *command, uint32_t timeout_ms, struct arena *a);

/* Ask what it is. ERR_TARGET saying what is wrong with it. */
bool runner_greet(struct runner *r, struct runner_hello *out, struct arena *a,
    struct err *err);

/* One line of JSON and its answer, an object, to be closed with jsonin_close().
 * NULL: the process is over, and *outcome says how it failed, in words in
 * detail[size]. `id` must come back. */
struct cJSON *runner_ask(struct runner *r, const char *line, uint32_t id,
    enum outcome *outcome, char *detail, size_t size);

/* The parts of answers. ERR_INPUT saying what is wrong with them. */
bool runner_read_hello(struct runner_hello *out, const struct cJSON *doc,
    struct arena *a, struct err *err);
bool runner_read_latencies(
    struct sample *out, const struct cJSON *doc, struct err *err);

/* Numbers for requests: each once. */
uint32_t runner_next_id(struct runner *r);

/* Who holds it keeps its process; the last one to drop it ends that. */
void runner_hold(struct runner *r);
void runner_drop(struct runner *r);

#endif
