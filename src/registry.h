/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * registry.h -- finds, loads and vets driver modules.
 *
 * Modules are `storebench-*.so` files in the folders of STOREBENCH_DRIVER_PATH (separated by ':'),
 * in the build tree and in the installed folder; of two files with one name the first found counts.
 * A static build holds its modules itself and looks in STOREBENCH_DRIVER_PATH besides. Modules are
 * never unloaded.
 */
#ifndef SB_REGISTRY_H
#define SB_REGISTRY_H

#include "error.h"

#include <stdbool.h>

struct sb_registry_entry {
    const struct sb_driver *driver;
    const char *module_path; /* "(built in)" in a static build */
    void *handle;            /* of dlopen; NULL when built in */
};

/* A module or one of its drivers that was turned away. */
struct sb_rejection {
    char *module_path;
    char *reason;
};

struct sb_registry {
    struct sb_registry_entry *entries; /* sorted by driver name */
    size_t entry_count;
    struct sb_rejection *rejections;
    size_t rejection_count;
    char **paths; /* of the modules taken; owned */
    size_t path_count;
};

/* Loads everything that can be found. A bad module is a rejection, not an error: the caller decides
 * whether to show it. Release the registry before it is loaded again. */
void sb_registry_load(struct sb_registry *registry);

/* Loads one module by its path, or the built-in ones for "(built in)": for the process of a repeat,
 * which should hold one library only. */
void sb_registry_load_module(struct sb_registry *registry, const char *module_path);

/* Frees the lists. The modules stay loaded: drivers remain valid. */
void sb_registry_release(struct sb_registry *registry);

/* The entry of that name, or NULL. */
const struct sb_registry_entry *sb_registry_find(const struct sb_registry *registry,
                                                 const char *name);

/* The driver's name that is nearest to `name`, for "did you mean"; NULL if none is near. */
const char *sb_registry_nearest(const struct sb_registry *registry, const char *name);

/* Why a module's table is not acceptable; returns 0 or sets the error. */
int sb_driver_vet(const struct sb_driver *driver) SB_MUST_CHECK;

/* 64-bit FNV-1a over the module's file, and over the files of the libraries it needs (libc and its
 * kin left out); 0 when they cannot be read. They tell whether two results ran the same code. */
uint64_t sb_registry_module_hash(const struct sb_registry_entry *entry);
uint64_t sb_registry_library_hash(const struct sb_registry_entry *entry);

#endif
