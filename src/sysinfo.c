/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sysinfo.c -- facts about the machine and about a directory; see sysinfo.h.
 *
 * Each fact has a leaf function of its own that leaves its field at "unknown" or 0 when its source
 * is missing. Every path of /proc, /sys and /etc is read below a root given by the caller, so that
 * tests can show machines that are not there.
 */
#include "sysinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define UNKNOWN "unknown"
#define GIB (UINT64_C(1) << 30)

/* ---- text files --------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Copies `length` bytes without the blanks around them, cut to what fits. */
static void copy_trimmed(char *buffer, size_t size, const char *text, size_t length)
{
    while (length > 0 && is_blank(text[0])) {
        text++;
        length--;
    }
    while (length > 0 && (is_blank(text[length - 1]) || text[length - 1] == '\n'))
        length--;
    if (length > size - 1)
        length = size - 1;
    memcpy(buffer, text, length);
    buffer[length] = '\0';
}

/* Copies a text as it is, cut to what fits. */
static void copy_text(char *buffer, size_t size, const char *text)
{
    size_t length = strlen(text);
    if (length > size - 1)
        length = size - 1;
    memcpy(buffer, text, length);
    buffer[length] = '\0';
}

int sb_read_text(const char *path, char *buffer, size_t size)
{
    buffer[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t length = 0;
    ssize_t got = 0;
    while (length < size - 1) {
        got = read(fd, buffer + length, size - 1 - length);
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    close(fd);
    buffer[length] = '\0';
    return got < 0 ? (buffer[0] = '\0', -1) : 0;
}

/* The text after "KEY:" on the first line that starts so, or NULL. */
static const char *find_value(const char *text, const char *key)
{
    size_t key_length = strlen(key);
    while (text && *text) {
        if (strncmp(text, key, key_length) == 0) {
            const char *rest = text + key_length;
            while (is_blank(*rest))
                rest++;
            if (*rest == ':')
                return rest + 1;
        }
        text = strchr(text, '\n');
        if (text)
            text++;
    }
    return NULL;
}

int sb_text_value(const char *text, const char *key, char *buffer, size_t size)
{
    buffer[0] = '\0';
    const char *value = find_value(text, key);
    if (!value)
        return -1;
    copy_trimmed(buffer, size, value, strcspn(value, "\n"));
    return 0;
}

/* Reads a leading decimal number that fits 64 bits. */
static int leading_u64(const char *text, uint64_t *valuep)
{
    *valuep = 0;
    while (is_blank(*text))
        text++;
    if (*text < '0' || *text > '9')
        return -1;
    errno = 0;
    unsigned long long value = strtoull(text, NULL, 10);
    if (errno != 0)
        return -1;
    *valuep = value;
    return 0;
}

int sb_text_u64(const char *text, const char *key, uint64_t *valuep)
{
    *valuep = 0;
    const char *value = find_value(text, key);
    return value ? leading_u64(value, valuep) : -1;
}

static int read_below(const char *root, const char *path, char *buffer, size_t size)
{
    char full[PATH_MAX];
    buffer[0] = '\0';
    int length = snprintf(full, sizeof(full), "%s%s", root, path);
    if (length < 0 || (size_t)length >= sizeof(full))
        return -1;
    return sb_read_text(full, buffer, size);
}

/* The first line of a file; leaves the buffer alone when there is none. */
static int read_line_below(const char *root, const char *path, char *buffer, size_t size)
{
    char text[512];
    if (read_below(root, path, text, sizeof(text)) != 0 || text[strspn(text, " \t\n")] == '\0')
        return -1;
    copy_trimmed(buffer, size, text, strcspn(text, "\n"));
    return 0;
}

/* The chosen word of a list such as "always [madvise] never", or the whole if none is marked. */
static void copy_choice(char *buffer, size_t size, const char *words)
{
    const char *open = strchr(words, '[');
    const char *close = open ? strchr(open, ']') : NULL;
    if (close)
        copy_trimmed(buffer, size, open + 1, (size_t)(close - open - 1));
    else
        copy_text(buffer, size, words);
}

/* ---- mounts ------------------------------------------------------------------------------- */

/* One line of mountinfo, cut into its words in place. */
struct mount {
    uint64_t id;
    char *root;  /* the directory of the file system that is mounted */
    char *point; /* where */
    char *options;
    char *filesystem;
    char *source;
    char *super_options;
};

/* The kernel writes blanks and backslashes of paths as three octal digits. */
static void unescape(char *text)
{
    char *out = text;
    for (const char *in = text; *in; in++) {
        if (in[0] == '\\' && in[1] >= '0' && in[1] <= '3' && in[2] >= '0' && in[2] <= '7' &&
            in[3] >= '0' && in[3] <= '7') {
            *out++ = (char)(((in[1] - '0') << 6) | ((in[2] - '0') << 3) | (in[3] - '0'));
            in += 3;
        } else {
            *out++ = *in;
        }
    }
    *out = '\0';
}

/* Fields: id, parent, major:minor, root, point, options, any number of tags, "-", type, source,
 * options of the file system. Returns whether the line had them all. */
static bool parse_mount(char *line, struct mount *mount)
{
    line[strcspn(line, "\n")] = '\0';
    char *rest = line;
    char *words[6];
    for (size_t i = 0; i < 6; i++) {
        words[i] = strsep(&rest, " ");
        if (!words[i])
            return false;
    }
    char *tag;
    do
        tag = strsep(&rest, " ");
    while (tag && strcmp(tag, "-") != 0);
    mount->root = words[3];
    mount->point = words[4];
    mount->options = words[5];
    mount->filesystem = strsep(&rest, " ");
    mount->source = strsep(&rest, " ");
    mount->super_options = rest;
    if (!mount->filesystem || !mount->source || !rest || leading_u64(words[0], &mount->id) != 0)
        return false;
    unescape(mount->root);
    unescape(mount->point);
    unescape(mount->source);
    return true;
}

static FILE *open_mounts(const char *root)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root);
    if (length < 0 || (size_t)length >= sizeof(path))
        return NULL;
    return fopen(path, "re");
}

