#define _GNU_SOURCE
#include "ir/external.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct data_location {
	const char *location;
	uint64_t offset, length;
	bool has_offset, has_length;
};

bool
external_open(struct external *x, const char *model_path, struct mapping **list,
    struct arena *a, struct err *err)
{
	const char *slash = strrchr(model_path, '/');
	const char *folder = slash
	    ? arena_strn(a, model_path, (size_t)(slash - model_path) + 1)
	    : ".";

	*x = (struct external){.list = list, .a = a};
	x->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (x->folder < 0)
		return err_set(err, ERR_IO, "%s: cannot open: %s", folder,
		    strerror(errno));
	return true;
}

void
external_close(struct external *x)
{
	if (x->folder >= 0)
		close(x->folder);
	x->folder = -1;
}

/* A plain decimal number; nothing else. */
static bool
parse_decimal(const char *s, uint64_t *out)
{
	uint64_t x = 0;

	if (!*s)
		return false;
	for (; *s; s++) {
		unsigned digit = (unsigned char)*s - (unsigned)'0';

		if (digit > 9 || x > (UINT64_MAX - digit) / 10)
			return false;
		x = 10 * x + digit;
	}
	*out = x;
	return true;
}

static bool
number_entry(const Onnx__StringStringEntryProto *e, bool *has, uint64_t *out,
    struct err *err)
{
	if (*has)
		return err_set(err, ERR_INPUT,
		    "external data key '%s' given twice", e->key);
	*has = true;
	if (!e->value || !parse_decimal(e->value, out))
		return err_set(err, ERR_INPUT,
		    "external data %s '%s' is not a decimal number", e->key,
		    e->value ? e->value : "");
	return true;
}

static bool
parse_entry(const Onnx__StringStringEntryProto *e, struct data_location *r,
    struct err *err)
{
	const char *key = e->key ? e->key : "";

	if (strcmp(key, "offset") == 0)
		return number_entry(e, &r->has_offset, &r->offset, err);
	if (strcmp(key, "length") == 0)
		return number_entry(e, &r->has_length, &r->length, err);
	if (strcmp(key, "location") != 0)
		return true; /* checksum, or nothing we know */
	if (r->location)
		return err_set(
		    err, ERR_INPUT, "external data key 'location' given twice");
	r->location = e->value ? e->value : "";
	return true;
}

/* Without openat2: one component at a time, none of them a link, none "..". */
static int
open_by_steps(int folder, const char *location)
{
	char step[256];
	int fd = folder, next;

	for (;;) {
		size_t n = strcspn(location, "/");
		bool last = location[n] == '\0';

		if (n == 0 || n >= sizeof step
		    || (n == 2 && memcmp(location, "..", 2) == 0)) {
			next = -1;
			errno = EXDEV;
		} else {
			memcpy(step, location, n);
			step[n] = '\0';
			next = openat(fd, step,
			    O_CLOEXEC | O_NOFOLLOW
			        | (last ? O_RDONLY | O_NONBLOCK | O_NOCTTY
			                : O_PATH | O_DIRECTORY));
		}
		if (fd != folder)
			close(fd);
		if (next < 0 || last)
			return next;
		fd = next;
		location += n + 1;
	}
}

static int
open_beneath(int folder, const char *location)
{
	struct open_how how = {
	    .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
	    .resolve =
	        RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, folder, location, &how, sizeof how);

	/* kernels before 5.6, and sandboxes that know no openat2 */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return open_by_steps(folder, location);
	return (int)fd;
}

/* Is the open file one to be mapped? */
static bool
file_ok(const char *location, const struct stat *st, struct err *err)
{
	if (!S_ISREG(st->st_mode))
		return err_set(err, ERR_INPUT,
		    "external data '%s' is not a regular file", location);
	if (st->st_nlink > 1)
		return err_set(err, ERR_INPUT,
		    "external data '%s' is a hard link (%lu names): it could "
		    "be a file of somebody else",
		    location, (unsigned long)st->st_nlink);
	return true;
}

static bool
map_file(struct external *x, const char *location, struct mapping **out,
    struct err *err)
{
	const char *name = arena_str(x->a, location);
	int fd = open_beneath(x->folder, location);
	struct mapped_file file;
	struct mapping *m;
	struct stat st;
	bool ok;

	if (fd < 0)
		return err_set(err, ERR_INPUT,
		    "external data '%s': %s (files beneath the model's folder "
		    "only, no links)",
		    location, strerror(errno));
	if (fstat(fd, &st) != 0)
		ok = err_set(err, ERR_IO, "external data '%s': %s", location,
		    strerror(errno));
	else
		ok = file_ok(location, &st, err)
		    && file_map_fd(&file, fd, &st, name, err);
	close(fd);
	if (!ok)
		return false;
	m = arena_new(x->a, struct mapping, 1);
	*m = (struct mapping){*x->list, file, name};
	*x->list = *out = m;
	return true;
}

static bool
find_file(struct external *x, const char *location, struct mapping **out,
    struct err *err)
{
	for (struct mapping *m = *x->list; m; m = m->next)
		if (m->location && strcmp(m->location, location) == 0) {
			*out = m;
			return true;
		}
	return map_file(x, location, out, err);
}

bool
external_find(struct external *x, const Onnx__TensorProto *p, size_t bytes,
    const void **data, struct err *err)
{
	struct data_location r = {NULL, 0, 0, false, false};
	struct mapping *m;

	for (size_t i = 0; i < p->n_external_data; i++)
		if (!parse_entry(p->external_data[i], &r, err))
			return false;
	if (!r.location || !r.location[0])
		return err_set(err, ERR_INPUT, "external data has no location");
	if (x->folder < 0)
		return err_set(err, ERR_UNSUPPORTED,
		    "external data '%s' of a model that is not a file",
		    r.location);
	if (r.has_length && r.length != bytes)
		return err_set(err, ERR_INPUT,
		    "external data '%s': length %llu, but the tensor takes "
		    "%zu bytes",
		    r.location, (unsigned long long)r.length, bytes);
	if (!find_file(x, r.location, &m, err))
		return false;
	if (bytes > m->file.bytes || r.offset > m->file.bytes - bytes)
		return err_set(err, ERR_INPUT,
		    "external data '%s': bytes %llu + %zu are past its end "
		    "(%zu bytes)",
		    r.location, (unsigned long long)r.offset, bytes,
		    m->file.bytes);
	*data = m->file.data ? m->file.data + r.offset : NULL;
	return true;
}
