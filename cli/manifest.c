#include "cli/manifest.h"

#include <cyaml/cyaml.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/units.h"
#include "ir/base/file.h"
#include "ir/base/memory.h"

/* The document as it is written; filled by libcyaml from the schema below. */
struct yaml_mix {
	char *name;
	char **targets;
	uint32_t targets_count;
	char **options;
	uint32_t options_count;
};

struct yaml_shape {
	char *name;
	char **bind;
	uint32_t bind_count;
	char **dims;
	uint32_t dims_count;
};

struct yaml_model {
	char *path, *name;
	char **mixes;
	uint32_t mixes_count;
	struct yaml_shape *shapes;
	uint32_t shapes_count;
};

struct yaml_defaults {
	char *db, *out, *time_budget, *unit_timeout, *retries;
	char **options;
	uint32_t options_count;
};

struct yaml_manifest {
	char *version;
	struct yaml_defaults *defaults;
	struct yaml_mix *mixes;
	uint32_t mixes_count;
	struct yaml_model *models;
	uint32_t models_count;
};

#define MAX_LIST 4096 /* TUNING: entries of any one list */

static const cyaml_schema_value_t text_entry = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, 4096),
};

#define TEXT(name, flags, type, field) \
	CYAML_FIELD_STRING_PTR( \
	    name, CYAML_FLAG_POINTER | (flags), type, field, 1, 4096)
#define TEXTS(name, flags, type, field) \
	CYAML_FIELD_SEQUENCE(name, CYAML_FLAG_POINTER | (flags), type, field, \
	    &text_entry, 0, MAX_LIST)

static const cyaml_schema_field_t mix_fields[] = {
    TEXT("name", CYAML_FLAG_DEFAULT, struct yaml_mix, name),
    TEXTS("targets", CYAML_FLAG_DEFAULT, struct yaml_mix, targets),
    TEXTS("options", CYAML_FLAG_OPTIONAL, struct yaml_mix, options),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t shape_fields[] = {
    TEXT("name", CYAML_FLAG_DEFAULT, struct yaml_shape, name),
    TEXTS("bind", CYAML_FLAG_OPTIONAL, struct yaml_shape, bind),
    TEXTS("dims", CYAML_FLAG_OPTIONAL, struct yaml_shape, dims),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t shape_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct yaml_shape, shape_fields),
};

static const cyaml_schema_field_t model_fields[] = {
    TEXT("path", CYAML_FLAG_DEFAULT, struct yaml_model, path),
    TEXT("name", CYAML_FLAG_OPTIONAL, struct yaml_model, name),
    TEXTS("mixes", CYAML_FLAG_OPTIONAL, struct yaml_model, mixes),
    CYAML_FIELD_SEQUENCE("shapes", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
        struct yaml_model, shapes, &shape_entry, 0, MAX_LIST),
    CYAML_FIELD_END,
};

/* Numbers are read as texts: libcyaml takes 3x for 3, 010 for 8, -1 for 2^64 - 1. */
static const cyaml_schema_field_t defaults_fields[] = {
    TEXT("db", CYAML_FLAG_OPTIONAL, struct yaml_defaults, db),
    TEXT("out", CYAML_FLAG_OPTIONAL, struct yaml_defaults, out),
    TEXT("time_budget", CYAML_FLAG_OPTIONAL, struct yaml_defaults, time_budget),
    TEXT("unit_timeout", CYAML_FLAG_OPTIONAL, struct yaml_defaults,
        unit_timeout),
    TEXT("retries", CYAML_FLAG_OPTIONAL, struct yaml_defaults, retries),
    TEXTS("options", CYAML_FLAG_OPTIONAL, struct yaml_defaults, options),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t mix_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct yaml_mix, mix_fields),
};

static const cyaml_schema_value_t model_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct yaml_model, model_fields),
};

