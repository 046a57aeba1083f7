/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sysnames.c -- see sysnames.h. Numbers differ between machines, and the older calls are not there
 * on all of them.
 */
#include "sysnames.h"

#include <stddef.h>
#include <sys/syscall.h>

static const struct {
    uint64_t number;
    const char *name;
} names[] = {
    {SYS_accept4, "accept4"},
#ifdef SYS_access
    {SYS_access, "access"},
#endif
#ifdef SYS_alarm
    {SYS_alarm, "alarm"},
#endif
#ifdef SYS_arch_prctl
    {SYS_arch_prctl, "arch_prctl"},
#endif
    {SYS_brk, "brk"},
    {SYS_chdir, "chdir"},
#ifdef SYS_chmod
    {SYS_chmod, "chmod"},
#endif
#ifdef SYS_chown
    {SYS_chown, "chown"},
#endif
    {SYS_clock_getres, "clock_getres"},
    {SYS_clock_gettime, "clock_gettime"},
    {SYS_clock_nanosleep, "clock_nanosleep"},
    {SYS_clone, "clone"},
    {SYS_clone3, "clone3"},
    {SYS_close, "close"},
    {SYS_close_range, "close_range"},
    {SYS_connect, "connect"},
    {SYS_copy_file_range, "copy_file_range"},
#ifdef SYS_creat
    {SYS_creat, "creat"},
#endif
    {SYS_dup, "dup"},
#ifdef SYS_dup2
    {SYS_dup2, "dup2"},
#endif
    {SYS_dup3, "dup3"},
#ifdef SYS_epoll_create
    {SYS_epoll_create, "epoll_create"},
#endif
    {SYS_epoll_create1, "epoll_create1"},
    {SYS_epoll_ctl, "epoll_ctl"},
    {SYS_epoll_pwait, "epoll_pwait"},
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, "epoll_wait"},
#endif
#ifdef SYS_eventfd
    {SYS_eventfd, "eventfd"},
#endif
    {SYS_eventfd2, "eventfd2"},
    {SYS_execve, "execve"},
    {SYS_exit, "exit"},
    {SYS_exit_group, "exit_group"},
    {SYS_faccessat, "faccessat"},
    {SYS_faccessat2, "faccessat2"},
    {SYS_fadvise64, "fadvise64"},
    {SYS_fallocate, "fallocate"},
    {SYS_fchdir, "fchdir"},
    {SYS_fchmod, "fchmod"},
    {SYS_fchmodat, "fchmodat"},
    {SYS_fchown, "fchown"},
    {SYS_fchownat, "fchownat"},
    {SYS_fcntl, "fcntl"},
    {SYS_fdatasync, "fdatasync"},
    {SYS_fgetxattr, "fgetxattr"},
    {SYS_flock, "flock"},
#ifdef SYS_fork
    {SYS_fork, "fork"},
#endif
    {SYS_fsetxattr, "fsetxattr"},
    {SYS_fstat, "fstat"},
    {SYS_fstatfs, "fstatfs"},
    {SYS_fsync, "fsync"},
    {SYS_ftruncate, "ftruncate"},
    {SYS_futex, "futex"},
    {SYS_get_mempolicy, "get_mempolicy"},
    {SYS_getcpu, "getcpu"},
    {SYS_getcwd, "getcwd"},
#ifdef SYS_getdents
    {SYS_getdents, "getdents"},
#endif
    {SYS_getdents64, "getdents64"},
    {SYS_getpid, "getpid"},
    {SYS_getpriority, "getpriority"},
    {SYS_getrandom, "getrandom"},
    {SYS_getrlimit, "getrlimit"},
    {SYS_getrusage, "getrusage"},
    {SYS_gettid, "gettid"},
    {SYS_gettimeofday, "gettimeofday"},
    {SYS_getuid, "getuid"},
    {SYS_getxattr, "getxattr"},
    {SYS_inotify_init1, "inotify_init1"},
    {SYS_io_cancel, "io_cancel"},
    {SYS_io_destroy, "io_destroy"},
    {SYS_io_getevents, "io_getevents"},
    {SYS_io_setup, "io_setup"},
    {SYS_io_submit, "io_submit"},
    {SYS_io_uring_enter, "io_uring_enter"},
    {SYS_io_uring_register, "io_uring_register"},
    {SYS_io_uring_setup, "io_uring_setup"},
    {SYS_ioctl, "ioctl"},
    {SYS_ioprio_set, "ioprio_set"},
    {SYS_kill, "kill"},
#ifdef SYS_link
    {SYS_link, "link"},
#endif
    {SYS_linkat, "linkat"},
    {SYS_lseek, "lseek"},
#ifdef SYS_lstat
    {SYS_lstat, "lstat"},
#endif
    {SYS_madvise, "madvise"},
    {SYS_mbind, "mbind"},
    {SYS_membarrier, "membarrier"},
    {SYS_memfd_create, "memfd_create"},
    {SYS_mincore, "mincore"},
#ifdef SYS_mkdir
    {SYS_mkdir, "mkdir"},
#endif
    {SYS_mkdirat, "mkdirat"},
    {SYS_mlock, "mlock"},
    {SYS_mlock2, "mlock2"},
    {SYS_mlockall, "mlockall"},
    {SYS_mmap, "mmap"},
    {SYS_mprotect, "mprotect"},
    {SYS_mremap, "mremap"},
    {SYS_msync, "msync"},
    {SYS_munlock, "munlock"},
    {SYS_munlockall, "munlockall"},
    {SYS_munmap, "munmap"},
    {SYS_name_to_handle_at, "name_to_handle_at"},
    {SYS_nanosleep, "nanosleep"},
