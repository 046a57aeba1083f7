/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * command.h -- the subcommands, and what they share.
 *
 * Exit statuses, documented in the manual page.
 */
#ifndef SB_COMMAND_H
#define SB_COMMAND_H

#include <getopt.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

enum sb_exit {
    SB_EXIT_OK = 0,
    SB_EXIT_FAILED = 1,  /* ran, but a store failed, crashed or timed out */
    SB_EXIT_USAGE = 2,   /* bad option, suite, directory or file */
    SB_EXIT_NOTHING = 3, /* nothing could run */
    SB_EXIT_SIGNAL = 128 /* plus the signal's number: interrupted, finished repeats are kept */
};

struct sb_command {
    const char *name;
    const char *summary;
    /* argv[0] is the command's name. Returns the exit status. */
    int (*run)(int argc, char **argv);
    void (*help)(FILE *stream);
};

/* Ends with an entry whose name is NULL. */
extern const struct sb_command sb_commands[];

int sb_command_dump(int argc, char **argv);
void sb_help_dump(FILE *stream);
int sb_command_list(int argc, char **argv);
void sb_help_list(FILE *stream);
int sb_command_load(int argc, char **argv);
void sb_help_load(FILE *stream);
int sb_command_probe(int argc, char **argv);
void sb_help_probe(FILE *stream);
int sb_command_report(int argc, char **argv);
void sb_help_report(FILE *stream);
int sb_command_run(int argc, char **argv);
void sb_help_run(FILE *stream);
int sb_command_tool(int argc, char **argv);
void sb_help_tool(FILE *stream);

/* Prints "storebench: " and the last error to standard error; returns SB_EXIT_USAGE. */
int sb_complain(void);

/* Complains about an argument where none belongs; returns SB_EXIT_USAGE. */
int sb_no_arguments(const char *argument);

/* Writes a document to a file, or to standard output for "-"; complains on failure. Returns an exit
 * status. */
int sb_write_json(const json_t *document, const char *path);

/* getopt_long that complains in our own words: names the bad option and its nearest match.
 * `options` ends with zeros; every `val` is 1, or the letter of a short form
 * without a value, and every `flag` NULL. Returns the index of the
 * option in the table, -1 at the end, -2 after a complaint. */
int sb_next_option(int argc, char **argv, const struct option *options);

#endif
