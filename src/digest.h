/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * digest.h -- a fingerprint of a set of records that does not depend on their order.
 *
 * Each record is hashed to 128 bits over all bytes of its key and value, and the hashes are added:
 * two stores with the same records have the same digest whatever order their cursors take. It finds
 * faults, not forgeries: it is not cryptographic.
 */
#ifndef SB_DIGEST_H
#define SB_DIGEST_H

#include <stddef.h>
#include <stdint.h>

struct sb_digest {
    uint64_t low, high; /* sums mod 2^64 of the two halves of the record hashes */
    uint64_t records;
};

enum { SB_DIGEST_TEXT_BYTES = 33 }; /* 32 hexadecimal digits and a NUL */

/* Start with a zeroed digest. */
void sb_digest_add(struct sb_digest *digest, const void *key, size_t key_bytes, const void *value,
                   size_t value_bytes);

void sb_digest_text(const struct sb_digest *digest, char text[SB_DIGEST_TEXT_BYTES]);

#endif
