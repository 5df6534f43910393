/* marq verify RESULT...: is a result directory what was written? */
#include <stdio.h>

#include "cli/answer.h"
#include "cli/options.h"
#include "ir/base/listing.h"
#include "ir/base/plural.h"

struct verify_args {
	struct text_list result;
};

static const struct command_line line = {
    .operands = {option_texts, offsetof(struct verify_args, result), UINT32_MAX,
        NULL, "no result"},
    .args_doc = "RESULT...",
    .doc = "Check that result directories hold exactly the files that were "
           "written, by the sizes and SHA-256 in their files.json.",
};

bool
cmd_verify(struct cli *c, int argc, char **argv, struct err *err)
{
	struct verify_args args = {0};
	uint32_t files = 0;

	if (!cli_parse(c, &line, argc, argv, &args, err))
		return false;
	for (uint32_t i = 0; i < args.result.n; i++) {
		uint32_t n;

		if (!listing_verify(args.result.text[i], &n, c->run, err))
			return false;
		files += n;
		if (c->verbosity >= 0 && c->format != OUT_JSON)
			printf("%s: %u file%s as they were written\n",
			    args.result.text[i], n, plural(n));
	}
	ANSWER_WHOLE(c, "marq.verify/1", NULL, F("results", args.result.n),
	    F("files", files));
	return true;
}
