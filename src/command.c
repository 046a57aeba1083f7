/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * command.c -- what the subcommands share: see command.h.
 */
#include "command.h"

#include "error.h"
#include "nearest.h"

#include <errno.h>
#include <string.h>

int sb_complain(void)
{
    (void)fprintf(stderr, "storebench: %s\n", sb_error_last()->text);
    return SB_EXIT_USAGE;
}

int sb_no_arguments(const char *argument)
{
    (void)fprintf(stderr, "storebench: unexpected argument '%s'; see 'storebench help'\n",
                  argument);
    return SB_EXIT_USAGE;
}

int sb_write_json(const json_t *document, const char *path)
{
    const size_t flags = JSON_INDENT(2) | JSON_PRESERVE_ORDER;

    if (strcmp(path, "-") == 0) {
        if (json_dumpf(document, stdout, flags) == 0 && putchar('\n') != EOF)
            return SB_EXIT_OK;
    } else if (json_dump_file(document, path, flags) == 0) {
        return SB_EXIT_OK;
    }
    (void)sb_error_errno(errno, "cannot write %s", path);
    return sb_complain();
}

static void complain_unknown(const char *word, const struct option *options)
{
    struct sb_nearest nearest;
    char name[64];

    (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
    sb_nearest_init(&nearest, name + strspn(name, "-"));
    for (const struct option *o = options; o->name; o++)
        sb_nearest_offer(&nearest, o->name);
    if (nearest.best)
        (void)fprintf(stderr, "storebench: no option '%s'; did you mean '--%s'?\n", name,
                      nearest.best);
    else
        (void)fprintf(stderr, "storebench: no option '%s'; see 'storebench help'\n", name);
}

int sb_next_option(int argc, char **argv, const struct option *options)
{
    int index = -1;
    int got;

    opterr = 0;
    got = getopt_long(argc, argv, ":", options, &index);
    if (got == -1)
        return -1;
    if (got == ':') {
        (void)fprintf(stderr, "storebench: option '%s' needs a value\n", argv[optind - 1]);
        return -2;
    }
    if (got != '?')
        return index;
    if (optopt == 1) /* `val` of all our options: a value where none belongs */
        (void)fprintf(stderr, "storebench: bad option '%s'; see 'storebench help'\n",
                      argv[optind - 1]);
    else if (optopt) /* a short option: there are none */
        (void)fprintf(stderr, "storebench: no option '-%c'; see 'storebench help'\n", optopt);
    else
        complain_unknown(argv[optind - 1], options);
    return -2;
}
