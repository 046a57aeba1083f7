/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * command_load.c -- `storebench load`: JSON Lines (jsonl.h) into a store. The first line is read
 * before the store is made, so that a wrong file leaves nothing behind; after that all lines before
 * a wrong one, or before an interruption, are committed.
 */
#include "command.h"
#include "digest.h"
#include "diskuse.h"
#include "jsonl.h"
#include "mem.h"
#include "outfile.h"
#include "runner.h"
#include "units.h"
#include "userstore.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPT_DURABILITY, OPT_BATCH, OPT_REPLACE, OPT_HELP };

static const struct option option_table[] = {
    [OPT_DURABILITY] = {"durability", required_argument, NULL, 1},
    [OPT_BATCH] = {"batch", required_argument, NULL, 1},
    [OPT_REPLACE] = {"replace", no_argument, NULL, 1},
    [OPT_HELP] = {"help", no_argument, NULL, 1},
    {NULL, 0, NULL, 0}};

enum { BATCH_DEFAULT = 1000, SAMPLE_BYTES = 1 << 20 };
static const uint64_t batch_max = 1ull << 32;
static const size_t line_bytes_max = 4ull << 30;

struct load {
    const char *level, *dir;
    bool replace;
    uint64_t batch_records;
    struct sb_userstore us;

    FILE *in;
    const char *in_name;
    char *line;
    size_t line_bytes, room_bytes;
    uint64_t line_number;
    struct sb_jsonl record;

    uint64_t put, committed; /* records */
};

void sb_help_load(FILE *stream)
{
    (void)fputs(
        "Usage: storebench load DRIVER[:option=value]... DIR [FILE|-] [OPTION]...\n\n"
        "Makes a store in DIR, which must be empty or not exist, and puts the records of FILE\n"
        "(default: standard input) into it. A line is a record, as 'storebench dump' writes it:\n\n"
        "  {\"key\": \"text\", \"value\": \"text\"}   or \"key_base64\", \"value_base64\"\n\n"
        "At the end the store is read once: the number of its records and their digest are "
        "printed\n"
        "and must be those of a dump. Of lines with the same key the last one counts.\n\n"
        "  --batch=N           records in a commit [1000]\n"
        "  --durability=LEVEL  of each commit: none, process or power [the lowest it has]\n"
        "  --replace           puts into the store that is in DIR; records with other keys stay\n\n"
        "A wrong line ends the load with its number; what was before it stays. SIGINT and SIGTERM\n"
        "end it after a commit, with the store closed properly. LMDB reserves its map by the size\n"
        "of FILE; when a pipe brings more than 1 GiB say lmdb:mapsize=SIZE.\n",
        stream);
}

/* ---- lines -------------------------------------------------------------------------------- */

static int read_failed(const struct load *l)
{
    return sb_error_set(errno == EISDIR ? SB_ERR_UNSUPPORTED : SB_ERR_FAILED, errno,
                        "cannot read %s: %s", l->in_name, strerror(errno));
}

static int grow_line(struct load *l)
{
    size_t room = l->room_bytes ? l->room_bytes * 2 : 4096;
    char *grown = realloc(l->line, room);

    if (!grown)
        return sb_error_set(SB_ERR_NOMEM, 0, "%s:%" PRIu64 ": out of memory for the line",
                            l->in_name, l->line_number);
    l->line = grown;
    l->room_bytes = room;
    return 0;
}

/* The next line without its newline. SB_NOTFOUND at the end, and when a signal came. */
static int next_line(struct load *l)
{
    int c = EOF, rc = 0;

    l->line_bytes = 0;
    l->line_number++;
    while (!rc && (c = getc_unlocked(l->in)) != EOF && c != '\n') {
        if (l->line_bytes == line_bytes_max)
            return sb_error_set(SB_ERR_UNSUPPORTED, 0, "%s:%" PRIu64 ": the line is over 4 GiB",
                                l->in_name, l->line_number);
        if (l->line_bytes == l->room_bytes)
            rc = grow_line(l);
        if (!rc)
            l->line[l->line_bytes++] = (char)c;
    }
    if (rc)
        return rc;
    if (sb_stop_signal)
        return SB_NOTFOUND;
    if (ferror(l->in))
        return read_failed(l);
    return c == EOF && !l->line_bytes ? SB_NOTFOUND : 0;
}

