#include "cli/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/base/err.h"
#include "ir/base/fd.h"

/* A stream of the process that goes to a file for a while. */
struct detour {
	FILE *stream, *file; /* file: NULL when it does not */
	int fd; /* of the stream */
	int real; /* where it went before */
};

/* exit() handlers get no arguments. */
static struct {
	const struct cli *cli;
	document_complain *complain;
	struct detour out, complaint;
} at_exit;

bool
document_is_wanted(int argc, char **argv)
{
	bool json = false;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const char *value = NULL;

		if (strncmp(argv[i], "--format=", 9) == 0)
			value = argv[i] + 9;
		else if (strcmp(argv[i], "--format") == 0 && i + 1 < argc)
			value = argv[i + 1];
		if (value)
			json = strcmp(value, "json") == 0;
	}
	return json;
}

static void
detour_begin(struct detour *d, FILE *stream, int fd)
{
	d->stream = stream;
	d->fd = fd;
	d->file = tmpfile();
	if (!d->file)
		return;
	fflush(stream);
	d->real = dup(fd);
	if (d->real >= 0 && dup2(fileno(d->file), fd) >= 0)
		return;
	if (d->real >= 0)
		close(d->real);
	fclose(d->file);
	d->file = NULL;
}

/* Let the stream go where it went, and forget what it wrote meanwhile. */
static void
detour_drop(struct detour *d)
{
	dup2(d->real, d->fd);
	close(d->real);
	fclose(d->file);
	d->file = NULL;
}

/* Let the stream go where it went; what it wrote meanwhile goes there, too. */
static bool
detour_end(struct detour *d)
{
	bool ok = fflush(d->stream) == 0 && !ferror(d->stream);
	char piece[1 << 16];
	size_t n;

	dup2(d->real, d->fd);
	rewind(d->file);
	while (ok && (n = fread(piece, 1, sizeof piece, d->file)) > 0)
		ok = fd_write_all(d->real, piece, n);
	detour_drop(d);
	return ok;
}

/* The first line of what argp complains of, without the program's name, goes
 * the way of every fault. */
static void
report_complaint(void)
{
	struct err err = {.kind = ERR_NONE};
	char line[512] = "", *text;

	fflush(stderr);
	rewind(at_exit.complaint.file);
	if (fgets(line, sizeof line, at_exit.complaint.file))
		line[strcspn(line, "\n")] = '\0';
	detour_drop(&at_exit.complaint);
	if (!line[0])
		return; /* --help */
	text = strstr(line, ": ");
	err_set(&err, ERR_USAGE, "%.300s", text ? text + 2 : line);
	at_exit.complain(at_exit.cli, &err);
}

static void
leave(void)
{
	if (at_exit.complaint.file)
		report_complaint();
	document_end();
}

void
document_init(const struct cli *c, document_complain *complain)
{
	at_exit.cli = c;
	at_exit.complain = complain;
	atexit(leave);
}

void
document_begin(void)
{
	detour_begin(&at_exit.out, stdout, STDOUT_FILENO);
}

void
document_discard(void)
{
	FILE *f = at_exit.out.file;

	if (!f)
		return;
	fflush(stdout);
	rewind(f);
	if (ftruncate(fileno(f), 0) != 0)
		clearerr(f);
}

bool
document_is_empty(void)
{
	return at_exit.out.file && fflush(stdout) == 0
	    && lseek(fileno(at_exit.out.file), 0, SEEK_END) == 0;
}

bool
document_end(void)
{
	return !at_exit.out.file || detour_end(&at_exit.out);
}

void
document_parse_begin(void)
{
	detour_begin(&at_exit.complaint, stderr, STDERR_FILENO);
}

void
document_parse_end(void)
{
	if (at_exit.complaint.file)
		detour_end(&at_exit.complaint);
}
