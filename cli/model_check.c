/* marq model check: every fault of a model, not just the first. */
#include <stdio.h>

#include "cli/answer.h"
#include "cli/model.h"
#include "cli/search_args.h"
#include "ir/base/shell.h"
#include "ir/infer.h"
#include "ir/lenient.h"
#include "targets/host/host.h"

struct model_findings {
	const char *path;
	struct notes faults, warnings;
};

/* Everything the importer finds; and if it finds nothing, everything
 * inference finds. ERR_IO and such are not faults of the model. */
static bool
find_faults(struct model_findings *f, const struct search_args *args,
    struct arena *a, struct err *err)
{
	struct infer_options infer_all = {
	    .eval = host_eval, .keep_going = true};
	struct onnx_options collect = args->onnx;
	struct model m;
	bool ok;

	collect.collect = true;
	ok = onnx_read(&m, args->model, &collect, a, err);
	if (ok) {
		infer_all.notes = &m.notes;
		infer_all.faults = &m.faults;
		ok = infer(m.graph, &infer_all, err)
		    && (!args->strict || lenient_refuse(&m.notes, err));
		model_close(&m);
	}
	f->faults = m.faults;
	f->warnings = m.notes;
	if (ok)
		return true;
	if (err->kind != ERR_INPUT && err->kind != ERR_UNSUPPORTED)
		return false;
	if (f->faults.n == 0)
		notes_add(&f->faults, "%s", err->text);
	err_clear(err);
	return true;
}

static void
tell_notes(struct answer *a, const char *key, const char *path,
    const char *what, const struct notes *notes)
{
	for (uint32_t i = 0; i < notes->n; i++)
		ANSWER(a, "{path}: {what}: {it}\n", T("path", path),
		    T("what", what), T("it", notes->text[i]));
	answer_words(a, key, notes->text, notes->n);
}

static void
tell(const struct cli *c, const struct model_findings *f)
{
	const uint32_t errors = f->faults.n, warnings = f->warnings.n;
	struct answer a;

	answer_begin(&a, c, "marq.check/1");
	tell_notes(&a, "errors", f->path, "error", &f->faults);
	tell_notes(&a, "warnings", f->path, "warning", &f->warnings);
	ANSWER(&a, "{model}: {?e {e} error{s e}}{!e valid}, {w} warning{s w}\n",
	    F("model", f->path), IS("valid", errors == 0),
	    F("exit", errors ? err_exit(ERR_INPUT) : 0), T("e", errors),
	    T("w", warnings));
	answer_end(&a);
}

static const struct command_line line = {
    .options = model_options,
    .operands = SEARCH_OPERAND(0),
    .args_doc = "MODEL.onnx",
    .doc = "Find everything that is wrong with a model. Exit status 0: "
           "valid; 3: not.",
};

bool
model_check(struct cli *c, int argc, char **argv, struct err *err)
{
	struct search_args args;
	struct model_findings f;

	search_args_init(&args, c);
	if (!cli_parse(c, &line, argc, argv, &args, err))
		return false;
	f.path = args.model;
	if (!find_faults(&f, &args, c->run, err))
		return false;
	tell(c, &f);
	if (f.faults.n == 0)
		cli_next(c, "marq search %s", shell_quote(f.path, c->run));
	if (f.faults.n)
		c->status = err_exit(ERR_INPUT);
	return true;
}