/* ---- CPU and kernel ----------------------------------------------------------------------- */

/* Whether a word stands in a list whose words are separated by one character. */
static bool has_word(const char *words, const char *word, char separator)
{
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length) {
        bool starts = at == words || at[-1] == separator;
        if (starts && (at[length] == '\0' || at[length] == separator))
            return true;
    }
    return false;
}

/* ARM has no model name in /proc/cpuinfo, only two numbers from a register. */
static void read_arm_model(const char *cpuinfo, struct sb_machine *machine)
{
    char implementer[16];
    char part[16];
    if (sb_text_value(cpuinfo, "CPU implementer", implementer, sizeof(implementer)) != 0 ||
        sb_text_value(cpuinfo, "CPU part", part, sizeof(part)) != 0)
        return;
    int length = snprintf(machine->cpu_model, sizeof(machine->cpu_model), "implementer %s part %s",
                          implementer, part);
    if (length < 0)
        copy_text(machine->cpu_model, sizeof(machine->cpu_model), UNKNOWN);
}

static void read_cpu(const char *root, struct sb_machine *machine)
{
    /* The first processor's block is enough, and all that fits for a machine of many cores. */
    char *cpuinfo = malloc(16384);
    char *flags = malloc(8192);
    if (!cpuinfo || !flags || read_below(root, "/proc/cpuinfo", cpuinfo, 16384) != 0)
        goto out;
    static const char *const model_keys[] = {"model name", "cpu model", "cpu", "Processor"};
    char model[sizeof(machine->cpu_model)] = "";
    for (size_t i = 0; i < sizeof(model_keys) / sizeof(model_keys[0]) && !model[0]; i++)
        (void)sb_text_value(cpuinfo, model_keys[i], model, sizeof(model));
    if (model[0])
        copy_text(machine->cpu_model, sizeof(machine->cpu_model), model);
    else
        read_arm_model(cpuinfo, machine);
    char microcode[sizeof(machine->microcode)];
    if (sb_text_value(cpuinfo, "microcode", microcode, sizeof(microcode)) == 0)
        copy_text(machine->microcode, sizeof(machine->microcode), microcode);
    if (sb_text_value(cpuinfo, "flags", flags, 8192) == 0) {
        machine->constant_tsc = has_word(flags, "constant_tsc", ' ');
        machine->nonstop_tsc = has_word(flags, "nonstop_tsc", ' ');
        machine->hypervisor = has_word(flags, "hypervisor", ' ');
        copy_text(machine->virtualisation, sizeof(machine->virtualisation),
                  machine->hypervisor ? "other" : "none");
    }

out:
    free(flags);
    free(cpuinfo);
}

