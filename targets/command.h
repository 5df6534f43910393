/* Commands of programs that are not ours, as users write them: templates with
 * {words}, whether their program is there, and the facts about them that
 * figures depend on. */
#ifndef TARGETS_COMMAND_H
#define TARGETS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/buf.h"
#include "ir/base/err.h"

struct command_word {
	const char *name, *value;
	bool quoted; /* a path: put in quoted for a shell */
};

/* ERR_USAGE naming a {word} of the template that is not among `words`, or a
 * template that could not be a fact (empty, several lines). */
bool command_check(const char *template, const struct command_word *words,
    size_t nwords, struct arena *a, struct err *err);

/* The template, checked before, with the words' values put in; text in `a`. */
const char *command_expand(const char *template,
    const struct command_word *words, size_t nwords, struct arena *a);

/* Is the program (a name on $PATH, or a path) there? *where: its path. */
bool command_program(const char *program, const char **where, struct arena *a);

/* The template's program as far as it can be told without a shell: its first
 * word; NULL when that is no plain name. */
const char *command_first(const char *template, struct arena *a);

/* "<name>=<template>" and "<name>_files=<hash>" of the content of the files it
 * names: the same command line over another build of a tool is another tool. */
void command_facts(struct buf *b, const char *name, const char *template);

#endif
