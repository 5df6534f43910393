#include "targets/mrvl/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "targets/command.h"
#include "targets/mrvl/space.h"

const struct target_option mrvl_options[] = {
    {"mcpu", "cn10ka|cnf10kb", "cn10ka",
        "the chip; its accelerators are the same"},
    {"num_tiles", "1|2|4|8", "8", "tiles a region runs on"},
    {"quantize", "fp16|int8", "fp16",
        "data type of regions (int8: wants scales, of --calibrate or the "
        "model's own)"},
    {"wb_pin_ocm", "0|1", "0", "keep weights and biases in on-chip memory"},
    {"run_mode", "sim|hw", "sim", "what the compiled region is for"},
    {"mattr", "<upstream's text>", "",
        "e.g. 'hw -quantize=fp16 -wb_pin_ocm=1', instead of the above"},
    {"compat", "none|legacy-v0.19", "none",
        "do as TVM's legacy-v0.19.post does, defects included"},
    {"params", "<file.json>", "", "parameters of the cost simulator"},
    {"tmlc", "<command|auto|off>", "auto",
        "Marvell's compiler: regions it refuses are never chosen (auto: "
        "mrvl-tmlc where it is on PATH)"},
    {"mlsim", "<command|auto|off>", "auto",
        "Marvell's simulator of what tmlc compiled: `marq run` takes outputs "
        "from it"},
    {"latency", "<regex>", "",
        "finds a region's latency in what mlsim (without it, tmlc) prints, as "
        "its group (...); prices are that figure"},
    {"ns_per_unit", "<number>", "1",
        "nanoseconds per unit of that figure (cycles at 1.25 GHz: 0.8)"},
    {"tool_timeout", "<seconds>", "60", "for one call of a tool"},
    {"tool_dir", "<folder>", "",
        "work folders are made there, those of failures are kept"},
    {NULL, NULL, NULL, NULL},
};

const struct mrvl *
mrvl_of(const struct target *t)
{
	return (const struct mrvl *)t->state;
}

static bool
is_given(const struct target *t, const char *name)
{
	for (uint32_t i = 0; i < t->noptions; i++)
		if (strcmp(t->option[i].name, name) == 0)
			return true;
	return false;
}

static bool
option_is(const struct target *t, const char *name, const char *value)
{
	return strcmp(target_option_get(t, name), value) == 0;
}

static bool
take_word(struct mrvl *m, const char *word, struct err *err)
{
	static const char *const tiles[] = {"1", "2", "4", "8"};
	const char *equals = strchr(word, '=');
	const char *value = equals ? equals + 1 : "";
	size_t n = equals ? (size_t)(equals - word) : strlen(word);

#define IS(text) (n == strlen(text) && memcmp(word, text, n) == 0)
	if (strcmp(word, "sim") == 0 || strcmp(word, "hw") == 0) {
		m->hw = word[0] == 'h';
		return true;
	}
	if (IS("-arch") && strcmp(value, "mlip") == 0)
		return true;
	if (IS("-quantize")
	    && (strcmp(value, "fp16") == 0 || strcmp(value, "int8") == 0)) {
		m->int8 = value[0] == 'i';
		return true;
	}
	if (IS("-wb_pin_ocm")
	    && (strcmp(value, "0") == 0 || strcmp(value, "1") == 0)) {
		m->pin = value[0] == '1';
		return true;
	}
	for (size_t i = 0; IS("-num_tiles") && i < 4; i++)
		if (strcmp(value, tiles[i]) == 0) {
			m->num_tiles = (uint32_t)atoi(tiles[i]);
			return true;
		}
#undef IS
	return err_set(err, ERR_USAGE,
	    "mattr: '%s' is none of sim, hw, -arch=mlip, -quantize=fp16|int8, "
	    "-wb_pin_ocm=0|1, -num_tiles=1|2|4|8",
	    word);
}