#if defined(__x86_64__) || defined(__i386__)
/* A hypervisor signs with twelve characters in a CPUID leaf of its own, readable by anyone. */
static void name_hypervisor(struct sb_machine *machine)
{
    static const struct {
        const char *signature;
        const char *name;
    } known[] = {
        {"KVMKVMKVM", "kvm"},     {"Microsoft Hv", "hyper-v"},   {"VMwareVMware", "vmware"},
        {"XenVMMXenVMM", "xen"},  {"TCGTCGTCGTCG", "qemu"},      {"bhyve bhyve ", "bhyve"},
        {"ACRNACRNACRN", "acrn"}, {"prl hyperv  ", "parallels"}, {"VBoxVBoxVBox", "virtualbox"},
        {" QNXQVMBSQG ", "qnx"},
    };
    unsigned eax = 0;
    unsigned words[3] = {0};
    __cpuid(0x40000000, eax, words[0], words[1], words[2]);
    char signature[sizeof(words) + 1] = "";
    memcpy(signature, words, sizeof(words));
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(signature, known[i].signature) == 0)
            copy_text(machine->virtualisation, sizeof(machine->virtualisation), known[i].name);
    }
}
#else
static void name_hypervisor(struct sb_machine *machine)
{
    (void)machine;
}
#endif

static void count_cores(struct sb_machine *machine)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    machine->cores_online = online > 0 ? (uint32_t)online : 0;
    machine->cores_usable = machine->cores_online;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        machine->cores_usable = (uint32_t)CPU_COUNT(&set);
}

static void read_kernel(struct sb_machine *machine)
{
    struct utsname name;
    if (uname(&name) != 0)
        return;
    copy_text(machine->kernel, sizeof(machine->kernel), name.release);
    copy_text(machine->architecture, sizeof(machine->architecture), name.machine);
}

static void read_os_name(const char *root, struct sb_machine *machine)
{
    char text[4096];
    if (read_below(root, "/etc/os-release", text, sizeof(text)) != 0 &&
        read_below(root, "/usr/lib/os-release", text, sizeof(text)) != 0)
        return;
    static const char key[] = "PRETTY_NAME=";
    const char *value = text;
    while (value && strncmp(value, key, sizeof(key) - 1) != 0) {
        value = strchr(value, '\n');
        if (value)
            value++;
    }
    if (!value)
        return;
    value += sizeof(key) - 1;
    size_t length = strcspn(value, "\n");
    if (length >= 2 && (value[0] == '"' || value[0] == '\'') && value[length - 1] == value[0]) {
        value++;
        length -= 2;
    }
    copy_trimmed(machine->os_name, sizeof(machine->os_name), value, length);
}

/* Cores may have governors of their own; one name is recorded only if all agree. */
static void read_governor(const char *root, struct sb_machine *machine)
{
    machine->governor[0] = '\0';
    for (uint32_t core = 0; core < machine->cores_online; core++) {
        char path[96];
        char governor[sizeof(machine->governor)] = "";
        int length = snprintf(path, sizeof(path),
                              "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor", core);
        if (length < 0 || (size_t)length >= sizeof(path) ||
            read_line_below(root, path, governor, sizeof(governor)) != 0)
            continue;
        if (machine->governor[0] == '\0') {
            copy_text(machine->governor, sizeof(machine->governor), governor);
        } else if (strcmp(machine->governor, governor) != 0) {
            copy_text(machine->governor, sizeof(machine->governor), "mixed");
            return;
        }
    }
}

