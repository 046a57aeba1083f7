/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * owndata.c -- see owndata.h.
 */
#include "owndata.h"

#include "jsonx.h"
#include "mem.h"
#include "workdir.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* It is read twice, so a pipe would not do. */
static int check_file(const char *path)
{
    struct stat status;

    if (stat(path, &status))
        return sb_error_errno(errno, "%s", path);
    if (!S_ISREG(status.st_mode))
        return sb_error_set(SB_ERR_UNSUPPORTED, 0, "%s: not a regular file", path);
    return 0;
}

int sb_own_data_prepare(struct sb_own_data *own, const char *parent)
{
    int rc = check_file(own->path);

    if (!rc)
        rc = sb_workdir_create(parent, &own->folder);
    if (rc)
        return rc;
    own->packed_path = sb_format("%s/keys", own->folder);
    if (own->pairs)
        return sb_keypack_pairs(own->path, own->folder, own->packed_path, &own->pack);
    return sb_keypack_keys(own->path, own->nul, own->folder, own->packed_path, &own->pack);
}

void sb_own_data_release(struct sb_own_data *own)
{
    if (own->folder && sb_workdir_remove(own->folder))
        (void)fprintf(stderr, "storebench: %s\n", sb_error_last()->text);
    free(own->folder);
    free(own->packed_path);
    own->folder = own->packed_path = NULL;
}

json_t *sb_own_data_describe(const struct sb_own_data *own)
{
    const struct sb_keyfile_header *h = &own->pack.header;
    json_t *object = json_object();

    sb_json_text(object, "file", own->path);
    sb_json_text(object, "kind", own->pairs ? "pairs" : "keys");
    sb_json_hex(object, "hash", h->content_hash);
    sb_json_u64(object, "lines", own->pack.lines);
    sb_json_u64(object, "empty", own->pack.empty);
    sb_json_u64(object, "duplicates", own->pack.duplicates);
    sb_json_u64(object, "records", h->records);
    sb_json_u64(object, "key_bytes_min", h->key_bytes_min);
    sb_json_u64(object, "key_bytes_max", h->key_bytes_max);
    sb_json_u64(object, "key_bytes_total", h->key_bytes_total);
    if (own->pairs) {
        sb_json_u64(object, "value_bytes_max", h->value_bytes_max);
        sb_json_u64(object, "value_bytes_total", h->value_bytes_total);
    }
    return object;
}