/* Upstream takes mattr as free text and cuts words out of it; here each word
 * has to be one the compiler knows. */
static bool
take_mattr(struct mrvl *m, struct arena *a, struct err *err)
{
	bool sim = false, hw = false;

	for (const char *at = m->mattr; *at;) {
		size_t n = strcspn(at, " ");
		const char *word = arena_strn(a, at, n);

		if (n > 0 && !take_word(m, word, err))
			return false;
		sim |= strcmp(word, "sim") == 0;
		hw |= strcmp(word, "hw") == 0;
		at += n;
		at += *at == ' ';
	}
	if (sim && hw)
		return err_set(
		    err, ERR_USAGE, "mattr: 'sim' and 'hw' contradict");
	return true;
}

static bool
check_contradictions(
    const struct target *t, const struct mrvl *m, struct err *err)
{
	static const struct {
		const char *option, *word;
	} both[] = {
	    {"quantize", "-quantize"},
	    {"wb_pin_ocm", "-wb_pin_ocm"},
	    {"num_tiles", "-num_tiles"},
	};

	if (!m->mattr)
		return true;
	for (size_t i = 0; i < sizeof both / sizeof both[0]; i++)
		if (is_given(t, both[i].option)
		    && strstr(m->mattr, both[i].word))
			return err_set(err, ERR_USAGE,
			    "option '%s' is given beside mattr's %s",
			    both[i].option, both[i].word);
	if (is_given(t, "run_mode")
	    && (strstr(m->mattr, "sim") || strstr(m->mattr, "hw")))
		return err_set(err, ERR_USAGE,
		    "option 'run_mode' is given beside mattr's mode");
	return true;
}

/* ---- Marvell's tools ---- */

static bool
take_number(const struct target *t, const char *name, double most, double *out,
    struct err *err)
{
	const char *text = target_option_get(t, name);
	char *end;

	*out = strtod(text, &end);
	if (end != text && *end == '\0' && *out > 0 && *out <= most)
		return true;
	return err_set(err, ERR_USAGE,
	    "%s is '%s', must be a number above 0, at most %g", name, text,
	    most);
}

/* The command to be used, or NULL. `program` is what `auto` looks for. */
static bool
take_tool(const struct target *t, const char *name, const char *program,
    const char **command, struct arena *a, struct err *err)
{
	const char *text = target_option_get(t, name), *first, *where;

	if (strcmp(text, "auto") == 0) {
		if (!command_program(program, &where, a))
			*command = NULL;
		return true;
	}
	*command = strcmp(text, "off") == 0 ? NULL : text;
	first = *command ? command_first(*command, a) : NULL;
	if (!first || command_program(first, &where, a))
		return true;
	return err_set(err, ERR_TARGET, "%s: '%s' is not there", name, first);
}

static bool
read_tools(struct mrvl_tools *s, const struct target *t, struct arena *a,
    struct err *err)
{
	const char *latency = target_option_get(t, "latency");
	const char *work = target_option_get(t, "tool_dir");
	double seconds;

	*s = (struct mrvl_tools){
	    .compiler = mrvl_compiler_command,
	    .simulator = mrvl_simulator_command,
	    .latency = *latency ? latency : NULL,
	    .work = *work ? work : NULL,
	};
	if (!take_number(t, "tool_timeout", 86400, &seconds, err)
	    || !take_number(t, "ns_per_unit", 1e9, &s->ns_per_unit, err)
	    || !take_tool(t, "tmlc", "mrvl-tmlc", &s->compiler, a, err)
	    || !take_tool(t, "mlsim", "mrvl-mlsim", &s->simulator, a, err))
		return false;
	s->timeout_ms = (uint32_t)ceil(seconds * 1000);
	return mrvl_tools_check(s, a, err);
}

