#include "emit/report/name.h"

#include <stdbool.h>
#include <string.h>

#include "emit/report/view.h"
#include "ir/base/shell.h"

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The last two parts of a path. */
static const char *
last_two(const char *path)
{
	const char *base = base_name(path), *s = base;

	if (base - path < 2)
		return base;
	for (s = base - 1; s > path && s[-1] != '/'; s--)
		continue;
	return s;
}

/* The argument of -o or --output in a command line, as a shell takes it; NULL:
 * none. */
static const char *
output_of(const char *command, struct arena *a)
{
	static const char *const option[] = {
	    " -o ", " --output ", " --output="};
	const char *s = NULL;

	for (size_t i = 0; i < sizeof option / sizeof option[0]; i++) {
		const char *at = strstr(command, option[i]);

		if (at)
			s = at + strlen(option[i]);
	}
	return s && shell_word_length(s)
	    ? arena_strn(a, s, shell_word_length(s))
	    : NULL;
}

/* Stem of the file, ".marq": where a search writes by itself. */
static const char *
usual_folder(const char *file, struct arena *a)
{
	const char *dot = strrchr(file, '.');
	int n = (int)(dot && dot != file ? dot - file : (long)strlen(file));

	return shell_quote(arena_printf(a, "%.*s.marq", n, file), a);
}

void
name_result(struct page_view *v)
{
	const char *path = doc_text(doc_field(v->result, "model"), "path");
	const char *file = base_name(path);
	const char *told =
	    output_of(doc_text(v->provenance, "command"), v->arena);

	v->title = strcmp(file, "model.onnx") == 0 ? last_two(path) : file;
	v->folder = told ? told : usual_folder(file, v->arena);
}
