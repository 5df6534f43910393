#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include "targets/loaded.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ir/base/hash.h"

struct loaded_file {
	const char *prefix;
	const char *path; /* of the first that matches; "" while none does */
	char build[BUILD_TEXT]; /* in hex; "": it has none */
};

static const char *
file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static size_t
padded(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* The build id among the notes of a segment. */
static void
read_notes(char build[BUILD_TEXT], const uint8_t *at, size_t left)
{
	ElfW(Nhdr) n;

	while (left >= sizeof n) {
		size_t name, size;

		memcpy(&n, at, sizeof n);
		name = padded(n.n_namesz);
		size = sizeof n + name + padded(n.n_descsz);
		if (n.n_namesz > left || n.n_descsz > left || size > left)
			return;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4
		    && memcmp(at + sizeof n, "GNU", 4) == 0) {
			const uint8_t *id = at + sizeof n + name;

			for (size_t i = 0; i < n.n_descsz && i < 32; i++)
				snprintf(build + 2 * i, 3, "%02x", id[i]);
			return;
		}
		at += size;
		left -= size;
	}
}

static int
see_library(struct dl_phdr_info *info, size_t size, void *context)
{
	struct loaded_file *w = context;

	(void)size;
	if (strncmp(file_name(info->dlpi_name), w->prefix, strlen(w->prefix))
	    != 0)
		return 0;
	w->path = info->dlpi_name;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_NOTE && w->build[0] == '\0')
			read_notes(w->build, (const uint8_t *)at, p->p_memsz);
	}
	return 1;
}

/* TUNING: a library has some ten segments, and notes of some tens of bytes. */
#define SEGMENTS_MAX 64
#define NOTES_MAX 4096

static void
read_note_segment(char build[BUILD_TEXT], int fd, const ElfW(Phdr) * p)
{
	uint8_t notes[NOTES_MAX];
	ssize_t n;

	if (p->p_type != PT_NOTE || p->p_filesz > sizeof notes)
		return;
	n = pread(fd, notes, p->p_filesz, (off_t)p->p_offset);
	if (n > 0 && build[0] == '\0')
		read_notes(build, notes, (size_t)n);
}

static void
read_library(char build[BUILD_TEXT], int fd)
{
	ElfW(Ehdr) e;
	ElfW(Phdr) p[SEGMENTS_MAX];
	ssize_t size;

	if (pread(fd, &e, sizeof e, 0) != (ssize_t)sizeof e
	    || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0
	    || e.e_phentsize != sizeof *p || e.e_phnum > SEGMENTS_MAX)
		return;
	size = (ssize_t)(e.e_phnum * sizeof *p);
	if (pread(fd, p, (size_t)size, (off_t)e.e_phoff) != size)
		return;
	for (unsigned i = 0; i < e.e_phnum; i++)
		read_note_segment(build, fd, &p[i]);
}

bool
library_build(const char *path, char build[BUILD_TEXT])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	build[0] = '\0';
	if (fd < 0)
		return false;
	read_library(build, fd);
	close(fd);
	return build[0] != '\0';
}

static struct loaded_file
find_library(const char *prefix)
{
	struct loaded_file w = {.prefix = prefix, .path = ""};

	dl_iterate_phdr(see_library, &w);
	return w;
}

/* Of a library that was linked without a build id. */
static void
hash_file(const char *path, char text[BUILD_TEXT])
{
	FILE *f = fopen(path, "rbe");
	struct buf all;
	char block[1 << 16];
	size_t n;

	buf_init(&all);
	while (f && (n = fread(block, 1, sizeof block, f)) > 0)
		buf_add(&all, block, n);
	if (f)
		fclose(f);
	hash128_print(hash128(all.data, all.n), text);
	buf_release(&all);
}

bool
loaded_find(const char *prefix, char build[BUILD_TEXT])
{
	struct loaded_file w = find_library(prefix);

	if (w.path[0] && w.build[0] == '\0')
		hash_file(w.path, w.build);
	memcpy(build, w.build, BUILD_TEXT);
	return w.path[0] != '\0';
}

void
loaded_build(struct buf *b, const char *key, const char *prefix)
{
	char build[BUILD_TEXT];

	buf_printf(
	    b, "%s=%s\n", key, loaded_find(prefix, build) ? build : "static");
}

void
loaded_program(struct buf *b, const char *key)
{
	struct loaded_file w = find_library(""); /* the first there is */

	if (w.build[0] == '\0')
		hash_file("/proc/self/exe", w.build);
	buf_printf(b, "%s=%s\n", key, w.build);
}

void
loaded_name(struct buf *b, const char *key, const char *prefix)
{
	struct loaded_file w = find_library(prefix);

	buf_printf(b, "%s=%s\n", key, w.path[0] ? file_name(w.path) : "static");
}
