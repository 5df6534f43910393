/* marq db canary MODEL|RESULT [-t TARGET...]: time stored figures again. */
#include "cli/db.h"

#include <stdio.h>

#include "cli/answer.h"
#include "cli/job.h"
#include "targets/host/host.h"

static const struct command_line line = {
    .shared = search_options,
    .operands = SEARCH_OPERAND(0),
    .args_doc = "MODEL|RESULT",
    .doc = "Time stored figures of a model's candidates again and say how "
           "they compare. A result stands for its model and targets.",
};

static bool
time_again(struct job *j, struct pricer_counts *counts, struct notes *notes,
    struct err *err)
{
	struct pricer_options o = {
	    .db = j->args->db,
	    .measure = true,
	    .threads = j->args->threads,
	    .workers = 1,
	    .reference = host_eval,
	    .stop = j->args->cli->stop,
	    .notes = notes,
	    .command = j->args->cli->line,
	};
	struct pricer *p;
	bool ok;

	if (!pricer_open(
	        &p, j->model.graph, &j->mix, &j->candidates, &o, j->arena, err))
		return false;
	ok = pricer_begin(p, &j->prices, err) && pricer_canary(p, 8, err);
	*counts = pricer_counts(p);
	return pricer_close(p, ok ? err : &(struct err){0}) && ok;
}

static bool
report(const struct cli *c, const struct pricer_counts *counts, struct err *err)
{
	double ratio = (double)counts->drift_permille / 1000;

	if (counts->canaries == 0)
		return err_set(err, ERR_VERDICT,
		    "the database has no exact figure of this model here");
	ANSWER_WHOLE(c, "marq.db-canary/1",
	    "{figures} stored price{s figures} measured again: {ratio:.3f} "
	    "times the old\n",
	    F("figures", counts->canaries), F("ratio", ratio));
	return true;
}

bool
db_canary(struct cli *c, int argc, char **argv, struct err *err)
{
	struct search_args args;
	struct pricer_counts counts = {0};
	struct job j = {.args = NULL};
	struct notes notes;
	bool ok;

	search_args_init(&args, c);
	c->command = "db canary";
	notes_init(&notes, c->run);
	if (!cli_parse(c, &line, argc, argv, &args, err))
		return false;
	if (!search_args_resolve(&args, err))
		return false;
	search_args_settle(&args);
	ok = job_import(&j, &args, c->run, err) && job_bind(&j, err)
	    && job_candidates(&j, false, err)
	    && time_again(&j, &counts, &notes, err);
	ok = job_close(&j, err) && ok;
	cli_warn_all(c, &notes);
	return ok && report(c, &counts, err);
}
