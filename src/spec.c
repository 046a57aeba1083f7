/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * spec.c -- see spec.h.
 */
#include "spec.h"

#include "mem.h"
#include "nearest.h"
#include "units.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int64_t *member(void *options, const struct sb_option *option)
{
    return (int64_t *)(void *)((char *)options + option->offset);
}

static int parse_bool(const char *text, int64_t *valuep)
{
    static const char *const yes[] = {"on", "yes", "true", "1"};
    static const char *const no[] = {"off", "no", "false", "0"};

    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        if (strcasecmp(text, yes[i]) == 0 || strcasecmp(text, no[i]) == 0) {
            *valuep = strcasecmp(text, yes[i]) == 0;
            return 0;
        }
    }
    return -1;
}

static int parse_enum(const char *choices, const char *text, int64_t *valuep)
{
    size_t bytes = strlen(text);
    int64_t index = 0;

    for (const char *word = choices; word; index++) {
        const char *end = strchrnul(word, '|');

        if ((size_t)(end - word) == bytes && strncmp(word, text, bytes) == 0) {
            *valuep = index;
            return 0;
        }
        word = *end ? end + 1 : NULL;
    }
    return -1;
}

static int parse_number(enum sb_option_type type, const char *text, int64_t *valuep)
{
    uint64_t value;
    bool negative = type == SB_OPTION_INT && *text == '-';

    if (type == SB_OPTION_SIZE ? sb_parse_size(text, &value)
                               : sb_parse_count(text + negative, &value))
        return -1;
    if (value > INT64_MAX)
        return -1;
    *valuep = negative ? -(int64_t)value : (int64_t)value;
    return 0;
}

static int bad_value(const struct sb_driver *driver, const struct sb_option *option,
                     const char *text)
{
    const char *unit = option->unit ? option->unit : "";

    switch (option->type) {
    case SB_OPTION_BOOL:
        return sb_error_set(SB_ERR_UNSUPPORTED, 0, "%s:%s takes on or off, not '%s'", driver->name,
                            option->name, text);
    case SB_OPTION_ENUM:
        return sb_error_set(SB_ERR_UNSUPPORTED, 0, "%s:%s takes one of %s, not '%s'", driver->name,
                            option->name, option->choices, text);
    default:
        return sb_error_set(SB_ERR_UNSUPPORTED, 0,
                            "%s:%s takes %" PRId64 " to %" PRId64 " %s, not '%s'", driver->name,
                            option->name, option->min, option->max, unit, text);
    }
}

static int parse_value(const struct sb_driver *driver, const struct sb_option *option,
                       const char *text, int64_t *valuep)
{
    int bad;

    if (option->type == SB_OPTION_BOOL)
        bad = parse_bool(text, valuep);
    else if (option->type == SB_OPTION_ENUM)
        bad = parse_enum(option->choices, text, valuep);
    else
        bad = parse_number(option->type, text, valuep) || *valuep < option->min ||
              *valuep > option->max;
    return bad ? bad_value(driver, option, text) : 0;
}

static int set_defaults(const struct sb_driver *driver, void *options)
{
    for (const struct sb_option *o = driver->options; o && o->name; o++) {
        int rc;

        *member(options, o) = SB_OPTION_UNSET;
        if (!o->default_value)
            continue;
        rc = parse_value(driver, o, o->default_value, member(options, o));
        if (rc)
            return rc;
    }
    return 0;
}

static int unknown_option(const struct sb_driver *driver, const char *name)
{
    struct sb_nearest nearest;

    sb_nearest_init(&nearest, name);
    sb_nearest_offer(&nearest, "cache");
    for (const struct sb_option *o = driver->options; o && o->name; o++)
        sb_nearest_offer(&nearest, o->name);
    if (nearest.best)
        return sb_error_set(SB_ERR_UNSUPPORTED, 0, "%s has no option '%s'; did you mean '%s'?",
                            driver->name, name, nearest.best);
    return sb_error_set(SB_ERR_UNSUPPORTED, 0,
                        "%s has no option '%s'; 'storebench list' shows what it has", driver->name,
                        name);
}

