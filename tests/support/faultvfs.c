#include "tests/support/faultvfs.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	enum fault kind;
	uint64_t at, count;
	bool on, fired;
} armed;

/* Is this the operation that fails? */
static bool
strikes(enum fault kind)
{
	bool mine = armed.kind == kind
	    || (kind == FAULT_IO && armed.kind == FAULT_SHORT)
	    || (kind == FAULT_IO && armed.kind == FAULT_FULL)
	    || (kind == FAULT_IO && armed.kind == FAULT_KILL);

	if (!mine || armed.kind == FAULT_NONE)
		return false;
	armed.count++;
	if (armed.kind == FAULT_KILL) {
		if (armed.count == armed.at)
			kill(getpid(), SIGKILL);
		return false;
	}
	if (armed.count == armed.at || (armed.on && armed.count > armed.at)) {
		armed.fired = true;
		return true;
	}
	return false;
}

/* Faults of writing strike writes only. */
static bool
fails_io(void)
{
	return (armed.kind == FAULT_IO || armed.kind == FAULT_KILL)
	    && strikes(FAULT_IO);
}

struct file {
	sqlite3_file base;
	sqlite3_file *real;
};

static sqlite3_vfs *real_vfs;

static sqlite3_file *
real(sqlite3_file *f)
{
	return ((struct file *)f)->real;
}

static int
f_close(sqlite3_file *f)
{
	int rc = real(f)->pMethods->xClose(real(f));

	free(real(f));
	return rc;
}

static int
f_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
	if (fails_io())
		return SQLITE_IOERR_READ;
	return real(f)->pMethods->xRead(real(f), p, n, at);
}

static int
f_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
	if (!strikes(FAULT_IO))
		return real(f)->pMethods->xWrite(real(f), p, n, at);
	if (armed.kind == FAULT_FULL)
		return SQLITE_FULL;
	if (armed.kind == FAULT_SHORT)
		real(f)->pMethods->xWrite(real(f), p, n / 2, at);
	return SQLITE_IOERR_WRITE;
}

static int
f_truncate(sqlite3_file *f, sqlite3_int64 n)
{
	if (fails_io())
		return SQLITE_IOERR_TRUNCATE;
	return real(f)->pMethods->xTruncate(real(f), n);
}

static int
f_sync(sqlite3_file *f, int flags)
{
	(void)f, (void)flags;
	return fails_io() ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int
f_size(sqlite3_file *f, sqlite3_int64 *n)
{
	if (fails_io())
		return SQLITE_IOERR_FSTAT;
	return real(f)->pMethods->xFileSize(real(f), n);
}

static int
f_lock(sqlite3_file *f, int level)
{
	if (fails_io())
		return SQLITE_IOERR_LOCK;
	return real(f)->pMethods->xLock(real(f), level);
}

static int
f_unlock(sqlite3_file *f, int level)
{
	return real(f)->pMethods->xUnlock(real(f), level);
}

static int
f_check(sqlite3_file *f, int *out)
{
	return real(f)->pMethods->xCheckReservedLock(real(f), out);
}

static int
f_control(sqlite3_file *f, int op, void *arg)
{
	return real(f)->pMethods->xFileControl(real(f), op, arg);
}

static int
f_sector(sqlite3_file *f)
{
	return real(f)->pMethods->xSectorSize(real(f));
}

static int
f_device(sqlite3_file *f)
{
	return real(f)->pMethods->xDeviceCharacteristics(real(f));
}

static int
f_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **p)
{
	if (fails_io())
		return SQLITE_IOERR_SHMMAP;
	return real(f)->pMethods->xShmMap(real(f), page, size, extend, p);
}

static int
f_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
	bool taking = flags & SQLITE_SHM_LOCK;

	if (taking && fails_io())
		return SQLITE_IOERR_SHMLOCK;
	return real(f)->pMethods->xShmLock(real(f), at, n, flags);
}

static void
f_shm_barrier(sqlite3_file *f)
{
	real(f)->pMethods->xShmBarrier(real(f));
}

static int
f_shm_unmap(sqlite3_file *f, int delete)
{
	return real(f)->pMethods->xShmUnmap(real(f), delete);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = f_close,
    .xRead = f_read,
    .xWrite = f_write,
    .xTruncate = f_truncate,
    .xSync = f_sync,
    .xFileSize = f_size,
    .xLock = f_lock,
    .xUnlock = f_unlock,
    .xCheckReservedLock = f_check,
    .xFileControl = f_control,
    .xSectorSize = f_sector,
    .xDeviceCharacteristics = f_device,
    .xShmMap = f_shm_map,
    .xShmLock = f_shm_lock,
    .xShmBarrier = f_shm_barrier,
    .xShmUnmap = f_shm_unmap,
};

static int
v_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out)
{
	struct file *file = (struct file *)f;
	int rc;

	(void)v;
	file->base.pMethods = NULL;
	if (fails_io())
		return SQLITE_CANTOPEN;
	file->real = calloc(1, (size_t)real_vfs->szOsFile);
	rc = real_vfs->xOpen(real_vfs, name, file->real, flags, out);
	if (rc == SQLITE_OK)
		file->base.pMethods = &methods;
	else
		free(file->real);
	return rc;
}

static int
v_delete(sqlite3_vfs *v, const char *name, int sync)
{
	(void)v;
	if (fails_io())
		return SQLITE_IOERR_DELETE;
	return real_vfs->xDelete(real_vfs, name, sync);
}

static sqlite3_mem_methods real_memory;

static void *
m_malloc(int n)
{
	return strikes(FAULT_MEMORY) ? NULL : real_memory.xMalloc(n);
}

static void *
m_realloc(void *p, int n)
{
	return strikes(FAULT_MEMORY) ? NULL : real_memory.xRealloc(p, n);
}

void
faults_install(void)
{
	static sqlite3_vfs vfs;
	sqlite3_mem_methods memory;

	sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory);
	memory = real_memory;
	memory.xMalloc = m_malloc;
	memory.xRealloc = m_realloc;
	sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
	/* A pool of its own would hide allocations. */
	sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
	sqlite3_initialize();
	real_vfs = sqlite3_vfs_find(NULL);
	vfs = *real_vfs;
	vfs.szOsFile = (int)sizeof(struct file);
	vfs.zName = "faults";
	vfs.pNext = NULL;
	vfs.xOpen = v_open;
	vfs.xDelete = v_delete;
	sqlite3_vfs_register(&vfs, 1);
}

void
faults_arm(enum fault kind, uint64_t at, bool on)
{
	armed.kind = kind;
	armed.at = at;
	armed.on = on;
	armed.count = 0;
	armed.fired = false;
}

bool
faults_disarm(void)
{
	armed.kind = FAULT_NONE;
	return armed.fired;
}
