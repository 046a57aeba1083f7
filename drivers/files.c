/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * files.c -- one plain file per key (driver `files`).
 *
 * Levels. `none` writes in place: open, write, close. What write has taken survives the death of
 * the process, yet a kill in the middle of an overwrite leaves a torn file where an acknowledged
 * record was, so in place keeps no level above `none`. `process` writes a temporary file beside the
 * target and renames it: a record is always the old one or the new one. `power` also flushes the
 * temporary file before the rename (fdatasync), and `commit` flushes the directories in which names
 * have changed (fsync): one flush per touched directory and commit, not per put, since a name that
 * is not flushed yet belongs to a put that is not acknowledged yet. A commit is not atomic.
 *
 * Names. A key of letters, digits and `-_,=+:@.` that does not begin with a dot is its own file
 * name; any other is `%` and its bytes in hexadecimal, so the empty key is `%`. Neither form yields
 * the other, nor a name with a dot in front: those are ours, for temporary files and the marker.
 *
 * Layout. `flat` is one directory; a commit then flushes one directory. `hashed` is one level of
 * 256 directories, chosen by a hash of the key and made when the store is created, so that no put
 * pays for a mkdir. One level is enough: with ten million records it is 40,000 names a directory,
 * which the hashed directories of today's file systems find at once, and 256 descriptors can stay
 * open, so that every operation names its file relative to its directory. Two levels would be
 * 65,536 directories, too many descriptors and 256 MiB of empty directories. A marker file records
 * the layout, which cannot change later.
 *
 * There is no cache of the store's own, and no profile differs from another.
 */
#include "driver.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum files_io { IO_POSIX, IO_STDIO, IO_MMAP };
enum files_read { READ_SIZED, READ_SLURP };
enum files_layout { LAYOUT_FLAT, LAYOUT_HASHED };
enum files_write { WRITE_AUTO, WRITE_INPLACE, WRITE_RENAME };

struct files_options {
    int64_t io, read, layout, write;
};

enum {
    SHARDS_MAX = 256,
    KEY_BYTES_MAX = (NAME_MAX - 1) / 2, /* of any key: in hexadecimal, with the prefix */
    NAME_BYTES = NAME_MAX + 1,
    HEX_PREFIX = '%',
    BUFFER_BYTES_MIN = 64 * 1024,
    INODES_RESERVE = 16 /* the marker and temporary files */
};

static const char marker_name[] = ".storebench-files";

struct sb_store {
    const struct sb_host *host;
    enum sb_level level;
    enum files_io io;
    enum files_read read;
    bool rename;               /* write a temporary file and rename it */
    int dir_fd;                /* the store's directory; carries the lock */
    unsigned shard_count;      /* 1 when flat */
    int shard_fds[SHARDS_MAX]; /* of the directories that hold the records */
    atomic_uint sessions_seen; /* numbers the temporary files of the sessions */
};

struct sb_session {
    struct sb_store *store;
    unsigned char *buffer; /* the value that was read last, unless it is mapped */
    size_t buffer_bytes;
    void *map; /* the value that was read last with io=mmap, or NULL */
    size_t map_bytes;
    char temporary[32];
    unsigned touched_count; /* directories with names that are not flushed, at level power */
    bool is_touched[SHARDS_MAX];
    uint8_t touched[SHARDS_MAX];
};

struct sb_cursor {
    struct sb_session *session;
    unsigned shard; /* the one that `listing` lists, or the next one to list */
    DIR *listing;
    unsigned char key[KEY_BYTES_MAX];
};

/* Where the file of a key is. */
struct place {
    unsigned shard;
    int dir_fd;
    char name[NAME_BYTES];
};

/* ---- errors ------------------------------------------------------------------------------- */

static int files_fail(const struct sb_store *store, const char *call, const char *name)
{
    int error = errno;
    enum sb_code code = SB_ERR_FAILED;

    if (error == ENOSPC || error == EDQUOT)
        code = SB_ERR_FULL;
    else if (error == ENOMEM)
        code = SB_ERR_NOMEM;
    else if (error == EFBIG || error == ENAMETOOLONG || error == EOVERFLOW)
        code = SB_ERR_LIMIT;
    else if (error == EISDIR || error == ENOTDIR || error == ELOOP)
        code = SB_ERR_CORRUPT;
    (void)store->host->fail(code, error, "%s %s: %s", call, name, strerror(error));
    return code;
}

/* ---- names -------------------------------------------------------------------------------- */

/* Bytes that stand for themselves in a file name. */
static const bool is_plain[UCHAR_MAX + 1] = {
    ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true, ['-'] = true,
    ['_'] = true,         [','] = true,         ['='] = true,         ['+'] = true,
    [':'] = true,         ['@'] = true,         ['.'] = true,
};

