/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * keypack.c -- see keypack.h. Two programs run side by side: sort reads what `feed` hands it and
 * its output is packed. Pairs are handed over in hexadecimal, which sorts as the bytes do and has
 * no separators in it.
 */
#include "keypack.h"

#include "hash.h"
#include "jsonl.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char magic[8] = "sbkeys1";
static const uint64_t line_bytes_max = 1ull << 30;

/* ---- the sorter --------------------------------------------------------------------------- */

struct sorter {
    pid_t pid;
    FILE *to, *from;
};

static void become_sort(int in, int out, bool nul, bool pairs, const char *folder)
{
    const char *argv[] = {"sort", "-s", "-u", "-S", "16M", "-T", folder, NULL, NULL, NULL};
    size_t count = 7;

    if (nul)
        argv[count++] = "-z";
    if (pairs)
        argv[count++] = "-k1,1"; /* up to the first blank: the key */
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0)
        _exit(127);
    (void)setenv("LC_ALL", "C", 1);
    (void)execvp("sort", (char *const *)(uintptr_t)argv);
    _exit(127);
}

static int start_sort(struct sorter *sorter, bool nul, bool pairs, const char *folder)
{
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
        return sb_error_errno(errno, "pipe");
    (void)fflush(NULL);
    sorter->pid = fork();
    if (sorter->pid == 0)
        become_sort(in[0], out[1], nul, pairs, folder);
    (void)close(in[0]);
    (void)close(out[1]);
    sorter->to = fdopen(in[1], "w");
    sorter->from = fdopen(out[0], "r");
    if (sorter->pid < 0 || !sorter->to || !sorter->from)
        return sb_error_errno(errno, "cannot start sort");
    return 0;
}