static int set_option(struct sb_spec *spec, char *assignment)
{
    const struct sb_driver *driver = spec->entry->driver;
    char *value = strchr(assignment, '=');

    if (!value)
        return sb_error_set(SB_ERR_UNSUPPORTED, 0, "%s: option '%s' has no '=value'", spec->label,
                            assignment);
    *value++ = '\0';
    if (strcmp(assignment, "cache") == 0) {
        spec->has_cache = true;
        if (sb_parse_size(value, &spec->cache_bytes))
            return sb_error_set(SB_ERR_UNSUPPORTED, 0, "%s: '%s' is not a size such as 64MiB",
                                spec->label, value);
        return 0;
    }
    for (const struct sb_option *o = driver->options; o && o->name; o++)
        if (strcmp(o->name, assignment) == 0)
            return parse_value(driver, o, value, member(spec->options, o));
    return unknown_option(driver, assignment);
}

static int unknown_driver(const struct sb_registry *registry, const char *name)
{
    const char *nearest = sb_registry_nearest(registry, name);

    if (nearest)
        return sb_error_set(SB_ERR_UNSUPPORTED, 0, "no driver '%s'; did you mean '%s'?", name,
                            nearest);
    return sb_error_set(SB_ERR_UNSUPPORTED, 0,
                        "no driver '%s'; 'storebench list' shows those of this build", name);
}

int sb_spec_parse(struct sb_spec *spec, const struct sb_registry *registry, const char *text)
{
    char *copy = sb_format("%s", text);
    char *rest = copy;
    char *name = strsep(&rest, ":");
    int rc = 0;

    *spec = (struct sb_spec){.label = sb_format("%s", text)};
    spec->entry = sb_registry_find(registry, name);
    if (!spec->entry) {
        rc = unknown_driver(registry, name);
        goto out;
    }
    if (spec->entry->driver->options_bytes) {
        spec->options = sb_alloc(1, spec->entry->driver->options_bytes);
        rc = set_defaults(spec->entry->driver, spec->options);
    }
    for (char *item = strsep(&rest, ":"); item && !rc; item = strsep(&rest, ":"))
        rc = set_option(spec, item);
out:
    free(copy);
    return rc;
}

void sb_spec_release(struct sb_spec *spec)
{
    free(spec->label);
    free(spec->options);
    *spec = (struct sb_spec){0};
}

static int append(struct sb_spec **specsp, size_t *countp, const struct sb_registry *registry,
                  const char *text)
{
    struct sb_spec spec;
    int rc;

    for (size_t i = 0; i < *countp; i++)
        if (strcmp((*specsp)[i].label, text) == 0)
            return 0; /* named twice, for example by two patterns */
    rc = sb_spec_parse(&spec, registry, text);
    if (rc) {
        sb_spec_release(&spec);
        return rc;
    }
    *specsp = sb_grow(*specsp, *countp + 1, sizeof(**specsp));
    (*specsp)[(*countp)++] = spec;
    return 0;
}

int sb_spec_expand(struct sb_spec **specsp, size_t *countp, const struct sb_registry *registry,
                   const char *item)
{
    size_t name_bytes = strcspn(item, ":");
    char *pattern = sb_format("%.*s", (int)name_bytes, item);
    bool matched = false;
    int rc = 0;

    if (!strpbrk(pattern, "*?[")) {
        free(pattern);
        return append(specsp, countp, registry, item);
    }
    for (size_t i = 0; i < registry->entry_count && !rc; i++) {
        const char *name = registry->entries[i].driver->name;
        char *text;

        if (fnmatch(pattern, name, 0) != 0)
            continue;
        if (registry->entries[i].driver->caps & SB_CAP_DISCARDS)
            continue; /* no store: only when it is asked for by name */
        matched = true;
        text = sb_format("%s%s", name, item + name_bytes);
        rc = append(specsp, countp, registry, text);
        free(text);
    }
    if (!matched)
        rc = sb_error_set(SB_ERR_UNSUPPORTED, 0, "no driver matches '%s'", pattern);
    free(pattern);
    return rc;
}
