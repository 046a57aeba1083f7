/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * main.c -- the table of subcommands. Data flows one way from here: command line and suites to a
 * plan, the plan to a campaign, its repeats to a result, the result to a table.
 */
#include "buildinfo.h"
#include "command.h"
#include "nearest.h"
#include "reopen.h"
#include "repeat.h"
#include "tracer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int command_help(int argc, char **argv);

static void help_help(FILE *stream)
{
    (void)fputs("Usage: storebench help [COMMAND]\n\n"
                "Explains a command, or lists them all.\n",
                stream);
}

const struct sb_command sb_commands[] = {
    {"list", "show the drivers of this build, their levels and options", sb_command_list,
     sb_help_list},
    {"run", "measure: run a suite, write a result file, print a table", sb_command_run,
     sb_help_run},
    {"report", "print the tables of result files again", sb_command_report, sb_help_report},
    {"probe", "show this machine's facts and ceilings", sb_command_probe, sb_help_probe},
    {"dump", "write the records of a store as JSON Lines", sb_command_dump, sb_help_dump},
    {"load", "make a store from JSON Lines", sb_command_load, sb_help_load},
    {"tool", "verify, stat or salvage a store by its own library", sb_command_tool, sb_help_tool},
    {"help", "explain a command", command_help, help_help},
    {NULL, NULL, NULL, NULL},
};

static void print_overview(FILE *stream)
{
    (void)fputs("storebench compares embedded key-value stores, honestly.\n\n"
                "Usage: storebench COMMAND [OPTION]...\n\n"
                "Commands:\n",
                stream);
    for (const struct sb_command *c = sb_commands; c->name; c++)
        (void)fprintf(stream, "  %-8s %s\n", c->name, c->summary);
    (void)fputs(
        "\n'storebench run' alone runs the quick suite on all drivers (3 minutes at most).\n"
        "'storebench help COMMAND' explains a command; 'storebench --version' tells the "
        "version.\n\n"
        "Exit status: 0 all went well; 1 a store failed, crashed or timed out; 2 bad usage "
        "or\ninput; 3 nothing could run; 128 + N ended by signal N.\n",
        stream);
}

static const struct sb_command *find_command(const char *name)
{
    struct sb_nearest nearest;

    sb_nearest_init(&nearest, name);
    for (const struct sb_command *c = sb_commands; c->name; c++) {
        if (strcmp(c->name, name) == 0)
            return c;
        sb_nearest_offer(&nearest, c->name);
    }
    if (nearest.best)
        (void)fprintf(stderr, "storebench: no command '%s'; did you mean '%s'?\n", name,
                      nearest.best);
    else
        (void)fprintf(stderr, "storebench: no command '%s'; 'storebench help' lists them\n", name);
    return NULL;
}

static int command_help(int argc, char **argv)
{
    const struct sb_command *command;

    if (argc < 2) {
        print_overview(stdout);
        return SB_EXIT_OK;
    }
    command = find_command(argv[1]);
    if (!command)
        return SB_EXIT_USAGE;
    command->help(stdout);
    return SB_EXIT_OK;
}

static int print_version(void)
{
    (void)printf("storebench %s%s%s\n", SB_VERSION, *SB_GIT ? " " : "", SB_GIT);
    return SB_EXIT_OK;
}

static int dispatch(int argc, char **argv)
{
    const struct sb_command *command;

    if (argc < 2) {
        print_overview(stderr);
        return SB_EXIT_USAGE;
    }
    if (strcmp(argv[1], "repeat-process") == 0)
        return sb_repeat_main();
    if (strcmp(argv[1], "count-process") == 0)
        return sb_tracer_main();
    if (strcmp(argv[1], "writer-process") == 0)
        return sb_reopen_writer_main();
    if (strcmp(argv[1], "--version") == 0)
        return print_version();
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return command_help(1, argv);
    command = find_command(argv[1]);
    return command ? command->run(argc - 1, argv + 1) : SB_EXIT_USAGE;
}

/* The number of a closed stream must not go to a file of ours. Writing to the one that takes the
 * place of standard output fails, as it should. */
static void fill_closed_streams(void)
{
    static const int modes[] = {O_RDONLY, O_RDONLY, O_RDWR};

    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", modes[fd]); /* the lowest free number is this one */
}

int main(int argc, char **argv)
{
    int status;

    fill_closed_streams();
    status = dispatch(argc, argv);

    /* A full disk or a closed pipe must not look like success. Bad usage has been told. */
    if ((fflush(stdout) || ferror(stdout)) && status != SB_EXIT_USAGE) {
        (void)fputs("storebench: cannot write to standard output\n", stderr);
        status = status == SB_EXIT_OK ? SB_EXIT_USAGE : status;
    }
    return status;
}