/* The next record, in l->record; empty lines are skipped. */
static int next_record(struct load *l)
{
    int rc;

    do
        rc = next_line(l);
    while (!rc && !l->line_bytes);
    if (rc)
        return rc;
    rc = sb_jsonl_parse(&l->record, l->line, l->line_bytes);
    if (rc)
        return sb_error_set((enum sb_code)rc, 0, "%s:%" PRIu64 ": the line %s", l->in_name,
                            l->line_number, l->record.wrong);
    if (sb_store_limits(l->us.spec.entry->driver, l->record.key.size_bytes,
                        l->record.value.size_bytes))
        return sb_error_prefix("%s:%" PRIu64 ": ", l->in_name, l->line_number);
    return 0;
}

/* ---- the store ---------------------------------------------------------------------------- */

/* What is to come, so that the store can size itself: from a file's size and its first lines. */
static void expect(struct load *l)
{
    struct sb_open *args = &l->us.args;
    off_t at = lseek(fileno(l->in), 0, SEEK_CUR);
    struct stat status;
    char *sample;
    ssize_t got;
    uint64_t lines = 0;

    if (fstat(fileno(l->in), &status) || !S_ISREG(status.st_mode) || at < 0 || status.st_size <= at)
        return;
    args->expected_bytes = (uint64_t)(status.st_size - at);
    sample = sb_alloc(1, SAMPLE_BYTES);
    got = pread(fileno(l->in), sample, SAMPLE_BYTES, at);
    for (ssize_t i = 0; i < got; i++)
        lines += sample[i] == '\n';
    free(sample);
    if (got > 0)
        args->expected_records = args->expected_bytes / (uint64_t)got * lines + lines;
}

static int open_store(struct load *l)
{
    struct sb_disk_use use;
    int rc =
        l->replace ? sb_userstore_set_dir(&l->us, l->dir) : sb_userstore_make_dir(&l->us, l->dir);

    if (rc)
        return rc;
    if (l->replace && sb_disk_use(l->us.dir, &use) == 0)
        l->us.args.expected_bytes += use.allocated_bytes;
    l->us.args.batch_records = l->batch_records;
    if (l->replace)
        sb_userstore_catch_crash(&l->us);
    return sb_userstore_open(&l->us);
}

/* Ends the unit of a put that failed; the error of the put is the one to tell. */
static int give_up(struct load *l, int rc)
{
    struct sb_store_handle *h = &l->us.handle;
    struct sb_error error = *sb_error_last();

    if (h->caps & SB_CAP_TXN) {
        (void)sb_store_abort(h, h->session);
    } else {
        (void)sb_store_commit(h, h->session, SB_WRITE);
        l->committed = l->put; /* there was nothing to undo them */
    }
    if (error.code != rc)
        return sb_error_set((enum sb_code)rc, 0, "%s:%" PRIu64 ": the put failed without a text",
                            l->in_name, l->line_number);
    return sb_error_set((enum sb_code)rc, error.native_code, "%s:%" PRIu64 ": %s", l->in_name,
                        l->line_number, error.text);
}

/* Puts the record at hand and those after it, up to a whole batch. SB_NOTFOUND after the last one.
 * The records before a wrong line are to be committed: *wrongp keeps its error until then. */
static int put_batch(struct load *l, int *nextp, struct sb_error *wrongp)
{
    struct sb_store_handle *h = &l->us.handle;
    uint64_t end = l->put + l->batch_records;
    int rc;

    for (*nextp = 0; !*nextp && l->put < end;) {
        rc = sb_store_put(h, h->session, l->record.key, l->record.value);
        if (rc)
            return give_up(l, rc);
        if (++l->put < end) /* a full batch is committed before its input may wait */
            *nextp = next_record(l);
    }
    *wrongp = *sb_error_last();
    return 0;
}

static int load_batch(struct load *l)
{
    struct sb_store_handle *h = &l->us.handle;
    struct sb_error wrong;
    int next = 0;
    int rc = sb_store_begin(h, h->session, SB_WRITE);

    if (!rc)
        rc = put_batch(l, &next, &wrong);
    if (!rc)
        rc = sb_store_commit(h, h->session, SB_WRITE);
    if (rc)
        return rc;
    l->committed = l->put;
    if (next < 0)
        return sb_error_set((enum sb_code)wrong.code, wrong.native_code, "%s", wrong.text);
    return next ? next : next_record(l);
}