static void read_load(const char *root, struct sb_machine *machine)
{
    char text[128];
    if (read_below(root, "/proc/loadavg", text, sizeof(text)) != 0)
        return;
    char *end = text;
    machine->load_average_1min = strtod(end, &end);
    machine->load_average_5min = strtod(end, &end);
    machine->load_average_15min = strtod(end, &end);
}

/* ---- memory ------------------------------------------------------------------------------- */

static void read_memory(const char *root, struct sb_machine *machine)
{
    char text[8192];
    uint64_t kibibytes;
    if (read_below(root, "/proc/meminfo", text, sizeof(text)) == 0 &&
        sb_text_u64(text, "MemTotal", &kibibytes) == 0)
        machine->memory_bytes = kibibytes * 1024;
}

/* Where the memory controller is mounted and which group of it this process is in. */
struct memory_group {
    char mount_point[PATH_MAX];
    char path[PATH_MAX]; /* below the mount point; starts with '/', no '/' at its end */
    const char *limit_file;
};

/* Finds this process's group in a hierarchy: version 2 has no controllers in its line, version 1
 * lists them. Lines read "ID:controllers:/path". */
static bool find_group(const char *root, bool version2, char *group, size_t size)
{
    char text[8192];
    if (read_below(root, "/proc/self/cgroup", text, sizeof(text)) != 0)
        return false;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        controllers++;
        bool found = version2 ? controllers[0] == '\0' : has_word(controllers, "memory", ',');
        if (found && path[0] == '/' && strlen(path) < size) {
            copy_text(group, size, path);
            return true;
        }
    }
    return false;
}

/* The group's path counts from the hierarchy's top, a container's mount may start further down:
 * the part that both have in common is taken off. */
static bool place_group(const struct mount *mount, char *path, struct memory_group *group)
{
    size_t root_length = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
    if (root_length > 0 && strncmp(path, mount->root, root_length) == 0 &&
        (path[root_length] == '/' || path[root_length] == '\0'))
        path += root_length;
    size_t length = strlen(path);
    while (length > 0 && path[length - 1] == '/')
        path[--length] = '\0';
    if (strlen(mount->point) >= sizeof(group->mount_point))
        return false;
    copy_text(group->mount_point, sizeof(group->mount_point), mount->point);
    copy_text(group->path, sizeof(group->path), path);
    return true;
}

static bool find_memory_group(const char *root, bool version2, struct memory_group *group)
{
    char path[PATH_MAX];
    FILE *mounts = open_mounts(root);
    if (!mounts)
        return false;
    bool found = false;
    char *line = NULL;
    size_t capacity = 0;
    struct mount mount;
    while (!found && getline(&line, &capacity, mounts) > 0) {
        if (!parse_mount(line, &mount))
            continue;
        bool matches = version2 ? strcmp(mount.filesystem, "cgroup2") == 0
                                : strcmp(mount.filesystem, "cgroup") == 0 &&
                                      has_word(mount.super_options, "memory", ',');
        found = matches && find_group(root, version2, path, sizeof(path)) &&
                place_group(&mount, path, group);
    }
    group->limit_file = version2 ? "memory.max" : "memory.limit_in_bytes";
    free(line);
    fclose(mounts);
    return found;
}

/* The smallest limit from the group up to the top of the mount: each of them binds. Version 1 says
 * "no limit" with a number close to 2^63, version 2 with the word "max". */
