/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * digest.c -- see digest.h.
 */
#include "digest.h"

#include "data.h"

#include <inttypes.h>
#include <stdio.h>

struct state {
    uint64_t low, high;
};

static void absorb_word(struct state *s, uint64_t word)
{
    s->low = (s->low ^ word) * 0xff51afd7ed558ccdull;
    s->low ^= s->low >> 32;
    s->high = (s->high + word) * 0xc4ceb9fe1a85ec53ull;
    s->high ^= s->high >> 29;
}

/* The length comes first, so that moving bytes between key and value changes the hash. */
static void absorb(struct state *s, const unsigned char *bytes, size_t count)
{
    uint64_t tail = 0;

    absorb_word(s, count);
    for (; count >= 8; count -= 8, bytes += 8)
        absorb_word(s, sb_load64(bytes));
    if (!count)
        return;
    memcpy(&tail, bytes, count);
    absorb_word(s, tail);
}

void sb_digest_add(struct sb_digest *digest, const void *key, size_t key_bytes, const void *value,
                   size_t value_bytes)
{
    struct state s = {SB_GOLDEN, ~SB_GOLDEN};

    absorb(&s, key, key_bytes);
    absorb(&s, value, value_bytes);
    digest->low += sb_mix64(s.low + s.high);
    digest->high += sb_mix64(s.high);
    digest->records++;
}

void sb_digest_text(const struct sb_digest *digest, char text[SB_DIGEST_TEXT_BYTES])
{
    (void)snprintf(text, SB_DIGEST_TEXT_BYTES, "%016" PRIx64 "%016" PRIx64, digest->high,
                   digest->low);
}