static const cyaml_schema_field_t manifest_fields[] = {
    TEXT("version", CYAML_FLAG_DEFAULT, struct yaml_manifest, version),
    CYAML_FIELD_MAPPING_PTR("defaults",
        CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct yaml_manifest,
        defaults, defaults_fields),
    CYAML_FIELD_SEQUENCE("mixes", CYAML_FLAG_POINTER, struct yaml_manifest,
        mixes, &mix_entry, 1, MAX_LIST),
    CYAML_FIELD_SEQUENCE("models", CYAML_FLAG_POINTER, struct yaml_manifest,
        models, &model_entry, 1, MAX_LIST),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t schema = {
    CYAML_VALUE_MAPPING(
        CYAML_FLAG_POINTER, struct yaml_manifest, manifest_fields),
};

/* What libcyaml logs: the fault first, then where it is, innermost first. */
struct log {
	char fault[200];
	char key[64]; /* whose value it is about, or "" */
	unsigned line, column; /* 0: not said */
};

static void
keep_key(struct log *log, const char *text)
{
	static const char in[] = "in mapping field '";
	const char *at = strstr(text, in);

	if (at && !log->key[0])
		snprintf(log->key, sizeof log->key, "%.*s",
		    (int)strcspn(at + sizeof in - 1, "'"), at + sizeof in - 1);
}

static void
keep_log(cyaml_log_t level, void *context, const char *fmt, va_list args)
{
	static const char prefix[] = "Load: ";
	struct log *log = context;
	char text[400];
	const char *at = text;

	(void)level;
	vsnprintf(text, sizeof text, fmt, args);
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, prefix, sizeof prefix - 1) == 0)
		at += sizeof prefix - 1;
	/* of some faults it says only where they are */
	if (log->fault[0] == '\0' && strncmp(at, "Backtrace", 9) != 0
	    && !strstr(at, "(line: "))
		snprintf(log->fault, sizeof log->fault, "%s", at);
	keep_key(log, text);
	at = strstr(text, "(line: ");
	if (at && log->line == 0
	    && sscanf(at, "(line: %u, column: %u)", &log->line, &log->column)
	        != 2)
		log->line = log->column = 0;
}

/* ---- what is wrong, where, and what was meant ---- */

static const struct {
	const char *name, *place;
} keys[] = {
    {"version", "the manifest"},
    {"defaults", "the manifest"},
    {"mixes", "the manifest or a model"},
    {"models", "the manifest"},
    {"name", "a mix, a model or a shape"},
    {"targets", "a mix"},
    {"options", "'defaults' or a mix"},
    {"bind", "a shape"},
    {"dims", "a shape"},
    {"path", "a model"},
    {"shapes", "a model"},
    {"db", "'defaults'"},
    {"out", "'defaults'"},
    {"time_budget", "'defaults'"},
    {"unit_timeout", "'defaults'"},
    {"retries", "'defaults'"},
};

/* Letters to add, drop or change. */
static uint32_t
distance(const char *a, const char *b)
{
	uint32_t row[64], n = (uint32_t)strlen(b);

	if (n >= 63 || strlen(a) >= 63)
		return UINT32_MAX;
	for (uint32_t i = 0; i <= n; i++)
		row[i] = i;
	for (uint32_t k = 1; *a; a++, k++) {
		uint32_t before = row[0];

		row[0] = k;
		for (uint32_t i = 1; i <= n; i++) {
			uint32_t least = before + (*a != b[i - 1]);

			before = row[i];
			if (row[i] + 1 < least)
				least = row[i] + 1;
			if (row[i - 1] + 1 < least)
				least = row[i - 1] + 1;
			row[i] = least;
		}
	}
	return row[n];
}

/* What was meant by a key that is not where it belongs, or is like one; "" where
 * nothing is known. */
static void
hint_at(const char *key, char *hint, size_t size)
{
	uint32_t least = 4; /* TUNING: further apart is another word */

	hint[0] = '\0';
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		uint32_t d = distance(key, keys[i].name);

		if (d == 0)
			snprintf(
			    hint, size, "; it belongs to %s", keys[i].place);
		else if (d < least && d < strlen(key))
			snprintf(
			    hint, size, "; did you mean '%s'?", keys[i].name);
		if (d < least)
			least = d;
	}
}

static void
put_at(struct log *log, const char *text, const char *at)
{
	log->line = log->column = 1;
	for (const char *s = text; s < at; s++) {
		log->column = *s == '\n' ? 1 : log->column + 1;
		log->line += *s == '\n';
	}
}

/* libcyaml says where the mapping is that a key is in; the key itself is there
 * or below. */
static void
find_key(struct log *log, const char *text, const char *key)
{
	const char *s = text;
	size_t n = strlen(key);

	for (unsigned line = 1; line < log->line && *s; s++)
		line += *s == '\n';
	for (; *s; s++)
		if (strncmp(s, key, n) == 0
		    && (s == text || strchr(" {,\n", s[-1]))
		    && s[n + strspn(s + n, " ")] == ':') {
			put_at(log, text, s);
			return;
		}
}