static int end_sort(struct sorter *sorter)
{
    int status = 0;

    if (sorter->to)
        (void)fclose(sorter->to);
    if (sorter->from)
        (void)fclose(sorter->from);
    while (sorter->pid > 0 && waitpid(sorter->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (sorter->pid > 0 && status != 0)
        return sb_error_set(SB_ERR_FAILED, status, "sort failed; is there room for its files?");
    return 0;
}

/* ---- packing ------------------------------------------------------------------------------ */

struct packer {
    FILE *out;
    const char *path;
    struct sb_keypack *pack;
    uint64_t *anchors;
    size_t anchor_count;
    uint64_t offset;
};

static int write_failed(const struct packer *p)
{
    return sb_error_errno(errno, "cannot write %s", p->path);
}

static int pack_record(struct packer *p, struct sb_slice key, struct sb_slice value)
{
    struct sb_keyfile_header *h = &p->pack->header;
    uint32_t sizes[2] = {(uint32_t)key.size_bytes, (uint32_t)value.size_bytes};

    if (h->records % SB_KEYFILE_STRIDE == 0) {
        p->anchors = sb_grow(p->anchors, p->anchor_count + 1, sizeof(*p->anchors));
        p->anchors[p->anchor_count++] = p->offset;
    }
    if (fwrite(sizes, sizeof(sizes), 1, p->out) != 1 ||
        fwrite(key.data, 1, key.size_bytes, p->out) != key.size_bytes ||
        (value.size_bytes && fwrite(value.data, 1, value.size_bytes, p->out) != value.size_bytes))
        return write_failed(p);
    if (!h->records || key.size_bytes < h->key_bytes_min)
        h->key_bytes_min = key.size_bytes;
    if (key.size_bytes > h->key_bytes_max)
        h->key_bytes_max = key.size_bytes;
    if (value.size_bytes > h->value_bytes_max)
        h->value_bytes_max = value.size_bytes;
    h->key_bytes_total += key.size_bytes;
    h->value_bytes_total += value.size_bytes;
    h->content_hash = sb_hash_bytes(h->content_hash, sizes, sizeof(sizes));
    h->content_hash = sb_hash_bytes(h->content_hash, key.data, key.size_bytes);
    h->content_hash = sb_hash_bytes(h->content_hash, value.data, value.size_bytes);
    h->records++;
    p->offset += sizeof(sizes) + key.size_bytes + value.size_bytes;
    return 0;
}

static int open_packer(struct packer *p, const char *path, struct sb_keypack *pack)
{
    *p = (struct packer){.path = path, .pack = pack, .offset = sizeof(pack->header)};
    p->out = fopen(path, "wxe");
    memcpy(pack->header.magic, magic, sizeof(magic));
    pack->header.content_hash = SB_HASH_START;
    if (!p->out || fwrite(&pack->header, sizeof(pack->header), 1, p->out) != 1)
        return write_failed(p);
    return 0;
}

static int write_anchors(const struct packer *p)
{
    size_t count = p->anchor_count; /* 0: there are no anchors in memory either */

    return count && fwrite(p->anchors, sizeof(*p->anchors), count, p->out) != count;
}

/* Anchors are aligned, since they are read as numbers in place. */
static int close_packer(struct packer *p, int rc)
{
    static const char padding[8] = {0};
    size_t pad_bytes = (size_t)(-p->offset & 7);

    p->pack->header.anchors_offset = p->offset + pad_bytes;
    if (!rc && (fwrite(padding, 1, pad_bytes, p->out) != pad_bytes || write_anchors(p) ||
                fseek(p->out, 0, SEEK_SET) ||
                fwrite(&p->pack->header, sizeof(p->pack->header), 1, p->out) != 1))
        rc = write_failed(p);
    if (p->out && fclose(p->out) && !rc)
        rc = write_failed(p);
    free(p->anchors);
    return rc;
}

/* ---- keys --------------------------------------------------------------------------------- */

/* In a process of its own, so that feeding and packing do not wait for each other. */
static int feed_in_child(struct sorter *sorter, int (*feed)(FILE *in, FILE *to, int report),
                         const char *path, int report)
{
    pid_t pid = fork();

    if (pid == 0) {
        FILE *in = fopen(path, "re");
        int bad = !in || feed(in, sorter->to, report) || fclose(sorter->to);

        _exit(bad ? 1 : 0);
    }
    (void)fclose(sorter->to);
    sorter->to = NULL;
    return pid;
}

static int copy_bytes(FILE *in, FILE *to, int report)
{
    char buffer[65536];
    size_t got;

    (void)report;
    while ((got = fread(buffer, 1, sizeof(buffer), in)) > 0)
        if (fwrite(buffer, 1, got, to) != got)
            return -1;
    return ferror(in) ? -1 : 0;
}

/* Lines of the file, the last one counted also without its end. */
static int count_lines(const char *path, char end, uint64_t *linesp, uint64_t *emptyp)
{
    FILE *in = fopen(path, "re");
    int c, before = end;

    if (!in)
        return sb_error_errno(errno, "%s", path);
    while ((c = getc_unlocked(in)) != EOF) {
        *linesp += c == end;
        *emptyp += c == end && before == end;
        before = c;
    }
    *linesp += before != end;
    if (ferror(in)) {
        (void)fclose(in);
        return sb_error_errno(EISDIR, "%s", path);
    }
    (void)fclose(in);
    return 0;
}

static int nothing_left(const char *path)
{
    return sb_error_set(SB_ERR_UNSUPPORTED, 0, "%s has no key in it", path);
}

static int wait_for_feed(pid_t pid, const char *path)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status ? sb_error_set(SB_ERR_FAILED, 0, "%s: cannot be read to its end", path) : 0;
}

static int pack_lines(struct packer *p, FILE *from, char end)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t bytes;
    int rc = 0;

    while (!rc && (bytes = getdelim(&line, &room, end, from)) > 0) {
        bytes -= line[bytes - 1] == end;
        if ((uint64_t)bytes > line_bytes_max)
            rc = sb_error_set(SB_ERR_LIMIT, 0, "a key is longer than 1 GiB");
        else if (bytes)
            rc = pack_record(p, (struct sb_slice){line, (size_t)bytes}, (struct sb_slice){NULL, 0});
    }
    free(line);
    return rc;
}

int sb_keypack_keys(const char *path, bool nul, const char *folder, const char *out_path,
                    struct sb_keypack *pack)
{
    char end = nul ? '\0' : '\n';
    struct sorter sorter = {0};
    struct packer packer;
    pid_t feeder;
    int rc, end_rc;

    *pack = (struct sb_keypack){0};
    rc = count_lines(path, end, &pack->lines, &pack->empty);
    if (!rc)
        rc = start_sort(&sorter, nul, false, folder);
    if (rc)
        return rc;
    feeder = feed_in_child(&sorter, copy_bytes, path, -1);
    rc = open_packer(&packer, out_path, pack);
    if (!rc)
        rc = pack_lines(&packer, sorter.from, end);
    end_rc = end_sort(&sorter);
    rc = rc ? rc : wait_for_feed(feeder, path);
    rc = close_packer(&packer, rc ? rc : end_rc);
    pack->duplicates = pack->lines - pack->empty - pack->header.records;
    return rc ? rc : pack->header.records ? 0 : nothing_left(path);
}

/* ---- pairs -------------------------------------------------------------------------------- */

static int put_hex(FILE *to, const unsigned char *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < count; i++)
        if (putc_unlocked(digits[bytes[i] >> 4], to) == EOF ||
            putc_unlocked(digits[bytes[i] & 15], to) == EOF)
            return -1;
    return 0;
}

static int put_pair(FILE *to, struct sb_slice key, struct sb_slice value)
{
    return put_hex(to, key.data, key.size_bytes) || putc_unlocked(' ', to) == EOF ||
           put_hex(to, value.data, value.size_bytes) || putc_unlocked('\n', to) == EOF;
}

