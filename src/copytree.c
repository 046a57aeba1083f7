/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * copytree.c -- see copytree.h.
 */
#include "copytree.h"

#include "mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 20 };

static int copy_bytes(int in, int out)
{
    char *piece = sb_alloc(1, PIECE_BYTES);
    ssize_t got;
    int rc = 0;

    while (!rc && (got = read(in, piece, PIECE_BYTES)) != 0) {
        for (ssize_t at = 0, done; got > 0 && at < got; at += done) {
            done = write(out, piece + at, (size_t)(got - at));
            if (done < 0)
                got = -1;
        }
        rc = got < 0 ? -1 : 0;
    }
    free(piece);
    return rc;
}

static int copy_file(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int out, rc = 0;

    if (in < 0)
        return sb_error_errno(errno, "cannot read %s", from);
    out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (out < 0 || copy_bytes(in, out))
        rc = sb_error_errno(errno, "cannot copy %s to %s", from, to);
    if (out >= 0 && close(out) && !rc)
        rc = sb_error_errno(errno, "cannot write %s", to);
    (void)close(in);
    return rc;
}

static int copy_entry(const char *from, const char *to)
{
    struct stat status;

    if (lstat(from, &status))
        return sb_error_errno(errno, "%s", from);
    if (S_ISREG(status.st_mode))
        return copy_file(from, to);
    if (!S_ISDIR(status.st_mode))
        return sb_error_set(SB_ERR_FAILED, 0, "%s is neither a file nor a directory", from);
    if (mkdir(to, 0777))
        return sb_error_errno(errno, "cannot make %s", to);
    return sb_copy_tree(from, to);
}

int sb_copy_tree(const char *from, const char *to)
{
    DIR *listing = opendir(from);
    int rc = 0;

    if (!listing)
        return sb_error_errno(errno, "%s", from);
    for (const struct dirent *e = readdir(listing); e && !rc; e = readdir(listing)) {
        char *one, *other;

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        one = sb_format("%s/%s", from, e->d_name);
        other = sb_format("%s/%s", to, e->d_name);
        rc = copy_entry(one, other);
        free(one);
        free(other);
    }
    (void)closedir(listing);
    return rc;
}
