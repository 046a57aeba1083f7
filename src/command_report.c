/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * command_report.c -- `storebench report`: the tables of result files that were written earlier.
 */
#include "command.h"
#include "error.h"
#include "jsonx.h"
#include "result.h"
#include "table.h"

#include <string.h>

static const struct option options[] = {{"help", no_argument, NULL, 1}, {NULL, 0, NULL, 0}};

void sb_help_report(FILE *stream)
{
    (void)fputs("Usage: storebench report RESULT...\n\n"
                "Prints the tables of result files, as 'storebench run' did at its end.\n",
                stream);
}

static int report_file(const char *path)
{
    json_error_t error;
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

    if (!document) {
        (void)sb_error_set(SB_ERR_FAILED, 0, "%s:%d:%d: %s", path, error.line, error.column,
                           error.text);
        return sb_complain();
    }
    if (strcmp(sb_json_get_text(document, "schema", ""), SB_RESULT_SCHEMA) != 0) {
        (void)sb_error_set(SB_ERR_UNSUPPORTED, 0,
                           "%s is not a result of this version: its 'schema' is '%s', not '%s'",
                           path, sb_json_get_text(document, "schema", ""), SB_RESULT_SCHEMA);
        json_decref(document);
        return sb_complain();
    }
    sb_table_print(stdout, document);
    json_decref(document);
    return SB_EXIT_OK;
}

int sb_command_report(int argc, char **argv)
{
    int option, status = SB_EXIT_OK;

    optind = 1;
    while ((option = sb_next_option(argc, argv, options)) >= 0) {
        sb_help_report(stdout);
        return SB_EXIT_OK;
    }
    if (option == -2)
        return SB_EXIT_USAGE;
    if (optind == argc) {
        (void)fputs("storebench: report needs a result file; see 'storebench help report'\n",
                    stderr);
        return SB_EXIT_USAGE;
    }
    for (int i = optind; i < argc; i++) {
        int rc = report_file(argv[i]);

        status = rc ? rc : status;
    }
    return status;
}