static bool
is_control(const char *s)
{
	const unsigned char c = (unsigned char)s[0], next = (unsigned char)s[1];

	return (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7f
	    || (c == 0xc2 && next >= 0x80 && next < 0xa0 && next != 0x85);
}

/* libyaml does not say where a character is that it does not take. */
static void
find_control(struct log *log, const char *text, size_t n)
{
	for (const char *s = text; s < text + n; s++)
		if (is_control(s)) {
			put_at(log, text, s);
			return;
		}
}

static bool
is_marker(const char *line, const char *marker)
{
	return strncmp(line, marker, 3) == 0 && strchr(" \t\r\n", line[3]);
}

/* The line where a second document begins, which would not be looked at; 0: none.
 * Markers of documents are at the beginning of a line, and nothing else there is. */
static unsigned
second_document(const char *text)
{
	bool begun = false, ended = false;
	unsigned line = 1;

	for (const char *s = text; *s; line++) {
		const bool is_begin = is_marker(s, "---");

		if (is_marker(s, "..."))
			ended = true;
		else if (!strchr("#%\r\n", *s) || is_begin) {
			if (ended || (begun && is_begin))
				return line;
			begun = true;
		}
		s += strcspn(s, "\n");
		s += *s == '\n';
	}
	return 0;
}

/* What libcyaml calls a value, and an event of YAML. */
static const char *
kind_of(const char *word)
{
	static const struct {
		const char *theirs, *ours;
	} words[] = {{"STRING", "a single value"}, {"SEQUENCE", "a list"},
	    {"MAPPING", "keys and values"}, {"SEQUENCE_START", "a list"},
	    {"MAPPING_START", "keys and values"}, {"SCALAR", "a single value"}};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(word, words[i].theirs) == 0)
			return words[i].ours;
	return word;
}

/* What is wrong with the value of a key, in our words, with the key. */
static void
reword(struct log *log)
{
	char a[100], b[100], ours[220];

	if (sscanf(
	        log->fault, "Expecting %99[A-Z_], got event: %99[A-Z_]", a, b)
	    == 2)
		snprintf(ours, sizeof ours, "wants %s, not %s", kind_of(a),
		    kind_of(b));
	else if (strncmp(log->fault, "Insufficient entries", 20) == 0)
		snprintf(ours, sizeof ours, "an empty list");
	else
		return;
	if (log->key[0])
		snprintf(log->fault, sizeof log->fault, "key '%s': %.120s",
		    log->key, ours);
	else
		snprintf(
		    log->fault, sizeof log->fault, "the manifest %.120s", ours);
}

static bool
say_fault(struct log *log, const char *path, const char *text, size_t n,
    const char *otherwise, struct err *err)
{
	static const char unexpected[] = "Unexpected key: ";
	const char *key = NULL;
	char hint[80] = "", place[40] = "";

	if (!log->line)
		find_control(log, text, n);
	if (strncmp(log->fault, unexpected, sizeof unexpected - 1) == 0) {
		key = log->fault + sizeof unexpected - 1;
		find_key(log, text, key);
		hint_at(key, hint, sizeof hint);
	}
	if (log->line)
		snprintf(place, sizeof place, ":%u:%u", log->line, log->column);
	if (key)
		return err_set(err, ERR_USAGE, "%s%s: unexpected key '%s'%s",
		    path, place, key, hint);
	reword(log);
	return err_set(err, ERR_USAGE, "%s%s: %s", path, place,
	    log->fault[0] ? log->fault : otherwise);
}

/* What the units are built with. */
struct manifest_builder {
	const struct yaml_manifest *y;
	const char *folder; /* of the manifest, "" or ending in '/' */
	const char *text; /* of it */
	char place[40]; /* ":LINE:COLUMN" of a value that is refused, or "" */
	struct arena *arena;
	struct unit *unit;
	uint32_t n, cap;
};

static const char *
beside(const struct manifest_builder *b, const char *path)
{
	if (path[0] == '/')
		return arena_str(b->arena, path);
	return arena_printf(b->arena, "%s%s", b->folder, path);
}