static uint64_t tightest_limit(const char *root, struct memory_group *group)
{
    const uint64_t no_limit = UINT64_C(1) << 62;
    uint64_t tightest = no_limit;
    for (;;) {
        char path[3 * PATH_MAX];
        char text[64];
        uint64_t limit;
        int length = snprintf(path, sizeof(path), "%s%s%s/%s", root, group->mount_point,
                              group->path, group->limit_file);
        if (length >= 0 && (size_t)length < sizeof(path) &&
            sb_read_text(path, text, sizeof(text)) == 0 && leading_u64(text, &limit) == 0 &&
            limit < tightest)
            tightest = limit;
        char *last = strrchr(group->path, '/');
        if (!last)
            return tightest == no_limit ? 0 : tightest;
        *last = '\0';
    }
}

static void read_memory_limit(const char *root, struct sb_machine *machine)
{
    struct memory_group *group = malloc(sizeof(*group));
    if (!group)
        return;
    for (int version2 = 0; version2 <= 1; version2++) {
        uint64_t limit =
            find_memory_group(root, version2 != 0, group) ? tightest_limit(root, group) : 0;
        if (limit > 0 &&
            (machine->cgroup_memory_bytes == 0 || limit < machine->cgroup_memory_bytes))
            machine->cgroup_memory_bytes = limit;
    }
    free(group);
}

/* ---- the machine -------------------------------------------------------------------------- */

/* FNV-1a, 64 bits (Fowler, Noll, Vo): short texts, no adversary. */
static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* Length of "MAJOR.MINOR" at the start of a kernel's release. */
static int version_length(const char *release)
{
    size_t length = strspn(release, "0123456789");
    if (release[length] == '.')
        length += 1 + strspn(release + length + 1, "0123456789");
    return (int)length;
}

static void set_fingerprint(struct sb_machine *machine)
{
    char facts[512];
    uint64_t memory_gib = (machine->memory_bytes + GIB / 2) / GIB;
    int length =
        snprintf(facts, sizeof(facts), "cpu=%s\ncores=%u\nmemory=%llu\nkernel=%.*s\nvm=%s",
                 machine->cpu_model, machine->cores_online, (unsigned long long)memory_gib,
                 version_length(machine->kernel), machine->kernel, machine->virtualisation);
    if (length < 0)
        facts[0] = '\0';
    length = snprintf(machine->fingerprint, sizeof(machine->fingerprint), "%016llx",
                      (unsigned long long)hash_text(facts));
    if (length < 0)
        machine->fingerprint[0] = '\0';
}

static void start_machine(struct sb_machine *machine)
{
    memset(machine, 0, sizeof(*machine));
    copy_text(machine->cpu_model, sizeof(machine->cpu_model), UNKNOWN);
    copy_text(machine->architecture, sizeof(machine->architecture), UNKNOWN);
    copy_text(machine->microcode, sizeof(machine->microcode), UNKNOWN);
    copy_text(machine->kernel, sizeof(machine->kernel), UNKNOWN);
    copy_text(machine->os_name, sizeof(machine->os_name), UNKNOWN);
    copy_text(machine->virtualisation, sizeof(machine->virtualisation), UNKNOWN);
    copy_text(machine->dmi_product, sizeof(machine->dmi_product), UNKNOWN);
    copy_text(machine->clock_source, sizeof(machine->clock_source), UNKNOWN);
    copy_text(machine->huge_pages, sizeof(machine->huge_pages), UNKNOWN);
    copy_text(machine->boot_id, sizeof(machine->boot_id), UNKNOWN);
}

void sb_machine_read_root(struct sb_machine *machinep, const char *root)
{
    start_machine(machinep);
    read_cpu(root, machinep);
    if (machinep->hypervisor)
        name_hypervisor(machinep);
    count_cores(machinep);
    read_memory(root, machinep);
    read_memory_limit(root, machinep);
    long page_bytes = sysconf(_SC_PAGESIZE);
    machinep->page_bytes = page_bytes > 0 ? (uint32_t)page_bytes : 0;
    read_kernel(machinep);
    read_os_name(root, machinep);
    (void)read_line_below(root, "/sys/class/dmi/id/product_name", machinep->dmi_product,
                          sizeof(machinep->dmi_product));
    (void)read_line_below(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                          machinep->clock_source, sizeof(machinep->clock_source));
    char huge_pages[64];
    if (read_line_below(root, "/sys/kernel/mm/transparent_hugepage/enabled", huge_pages,
                        sizeof(huge_pages)) == 0)
        copy_choice(machinep->huge_pages, sizeof(machinep->huge_pages), huge_pages);
    read_governor(root, machinep);
    (void)read_line_below(root, "/proc/sys/kernel/random/boot_id", machinep->boot_id,
                          sizeof(machinep->boot_id));
    read_load(root, machinep);
    set_fingerprint(machinep);
}

