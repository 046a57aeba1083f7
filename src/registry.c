/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * registry.c -- see registry.h.
 */
#include "registry.h"

#include "hash.h"
#include "mem.h"
#include "nearest.h"
#include "paths.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char module_prefix[] = "storebench-";
static const char preload_prefix[] = "storebench-preload-";
static const char module_suffix[] = ".so";
static const char built_in[] = "(built in)"; /* stands for the path of a static module */

/* ---- vetting ------------------------------------------------------------------------------ */

static bool name_ok(const char *name)
{
    if (!name || !*name)
        return false;
    for (const char *c = name; *c; c++)
        if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '-')
            return false;
    return true;
}

static int refuse(const struct sb_driver *driver, const char *what)
{
    return sb_error_set(SB_ERR_UNSUPPORTED, 0, "driver '%s' %s",
                        driver->name ? driver->name : "(null)", what);
}

static int vet_hooks(const struct sb_driver *d)
{
    uint32_t caps = d->caps;

    if (!d->version || !d->open || !d->close || !d->attach || !d->detach)
        return refuse(d, "lacks one of the hooks version, open, close, attach, detach");
    if (!d->put || !d->get || !d->del)
        return refuse(d, "lacks one of the hooks put, get, del");
    if (!d->cursor_open || !d->cursor_next || !d->cursor_close)
        return refuse(d, "lacks one of the hooks cursor_open, cursor_next, cursor_close");
    if ((caps & (SB_CAP_TXN | SB_CAP_SNAPSHOT)) && !d->begin)
        return refuse(d, "declares transactions or snapshots without the hook begin");
    if (d->begin && !d->commit)
        return refuse(d, "has the hook begin without commit");
    if ((caps & SB_CAP_TXN) && !d->abort)
        return refuse(d, "declares transactions without the hook abort");
    if ((caps & SB_CAP_ORDERED) && !d->cursor_seek)
        return refuse(d, "declares order without the hook cursor_seek");
    if (!(caps & SB_CAP_APPEND) != !d->append)
        return refuse(d, "must have both the capability and the hook append, or neither");
    return 0;
}

static int vet_options(const struct sb_driver *d)
{
    if (!d->options)
        return 0;
    for (const struct sb_option *o = d->options; o->name; o++) {
        if (o->offset + sizeof(int64_t) > d->options_bytes)
            return refuse(d, "has an option outside its options struct");
        if (o->type == SB_OPTION_ENUM && !o->choices)
            return refuse(d, "has an enum option without choices");
        if (strcmp(o->name, "cache") == 0)
            return refuse(d, "has an option named 'cache', which belongs to the harness");
        for (const struct sb_option *p = d->options; p != o; p++)
            if (strcmp(p->name, o->name) == 0)
                return refuse(d, "has two options of one name");
    }
    return 0;
}

int sb_driver_vet(const struct sb_driver *d)
{
    int rc;

    if (!name_ok(d->name))
        return refuse(d, "has a name with other characters than a-z, 0-9 and '-'");
    if (!d->summary)
        return refuse(d, "has no summary");
    if (!d->levels || d->levels & ~SB_LEVELS_ALL)
        return refuse(d, "declares no durability level, or one that does not exist");
    if (!(d->caps & SB_CAP_PERSISTENT) && d->levels != SB_LEVEL_BIT(SB_LEVEL_NONE))
        return refuse(d, "declares a durability level but is not persistent");
    rc = vet_hooks(d);
    return rc ? rc : vet_options(d);
}

/* ---- loading ------------------------------------------------------------------------------ */

static void reject(struct sb_registry *r, const char *path, const char *reason)
{
    r->rejections = sb_grow(r->rejections, r->rejection_count + 1, sizeof(*r->rejections));
    r->rejections[r->rejection_count++] =
        (struct sb_rejection){sb_format("%s", path), sb_format("%s", reason)};
}

static void add_driver(struct sb_registry *r, const struct sb_driver *driver, const char *path,
                       void *handle)
{
    if (sb_driver_vet(driver)) {
        reject(r, path, sb_error_last()->text);
        return;
    }
    for (size_t i = 0; i < r->entry_count; i++) {
        if (strcmp(r->entries[i].driver->name, driver->name) == 0) {
            char *reason = sb_format("driver '%s' is already offered by %s", driver->name,
                                     r->entries[i].module_path);
            reject(r, path, reason);
            free(reason);
            return;
        }
    }
    r->entries = sb_grow(r->entries, r->entry_count + 1, sizeof(*r->entries));
    r->entries[r->entry_count++] = (struct sb_registry_entry){driver, path, handle};
}

