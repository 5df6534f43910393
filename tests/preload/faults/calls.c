/* Syscall user dispatch (Linux 5.11, x86-64): the kernel turns every system call
 * of this thread into SIGSYS, but those of the stub below, by which the handler
 * makes them. What is exec'd or forked has none of it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include "tests/preload/faults/faults.h"

#ifdef __x86_64__
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#define KERNEL_SIGSET 8 /* bytes */
#define SA_RESTORES 0x04000000

/* ENOSPC where bytes or names are made, EIO elsewhere. */
static const struct {
	long call;
	int why;
} table[] = {
    {SYS_open, EIO},
    {SYS_openat, EIO},
    {SYS_openat2, EIO},
    {SYS_creat, ENOSPC},
    {SYS_read, EIO},
    {SYS_pread64, EIO},
    {SYS_readv, EIO},
    {SYS_write, ENOSPC},
    {SYS_pwrite64, ENOSPC},
    {SYS_writev, ENOSPC},
    {SYS_ftruncate, EIO},
    {SYS_fallocate, ENOSPC},
    {SYS_copy_file_range, EIO},
    {SYS_sendfile, EIO},
    {SYS_sync_file_range, EIO},
    {SYS_fsync, EIO},
    {SYS_fdatasync, EIO},
    {SYS_close, EIO},
    {SYS_mkdir, ENOSPC},
    {SYS_mkdirat, ENOSPC},
    {SYS_link, ENOSPC},
    {SYS_linkat, ENOSPC},
    {SYS_symlink, ENOSPC},
    {SYS_rename, EIO},
    {SYS_renameat, EIO},
    {SYS_renameat2, EIO},
    {SYS_unlink, EIO},
    {SYS_unlinkat, EIO},
    {SYS_rmdir, EIO},
    {SYS_fchmod, EIO},
    {SYS_stat, EIO},
    {SYS_lstat, EIO},
    {SYS_fstat, EIO},
    {SYS_newfstatat, EIO},
    {SYS_statx, EIO},
    {SYS_getdents64, EIO},
    {SYS_lseek, EIO},
};

/* The kernel's own, not libc's: that sets a restorer of its own. */
struct kernel_action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static volatile char blocked; /* the selector: SYSCALL_DISPATCH_FILTER_* */

/* long marq_call(long number, const long argument[6]) and the return from the
 * handler, in a region the kernel lets through. */
extern const char marq_calls_begin[], marq_calls_end[];
long marq_call(long number, const long *argument);
void marq_return(void);
__asm__(".text\n"
        ".globl marq_calls_begin, marq_calls_end, marq_call, marq_return\n"
        ".hidden marq_calls_begin, marq_calls_end, marq_call, marq_return\n"
        "marq_calls_begin:\n"
        "marq_call:\n"
        "	mov %rdi, %rax\n"
        "	mov %rsi, %r11\n"
        "	mov 0(%r11), %rdi\n"
        "	mov 8(%r11), %rsi\n"
        "	mov 16(%r11), %rdx\n"
        "	mov 24(%r11), %r10\n"
        "	mov 32(%r11), %r8\n"
        "	mov 40(%r11), %r9\n"
        "	syscall\n"
        "	ret\n"
        "marq_return:\n"
        "	mov $15, %eax\n"
        "	syscall\n"
        "	nop\n" /* the kernel looks at the address after the call */
        "marq_calls_end:\n");

bool
calls_let(bool let)
{
	const bool old = !blocked;

	blocked = !let;
	return old;
}

static int
reason(long call)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].call == call)
			return table[i].why;
	return 0;
}

/* The mask is set by the return from the handler; SIGSYS is never in it, or the
 * next call would end the process. */
static long
set_mask(ucontext_t *u, const long *argument)
{
	uint64_t *mask = (uint64_t *)&u->uc_sigmask, set;
	uint64_t *old = (uint64_t *)argument[2];

	if (old)
		*old = *mask;
	if (!argument[1])
		return 0;
	memcpy(&set, (const void *)argument[1], sizeof set);
	set &= ~((uint64_t)1 << (SIGSYS - 1));
	if (argument[0] == SIG_BLOCK)
		*mask |= set;
	else if (argument[0] == SIG_UNBLOCK)
		*mask &= ~set;
	else
		*mask = set;
	return 0;
}

static void
dispatch(int number, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	greg_t *r = u->uc_mcontext.gregs;
	const long call = info->si_syscall;
	const long argument[6] = {r[REG_RDI], r[REG_RSI], r[REG_RDX],
	    r[REG_R10], r[REG_R8], r[REG_R9]};
	const int why = reason(call);

	(void)number;
	if (why && faults_now(IO)) {
		if (call == SYS_close)
			marq_call(call, argument); /* closed all the same */
		r[REG_RAX] = -why;
	} else if (call == SYS_rt_sigprocmask) {
		r[REG_RAX] = set_mask(u, argument);
	} else {
		r[REG_RAX] = marq_call(call, argument);
	}
}

bool
calls_watch(void)
{
	const struct kernel_action a = {
	    dispatch, SA_SIGINFO | SA_NODEFER | SA_RESTORES, marq_return, 0};

	if (syscall(SYS_rt_sigaction, SIGSYS, &a, NULL, KERNEL_SIGSET) != 0
	    || prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, marq_calls_begin,
	           marq_calls_end - marq_calls_begin, &blocked)
	        != 0)
		return false;
	blocked = 1;
	return true;
}

/* ---- what begins on a stack of its own is let through ---- */

#define REAL(type, name) \
	static type *real; \
	bool let; \
	if (!real) { \
		void *found = dlsym(RTLD_NEXT, name); \
		memcpy(&real, &found, sizeof real); \
	} \
	let = calls_let(true);

typedef int spawner(pid_t *, const char *, const posix_spawn_file_actions_t *,
    const posix_spawnattr_t *, char *const *, char *const *);
typedef int starter(
    pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef pid_t forker(void);

int
posix_spawn(pid_t *pid, const char *path,
    const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
    char *const *argv, char *const *envp)
{
	REAL(spawner, "posix_spawn")
	int status = real(pid, path, actions, attr, argv, envp);

	calls_let(let);
	return status;
}

int
posix_spawnp(pid_t *pid, const char *path,
    const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
    char *const *argv, char *const *envp)
{
	REAL(spawner, "posix_spawnp")
	int status = real(pid, path, actions, attr, argv, envp);

	calls_let(let);
	return status;
}

int
pthread_create(
    pthread_t *t, const pthread_attr_t *attr, void *(*f)(void *), void *of)
{
	REAL(starter, "pthread_create")
	int status = real(t, attr, f, of);

	calls_let(let);
	return status;
}

pid_t
fork(void)
{
	REAL(forker, "fork")
	pid_t pid = real();

	calls_let(let);
	return pid;
}

#else

bool
calls_watch(void)
{
	return false;
}

bool
calls_let(bool let)
{
	return let;
}

#endif
