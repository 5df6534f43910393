#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall, O_PATH */
#endif
#include "costmodel/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- files ---- */

/* Newer than some distributions' headers. SOURCE: landlock(7). */
#define ACCESS_REFER (UINT64_C(1) << 13) /* version 2 */
#define ACCESS_TRUNCATE (UINT64_C(1) << 14) /* version 3 */

/* Everything that changes a file system. */
#define WRITES \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR \
	    | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR \
	    | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG \
	    | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO \
	    | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)

static long
landlock_version(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);
}

/* A path that is not there needs no rule. */
static void
allow(int rules, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr below = {.allowed_access = access};

	below.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (below.parent_fd < 0)
		return;
	syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH,
	    &below, 0);
	close(below.parent_fd);
}

static bool
lock_files(const char *scratch)
{
	long version = landlock_version();
	uint64_t writes = WRITES | (version >= 2 ? ACCESS_REFER : 0)
	    | (version >= 3 ? ACCESS_TRUNCATE : 0);
	const struct landlock_ruleset_attr attr = {.handled_access_fs = writes};
	bool ok;
	int rules;

	if (version < 1)
		return false;
	rules = (int)syscall(SYS_landlock_create_ruleset, &attr,
	    sizeof attr.handled_access_fs, 0);
	if (rules < 0)
		return false;
	allow(rules, "/dev/null",
	    LANDLOCK_ACCESS_FS_WRITE_FILE
	        | (version >= 3 ? ACCESS_TRUNCATE : 0));
	if (scratch)
		allow(rules, scratch, writes);
	ok = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
	close(rules);
	return ok;
}

/* ---- system calls ---- */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#define NUMBERS 0x40000000u /* x32 has the others */
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#define NUMBERS UINT32_MAX
#endif

#ifdef ARCH

#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* Skip so many instructions when it holds. */
#define SKIP_IF(how, value, then) \
	BPF_JUMP(BPF_JMP | (how) | BPF_K, (value), (then), 0)
#define DENY BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static bool
lock_calls(void)
{
	static const struct sock_filter filter[] = {
	    LOAD(arch),
	    SKIP_IF(BPF_JEQ, ARCH, 1),
	    DENY,
	    LOAD(nr),
	    SKIP_IF(BPF_JGE, NUMBERS, 6), /* these four: to DENY */
	    SKIP_IF(BPF_JEQ, __NR_execve, 5),
	    SKIP_IF(BPF_JEQ, __NR_execveat, 4),
	    SKIP_IF(BPF_JEQ, __NR_ptrace, 3),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 3),
	    LOAD(args[0]), /* the lower half: the family is an int */
	    SKIP_IF(BPF_JEQ, AF_UNIX, 1),
	    DENY,
	    ALLOW,
	};
	const struct sock_fprog program = {sizeof filter / sizeof filter[0],
	    (struct sock_filter *)(uintptr_t)filter};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
#else
static bool
lock_calls(void)
{
	return false;
}
#endif

/* ---- both ---- */

struct sandbox_means
sandbox_offered(void)
{
	struct sandbox_means m = {.landlock = landlock_version() >= 1};

#ifdef ARCH
	/* without a filter it complains of the address, where it is known */
	m.seccomp = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) != 0
	    && errno == EFAULT;
#endif
	return m;
}

struct sandbox_means
sandbox_enter(const char *scratch)
{
	struct sandbox_means m = {.seccomp = false};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return m;
	m.landlock = lock_files(scratch);
	m.seccomp = lock_calls();
	errno = 0;
	return m;
}