static bool
take_tools(struct target *t, struct mrvl *m, struct arena *a, struct err *err)
{
	struct mrvl_tools *s = &m->tools;
	bool wants_simulator;

	if (!read_tools(s, t, a, err))
		return false;
	wants_simulator = s->simulator && is_given(t, "mlsim");
	if (m->int8 && s->compiler && is_given(t, "tmlc"))
		return err_set(err, ERR_USAGE,
		    "tmlc is given with quantize=int8: what the compiler takes "
		    "of scales is not known");
	if (m->int8)
		s->compiler = NULL;
	if (!s->compiler && (s->latency || wants_simulator))
		return err_set(err, ERR_USAGE,
		    "%s needs tmlc, which is off or not there",
		    s->latency ? "latency" : "mlsim");
	if (!s->compiler) {
		s->simulator = NULL;
		return true;
	}
	/* each tool once, and what is done around them */
	t->ask_ms = 2 * s->timeout_ms + 10000;
	if (s->latency)
		t->source = PRICE_EXTERNAL;
	return true;
}

bool
mrvl_open(struct target *t, struct formats *f, struct arena *a, struct err *err)
{
	struct mrvl *m = arena_new(a, struct mrvl, 1);
	const char *path = target_option_get(t, "params");

	m->mcpu = target_option_get(t, "mcpu");
	m->num_tiles = (uint32_t)atoi(target_option_get(t, "num_tiles"));
	m->int8 = option_is(t, "quantize", "int8");
	m->pin = option_is(t, "wb_pin_ocm", "1");
	m->hw = option_is(t, "run_mode", "hw");
	m->legacy = option_is(t, "compat", "legacy-v0.19");
	/* upstream takes what it gives up on later */
	t->only_prices = m->legacy;
	if (is_given(t, "mattr"))
		m->mattr = target_option_get(t, "mattr");
	if (!check_contradictions(t, m, err)
	    || (m->mattr && !take_mattr(m, a, err)))
		return false;
	params_default(&m->params);
	if (*path && !params_load(&m->params, path, a, err))
		return false;
	if (m->int8 && m->legacy)
		return err_set(err, ERR_USAGE,
		    "quantize=int8 with compat=legacy-v0.19: upstream never "
		    "finished int8");
	t->quantises = m->int8;
	m->nhwc.space = m->plain.space = SPACE_MRVL;
	m->nhwc.layout = LAYOUT_NHWC;
	m->plain.layout = LAYOUT_PLAIN;
	m->nhwc.dtype = m->plain.dtype = m->int8 ? DT_INT8 : DT_FLOAT16;
	format_intern(f, m->nhwc);
	format_intern(f, m->plain);
	t->state = m;
	return take_tools(t, m, a, err);
}

const char *
mrvl_compiler_options(const struct mrvl *m, struct arena *a)
{
	struct buf b;
	const char *text;

	buf_init(&b);
	if (!m->mattr) {
		buf_printf(&b, "-arch=mlip -quantize=%s -wb_pin_ocm=%d",
		    m->int8 ? "int8" : "fp16", m->pin);
	} else {
		/* the mode is not the compiler's business */
		for (const char *at = m->mattr; *at; at++) {
			if (strncmp(at, "sim", 3) == 0)
				at += 2;
			else if (strncmp(at, "hw", 2) == 0)
				at += 1;
			else
				buf_add(&b, at, 1);
		}
		if (!strstr(m->mattr, "-arch="))
			buf_str(&b, " -arch=mlip");
		if (!strstr(m->mattr, "-quantize="))
			buf_printf(
			    &b, " -quantize=%s", m->int8 ? "int8" : "fp16");
		if (!strstr(m->mattr, "-wb_pin_ocm="))
			buf_printf(&b, " -wb_pin_ocm=%d", m->pin);
	}
	if (!m->mattr || !strstr(m->mattr, "num_tiles"))
		buf_printf(&b, " -num_tiles=%u", m->num_tiles);
	text = arena_strn(a, b.data ? b.data : "", b.n);
	buf_release(&b);
	return text;
}