/* What the feeding process tells of: line counts, or the line that is wrong. */
struct feed_report {
    uint64_t lines, empty, bad_line;
    char what[128];
};

static int report_bad(struct feed_report *r, const char *what)
{
    r->bad_line = r->lines;
    (void)snprintf(r->what, sizeof(r->what), "%s", what);
    return -1;
}

static int feed_json(struct feed_report *r, const char *line, size_t bytes, FILE *to)
{
    struct sb_jsonl record = {.wrong = ""};
    int rc = 0;

    if (sb_jsonl_parse(&record, line, bytes))
        rc = report_bad(r, record.wrong);
    else if (!record.key.size_bytes)
        r->empty++;
    else
        rc = put_pair(to, record.key, record.value);
    sb_jsonl_release(&record);
    return rc;
}

static int feed_tsv(struct feed_report *r, const char *line, size_t bytes, FILE *to)
{
    const char *tab = memchr(line, '\t', bytes);

    if (!tab)
        return report_bad(r, "has no tab between key and value");
    if (tab == line) {
        r->empty++;
        return 0;
    }
    return put_pair(to, (struct sb_slice){line, (size_t)(tab - line)},
                    (struct sb_slice){tab + 1, (size_t)(line + bytes - tab - 1)});
}

static int feed_pairs(FILE *in, FILE *to, int report)
{
    struct feed_report r = {0};
    char *line = NULL;
    size_t room = 0;
    bool json = false;
    ssize_t bytes;
    int rc = 0;

    while (!rc && (bytes = getline(&line, &room, in)) > 0) {
        bytes -= line[bytes - 1] == '\n';
        json = r.lines++ ? json : line[0] == '{';
        if (!bytes)
            r.empty++;
        else if ((uint64_t)bytes > line_bytes_max)
            rc = report_bad(&r, "is longer than 1 GiB");
        else
            rc = json ? feed_json(&r, line, (size_t)bytes, to)
                      : feed_tsv(&r, line, (size_t)bytes, to);
    }
    free(line);
    if (write(report, &r, sizeof(r)) != (ssize_t)sizeof(r))
        rc = -1;
    return rc;
}

static unsigned char hex_value(char digit)
{
    return (unsigned char)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

/* In place: two digits become a byte. */
static size_t from_hex(char *digits, size_t count)
{
    for (size_t i = 0; i + 1 < count; i += 2)
        digits[i / 2] = (char)(hex_value(digits[i]) << 4 | hex_value(digits[i + 1]));
    return count / 2;
}

static int pack_pairs(struct packer *p, FILE *from)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t bytes;
    int rc = 0;

    while (!rc && (bytes = getline(&line, &room, from)) > 0) {
        char *blank = memchr(line, ' ', (size_t)bytes);
        char *end = line + bytes - (line[bytes - 1] == '\n');
        struct sb_slice key, value;

        if (!blank)
            return sb_error_set(SB_ERR_FAILED, 0, "sort returned something else than it got");
        value = (struct sb_slice){blank + 1, from_hex(blank + 1, (size_t)(end - blank - 1))};
        key = (struct sb_slice){line, from_hex(line, (size_t)(blank - line))};
        rc = pack_record(p, key, value);
    }
    free(line);
    return rc;
}

int sb_keypack_pairs(const char *path, const char *folder, const char *out_path,
                     struct sb_keypack *pack)
{
    struct feed_report report = {0};
    struct sorter sorter = {0};
    struct packer packer;
    int pipes[2], rc, end_rc;
    pid_t feeder;

    *pack = (struct sb_keypack){0};
    if (access(path, R_OK))
        return sb_error_errno(errno, "%s", path);
    if (pipe2(pipes, O_CLOEXEC))
        return sb_error_errno(errno, "pipe");
    rc = start_sort(&sorter, false, true, folder);
    if (rc)
        return rc;
    feeder = feed_in_child(&sorter, feed_pairs, path, pipes[1]);
    (void)close(pipes[1]);
    pack->header.has_values = 1;
    rc = open_packer(&packer, out_path, pack);
    if (!rc)
        rc = pack_pairs(&packer, sorter.from);
    if (read(pipes[0], &report, sizeof(report)) == (ssize_t)sizeof(report) && report.bad_line)
        rc = sb_error_set(SB_ERR_UNSUPPORTED, 0, "%s:%llu: the line %s", path,
                          (unsigned long long)report.bad_line, report.what);
    (void)close(pipes[0]);
    end_rc = end_sort(&sorter);
    rc = rc ? rc : wait_for_feed(feeder, path);
    rc = close_packer(&packer, rc ? rc : end_rc);
    pack->lines = report.lines;
    pack->empty = report.empty;
    pack->duplicates = pack->lines - pack->empty - pack->header.records;
    return rc ? rc : pack->header.records ? 0 : nothing_left(path);
}
