/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * command_list.c -- `storebench list`: the drivers of this build.
 */
#include "caps.h"
#include "command.h"
#include "jsonx.h"
#include "params.h"
#include "registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
    {"json", required_argument, NULL, 1}, {"help", no_argument, NULL, 1}, {NULL, 0, NULL, 0}};

void sb_help_list(FILE *stream)
{
    (void)fputs(
        "Usage: storebench list [--json=FILE|-]\n\n"
        "Shows every driver of this build with its library, durability levels, capabilities and\n"
        "options. An option is written after the driver: lmdb:writemap=on:cache=64MiB. Every "
        "driver\n"
        "takes cache=SIZE. Modules that could not be loaded are named on standard error.\n",
        stream);
}

static const char *type_name(const struct sb_option *o)
{
    switch (o->type) {
    case SB_OPTION_BOOL:
        return "on|off";
    case SB_OPTION_INT:
        return "N";
    case SB_OPTION_SIZE:
        return "SIZE";
    default:
        return o->choices;
    }
}

static void print_words(uint32_t bits)
{
    const char *separator = "";

    for (size_t i = 0; i < sb_cap_count; i++) {
        if (!(bits & sb_cap_names[i].bit))
            continue;
        (void)printf("%s%s", separator, sb_cap_names[i].name);
        separator = ", ";
    }
}

static void print_driver(const struct sb_driver *d)
{
    const char *separator = "";

    (void)printf("%s - %s\n  library: %s\n  durability: ", d->name, d->summary, d->version());
    for (int level = 0; level < SB_LEVEL_COUNT; level++) {
        if (!(d->levels & SB_LEVEL_BIT(level)))
            continue;
        (void)printf("%s%s", separator, sb_level_name((enum sb_level)level));
        separator = ", ";
    }
    (void)printf("\n  can: ");
    print_words(d->caps);
    (void)putchar('\n');
    for (const struct sb_option *o = d->options; o && o->name; o++)
        (void)printf("  %s=%s  %s%s%s%s\n", o->name, type_name(o), o->help,
                     o->default_value ? " [" : "", o->default_value ? o->default_value : "",
                     o->default_value ? "]" : "");
}

static json_t *describe_option(const struct sb_option *o)
{
    static const char *const types[] = {"bool", "int", "size", "enum"};
    json_t *object = json_object();

    sb_json_text(object, "name", o->name);
    sb_json_text(object, "type", types[o->type]);
    sb_json_text(object, "unit", o->unit ? o->unit : "");
    (void)sb_json_take(object, "default",
                       o->default_value ? json_string(o->default_value) : json_null());
    if (o->type == SB_OPTION_INT || o->type == SB_OPTION_SIZE) {
        (void)sb_json_take(object, "min", json_integer(o->min));
        (void)sb_json_take(object, "max", json_integer(o->max));
    }
    if (o->choices)
        sb_json_text(object, "choices", o->choices);
    sb_json_text(object, "help", o->help);
    return object;
}

static json_t *describe_driver(const struct sb_registry_entry *entry)
{
    const struct sb_driver *d = entry->driver;
    json_t *object = json_object();
    json_t *list;

    sb_json_text(object, "name", d->name);
    sb_json_text(object, "summary", d->summary);
    sb_json_text(object, "library_version", d->version());
    sb_json_text(object, "module", entry->module_path);
    list = sb_json_take(object, "durability", json_array());
    for (int level = 0; level < SB_LEVEL_COUNT; level++)
        if (d->levels & SB_LEVEL_BIT(level))
            sb_json_append_text(list, sb_level_name((enum sb_level)level));
    list = sb_json_take(object, "capabilities", json_array());
    for (size_t i = 0; i < sb_cap_count; i++)
        if (d->caps & sb_cap_names[i].bit)
            sb_json_append_text(list, sb_cap_names[i].name);
    sb_json_u64(object, "key_bytes_min", d->key_bytes_min);
    sb_json_u64(object, "key_bytes_max", d->key_bytes_max);
    sb_json_u64(object, "value_bytes_max", d->value_bytes_max);
    sb_json_u64(object, "database_bytes_max", d->database_bytes_max);
    list = sb_json_take(object, "options", json_array());
    for (const struct sb_option *o = d->options; o && o->name; o++)
        sb_json_append_take(list, describe_option(o));
    return object;
}

static json_t *describe_all(const struct sb_registry *registry)
{
    json_t *document = json_object();
    json_t *drivers = sb_json_take(document, "drivers", json_array());
    json_t *rejected = sb_json_take(document, "rejected", json_array());

    for (size_t i = 0; i < registry->entry_count; i++)
        sb_json_append_take(drivers, describe_driver(&registry->entries[i]));
    for (size_t i = 0; i < registry->rejection_count; i++) {
        json_t *object = json_object();

        sb_json_text(object, "module", registry->rejections[i].module_path);
        sb_json_text(object, "reason", registry->rejections[i].reason);
        sb_json_append_take(rejected, object);
    }
    return document;
}

static int list_all(const char *json)
{
    struct sb_registry registry;
    int status = SB_EXIT_OK;

    sb_registry_load(&registry);
    for (size_t i = 0; i < registry.rejection_count; i++)
        (void)fprintf(stderr, "storebench: %s: %s\n", registry.rejections[i].module_path,
                      registry.rejections[i].reason);
    if (json) {
        json_t *document = describe_all(&registry);

        status = sb_write_json(document, json);
        json_decref(document);
    }
    for (size_t i = 0; i < registry.entry_count && !json; i++) {
        if (i)
            (void)putchar('\n');
        print_driver(registry.entries[i].driver);
    }
    if (!registry.entry_count) {
        (void)fputs("storebench: no driver found; STOREBENCH_DRIVER_PATH may name a folder\n",
                    stderr);
        status = SB_EXIT_NOTHING;
    }
    sb_registry_release(&registry);
    return status;
}

int sb_command_list(int argc, char **argv)
{
    const char *json = NULL;
    int option;

    optind = 1;
    while ((option = sb_next_option(argc, argv, options)) >= 0) {
        if (option == 1) {
            sb_help_list(stdout);
            return SB_EXIT_OK;
        }
        json = optarg;
    }
    if (option == -2)
        return SB_EXIT_USAGE;
    if (optind < argc)
        return sb_no_arguments(argv[optind]);
    return list_all(json);
}