void sb_machine_read(struct sb_machine *machinep)
{
    sb_machine_read_root(machinep, "");
}

/* ---- a directory -------------------------------------------------------------------------- */

#define MAGIC_TMPFS 0x01021994u
#define MAGIC_RAMFS 0x858458f6u

/* Names for when mountinfo is hidden; the numbers are in statfs(2). */
static void name_by_magic(struct sb_directory *directory)
{
    static const struct {
        uint32_t magic;
        const char *name;
    } known[] = {
        {0x0000ef53u, "ext4"},    {0x58465342u, "xfs"},   {0x9123683eu, "btrfs"},
        {0xf2f52010u, "f2fs"},    {0x2fc12fc1u, "zfs"},   {0xca451a4eu, "bcachefs"},
        {0x794c7630u, "overlay"}, {0x00006969u, "nfs"},   {0x65735546u, "fuse"},
        {MAGIC_TMPFS, "tmpfs"},   {MAGIC_RAMFS, "ramfs"},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (directory->filesystem_magic == known[i].magic)
            copy_text(directory->filesystem, sizeof(directory->filesystem), known[i].name);
    }
}

static void read_space(int fd, struct sb_directory *directory)
{
    struct statfs space;
    if (fstatfs(fd, &space) != 0)
        return;
    uint64_t unit_bytes = (uint64_t)(space.f_frsize ? space.f_frsize : space.f_bsize);
    directory->filesystem_magic = (uint32_t)space.f_type;
    directory->block_bytes = (uint64_t)space.f_bsize;
    directory->total_bytes = (uint64_t)space.f_blocks * unit_bytes;
    directory->free_bytes = (uint64_t)space.f_bavail * unit_bytes;
    directory->free_inodes = (uint64_t)space.f_ffree;
    name_by_magic(directory);
}

/* An open file knows its mount by number, which is exact where mounts lie on top of each other. */
static bool find_mount_id(const char *root, int fd, uint64_t *idp)
{
    char path[64];
    char text[1024];
    int length = snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
    return length > 0 && (size_t)length < sizeof(path) &&
           read_below(root, path, text, sizeof(text)) == 0 && sb_text_u64(text, "mnt_id", idp) == 0;
}

static void read_mount(const char *root, int fd, struct sb_directory *directory)
{
    uint64_t id;
    FILE *mounts = find_mount_id(root, fd, &id) ? open_mounts(root) : NULL;
    if (!mounts)
        return;
    char *line = NULL;
    size_t capacity = 0;
    struct mount mount;
    while (getline(&line, &capacity, mounts) > 0) {
        if (!parse_mount(line, &mount) || mount.id != id)
            continue;
        copy_text(directory->filesystem, sizeof(directory->filesystem), mount.filesystem);
        copy_text(directory->mount_point, sizeof(directory->mount_point), mount.point);
        copy_text(directory->mount_options, sizeof(directory->mount_options), mount.options);
        copy_text(directory->filesystem_options, sizeof(directory->filesystem_options),
                  mount.super_options);
        copy_text(directory->device, sizeof(directory->device), mount.source);
        break;
    }
    free(line);
    fclose(mounts);
}

/* File systems over several devices (btrfs) give their files a made-up device number; the one that
 * was mounted stands for all. */
static bool find_block_number(int fd, const struct sb_directory *directory, dev_t *numberp)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return false;
    *numberp = status.st_dev;
    if (major(status.st_dev) != 0)
        return true;
    if (stat(directory->device, &status) != 0 || !S_ISBLK(status.st_mode))
        return false;
    *numberp = status.st_rdev;
    return true;
}

