#include "db/place.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

/* TUNING: below this a night's results would not fit; a row takes about 600
 * bytes, so this is some ten thousand attempts. */
#define FREE_BYTES_NEEDED ((uint64_t)8 << 20)

/* SOURCE: statfs(2). 9p and FUSE are counted in: their locks and shared
 * mappings depend on a server we know nothing of. */
static const struct {
	unsigned long magic;
	const char *name;
} network[] = {
    {0x6969, "NFS"},
    {0xfe534d42, "SMB"},
    {0xff534d42, "CIFS"},
    {0x517b, "SMB"},
    {0x0bd00bd0, "Lustre"},
    {0x47504653, "GPFS"},
    {0x65735546, "FUSE"},
    {0x01021997, "9p"},
    {0x5346414f, "AFS"},
    {0x00c36400, "Ceph"},
    {0x19830326, "BeeGFS"},
};

const char *
place_network_name(unsigned long magic)
{
	for (size_t i = 0; i < sizeof network / sizeof *network; i++)
		if (network[i].magic == (magic & 0xffffffffu))
			return network[i].name;
	return NULL;
}

/* The folder a path is in; false when it does not fit. */
static bool
parent_of(const char *path, char *parent, size_t size)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) : 1;

	if (slash == path)
		n = 1;
	if (n >= size)
		return false;
	memcpy(parent, slash ? path : ".", n);
	parent[n] = '\0';
	return true;
}

bool
place_check(const char *path, struct err *err)
{
	char parent[4096];
	struct statfs fs;
	struct statvfs space;
	const char *name;
	uint64_t bytes;

	if (!parent_of(path, parent, sizeof parent))
		return err_set(err, ERR_IO, "%s: path too long", path);
	if (statfs(path, &fs) != 0 && statfs(parent, &fs) != 0)
		return err_set(err, ERR_IO, "%s: %s", parent, strerror(errno));
	name = place_network_name((unsigned long)fs.f_type);
	if (name)
		return err_set(err, ERR_DB,
		    "%s: is on a network file system (%s); use a database on a "
		    "local disk and bring results together with 'marq db "
		    "merge'",
		    path, name);
	if (statvfs(parent, &space) != 0)
		return true;
	bytes = (uint64_t)space.f_bavail * space.f_frsize;
	if (bytes < FREE_BYTES_NEEDED)
		return err_set(err, ERR_IO,
		    "%s: only %llu bytes are free, %llu are needed", path,
		    (unsigned long long)bytes,
		    (unsigned long long)FREE_BYTES_NEEDED);
	return true;
}