static void add_module(struct sb_registry *r, const struct sb_module *module, const char *path,
                       void *handle)
{
    char *reason = NULL;

    if (module->abi != SB_DRIVER_ABI)
        reason = sb_format("compiled for driver ABI %u, this program has %u: rebuild it",
                           module->abi, SB_DRIVER_ABI);
    else if (module->driver_bytes != sizeof(struct sb_driver))
        reason = sb_format("its struct sb_driver has %u bytes, this program's has %zu: rebuild it",
                           module->driver_bytes, sizeof(struct sb_driver));
    else if (!module->drivers || !module->driver_count)
        reason = sb_format("offers no driver");
    if (reason) {
        reject(r, path, reason);
        free(reason);
        return;
    }
    for (uint32_t i = 0; i < module->driver_count; i++)
        add_driver(r, &module->drivers[i], path, handle);
}

static bool is_module_name(const char *name)
{
    size_t length = strlen(name);

    return length > sizeof(module_prefix) + sizeof(module_suffix) - 2 &&
           strncmp(name, module_prefix, sizeof(module_prefix) - 1) == 0 &&
           strncmp(name, preload_prefix, sizeof(preload_prefix) - 1) != 0 &&
           strcmp(name + length - (sizeof(module_suffix) - 1), module_suffix) == 0;
}

static bool is_taken(const struct sb_registry *r, const char *name)
{
    for (size_t i = 0; i < r->path_count; i++)
        if (strcmp(strrchr(r->paths[i], '/') + 1, name) == 0)
            return true;
    return false;
}

/* A file that was copied in part only: to map it would end this process with SIGBUS. The last thing
 * in a shared object is the table of its sections. */
static bool is_cut(const char *path)
{
    FILE *file = fopen(path, "rbe");
    ElfW(Ehdr) head = {.e_shoff = 0};
    bool is_elf = file && fread(&head, sizeof(head), 1, file) == 1 &&
                  memcmp(head.e_ident, ELFMAG, SELFMAG) == 0;
    bool cut = is_elf &&
               (fseek(file, 0, SEEK_END) ||
                (uint64_t)ftell(file) < head.e_shoff + (uint64_t)head.e_shnum * head.e_shentsize);

    if (file)
        (void)fclose(file);
    return cut;
}

static void load_file(struct sb_registry *r, char *path)
{
    const struct sb_module *module;
    void *handle;

    r->paths = sb_grow(r->paths, r->path_count + 1, sizeof(*r->paths));
    r->paths[r->path_count++] = path;
    if (is_cut(path)) {
        reject(r, path, "is cut short: build or copy it again");
        return;
    }
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        reject(r, path, dlerror());
        return;
    }
    module = dlsym(handle, "storebench_module");
    if (!module) {
        reject(r, path, "exports no symbol 'storebench_module'");
        return;
    }
    add_module(r, module, path, handle);
}

static int only_modules(const struct dirent *entry)
{
    return is_module_name(entry->d_name);
}

static void load_folder(struct sb_registry *r, const char *folder)
{
    struct dirent **names = NULL;
    char *absolute = realpath(folder, NULL);
    int count;

    if (!absolute)
        return; /* a folder of the search path need not exist */
    count = scandir(absolute, &names, only_modules, alphasort);
    for (int i = 0; i < count; i++) {
        if (!is_taken(r, names[i]->d_name))
            load_file(r, sb_format("%s/%s", absolute, names[i]->d_name));
        free(names[i]);
    }
    free(names);
    free(absolute);
}

static void load_path(struct sb_registry *r, const char *path)
{
    char *copy = sb_format("%s", path);
    char *rest = copy;

    for (char *folder = strsep(&rest, ":"); folder; folder = strsep(&rest, ":"))
        if (*folder)
            load_folder(r, folder);
    free(copy);
}

static int by_name(const void *a, const void *b)
{
    const struct sb_registry_entry *x = a, *y = b;

    return strcmp(x->driver->name, y->driver->name);
}

