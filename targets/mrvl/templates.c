#include "targets/mrvl/templates.h"

#include <regex.h>

/* SOURCE: command lines as python/tvm/contrib/mrvl.py of legacy-v0.19.post
 * makes them; {bin} is where its compiler leaves the binary. */
const char mrvl_compiler_command[] =
    "mrvl-tmlc -mn {symbol} -f1 {nodes} -f2 {consts} {opts} -b {batch}";
const char mrvl_simulator_command[] = "mrvl-mlsim -m {bin} -d {in} -o {out}";

const struct command_word mrvl_tool_words[NTOOL_WORDS] = {
    [WORD_SYMBOL] = {"symbol", "", true},
    [WORD_NODES] = {"nodes", "", true},
    [WORD_CONSTS] = {"consts", "", true},
    [WORD_OPTS] = {"opts", "", false},
    [WORD_BATCH] = {"batch", "", false},
    [WORD_BIN] = {"bin", "", true},
    [WORD_IN] = {"in", "", true},
    [WORD_OUT] = {"out", "", true},
};

static bool
check_latency(const char *expression, struct err *err)
{
	regex_t r;
	int code = regcomp(&r, expression, REG_EXTENDED | REG_NEWLINE);
	char why[128];
	size_t groups;

	if (code != 0) {
		regerror(code, &r, why, sizeof why);
		return err_set(
		    err, ERR_USAGE, "latency: '%s': %s", expression, why);
	}
	groups = r.re_nsub;
	regfree(&r);
	return groups >= 1
	    || err_set(err, ERR_USAGE,
	        "latency: '%s' has no group (...) around the figure",
	        expression);
}

bool
mrvl_tools_check(const struct mrvl_tools *t, struct arena *a, struct err *err)
{
	if (t->compiler
	    && !command_check(t->compiler, mrvl_tool_words, WORD_IN, a, err))
		return err_in(err, "tmlc");
	if (t->simulator
	    && !command_check(
	        t->simulator, mrvl_tool_words, NTOOL_WORDS, a, err))
		return err_in(err, "mlsim");
	return !t->latency || check_latency(t->latency, err);
}
