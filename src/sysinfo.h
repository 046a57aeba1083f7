/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sysinfo.h -- facts about the machine and about a directory that results must carry.
 *
 * Figures mean nothing without the machine they come from. What is recorded here is what makes
 * figures comparable or explains why they are not. The host's name is left out on purpose: results
 * are meant to be published, and a name identifies people and networks but no speed.
 *
 * Nothing here fails because /proc or /sys is missing or hidden: such texts read "unknown", such
 * numbers 0. Also owns the small readers of /proc-style text files that other modules use.
 */
#ifndef SB_SYSINFO_H
#define SB_SYSINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sb_machine {
    char cpu_model[128];
    char architecture[32]; /* as uname says: "x86_64" */
    char microcode[32];    /* security fixes in it change speed */
    uint32_t cores_online;
    uint32_t cores_usable; /* of these, the ones this process may run on */
    bool constant_tsc;     /* the time stamp counter runs at one rate at all clock speeds */
    bool nonstop_tsc;      /* and does not stop in deep sleep */
    uint64_t memory_bytes;
    uint64_t cgroup_memory_bytes; /* tightest memory limit on this process; 0: none found */
    uint32_t page_bytes;
    char kernel[96]; /* release, as uname says */
    char os_name[96];
    bool hypervisor;         /* the CPU says that it is a virtual one */
    char virtualisation[32]; /* "kvm", "xen", "none"; "other": a hypervisor we cannot name */
    char dmi_product[96];    /* the firmware's name for the machine or the cloud's instance */
    char clock_source[32];   /* what the kernel's clocks read: "tsc" is fast */
    char huge_pages[16];     /* transparent huge pages: "always", "madvise" or "never" */
    char governor[32];       /* CPU frequency governor; "mixed"; "" when there is none to set */
    char boot_id[40];        /* random, new at each boot: tells apart runs before and after one */
    double load_average_1min;
    double load_average_5min;
    double load_average_15min;

    /* Sixteen hexadecimal digits over CPU model, cores online, memory in GiB, the kernel's major
     * and minor number and virtualisation. Machines of equal fingerprint are of one kind, so that
     * their figures may be compared; it does not identify one machine. */
    char fingerprint[17];
};

struct sb_directory {
    char path[4096];              /* absolute, symbolic links resolved; as given if that failed */
    char filesystem[32];          /* "ext4" */
    uint64_t filesystem_magic;    /* the number that statfs knows it by */
    char mount_point[256];        /* cut if longer */
    char mount_options[256];      /* of this mount: "rw,relatime" */
    char filesystem_options[512]; /* of the file system, where "data=" and "barrier" stand */
    char device[128];             /* what is mounted: "/dev/vda1", "tmpfs", "server:/export" */
    char block_device[32];        /* the kernel's name of the block device: "vda1" */
    char write_cache[16];         /* "write back": a flush has work to do; "write through": none */
    int rotational;               /* 1 or 0; -1: unknown. Virtual disks often claim 1 */
    char scheduler[32];
    uint64_t block_bytes;
    uint64_t total_bytes;
    uint64_t free_bytes; /* for unprivileged users */
    uint64_t free_inodes;
    bool
        memory_backed; /* tmpfs, ramfs, ramdisk, zram: nothing outlives power, flushes are no-ops */
};

/* Fills the struct with what can be found out. */
void sb_machine_read(struct sb_machine *machinep);

/* The same, with `root` put before each path of /proc, /sys and /etc: for tests, and for looking
 * from a container at a host mounted elsewhere. System calls still answer for this machine. */
void sb_machine_read_root(struct sb_machine *machinep, const char *root);

/* Fills the struct for an existing directory (or file). Returns 0, or -1 with errno set when the
 * path cannot be opened; the struct then reads "unknown". */
int sb_directory_read(struct sb_directory *directoryp, const char *path);

/* The same, with `root` put before each path of /proc and /sys. */
int sb_directory_read_root(struct sb_directory *directoryp, const char *path, const char *root);

/* Reads the start of a text file, at most size - 1 bytes, and ends it with NUL. Meant for /proc and
 * /sys, whose files are short and are read again from the start each time. Returns 0, or -1 with an
 * empty buffer. */
int sb_read_text(const char *path, char *buffer, size_t size);

/* Finds the first line "KEY: value" (blanks before the colon are ignored) in a text. Returns 0 and
 * the value's leading decimal number; -1 and 0 if there is no such line or no number in it. */
int sb_text_u64(const char *text, const char *key, uint64_t *valuep);

/* Likewise; copies the value to the end of its line, without blanks around it, and cuts it to
 * `size`. Returns 0, or -1 with an empty buffer. */
int sb_text_value(const char *text, const char *key, char *buffer, size_t size);

#endif