static int load_all(struct load *l)
{
    int rc, more;

    expect(l);
    more = next_record(l);
    if (more < 0 || sb_stop_signal)
        return more;
    rc = open_store(l);
    while (!rc && !more)
        more = load_batch(l);
    if (rc || more < 0)
        return rc ? rc : more;
    return sb_stop_signal ? 0 : sb_store_sync(&l->us.handle);
}

/* ---- the end ------------------------------------------------------------------------------ */

static char *what_stays(const struct load *l)
{
    if (!l->committed)
        return sb_format("nothing was loaded%s", sb_error_last()->native_code == ENOTEMPTY
                                                     ? " (--replace puts into a store)"
                                                     : "");
    return sb_format("records committed to %s: %" PRIu64, l->dir, l->committed);
}

static int add_to_digest(void *arg, struct sb_slice key, struct sb_slice value)
{
    sb_digest_add(arg, key.data, key.size_bytes, value.data, value.size_bytes);
    return 0;
}

static int print_result(struct load *l)
{
    struct sb_digest digest = {0};
    struct sb_outfile out;
    char text[SB_DIGEST_TEXT_BYTES];
    int rc = sb_userstore_scan(&l->us, add_to_digest, &digest);

    if (!rc)
        rc = sb_store_close(&l->us.handle);
    if (!rc && !sb_stop_signal)
        rc = sb_outfile_open(&out, NULL);
    if (rc || sb_stop_signal)
        return rc;
    sb_digest_text(&digest, text);
    (void)fprintf(out.stream,
                  "%" PRIu64 " records loaded; the store has %" PRIu64 " records, digest %s\n",
                  l->committed, digest.records, text);
    return sb_outfile_finish(&out);
}

static int load(struct load *l)
{
    int rc = load_all(l);
    char *stays;
    int status = SB_EXIT_OK;

    if (!rc && !sb_stop_signal)
        rc = print_result(l);
    else if (rc >= 0)
        rc = sb_store_close(&l->us.handle);
    if (rc >= 0 && !sb_stop_signal)
        return SB_EXIT_OK;
    stays = what_stays(l);
    if (rc < 0) {
        status = sb_userstore_complain(rc, stays);
    } else {
        (void)fprintf(stderr, "storebench: interrupted; %s\n", stays);
        status = SB_EXIT_SIGNAL + sb_stop_signal;
    }
    free(stays);
    return status;
}

static int open_and_load(struct load *l, const char *driver, const char *path, char **argv)
{
    bool is_stdin = !path || strcmp(path, "-") == 0;
    int status;

    if (sb_userstore_find(&l->us, driver, argv))
        return sb_complain();
    l->us.args.mode = l->replace ? SB_REOPEN : SB_CREATE;
    if (sb_userstore_set_level(&l->us, l->level))
        return sb_complain();
    l->in_name = is_stdin ? "standard input" : path;
    l->in = is_stdin ? stdin : fopen(path, "re");
    if (!l->in) {
        (void)read_failed(l);
        return sb_complain();
    }
    sb_userstore_catch_stop();
    status = load(l);
    sb_jsonl_release(&l->record);
    free(l->line);
    if (!is_stdin)
        (void)fclose(l->in);
    return status;
}

static int parse_batch(struct load *l, const char *text)
{
    if (sb_parse_count(text, &l->batch_records) == 0 && l->batch_records &&
        l->batch_records <= batch_max)
        return 0;
    (void)fprintf(stderr, "storebench: --batch takes a number of 1 or more, not '%s'\n", text);
    return -1;
}

int sb_command_load(int argc, char **argv)
{
    struct load l = {.batch_records = BATCH_DEFAULT};
    int option, status;

    optind = 1;
    while ((option = sb_next_option(argc, argv, option_table)) >= 0) {
        if (option == OPT_HELP) {
            sb_help_load(stdout);
            return SB_EXIT_OK;
        }
        if (option == OPT_BATCH && parse_batch(&l, optarg))
            return SB_EXIT_USAGE;
        if (option == OPT_DURABILITY)
            l.level = optarg;
        if (option == OPT_REPLACE)
            l.replace = true;
    }
    if (option == -2)
        return SB_EXIT_USAGE;
    if (argc - optind < 2) {
        (void)fputs("storebench: load needs DRIVER and DIR; see 'storebench help load'\n", stderr);
        return SB_EXIT_USAGE;
    }
    if (argc - optind > 3)
        return sb_no_arguments(argv[optind + 3]);
    l.dir = argv[optind + 1];
    status = open_and_load(&l, argv[optind], argv[optind + 2], argv);
    sb_userstore_release(&l.us);
    return status;
}
