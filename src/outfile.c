/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * outfile.c -- see outfile.h. Standard output is written through a stream of our own, so that main
 * does not tell of its failure a second time.
 */
#include "outfile.h"

#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_partial(struct sb_outfile *out, int *fdp)
{
    struct stat status;

    /* The rename at the end would put a file in the place of a device. */
    if (stat(out->path, &status) == 0 && !S_ISREG(status.st_mode))
        return sb_error_set(SB_ERR_FAILED, 0, "cannot write %s: it is not a regular file",
                            out->path);
    out->partial = sb_format("%s.partial", out->path);
    *fdp = open(out->partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (*fdp >= 0)
        return 0;
    if (errno == EEXIST)
        return sb_error_set(SB_ERR_FAILED, EEXIST,
                            "%s exists: another command writes it or was stopped; move it away, or "
                            "name another --out",
                            out->partial);
    return sb_error_errno(errno, "cannot write %s", out->partial);
}

int sb_outfile_open(struct sb_outfile *out, const char *path)
{
    int fd = -1, rc = 0;

    *out = (struct sb_outfile){.to_name = "standard output"};
    if (path && strcmp(path, "-") != 0)
        out->path = out->to_name = path;
    if (out->path)
        rc = open_partial(out, &fd);
    else
        fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (!rc && fd >= 0)
        out->stream = fdopen(fd, "w");
    if (!rc && !out->stream)
        errno = fd < 0 ? errno : EBADF; /* closed by the caller: see main.c */
    if (!rc && !out->stream)
        rc = sb_outfile_failed(out);
    if (rc) {
        free(out->partial);
        out->partial = NULL;
    }
    return rc;
}

int sb_outfile_failed(const struct sb_outfile *out)
{
    return sb_error_errno(errno, "cannot write to %s", out->to_name);
}

void sb_outfile_line(struct sb_outfile *out, const char *line)
{
    if ((fputs(line, out->stream) == EOF || putc('\n', out->stream) == EOF) && !out->line_errno)
        out->line_errno = errno;
}

int sb_outfile_finish(struct sb_outfile *out)
{
    int rc = 0;

    errno = out->line_errno;
    if (ferror(out->stream) || fflush(out->stream) || (out->path && fsync(fileno(out->stream))))
        rc = sb_outfile_failed(out);
    if (fclose(out->stream) && !rc)
        rc = sb_outfile_failed(out);
    out->stream = NULL;
    if (!rc && out->path && rename(out->partial, out->path))
        rc = sb_error_errno(errno, "cannot rename %s", out->partial);
    if (rc && out->path)
        (void)unlink(out->partial);
    free(out->partial);
    out->partial = NULL;
    return rc;
}

void sb_outfile_discard(struct sb_outfile *out, bool keep)
{
    if (!out->stream)
        return;
    (void)fclose(out->stream);
    out->stream = NULL;
    if (out->path && !keep)
        (void)unlink(out->partial);
    free(out->partial);
    out->partial = NULL;
}