/* Names become folder names. */
static bool
name_is_safe(const char *name)
{
	if (name[0] == '.' || name[0] == '-' || strlen(name) > 100)
		return false;
	for (; *name; name++)
		if (!(*name >= 'a' && *name <= 'z')
		    && !(*name >= 'A' && *name <= 'Z')
		    && !(*name >= '0' && *name <= '9') && !strchr("._-", *name))
			return false;
	return true;
}

static bool
check_name(const char *what, const char *name, struct err *err)
{
	return name_is_safe(name)
	    || err_set(err, ERR_USAGE,
	        "%s name '%s': only letters, digits, '.', '_', '-'", what,
	        name);
}

/* "resnet50" from "zoo/resnet50.onnx" or "zoo/resnet50/model.onnx". */
static const char *
stem_of(const char *path, struct arena *a)
{
	char *copy = arena_str(a, path), *slash = strrchr(copy, '/'), *dot;

	if (slash && strcmp(slash + 1, "model.onnx") == 0) {
		*slash = '\0';
		slash = strrchr(copy, '/');
	}
	if (slash)
		copy = slash + 1;
	dot = strrchr(copy, '.');
	if (dot && dot != copy)
		*dot = '\0';
	return copy;
}

static void
push(struct manifest_builder *b, const char ***arg, uint32_t *n,
    const char *option, const char *value)
{
	/* units have a few dozen arguments; lists are bounded by MAX_LIST */
	const char **longer = arena_new(b->arena, const char *, *n + 3);

	if (*n)
		memcpy(longer, *arg, *n * sizeof *longer);
	if (option)
		longer[(*n)++] = option;
	if (value)
		longer[(*n)++] = arena_str(b->arena, value);
	*arg = longer;
}

static void
add_arguments(struct manifest_builder *b, const struct yaml_mix *mix,
    const struct yaml_shape *shape, struct unit *u)
{
	const struct yaml_defaults *d = b->y->defaults;
	const char **arg = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < mix->targets_count; i++)
		push(b, &arg, &n, "-t", mix->targets[i]);
	for (uint32_t i = 0; shape && i < shape->bind_count; i++)
		push(b, &arg, &n, "--shape", shape->bind[i]);
	for (uint32_t i = 0; shape && i < shape->dims_count; i++)
		push(b, &arg, &n, "--dim", shape->dims[i]);
	if (d && d->db)
		push(b, &arg, &n, "--db", beside(b, d->db));
	if (d && d->time_budget)
		push(b, &arg, &n, "--time-budget", d->time_budget);
	for (uint32_t i = 0; d && i < d->options_count; i++)
		push(b, &arg, &n, NULL, d->options[i]);
	for (uint32_t i = 0; i < mix->options_count; i++)
		push(b, &arg, &n, NULL, mix->options[i]);
	u->arg = arg;
	u->nargs = n;
}

static bool
add_unit(struct manifest_builder *b, const struct yaml_model *model,
    const struct yaml_mix *mix, const struct yaml_shape *shape, struct err *err)
{
	struct unit u = {
	    .model_name = model->name ? arena_str(b->arena, model->name)
	                              : stem_of(model->path, b->arena),
	    .mix_name = arena_str(b->arena, mix->name),
	    .model = beside(b, model->path),
	};

	if (!check_name("model", u.model_name, err)
	    || !check_name("mix", mix->name, err)
	    || (shape && !check_name("shape", shape->name, err)))
		return false;
	u.name = arena_printf(b->arena, "%s@%s%s%s", u.model_name, u.mix_name,
	    shape ? "@" : "", shape ? shape->name : "");
	for (uint32_t i = 0; i < b->n; i++)
		if (strcmp(b->unit[i].name, u.name) == 0)
			return err_set(err, ERR_USAGE,
			    "unit '%s' appears twice; give the models names",
			    u.name);
	add_arguments(b, mix, shape, &u);
	b->unit =
	    arena_grow(b->arena, b->unit, &b->cap, b->n + 1, sizeof *b->unit);
	b->unit[b->n++] = u;
	return true;
}

static bool
wants_mix(const struct yaml_model *model, const char *mix)
{
	for (uint32_t i = 0; i < model->mixes_count; i++)
		if (strcmp(model->mixes[i], mix) == 0)
			return true;
	return model->mixes_count == 0;
}

static bool
mixes_exist(const struct manifest_builder *b, const struct yaml_model *model,
    struct err *err)
{
	for (uint32_t i = 0; i < model->mixes_count; i++) {
		uint32_t k = 0;

		while (k < b->y->mixes_count
		    && strcmp(b->y->mixes[k].name, model->mixes[i]) != 0)
			k++;
		if (k == b->y->mixes_count)
			return err_set(err, ERR_USAGE,
			    "model '%s': no mix '%s'", model->path,
			    model->mixes[i]);
	}
	return true;
}

