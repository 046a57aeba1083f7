/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * spec.h -- a driver as the user writes it: NAME or NAME:option=value:option=value.
 *
 * The whole spelling is the label of its cells. `cache=SIZE` is understood for every driver and
 * replaces the budget of the workload.
 */
#ifndef SB_SPEC_H
#define SB_SPEC_H

#include "registry.h"

struct sb_spec {
    char *label; /* as written; owned */
    const struct sb_registry_entry *entry;
    void *options;        /* the driver's options struct, filled in; owned; NULL if it has none */
    bool has_cache;       /* cache=SIZE was given */
    uint64_t cache_bytes; /* valid with has_cache */
};

/* Parses `text` against the registry. The error names the driver or option, and the nearest match.
 * Release the spec whether it succeeded or not. */
int sb_spec_parse(struct sb_spec *spec, const struct sb_registry *registry,
                  const char *text) SB_MUST_CHECK;
void sb_spec_release(struct sb_spec *spec);

/* Appends to *specsp every driver that an item of a list names: a spec, or a pattern such as
 * `tc-*:yield=off` whose name part has *, ? or [. A pattern leaves out
 * drivers that keep no data; one that matches nothing is an error. */
int sb_spec_expand(struct sb_spec **specsp, size_t *countp, const struct sb_registry *registry,
                   const char *item) SB_MUST_CHECK;

#endif