/* A partition has no queue of its own: it is in the directory of its disk, one up. */
static int read_queue(const char *root, const char *device_path, const char *name, char *buffer,
                      size_t size)
{
    static const char *const places[] = {"queue", "../queue"};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char path[192];
        int length = snprintf(path, sizeof(path), "%s/%s/%s", device_path, places[i], name);
        if (length > 0 && (size_t)length < sizeof(path) &&
            read_line_below(root, path, buffer, size) == 0)
            return 0;
    }
    return -1;
}

static void read_block_name(const char *root, const char *device_path,
                            struct sb_directory *directory)
{
    char path[PATH_MAX];
    char target[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s%s", root, device_path);
    if (length < 0 || (size_t)length >= sizeof(path))
        return;
    ssize_t got = readlink(path, target, sizeof(target) - 1);
    if (got <= 0)
        return;
    target[got] = '\0';
    const char *slash = strrchr(target, '/');
    copy_text(directory->block_device, sizeof(directory->block_device), slash ? slash + 1 : target);
}

static void read_block_device(const char *root, int fd, struct sb_directory *directory)
{
    dev_t number;
    char device_path[64];
    if (!find_block_number(fd, directory, &number))
        return;
    int length = snprintf(device_path, sizeof(device_path), "/sys/dev/block/%u:%u", major(number),
                          minor(number));
    if (length < 0 || (size_t)length >= sizeof(device_path))
        return;
    read_block_name(root, device_path, directory);
    (void)read_queue(root, device_path, "write_cache", directory->write_cache,
                     sizeof(directory->write_cache));
    char rotational[8];
    if (read_queue(root, device_path, "rotational", rotational, sizeof(rotational)) == 0)
        directory->rotational = rotational[0] == '1';
    char schedulers[128];
    if (read_queue(root, device_path, "scheduler", schedulers, sizeof(schedulers)) == 0)
        copy_choice(directory->scheduler, sizeof(directory->scheduler), schedulers);
}

static bool is_memory_backed(const struct sb_directory *directory)
{
    return directory->filesystem_magic == MAGIC_TMPFS ||
           directory->filesystem_magic == MAGIC_RAMFS ||
           strncmp(directory->block_device, "zram", 4) == 0 ||
           strncmp(directory->block_device, "ram", 3) == 0;
}

static void start_directory(struct sb_directory *directory, const char *path)
{
    memset(directory, 0, sizeof(*directory));
    copy_text(directory->path, sizeof(directory->path), path);
    copy_text(directory->filesystem, sizeof(directory->filesystem), UNKNOWN);
    copy_text(directory->mount_point, sizeof(directory->mount_point), UNKNOWN);
    copy_text(directory->mount_options, sizeof(directory->mount_options), UNKNOWN);
    copy_text(directory->filesystem_options, sizeof(directory->filesystem_options), UNKNOWN);
    copy_text(directory->device, sizeof(directory->device), UNKNOWN);
    copy_text(directory->block_device, sizeof(directory->block_device), UNKNOWN);
    copy_text(directory->write_cache, sizeof(directory->write_cache), UNKNOWN);
    copy_text(directory->scheduler, sizeof(directory->scheduler), UNKNOWN);
    directory->rotational = -1;
}

int sb_directory_read_root(struct sb_directory *directoryp, const char *path, const char *root)
{
    start_directory(directoryp, path);
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return -1;
    char resolved[PATH_MAX];
    if (realpath(path, resolved))
        copy_text(directoryp->path, sizeof(directoryp->path), resolved);
    read_space(fd, directoryp);
    read_mount(root, fd, directoryp);
    read_block_device(root, fd, directoryp);
    directoryp->memory_backed = is_memory_backed(directoryp);
    close(fd);
    return 0;
}

int sb_directory_read(struct sb_directory *directoryp, const char *path)
{
    return sb_directory_read_root(directoryp, path, "");
}
