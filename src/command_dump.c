/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * command_dump.c -- `storebench dump`: all records of a store as JSON Lines (jsonl.h), in the order
 * of its cursor, one record in memory at a time.
 */
#include "command.h"
#include "digest.h"
#include "jsonl.h"
#include "mem.h"
#include "outfile.h"
#include "runner.h"
#include "userstore.h"

#include <inttypes.h>
#include <stdlib.h>

enum { OPT_OUT, OPT_DURABILITY, OPT_RECOVER, OPT_HELP };

static const struct option option_table[] = {
    [OPT_OUT] = {"out", required_argument, NULL, 1},
    [OPT_DURABILITY] = {"durability", required_argument, NULL, 1},
    [OPT_RECOVER] = {"recover", no_argument, NULL, 1},
    [OPT_HELP] = {"help", no_argument, NULL, 1},
    {NULL, 0, NULL, 0}};

struct dump {
    const char *out_path, *level;
    bool recover;
    struct sb_userstore us;
    struct sb_outfile out;
    struct sb_digest digest;
};

void sb_help_dump(FILE *stream)
{
    (void)fputs(
        "Usage: storebench dump DRIVER[:option=value]... DIR [OPTION]...\n\n"
        "Writes every record of the store in DIR as a line of JSON, in the store's own order:\n\n"
        "  {\"key\": \"text\", \"value\": \"text\"}\n\n"
        "A key or value that is not UTF-8 is \"key_base64\" or \"value_base64\". At the end the\n"
        "number of records and their digest, which does not depend on the order, are printed to\n"
        "standard error: stores with the same records have the same digest. Options that the\n"
        "store was made with, such as bdb-btree:page=8KiB, are given again.\n\n"
        "  --out=FILE          instead of standard output; FILE.partial until it is complete\n"
        "  --recover           the store's process died: runs the library's recovery first\n"
        "  --durability=LEVEL  opens the store at none, process or power [the lowest it has; with\n"
        "                      --recover: process]\n\n"
        "The store is opened like any other and must not be in use. 'storebench load' reads the\n"
        "lines again, into any store.\n",
        stream);
}

static int dump_record(void *arg, struct sb_slice key, struct sb_slice value)
{
    struct dump *d = arg;
    int rc = sb_jsonl_write(d->out.stream, key, value);

    if (rc == SB_ERR_NOMEM)
        return sb_error_set(SB_ERR_NOMEM, 0, "out of memory for a record");
    if (rc)
        return sb_outfile_failed(&d->out);
    sb_digest_add(&d->digest, key.data, key.size_bytes, value.data, value.size_bytes);
    return 0;
}

static int stopped(struct dump *d)
{
    (void)fprintf(stderr, "storebench: interrupted; the dump is not complete\n");
    sb_outfile_discard(&d->out, false);
    return SB_EXIT_SIGNAL + sb_stop_signal;
}

/* What could be read of a store that is damaged stays in the partial file. */
static int failed(struct dump *d, int rc)
{
    char *more = NULL;
    bool keep = d->us.scan_failed && d->out.path && d->digest.records > 0;
    int status;

    if (keep)
        more = sb_format("the %" PRIu64 " records before it are in %s", d->digest.records,
                         d->out.partial);
    status = sb_userstore_complain(rc, more);
    sb_outfile_discard(&d->out, keep);
    free(more);
    return status;
}

static int dump(struct dump *d)
{
    char digest[SB_DIGEST_TEXT_BYTES];
    int rc = sb_userstore_open(&d->us);

    if (!rc)
        rc = sb_userstore_scan(&d->us, dump_record, d);
    if (sb_stop_signal)
        return stopped(d);
    if (!rc)
        rc = sb_outfile_finish(&d->out);
    if (!rc)
        rc = sb_store_close(&d->us.handle);
    if (rc)
        return failed(d, rc);
    sb_digest_text(&d->digest, digest);
    (void)fprintf(stderr, "storebench: %" PRIu64 " records, digest %s\n", d->digest.records,
                  digest);
    return SB_EXIT_OK;
}

static int prepare_and_dump(struct dump *d, const char *driver, const char *dir, char **argv)
{
    int status;

    if (sb_userstore_find(&d->us, driver, argv) || sb_userstore_set_dir(&d->us, dir))
        return sb_complain();
    d->us.args.mode = d->recover ? SB_RECOVER : SB_REOPEN;
    if (sb_userstore_set_level(&d->us, d->level))
        return sb_complain();
    sb_userstore_catch_stop();
    sb_userstore_catch_crash(&d->us);
    if (sb_outfile_open(&d->out, d->out_path))
        return d->out.path ? sb_complain() : sb_userstore_complain(sb_error_last()->code, NULL);
    status = dump(d);
    sb_outfile_discard(&d->out, false);
    return status;
}

int sb_command_dump(int argc, char **argv)
{
    struct dump d = {.out_path = NULL};
    int option, status;

    optind = 1;
    while ((option = sb_next_option(argc, argv, option_table)) >= 0) {
        if (option == OPT_HELP) {
            sb_help_dump(stdout);
            return SB_EXIT_OK;
        }
        if (option == OPT_OUT)
            d.out_path = optarg;
        else if (option == OPT_DURABILITY)
            d.level = optarg;
        else
            d.recover = true;
    }
    if (option == -2)
        return SB_EXIT_USAGE;
    if (argc - optind < 2) {
        (void)fputs("storebench: dump needs DRIVER and DIR; see 'storebench help dump'\n", stderr);
        return SB_EXIT_USAGE;
    }
    if (argc - optind > 2)
        return sb_no_arguments(argv[optind + 2]);
    status = prepare_and_dump(&d, argv[optind], argv[optind + 1], argv);
    sb_userstore_release(&d.us);
    return status;
}
