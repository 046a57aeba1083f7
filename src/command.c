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

/* Writes the options that also have one letter, as getopt takes them. */
static void list_short(const struct option *options, char *text, size_t size)
{
    size_t used = 0;

    text[used++] = ':';
    for (; options->name && used + 1 < size; options++)
        if (options->val != 1)
            text[used++] = (char)options->val;
    text[used] = '\0';
}

static int find_short(const struct option *options, int letter)
{
    for (int i = 0; options[i].name; i++)
        if (options[i].val == letter)
            return i;
    return -2;
}

int sb_next_option(int argc, char **argv, const struct option *options)
{
    char letters[32];
    int index = -1;
    int got;

    opterr = 0;
    list_short(options, letters, sizeof(letters));
    got = getopt_long(argc, argv, letters, options, &index);
    if (got == -1)
        return -1;
    if (got == ':') {
        (void)fprintf(stderr, "storebench: option '%s' needs a value\n", argv[optind - 1]);
        return -2;
    }
    if (got != '?')
        return index >= 0 ? index : find_short(options, got);
    if (optopt == 1) /* `val` of all our options: a value where none belongs */
        (void)fprintf(stderr, "storebench: bad option '%s'; see 'storebench help'\n",
                      argv[optind - 1]);
    else if (optopt) /* a short option */
        (void)fprintf(stderr, "storebench: no option '-%c'; see 'storebench help'\n", optopt);
    else
        complain_unknown(argv[optind - 1], options);
    return -2;
}
