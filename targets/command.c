#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strchrnul */
#endif
#include "targets/command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/base/file.h"
#include "ir/base/hash.h"
#include "ir/base/shell.h"

/* ---- templates ---- */

static const struct command_word *
find_word(
    const struct command_word *words, size_t nwords, const char *name, size_t n)
{
	for (size_t i = 0; i < nwords; i++)
		if (strlen(words[i].name) == n
		    && memcmp(words[i].name, name, n) == 0)
			return &words[i];
	return NULL;
}

/* The end of the {word} that begins at `at`; NULL when none does. Braces of the
 * shell hold blanks or nothing, a word is letters. */
static const char *
word_end(const char *at)
{
	const char *end = at + 1;

	if (*at != '{')
		return NULL;
	while ((*end >= 'a' && *end <= 'z') || *end == '_')
		end++;
	return *end == '}' && end > at + 1 ? end : NULL;
}

bool
command_check(const char *template, const struct command_word *words,
    size_t nwords, struct arena *a, struct err *err)
{
	const char *known = "";

	if (strpbrk(template, "\r\n") || !template[strspn(template, " \t")])
		return err_set(
		    err, ERR_USAGE, "a command is one line that is not blank");
	for (size_t i = 0; i < nwords; i++)
		known = arena_printf(
		    a, "%s%s{%s}", known, i ? ", " : "", words[i].name);
	for (const char *at = template; *at; at++) {
		const char *end = word_end(at);

		if (!end
		    || find_word(words, nwords, at + 1, (size_t)(end - at - 1)))
			continue;
		return err_set(err, ERR_USAGE,
		    "unknown '%.*s' in a command; known are: %s",
		    (int)(end - at + 1), at, *known ? known : "none");
	}
	return true;
}

const char *
command_expand(const char *template, const struct command_word *words,
    size_t nwords, struct arena *a)
{
	const char *text;
	struct buf b;

	buf_init(&b);
	for (const char *at = template; *at; at++) {
		const char *end = word_end(at);
		const struct command_word *w = end
		    ? find_word(words, nwords, at + 1, (size_t)(end - at - 1))
		    : NULL;

		if (!w) {
			buf_add(&b, at, 1);
			continue;
		}
		buf_str(&b, w->quoted ? shell_quote(w->value, a) : w->value);
		at = end;
	}
	text = arena_strn(a, b.n ? b.data : "", b.n);
	buf_release(&b);
	return text;
}

/* ---- programs ---- */

bool
command_program(const char *program, const char **where, struct arena *a)
{
	const char *path = getenv("PATH"), *end;

	if (strchr(program, '/')) {
		*where = program;
		return access(program, X_OK) == 0;
	}
	for (; path && *path; path = *end ? end + 1 : end) {
		end = strchrnul(path, ':');
		*where = arena_printf(
		    a, "%.*s/%s", (int)(end - path), path, program);
		if (access(*where, X_OK) == 0)
			return true;
	}
	return false;
}

/* Characters of a word that the shell takes as they are. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
                            "YZ0123456789_-+.,/:@%=";

const char *
command_first(const char *template, struct arena *a)
{
	const char *at = template + strspn(template, " \t");
	size_t n = strcspn(at, " \t");

	if (n == 0 || strspn(at, plain) < n || memchr(at, '=', n))
		return NULL;
	return arena_strn(a, at, n);
}

static void
add_file_hash(struct buf *hashes, const char *path)
{
	struct err err = {.kind = ERR_NONE};
	struct mapped_file f;
	struct hash128 h;

	if (!file_map(&f, path, &err))
		return;
	h = hash128(f.data, f.bytes);
	buf_add(hashes, h.byte, sizeof h.byte);
	file_unmap(&f);
}

void
command_facts(struct buf *b, const char *name, const char *template)
{
	struct arena scratch;
	struct buf hashes;
	char text[33];
	bool first = true;

	arena_init(&scratch);
	buf_init(&hashes);
	for (const char *at = template; *at; first = false) {
		const char *word, *path;
		size_t n;

		at += strspn(at, " \t'\"");
		n = strcspn(at, " \t'\"");
		word = path = arena_strn(&scratch, at, n);
		if (n > 0 && (!first || command_program(word, &path, &scratch)))
			add_file_hash(&hashes, path);
		at += n;
	}
	buf_printf(b, "%s=%s\n", name, template);
	hash128_print(hash128(hashes.data, hashes.n), text);
	buf_printf(b, "%s_files=%s\n", name, hashes.n ? text : "none");
	buf_release(&hashes);
	arena_release(&scratch);
}