#ifdef SYS_newfstatat
    {SYS_newfstatat, "newfstatat"},
#endif
#ifdef SYS_open
    {SYS_open, "open"},
#endif
    {SYS_open_by_handle_at, "open_by_handle_at"},
    {SYS_openat, "openat"},
    {SYS_openat2, "openat2"},
#ifdef SYS_pause
    {SYS_pause, "pause"},
#endif
#ifdef SYS_pipe
    {SYS_pipe, "pipe"},
#endif
    {SYS_pipe2, "pipe2"},
    {SYS_pkey_mprotect, "pkey_mprotect"},
#ifdef SYS_poll
    {SYS_poll, "poll"},
#endif
    {SYS_ppoll, "ppoll"},
    {SYS_prctl, "prctl"},
    {SYS_pread64, "pread64"},
    {SYS_preadv, "preadv"},
    {SYS_preadv2, "preadv2"},
    {SYS_prlimit64, "prlimit64"},
    {SYS_process_madvise, "process_madvise"},
    {SYS_process_vm_readv, "process_vm_readv"},
    {SYS_process_vm_writev, "process_vm_writev"},
    {SYS_pselect6, "pselect6"},
    {SYS_ptrace, "ptrace"},
    {SYS_pwrite64, "pwrite64"},
    {SYS_pwritev, "pwritev"},
    {SYS_pwritev2, "pwritev2"},
    {SYS_read, "read"},
    {SYS_readahead, "readahead"},
#ifdef SYS_readlink
    {SYS_readlink, "readlink"},
#endif
    {SYS_readlinkat, "readlinkat"},
    {SYS_readv, "readv"},
    {SYS_recvfrom, "recvfrom"},
    {SYS_recvmsg, "recvmsg"},
#ifdef SYS_rename
    {SYS_rename, "rename"},
#endif
#ifdef SYS_renameat
    {SYS_renameat, "renameat"},
#endif
    {SYS_renameat2, "renameat2"},
#ifdef SYS_rmdir
    {SYS_rmdir, "rmdir"},
#endif
    {SYS_rseq, "rseq"},
    {SYS_rt_sigaction, "rt_sigaction"},
    {SYS_rt_sigprocmask, "rt_sigprocmask"},
    {SYS_sched_getaffinity, "sched_getaffinity"},
    {SYS_sched_setaffinity, "sched_setaffinity"},
    {SYS_sched_setscheduler, "sched_setscheduler"},
    {SYS_sched_yield, "sched_yield"},
    {SYS_seccomp, "seccomp"},
#ifdef SYS_select
    {SYS_select, "select"},
#endif
    {SYS_semctl, "semctl"},
    {SYS_semget, "semget"},
    {SYS_semop, "semop"},
    {SYS_semtimedop, "semtimedop"},
    {SYS_sendfile, "sendfile"},
    {SYS_sendmsg, "sendmsg"},
    {SYS_sendto, "sendto"},
    {SYS_set_mempolicy, "set_mempolicy"},
    {SYS_set_robust_list, "set_robust_list"},
    {SYS_set_tid_address, "set_tid_address"},
    {SYS_setpriority, "setpriority"},
    {SYS_setrlimit, "setrlimit"},
    {SYS_setxattr, "setxattr"},
    {SYS_shmat, "shmat"},
    {SYS_shmctl, "shmctl"},
    {SYS_shmdt, "shmdt"},
    {SYS_shmget, "shmget"},
#ifdef SYS_signalfd
    {SYS_signalfd, "signalfd"},
#endif
    {SYS_socket, "socket"},
    {SYS_splice, "splice"},
#ifdef SYS_stat
    {SYS_stat, "stat"},
#endif
    {SYS_statfs, "statfs"},
    {SYS_statx, "statx"},
#ifdef SYS_symlink
    {SYS_symlink, "symlink"},
#endif
    {SYS_symlinkat, "symlinkat"},
    {SYS_sync, "sync"},
#ifdef SYS_sync_file_range
    {SYS_sync_file_range, "sync_file_range"},
#endif
#ifdef SYS_sync_file_range2
    {SYS_sync_file_range2, "sync_file_range2"},
#endif
    {SYS_syncfs, "syncfs"},
    {SYS_sysinfo, "sysinfo"},
    {SYS_tee, "tee"},
    {SYS_tgkill, "tgkill"},
#ifdef SYS_time
    {SYS_time, "time"},
#endif
    {SYS_timerfd_create, "timerfd_create"},
    {SYS_times, "times"},
    {SYS_truncate, "truncate"},
    {SYS_umask, "umask"},
    {SYS_uname, "uname"},
#ifdef SYS_unlink
    {SYS_unlink, "unlink"},
#endif
    {SYS_unlinkat, "unlinkat"},
    {SYS_unshare, "unshare"},
#ifdef SYS_utime
    {SYS_utime, "utime"},
#endif
    {SYS_utimensat, "utimensat"},
#ifdef SYS_utimes
    {SYS_utimes, "utimes"},
#endif
#ifdef SYS_vfork
    {SYS_vfork, "vfork"},
#endif
    {SYS_vmsplice, "vmsplice"},
    {SYS_wait4, "wait4"},
    {SYS_write, "write"},
    {SYS_writev, "writev"},
};

const char *sb_system_call_name(uint64_t number)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].number == number)
            return names[i].name;
    return NULL;
}
