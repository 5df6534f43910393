/* marq measure: the measuring half alone, of what a search elsewhere wants. */
#include <string.h>
#include <unistd.h>

#include "cli/answer.h"
#include "cli/options.h"
#include "cli/paths.h"
#include "cli/progress.h"
#include "cli/shard.h"
#include "costmodel/machine.h"
#include "costmodel/serve.h"
#include "costmodel/shared_canary.h"
#include "costmodel/station.h"
#include "ir/base/clock.h"

struct measure_args {
	const char *file; /* of subjects */
	const char *db;
	uint32_t jobs, max_measure, canaries;
	uint64_t timeout_ns, budget_ns;
	struct shard shard;
	struct text_list targets;
	bool serves;
};

#define AT(member) offsetof(struct measure_args, member)

static const struct option_row options[] = {
    {"target", 't', "KIND[:K=V,...]",
        "a target of the list that is opened only when it is named here, too: a "
        "plug-in, a program (repeat)",
        option_texts, .at = AT(targets)},
    {"db", 0, "FILE", "the database (default: as `marq search`)", option_text,
        .at = AT(db)},
    {"jobs", 0, "N", "measuring processes (default cores - 1)", option_count,
        .at = AT(jobs), .low = 1, .high = CORES_MAX},
    {"max-measure", 0, "N", "measure at most N of them", option_count,
        .at = AT(max_measure), .low = 1, .high = 1000000000},
    {"measure-timeout", 0, "D",
        "a measurement that has not answered for D failed (default: what the "
        "list says)",
        option_duration, .at = AT(timeout_ns)},
    {"time-budget", 0, "D", "stop after D; again later goes on",
        option_duration, .at = AT(budget_ns)},
    {"shard", 0, "I/N",
        "only those of the list whose key falls to the I-th of N (of 0..N-1; "
        "default: what the scheduler of a job array says)",
        shard_take, .at = AT(shard)},
    {"canaries", 0, "N",
        "measure N of the list first, the same on every machine and kept "
        "apart from prices: merging tells which machine is unlike the others",
        option_count, .at = AT(canaries), .low = 1, .high = 32},
    {"locks", 0, "DIR",
        "one measurement at a time on a core also beside users and containers that "
        "share folder DIR (default $MARQ_LOCKS; processes of one host need "
        "none)",
        .take = option_locks},
    {"serve", 0, NULL,
        "instead of a list, measure what a search asks for on standard input "
        "(its --worker starts this)",
        option_flag, .at = AT(serves)},
    {0},
};

static void
take_file(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct measure_args *args = at;

	if (args->file)
		argp_error(s->argp, "one list at a time ('%s')", arg);
	option_input(&args->file, arg, row, s);
}

static void
check(struct option_state *s)
{
	const struct measure_args *args = s->args;

	if (!args->file && !args->serves)
		argp_error(s->argp, "no list given");
	if (args->file && args->serves)
		argp_error(s->argp, "--serve takes no list ('%s')", args->file);
}

static const struct command_line line = {
    .options = options,
    .operands = {take_file, 0, UINT32_MAX, NULL, NULL},
    .args_doc = "LIST",
    .doc = "Measure what a search wants (`marq search --want LIST`) on this "
           "machine, into a database that `marq db merge` takes home.",
    .check = check,
};

static void
on_progress(void *context, uint32_t done, uint32_t todo, const char *what)
{
	progress_step(context, done, todo, what);
}

static void
on_waiting(void *context, const char *why)
{
	struct progress *p = context;

	progress_end(p);
	cli_say(p->cli, 0, "%s", why);
}

static struct pricer_options
options_of(const struct measure_args *args, const struct cli *c)
{
	return (struct pricer_options){
	    .db = args->db,
	    .measure = true,
	    .workers = args->jobs,
	    .max_measure = args->max_measure,
	    .timeout_ns = args->timeout_ns,
	    .deadline_ns = args->budget_ns ? clock_ns() + args->budget_ns : 0,
	    .command = c->line,
	    .stop = c->stop,
	};
}

static void
report(const struct cli *c, const struct measure_args *args,
    const struct want *w, const struct station_counts *n)
{
	const struct shard *shard = &args->shard;

	ANSWER_WHOLE(c, "marq.measure/1",
	    "{model}{?shards , shard {shard} of {shards}}: {measured} measured{?probed , {probed} probed}{?failed  ({failed} of them failed)}, "
	    "{known} known before{?absent , {absent} not offered by this "
	    "build}{?left , {left} left}\n",
	    F("model", w->model), F("measured", n->measured),
	    F("failed", n->failed), F("known", n->known),
	    F("absent", n->absent), F("probed", n->probed), F("left", n->left),
	    F("db", args->db), F("shard", shard->i), F("shards", shard->n));
}

/* What of the list is ours. */
static void
take_share(const struct cli *c, const struct shard *shard, struct want *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n; i++)
		if (shard_owns(shard, w->subject[i].key))
			w->subject[n++] = w->subject[i];
	if (shard->whence)
		cli_say(c, 0, "shard %u of %u, by %s: %u of %u wanted are ours",
		    shard->i, shard->n, shard->whence, n, w->n);
	w->n = n;
}

static bool
measure_list(struct cli *c, struct measure_args *args, struct err *err)
{
	struct pricer_options o = options_of(args, c);
	struct station_counts counts;
	struct progress progress;
	struct station s;
	struct notes notes;
	struct want w, whole;
	bool ok;

	if (!args->db)
		args->db = o.db = path_default_db(c->run);
	notes_init(&notes, c->run);
	o.notes = &notes;
	o.progress = on_progress;
	o.waiting = on_waiting;
	o.context = &progress;
	if (!shard_settle(&args->shard, err)
	    || !want_open(&w, args->file, c->run, err))
		return false;
	if (!want_allowed(&w, args->targets.text, args->targets.n, c->run, err))
		return err_in(err, "%s", args->file);
	whole = w;
	whole.subject = arena_copy(c->run, w.subject, w.n * sizeof *w.subject);
	take_share(c, &args->shard, &w);
	path_make_parents(o.db);
	if (!station_open(&s, &w, &o, c->run, err))
		return false;
	progress_begin(&progress, c, 1);
	ok = (args->canaries == 0
	         || station_canaries(&s, &whole, args->canaries, err))
	    && station_measure(&s, &w, &counts, err);
	progress_end(&progress);
	ok = station_close(&s, ok ? err : &(struct err){0}) && ok;
	cli_warn_all(c, &notes);
	if (ok)
		report(c, args, &w, &counts);
	return ok;
}

bool
cmd_measure(struct cli *c, int argc, char **argv, struct err *err)
{
	struct measure_args args = {.file = NULL};
	struct pricer_options o;

	if (!cli_parse(c, &line, argc, argv, &args, err))
		return false;
	if (!args.serves)
		return measure_list(c, &args, err);
	o = options_of(&args, c);
	return serve(STDIN_FILENO, STDOUT_FILENO, &o, c->run, err);
}