static bool
add_model(
    struct manifest_builder *b, const struct yaml_model *model, struct err *err)
{
	if (!mixes_exist(b, model, err))
		return false;
	for (uint32_t i = 0; i < b->y->mixes_count; i++) {
		const struct yaml_mix *mix = &b->y->mixes[i];

		if (!wants_mix(model, mix->name))
			continue;
		for (uint32_t s = 0; s < model->shapes_count; s++)
			if (!add_unit(b, model, mix, &model->shapes[s], err))
				return false;
		if (model->shapes_count == 0
		    && !add_unit(b, model, mix, NULL, err))
			return false;
	}
	return true;
}

/* The value of a key is refused: where, and whose it is. */
static bool
refuse_value(struct manifest_builder *b, const char *key, struct err *err)
{
	struct log at = {.line = 1, .column = 1};

	find_key(&at, b->text, key);
	snprintf(b->place, sizeof b->place, ":%u:%u", at.line, at.column);
	return err_in(err, "key '%s'", key);
}

static bool
read_defaults(struct manifest *m, struct manifest_builder *b, struct err *err)
{
	const struct yaml_defaults *d = b->y->defaults;
	uint64_t retries = 1;

	m->out = beside(b, d && d->out ? d->out : "results");
	if (d && d->retries
	    && !parse_number(d->retries, 0, UINT32_MAX, &retries, err))
		return refuse_value(b, "retries", err);
	m->retries = (uint32_t)retries;
	if (d && d->unit_timeout
	    && !parse_duration(d->unit_timeout, &m->unit_timeout_ns, err))
		return refuse_value(b, "unit_timeout", err);
	return true;
}

static bool
build(struct manifest *m, struct manifest_builder *b, struct err *err)
{
	if (strcmp(b->y->version, "1") != 0) {
		err_set(err, ERR_USAGE, "'%.60s' is not known here (1 is)",
		    b->y->version);
		return refuse_value(b, "version", err);
	}
	if (!read_defaults(m, b, err))
		return false;
	for (uint32_t i = 0; i < b->y->models_count; i++)
		if (!add_model(b, &b->y->models[i], err))
			return false;
	m->unit = b->unit;
	m->nunits = b->n;
	return true;
}

bool
manifest_read(
    struct manifest *m, const char *path, struct arena *a, struct err *err)
{
	struct log log = {.line = 0};
	const cyaml_config_t config = {
	    .log_fn = keep_log,
	    .log_ctx = &log,
	    .log_level = CYAML_LOG_ERROR,
	    .mem_fn = cyaml_mem,
	    .flags = CYAML_CFG_NO_ALIAS,
	};
	struct yaml_manifest *y = NULL;
	const char *slash = strrchr(path, '/'), *text;
	struct manifest_builder b = {.arena = a};
	cyaml_err_t e;
	unsigned line;
	size_t n;
	bool ok;

	*m = (struct manifest){.out = NULL};
	if (!file_read(&text, &n, path, LIMIT_READ_MANIFEST, a, err))
		return false;
	line = second_document(text);
	if (line)
		return err_set(err, ERR_USAGE,
		    "%s:%u: a second document; a manifest is one", path, line);
	e = cyaml_load_data((const uint8_t *)text, n, &config, &schema,
	    (cyaml_data_t **)&y, NULL);
	/* libyaml has no words for it */
	if (e == CYAML_ERR_OOM || e == CYAML_ERR_LIBYAML_PARSER_INIT
	    || (e == CYAML_ERR_LIBYAML_PARSER && strstr(log.fault, "(null)")))
		memory_exhausted(n);
	if (e != CYAML_OK)
		return say_fault(&log, path, text, n, cyaml_strerror(e), err);
	if (!y)
		return err_set(err, ERR_USAGE,
		    "%s: empty; a manifest has a version, mixes and models",
		    path);
	b.y = y;
	b.text = text;
	b.folder = arena_strn(a, path, slash ? (size_t)(slash - path) + 1 : 0);
	ok = build(m, &b, err);
	cyaml_free(&config, &schema, y, 0);
	return ok || err_in(err, "%s%s", path, b.place);
}