#ifdef SB_STATIC_DRIVERS
/* Generated by the build: ends with NULL. */
extern const struct sb_module *const sb_static_modules[];
#endif

static void load_built_in(struct sb_registry *r)
{
#ifdef SB_STATIC_DRIVERS
    for (size_t i = 0; sb_static_modules[i]; i++)
        add_module(r, sb_static_modules[i], built_in, NULL);
#else
    (void)r;
#endif
}

void sb_registry_load_module(struct sb_registry *r, const char *module_path)
{
    *r = (struct sb_registry){0};
    if (strcmp(module_path, built_in) == 0)
        load_built_in(r);
    else
        load_file(r, sb_format("%s", module_path));
}

void sb_registry_load(struct sb_registry *r)
{
    const char *user_path = getenv("STOREBENCH_DRIVER_PATH");

    *r = (struct sb_registry){0};
    if (user_path)
        load_path(r, user_path);
    load_built_in(r);
#ifndef SB_STATIC_DRIVERS
    load_path(r, sb_build_drivers_dir());
    load_path(r, sb_installed_drivers_dir());
#endif
    if (r->entry_count)
        qsort(r->entries, r->entry_count, sizeof(*r->entries), by_name);
}

void sb_registry_release(struct sb_registry *r)
{
    for (size_t i = 0; i < r->rejection_count; i++) {
        free(r->rejections[i].module_path);
        free(r->rejections[i].reason);
    }
    for (size_t i = 0; i < r->path_count; i++)
        free(r->paths[i]);
    free(r->rejections);
    free(r->paths);
    free(r->entries);
    *r = (struct sb_registry){0};
}

const struct sb_registry_entry *sb_registry_find(const struct sb_registry *r, const char *name)
{
    for (size_t i = 0; i < r->entry_count; i++)
        if (strcmp(r->entries[i].driver->name, name) == 0)
            return &r->entries[i];
    return NULL;
}

const char *sb_registry_nearest(const struct sb_registry *r, const char *name)
{
    struct sb_nearest nearest;

    sb_nearest_init(&nearest, name);
    for (size_t i = 0; i < r->entry_count; i++)
        sb_nearest_offer(&nearest, r->entries[i].driver->name);
    return nearest.best;
}

/* ---- identity ----------------------------------------------------------------------------- */

uint64_t sb_registry_module_hash(const struct sb_registry_entry *entry)
{
    return sb_hash_file(entry->handle ? entry->module_path : "/proc/self/exe");
}

/* Parts of the C run-time: they belong to the machine, not to the store. */
static bool is_runtime(const char *name)
{
    static const char *const stems[] = {"libc.so",    "libm.so",  "libdl.so",    "libpthread.so",
                                        "librt.so",   "ld-linux", "libgcc_s.so", "libstdc++.so",
                                        "libasan.so", "libubsan", "libtsan.so",  "linux-vdso"};

    for (size_t i = 0; i < sizeof(stems) / sizeof(stems[0]); i++)
        if (strncmp(name, stems[i], strlen(stems[i])) == 0)
            return true;
    return false;
}

struct wanted {
    const char *name; /* file name of a needed library */
    uint64_t hash;
};

static int hash_if_wanted(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct wanted *wanted = arg;
    const char *slash = strrchr(info->dlpi_name, '/');

    (void)size;
    if (!slash || strcmp(slash + 1, wanted->name) != 0)
        return 0;
    wanted->hash = sb_hash_file(info->dlpi_name);
    return 1;
}

uint64_t sb_registry_library_hash(const struct sb_registry_entry *entry)
{
    struct link_map *map = NULL;
    const char *strings = NULL;
    uint64_t hash = 0;

    if (!entry->handle || dlinfo(entry->handle, RTLD_DI_LINKMAP, &map))
        return 0;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_STRTAB)
            strings = (const char *)d->d_un.d_ptr;
    for (const ElfW(Dyn) *d = map->l_ld; strings && d->d_tag != DT_NULL; d++) {
        struct wanted wanted = {NULL, 0};

        if (d->d_tag != DT_NEEDED || is_runtime(strings + d->d_un.d_val))
            continue;
        wanted.name = strings + d->d_un.d_val;
        (void)dl_iterate_phdr(hash_if_wanted, &wanted);
        hash ^= wanted.hash; /* the order of the libraries does not matter */
    }
    return hash;
}