static bool copy_plain(char *name, const unsigned char *key, size_t key_bytes)
{
    if (!key_bytes || key[0] == '.')
        return false;
    for (size_t i = 0; i < key_bytes; i++) {
        if (!is_plain[key[i]])
            return false;
        name[i] = (char)key[i];
    }
    name[key_bytes] = '\0';
    return true;
}

static void encode_name(char *name, const unsigned char *key, size_t key_bytes)
{
    static const char digits[] = "0123456789abcdef";

    if (copy_plain(name, key, key_bytes))
        return;
    *name++ = HEX_PREFIX;
    for (size_t i = 0; i < key_bytes; i++) {
        *name++ = digits[key[i] >> 4];
        *name++ = digits[key[i] & 15];
    }
    *name = '\0';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The key of a file name; a plain one points to the name, another is put into `bytes`. False for a
 * name that encode_name does not make. */
static bool decode_name(const char *name, unsigned char bytes[KEY_BYTES_MAX], struct sb_slice *keyp)
{
    size_t length = strlen(name);

    *keyp = (struct sb_slice){name, length};
    if (*name != HEX_PREFIX) {
        bool plain = length <= KEY_BYTES_MAX;
        for (size_t i = 0; plain && i < length; i++)
            plain = is_plain[(unsigned char)name[i]];
        return plain;
    }
    if (length % 2 == 0 || length / 2 > KEY_BYTES_MAX)
        return false;
    for (size_t i = 0; i < length / 2; i++) {
        int high = hex_digit(name[1 + 2 * i]), low = hex_digit(name[2 + 2 * i]);
        if (high < 0 || low < 0)
            return false;
        bytes[i] = (unsigned char)(high << 4 | low);
    }
    *keyp = (struct sb_slice){bytes, length / 2};
    return true;
}

/* FNV-1a (Fowler, Noll, Vo); its upper bits are the better mixed ones. */
static unsigned shard_of(const struct sb_store *store, const unsigned char *key, size_t key_bytes)
{
    uint64_t hash = 0xcbf29ce484222325u;

    if (store->shard_count == 1)
        return 0;
    for (size_t i = 0; i < key_bytes; i++)
        hash = (hash ^ key[i]) * 0x100000001b3u;
    return (unsigned)((hash ^ hash >> 32) * 0x9e3779b97f4a7c15u >> 56);
}

static int locate(const struct sb_store *store, struct sb_slice key, struct place *place)
{
    if (key.size_bytes > KEY_BYTES_MAX) {
        (void)store->host->fail(SB_ERR_LIMIT, ENAMETOOLONG,
                                "files: a file name holds keys of at most %d bytes, not %zu",
                                KEY_BYTES_MAX, key.size_bytes);
        return SB_ERR_LIMIT;
    }
    place->shard = shard_of(store, key.data, key.size_bytes);
    place->dir_fd = store->shard_fds[place->shard];
    encode_name(place->name, key.data, key.size_bytes);
    return 0;
}

/* ---- writing ------------------------------------------------------------------------------ */

static int write_all(int fd, const unsigned char *data, size_t left_bytes)
{
    while (left_bytes) {
        ssize_t written = write(fd, data, left_bytes);
        if (written < 0) {
            if (errno == EINTR)
                continue;
            return -1;
        }
        data += written;
        left_bytes -= (size_t)written;
    }
    return 0;
}

/* The blocks are allocated first: a full disk is an error here and would be a signal at the first
 * touch of the mapping. */
static int write_mapped(int fd, struct sb_slice value)
{
    void *map;
    int error;

    if (!value.size_bytes)
        return 0;
    error = posix_fallocate(fd, 0, (off_t)value.size_bytes);
    if (error) {
        errno = error;
        return -1;
    }
    map = mmap(NULL, value.size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return -1;
    memcpy(map, value.data, value.size_bytes);
    return munmap(map, value.size_bytes);
}

/* Closes `fd` in any case. */
static int write_stream(int fd, struct sb_slice value, bool flush)
{
    FILE *stream = fdopen(fd, "w");
    int error = 0;

    if (!stream) {
        error = errno;
        (void)close(fd);
        errno = error;
        return -1;
    }
    if (value.size_bytes && fwrite(value.data, 1, value.size_bytes, stream) != value.size_bytes)
        error = errno;
    if (!error && flush && (fflush(stream) || fdatasync(fd)))
        error = errno;
    if (fclose(stream) && !error)
        error = errno;
    errno = error;
    return error ? -1 : 0;
}

/* Writes the whole file that is open as `fd`, flushes it where the level wants that, and closes
 * it in any case. Returns -1 with errno. */
static int write_file(const struct sb_store *store, int fd, struct sb_slice value)
{
    bool flush = store->level == SB_LEVEL_POWER;
    int error = 0;

    if (store->io == IO_STDIO)
        return write_stream(fd, value, flush);
    if (store->io == IO_MMAP ? write_mapped(fd, value)
                             : write_all(fd, value.data, value.size_bytes))
        error = errno;
    if (!error && flush && fdatasync(fd))
        error = errno;
    if (close(fd) && !error)
        error = errno;
    errno = error;
    return error ? -1 : 0;
}

static int open_flags(const struct sb_store *store)
{
    return (store->io == IO_MMAP ? O_RDWR : O_WRONLY) | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
}

/* An old file is cut only when it is longer than the new value: to cut every file to nothing would
 * free its blocks to allocate them again, and ext4 would start to write them out at close, which
 * makes an overwrite of 100 bytes ten times as slow. */
static int put_in_place(const struct sb_store *store, const struct place *place,
                        struct sb_slice value)
{
    int fd = openat(place->dir_fd, place->name, open_flags(store), 0644);
    struct stat status;

    if (fd < 0)
        return files_fail(store, "open", place->name);
    if (fstat(fd, &status) ||
        (status.st_size > (off_t)value.size_bytes && ftruncate(fd, (off_t)value.size_bytes))) {
        int rc = files_fail(store, "ftruncate", place->name);
        (void)close(fd);
        return rc;
    }
    return write_file(store, fd, value) ? files_fail(store, "write", place->name) : 0;
}

static int put_by_rename(const struct sb_session *session, const struct place *place,
                         struct sb_slice value)
{
    const struct sb_store *store = session->store;
    int fd = openat(place->dir_fd, session->temporary, open_flags(store) | O_TRUNC, 0644);
    int rc;

    if (fd < 0)
        return files_fail(store, "open", session->temporary);
    if (write_file(store, fd, value))
        rc = files_fail(store, "write", place->name);
    else if (renameat(place->dir_fd, session->temporary, place->dir_fd, place->name))
        rc = files_fail(store, "rename", place->name);
    else
        return 0;
    (void)unlinkat(place->dir_fd, session->temporary, 0);
    return rc;
}

/* The names of this directory have changed: commit has to flush it. */
static void touch(struct sb_session *session, unsigned shard)
{
    if (session->store->level != SB_LEVEL_POWER || session->is_touched[shard])
        return;
    session->is_touched[shard] = true;
    session->touched[session->touched_count++] = (uint8_t)shard;
}

static int files_put(struct sb_session *session, struct sb_slice key, struct sb_slice value)
{
    const struct sb_store *store = session->store;
    struct place place;
    int rc = locate(store, key, &place);

    if (rc)
        return rc;
    if (!store->rename)
        return put_in_place(store, &place, value);
    rc = put_by_rename(session, &place, value);
    if (!rc)
        touch(session, place.shard);
    return rc;
}

static int files_del(struct sb_session *session, struct sb_slice key)
{
    struct place place;
    int rc = locate(session->store, key, &place);

    if (rc)
        return rc;
    if (unlinkat(place.dir_fd, place.name, 0))
        return errno == ENOENT ? SB_NOTFOUND : files_fail(session->store, "unlink", place.name);
    touch(session, place.shard);
    return 0;
}

static int files_commit(struct sb_session *session)
{
    const struct sb_store *store = session->store;
    int rc = 0;

    for (unsigned i = 0; i < session->touched_count; i++) {
        unsigned shard = session->touched[i];
        session->is_touched[shard] = false;
        if (fsync(store->shard_fds[shard]) && !rc)
            rc = files_fail(store, "fsync", "of a directory");
    }
    session->touched_count = 0;
    return rc;
}

/* ---- reading ------------------------------------------------------------------------------ */

static int reserve(struct sb_session *session, size_t bytes)
{
    size_t room_bytes = session->buffer_bytes;
    unsigned char *buffer;

    if (bytes <= room_bytes)
        return 0;
    while (room_bytes < bytes)
        room_bytes = room_bytes <= SIZE_MAX / 2 ? room_bytes * 2 : bytes;
    buffer = realloc(session->buffer, room_bytes);
    if (!buffer)
        return session->store->host->fail(SB_ERR_NOMEM, ENOMEM,
                                          "files: no memory for a value of %zu bytes", bytes);
    session->buffer = buffer;
    session->buffer_bytes = room_bytes;
    return 0;
}

static ssize_t read_some(int fd, FILE *stream, unsigned char *to, size_t bytes)
{
    ssize_t got;

    if (stream) {
        size_t count = fread(to, 1, bytes, stream);
        return count || !ferror(stream) ? (ssize_t)count : -1;
    }
    do
        got = read(fd, to, bytes);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Reads `bytes`, the size of the file: the end of the file is not looked for. */
static int read_sized(struct sb_session *session, int fd, FILE *stream, struct sb_slice *valuep)
{
    const struct sb_store *store = session->store;
    struct stat status;
    size_t bytes, done_bytes = 0;
    int rc;

    if (fstat(fd, &status))
        return files_fail(store, "fstat", "of a record");
    bytes = (size_t)status.st_size;
    rc = reserve(session, bytes);
    if (rc)
        return rc;
    while (done_bytes < bytes) {
        ssize_t got = read_some(fd, stream, session->buffer + done_bytes, bytes - done_bytes);
        if (got < 0)
            return files_fail(store, "read", "of a record");
        if (!got)
            return store->host->fail(SB_ERR_CORRUPT, 0, "files: a file of %zu bytes ends at %zu",
                                     bytes, done_bytes);
        done_bytes += (size_t)got;
    }
    *valuep = (struct sb_slice){session->buffer, bytes};
    return 0;
}

/* Reads until the end of the file, wherever that is. */
static int read_slurp(struct sb_session *session, int fd, FILE *stream, struct sb_slice *valuep)
{
    size_t done_bytes = 0;

    for (;;) {
        int rc = reserve(session, done_bytes + 1);
        ssize_t got;

        if (rc)
            return rc;
        got =
            read_some(fd, stream, session->buffer + done_bytes, session->buffer_bytes - done_bytes);
        if (got < 0)
            return files_fail(session->store, "read", "of a record");
        if (!got)
            break;
        done_bytes += (size_t)got;
    }
    *valuep = (struct sb_slice){session->buffer, done_bytes};
    return 0;
}

static void unmap(struct sb_session *session)
{
    if (session->map)
        (void)munmap(session->map, session->map_bytes);
    session->map = NULL;
}

static int read_mapped(struct sb_session *session, int fd, struct sb_slice *valuep)
{
    struct stat status;
    void *map;

    if (fstat(fd, &status))
        return files_fail(session->store, "fstat", "of a record");
    *valuep = (struct sb_slice){session->buffer, 0};
    if (!status.st_size)
        return 0;
    map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return files_fail(session->store, "mmap", "of a record");
    session->map = map;
    session->map_bytes = (size_t)status.st_size;
    *valuep = (struct sb_slice){map, session->map_bytes};
    return 0;
}

static int read_open(struct sb_session *session, int fd, FILE *stream, struct sb_slice *valuep)
{
    return session->store->read == READ_SLURP ? read_slurp(session, fd, stream, valuep)
                                              : read_sized(session, fd, stream, valuep);
}

static int read_stream(struct sb_session *session, int fd, struct sb_slice *valuep)
{
    FILE *stream = fdopen(fd, "r");
    int rc;

    if (!stream) {
        rc = files_fail(session->store, "fdopen", "of a record");
        (void)close(fd);
        return rc;
    }
    rc = read_open(session, fd, stream, valuep);
    (void)fclose(stream);
    return rc;
}

/* SB_NOTFOUND if there is no such file. */
static int read_value(struct sb_session *session, int dir_fd, const char *name,
                      struct sb_slice *valuep)
{
    const struct sb_store *store = session->store;
    int fd, rc;

    unmap(session);
    fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? SB_NOTFOUND : files_fail(store, "open", name);
    if (store->io == IO_STDIO)
        return read_stream(session, fd, valuep);
    rc = store->io == IO_MMAP ? read_mapped(session, fd, valuep)
                              : read_open(session, fd, NULL, valuep);
    (void)close(fd);
    return rc;
}

static int files_get(struct sb_session *session, struct sb_slice key, struct sb_slice *valuep)
{
    struct place place;
    int rc = locate(session->store, key, &place);

    return rc ? rc : read_value(session, place.dir_fd, place.name, valuep);
}

/* ---- listing ------------------------------------------------------------------------------ */

static DIR *list(int dir_fd)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = fd < 0 ? NULL : fdopendir(fd);

    if (!listing && fd >= 0)
        (void)close(fd);
    return listing;
}

/* Names with a dot in front are no records. NULL at the end, and with errno on an error. */
static struct dirent *next_record(DIR *listing)
{
    struct dirent *entry;

    do {
        errno = 0;
        entry = readdir(listing);
    } while (entry && entry->d_name[0] == '.');
    return entry;
}

static int files_cursor_open(struct sb_session *session, struct sb_cursor **cursorp)
{
    struct sb_cursor *cursor = calloc(1, sizeof(*cursor));

    if (!cursor)
        return session->store->host->fail(SB_ERR_NOMEM, ENOMEM, "files: out of memory");
    cursor->session = session;
    *cursorp = cursor;
    return 0;
}

/* The next record in whichever directory has one, or NULL with the reason in `rcp`. */
static struct dirent *cursor_entry(struct sb_cursor *cursor, int *rcp)
{
    const struct sb_store *store = cursor->session->store;

    for (; cursor->shard < store->shard_count; cursor->shard++) {
        struct dirent *entry = NULL;

        if (!cursor->listing)
            cursor->listing = list(store->shard_fds[cursor->shard]);
        if (cursor->listing)
            entry = next_record(cursor->listing);
        if (entry)
            return entry;
        if (!cursor->listing || errno) {
            *rcp = files_fail(store, "readdir", "of the store");
            return NULL;
        }
        (void)closedir(cursor->listing);
        cursor->listing = NULL;
    }
    *rcp = SB_NOTFOUND;
    return NULL;
}

static int files_cursor_next(struct sb_cursor *cursor, struct sb_slice *keyp,
                             struct sb_slice *valuep)
{
    struct sb_session *session = cursor->session;
    const struct sb_host *host = session->store->host;
    int rc = 0;
    const struct dirent *entry = cursor_entry(cursor, &rc);

    if (!entry)
        return rc;
    if (!decode_name(entry->d_name, cursor->key, keyp))
        return host->fail(SB_ERR_CORRUPT, 0, "files: '%s' is not the name of a key", entry->d_name);
    if (!valuep)
        return 0;
    rc = read_value(session, session->store->shard_fds[cursor->shard], entry->d_name, valuep);
    if (rc == SB_NOTFOUND)
        return host->fail(SB_ERR_FAILED, ENOENT, "files: %s vanished under a cursor",
                          entry->d_name);
    return rc;
}

static void files_cursor_close(struct sb_cursor *cursor)
{
    if (cursor->listing)
        (void)closedir(cursor->listing);
    free(cursor);
}

/* ---- opening ------------------------------------------------------------------------------ */

static int shard_name(char name[8], unsigned shard)
{
    int length = snprintf(name, 8, "%02x", shard);

    return length == 2 ? 0 : -1;
}

/* Refuses a load that cannot fit: every record is an inode, and file systems such as ext4 have a
 * number of them that was fixed when they were made. Others say 0 in f_files. */
static int check_inodes(const struct sb_open *args, const struct sb_store *store)
{
    struct statvfs fs;
    uint64_t wanted = args->expected_records + store->shard_count + INODES_RESERVE;

    if (fstatvfs(store->dir_fd, &fs))
        return files_fail(store, "statvfs", args->dir);
    if (!fs.f_files || wanted <= fs.f_favail)
        return 0;
    return args->host->fail(SB_ERR_FULL, ENOSPC,
                            "files: %" PRIu64 " records need an inode each, and the file system "
                            "of %s has %" PRIu64 " free (see df -i)",
                            args->expected_records, args->dir, (uint64_t)fs.f_favail);
}

static int write_marker(const struct sb_store *store)
{
    int fd = openat(store->dir_fd, marker_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    char text[32];
    int length = snprintf(text, sizeof(text), "directories %u\n", store->shard_count);

    if (fd < 0)
        return files_fail(store, "open", marker_name);
    if (length < 0 || write_all(fd, (const unsigned char *)text, (size_t)length) ||
        (store->level == SB_LEVEL_POWER && fdatasync(fd))) {
        int rc = files_fail(store, "write", marker_name);
        (void)close(fd);
        return rc;
    }
    return close(fd) ? files_fail(store, "close", marker_name) : 0;
}

static int read_marker(const struct sb_open *args, struct sb_store *store)
{
    static const char head[] = "directories ";
    char text[32] = "";
    int fd = openat(store->dir_fd, marker_name, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    unsigned long count = 0;

    if (fd < 0 && errno == ENOENT)
        return args->host->fail(SB_ERR_CORRUPT, ENOENT, "files: %s holds no store of this driver",
                                args->dir);
    if (fd < 0)
        return files_fail(store, "open", marker_name);
    (void)close(fd);
    if (got < 0)
        return files_fail(store, "read", marker_name);
    if (strncmp(text, head, sizeof(head) - 1) == 0)
        count = strtoul(text + sizeof(head) - 1, NULL, 10);
    if (count != 1 && count != SHARDS_MAX)
        return args->host->fail(SB_ERR_CORRUPT, 0, "files: %s/%s is damaged", args->dir,
                                marker_name);
    store->shard_count = (unsigned)count;
    return 0;
}

static int open_shards(struct sb_store *store, bool create)
{
    for (unsigned i = 0; i < store->shard_count; i++) {
        char name[8] = ".";

        if (store->shard_count > 1) {
            if (shard_name(name, i) ||
                (create && mkdirat(store->dir_fd, name, 0755) && errno != EEXIST))
                return files_fail(store, "mkdir", name);
        }
        store->shard_fds[i] = openat(store->dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (store->shard_fds[i] < 0)
            return files_fail(store, "open", name);
    }
    return 0;
}

/* The marker is written last, so that a store has it only when it has its directories. These need
 * no flush of their own here: the commit that first touches one flushes it. */
static int create_store(const struct sb_open *args, struct sb_store *store)
{
    const struct files_options *options = args->options;
    int rc;

    store->shard_count = options->layout == LAYOUT_HASHED ? SHARDS_MAX : 1;
    rc = check_inodes(args, store);
    if (!rc)
        rc = open_shards(store, true);
    if (!rc)
        rc = write_marker(store);
    if (!rc && store->level == SB_LEVEL_POWER && fsync(store->dir_fd))
        rc = files_fail(store, "fsync", args->dir);
    return rc;
}

static int reopen_store(const struct sb_open *args, struct sb_store *store)
{
    const struct files_options *options = args->options;
    int rc = read_marker(args, store);

    if (rc)
        return rc;
    if (options->layout != SB_OPTION_UNSET &&
        (options->layout == LAYOUT_HASHED) != (store->shard_count > 1))
        return args->host->fail(SB_ERR_UNSUPPORTED, 0,
                                "files: the store in %s was made with layout=%s", args->dir,
                                store->shard_count > 1 ? "hashed" : "flat");
    return open_shards(store, false);
}

/* What a process left behind that died between the creation of a temporary file and its rename.
 * Nobody reads those files: to remove them gives back their space. */
static int remove_temporaries(const struct sb_store *store, unsigned *removedp)
{
    for (unsigned i = 0; i < store->shard_count; i++) {
        DIR *listing = list(store->shard_fds[i]);
        struct dirent *entry;

        if (!listing)
            return files_fail(store, "opendir", "of the store");
        while ((entry = readdir(listing))) {
            if (strncmp(entry->d_name, ".tmp-", 5) != 0)
                continue;
            if (unlinkat(store->shard_fds[i], entry->d_name, 0) == 0)
                ++*removedp;
        }
        (void)closedir(listing);
    }
    return 0;
}

/* Every access is relative to the directory's descriptor. Two processes would share temporary
 * names, hence the lock; a file system without locks goes without. */
static int open_directory(const struct sb_open *args, struct sb_store *store)
{
    store->dir_fd = open(args->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store->dir_fd < 0)
        return files_fail(store, "open", args->dir);
    if (flock(store->dir_fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return args->host->fail(SB_ERR_BUSY, EWOULDBLOCK, "files: %s is open elsewhere", args->dir);
    return 0;
}

static int check_options(const struct sb_open *args)
{
    const struct files_options *options = args->options;

    if (options->write == WRITE_INPLACE && args->level != SB_LEVEL_NONE)
        return args->host->fail(SB_ERR_UNSUPPORTED, 0,
                                "files: write=inplace keeps durability 'none' only: an overwrite "
                                "that is cut short destroys the record it replaces");
    if (options->io == IO_MMAP && options->read == READ_SLURP)
        return args->host->fail(SB_ERR_UNSUPPORTED, 0,
                                "files: io=mmap maps a file by its size: read=slurp is for "
                                "posix and stdio");
    return 0;
}

/* Two habits of ext4 that change how figures read. It gives out no inode that was freed in the last
 * minute (five, if its block is still dirty) and passes over all of them in search of another: a
 * profile of inserts after the removal of an earlier store shows most of the time there. */
static void describe_ext4(const struct sb_open *args, const struct sb_store *store)
{
    struct statfs fs;

    if (fstatfs(store->dir_fd, &fs) || fs.f_type != EXT4_SUPER_MAGIC)
        return;
    args->host->note(args->report, "ext4 does not reuse inodes freed in the last minutes: inserts "
                                   "soon after many files were removed are several times slower.");
    if (store->rename && store->level != SB_LEVEL_POWER)
        args->host->note(args->report, "ext4 starts to write a file out when it is renamed over "
                                       "another: overwrites cost more than inserts.");
}

static void describe(const struct sb_open *args, const struct sb_store *store)
{
    static const char *const ios[] = {"posix", "stdio", "mmap"};
    const struct sb_host *host = args->host;
    struct sb_report *report = args->report;

    host->effective(report, SB_REQUESTED, "io", "%s", ios[store->io]);
    host->effective(report, SB_REQUESTED, "read", store->read == READ_SLURP ? "slurp" : "sized");
    host->effective(report, SB_READ_BACK, "layout", store->shard_count > 1 ? "hashed" : "flat");
    host->effective(report, SB_READ_BACK, "directories", "%u", store->shard_count);
    host->effective(report, SB_REQUESTED, "write", store->rename ? "rename" : "inplace");
    host->effective(report, SB_REQUESTED, "flush", "%s",
                    store->level == SB_LEVEL_POWER ? "fdatasync per put, fsync per directory"
                                                   : "off");
    if (store->rename && store->level == SB_LEVEL_NONE)
        host->keeps(report, SB_LEVEL_PROCESS);
    if (store->io != IO_MMAP)
        host->lacks(report, SB_CAP_ZERO_COPY);
    if (!store->rename)
        host->lacks(report, SB_CAP_WRITERS); /* a reader could see half of an overwrite */
    host->note(report, "Plain files have no cache of their own: page cache, uncapped.");
    if (store->level != SB_LEVEL_POWER)
        host->note(report, "A sync flushes the whole file system (syncfs).");
    describe_ext4(args, store);
}

static void release(struct sb_store *store)
{
    for (unsigned i = 0; i < SHARDS_MAX; i++)
        if (store->shard_fds[i] >= 0)
            (void)close(store->shard_fds[i]);
    if (store->dir_fd >= 0)
        (void)close(store->dir_fd);
    free(store);
}

static struct sb_store *create(const struct sb_open *args)
{
    const struct files_options *options = args->options;
    struct sb_store *store = calloc(1, sizeof(*store));

    if (!store)
        return NULL;
    store->host = args->host;
    store->level = args->level;
    store->io = (enum files_io)options->io;
    store->read = (enum files_read)options->read;
    store->rename = options->write == WRITE_RENAME || args->level != SB_LEVEL_NONE;
    store->dir_fd = -1;
    for (unsigned i = 0; i < SHARDS_MAX; i++)
        store->shard_fds[i] = -1;
    return store;
}

static int files_open(const struct sb_open *args, struct sb_store **storep)
{
    struct sb_store *store;
    unsigned removed = 0;
    int rc = check_options(args);

    if (rc)
        return rc;
    store = create(args);
    if (!store) {
        (void)args->host->fail(SB_ERR_NOMEM, ENOMEM, "files: out of memory");
        return SB_ERR_NOMEM;
    }
    rc = open_directory(args, store);
    if (!rc)
        rc = args->mode == SB_CREATE ? create_store(args, store) : reopen_store(args, store);
    if (!rc && args->mode == SB_RECOVER)
        rc = remove_temporaries(store, &removed);
    if (rc) {
        release(store);
        return rc;
    }
    describe(args, store);
    if (removed)
        args->host->note(args->report, "Recovery removed %u temporary files.", removed);
    *storep = store;
    return 0;
}

static int files_close(struct sb_store *store)
{
    release(store);
    return 0;
}

/* ---- sessions ----------------------------------------------------------------------------- */

static int files_attach(struct sb_store *store, struct sb_session **sessionp)
{
    struct sb_session *session = calloc(1, sizeof(*session));
    unsigned number = atomic_fetch_add(&store->sessions_seen, 1);

    if (session) {
        session->store = store;
        session->buffer_bytes = BUFFER_BYTES_MIN;
        session->buffer = malloc(session->buffer_bytes);
    }
    if (!session || !session->buffer) {
        free(session);
        return store->host->fail(SB_ERR_NOMEM, ENOMEM, "files: out of memory");
    }
    (void)snprintf(session->temporary, sizeof(session->temporary), ".tmp-%u", number);
    *sessionp = session;
    return 0;
}

static void files_detach(struct sb_session *session)
{
    unmap(session);
    free(session->buffer);
    free(session);
}

/* At level power nothing acknowledged is left to flush. Elsewhere only the kernel knows which of
 * all the files are dirty. */
static int files_sync(struct sb_store *store)
{
    if (store->level == SB_LEVEL_POWER)
        return 0;
    return syncfs(store->dir_fd) ? files_fail(store, "syncfs", "of the store") : 0;
}

static const char *files_version(void)
{
    return "files 1";
}

/* ---- tools -------------------------------------------------------------------------------- */

struct survey {
    uint64_t records, value_bytes, allocated_bytes, value_bytes_max;
    uint64_t leftovers; /* temporary files of a process that died */
    uint64_t faults;
};

static void survey_fault(const struct sb_open *args, struct survey *survey, const char *name,
                         const char *what)
{
    survey->faults++;
    args->host->print(args->report, "%s: %s", name, what);
}

static void survey_entry(const struct sb_open *args, const struct sb_store *store, unsigned shard,
                         const char *name, struct survey *survey)
{
    unsigned char bytes[KEY_BYTES_MAX];
    struct sb_slice key;
    struct stat status;

    if (!decode_name(name, bytes, &key)) {
        survey_fault(args, survey, name, "not the name of a key");
        return;
    }
    if (shard_of(store, key.data, key.size_bytes) != shard)
        survey_fault(args, survey, name, "in a directory where its key is not looked for");
    if (fstatat(store->shard_fds[shard], name, &status, AT_SYMLINK_NOFOLLOW) ||
        !S_ISREG(status.st_mode)) {
        survey_fault(args, survey, name, "not a regular file");
        return;
    }
    survey->records++;
    survey->value_bytes += (uint64_t)status.st_size;
    survey->allocated_bytes += (uint64_t)status.st_blocks * 512;
    if ((uint64_t)status.st_size > survey->value_bytes_max)
        survey->value_bytes_max = (uint64_t)status.st_size;
}

static int survey_store(const struct sb_open *args, const struct sb_store *store,
                        struct survey *survey)
{
    for (unsigned i = 0; i < store->shard_count; i++) {
        DIR *listing = list(store->shard_fds[i]);
        struct dirent *entry;

        if (!listing)
            return files_fail(store, "opendir", args->dir);
        while ((entry = readdir(listing))) {
            if (entry->d_name[0] != '.')
                survey_entry(args, store, i, entry->d_name, survey);
            else if (strncmp(entry->d_name, ".tmp-", 5) == 0)
                survey->leftovers++;
        }
        (void)closedir(listing);
    }
    return 0;
}

static void print_survey(const struct sb_open *args, const struct sb_store *store,
                         const struct survey *survey)
{
    const struct sb_host *host = args->host;

    host->print(args->report, "layout: %s", store->shard_count > 1 ? "hashed" : "flat");
    host->print(args->report, "directories: %u", store->shard_count);
    host->print(args->report, "records: %" PRIu64, survey->records);
    host->print(args->report, "bytes of values: %" PRIu64, survey->value_bytes);
    host->print(args->report, "bytes allocated: %" PRIu64, survey->allocated_bytes);
    host->print(args->report, "largest value: %" PRIu64 " bytes", survey->value_bytes_max);
    host->print(args->report, "leftover temporary files: %" PRIu64, survey->leftovers);
}

static int files_tool(const struct sb_open *args, const char *verb)
{
    bool verify = strcmp(verb, "verify") == 0;
    struct survey survey = {0};
    struct sb_store *store = NULL;
    int rc;

    if (!verify && strcmp(verb, "stat") != 0)
        return args->host->fail(SB_ERR_UNSUPPORTED, 0,
                                "files has no tool '%s'; it has 'verify' and 'stat'", verb);
    rc = files_open(args, &store);
    if (rc)
        return rc;
    rc = survey_store(args, store, &survey);
    if (!rc && !verify)
        print_survey(args, store, &survey);
    else if (!rc && survey.faults)
        rc = args->host->fail(SB_ERR_CORRUPT, 0, "files: %" PRIu64 " faults in %s", survey.faults,
                              args->dir);
    else if (!rc)
        args->host->print(args->report, "%" PRIu64 " records, every name and directory is right",
                          survey.records);
    release(store);
    return rc;
}

/* ---- the driver --------------------------------------------------------------------------- */

static const struct sb_option files_options_table[] = {
    {"io", SB_OPTION_ENUM, NULL, "posix", 0, 0, "posix|stdio|mmap",
     "calls that read and write: read and write, fread and fwrite, or memory maps",
     offsetof(struct files_options, io)},
    {"read", SB_OPTION_ENUM, NULL, "sized", 0, 0, "sized|slurp",
     "ask for the size and read that much, or read until the end of the file",
     offsetof(struct files_options, read)},
    {"layout", SB_OPTION_ENUM, NULL, NULL, 0, 0, "flat|hashed",
     "one directory, or 256 by a hash of the key; default: flat, or what the store has",
     offsetof(struct files_options, layout)},
    {"write", SB_OPTION_ENUM, NULL, "auto", 0, 0, "auto|inplace|rename",
     "write the file in place or rename a temporary one; auto: what the level needs",
     offsetof(struct files_options, write)},
    {0},
};

static const struct sb_driver files_drivers[] = {
    {
        .name = "files",
        .summary = "plain files: one per key",
        .caps = SB_CAP_OWN_WRITES | SB_CAP_READERS | SB_CAP_WRITERS | SB_CAP_ZERO_COPY |
                SB_CAP_PERSISTENT | SB_CAP_DELETE_MISS | SB_CAP_RECOVERY,
        .levels = SB_LEVELS_ALL,
        .key_bytes_max = KEY_BYTES_MAX,
        .options = files_options_table,
        .options_bytes = sizeof(struct files_options),
        .version = files_version,
        .open = files_open,
        .close = files_close,
        .attach = files_attach,
        .detach = files_detach,
        .commit = files_commit,
        .put = files_put,
        .get = files_get,
        .del = files_del,
        .cursor_open = files_cursor_open,
        .cursor_next = files_cursor_next,
        .cursor_close = files_cursor_close,
        .sync = files_sync,
        .tool = files_tool,
    },
};

SB_MODULE(files_drivers);
