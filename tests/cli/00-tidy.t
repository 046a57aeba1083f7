#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The style test; it looks at sources alone, so one build is enough.

if [ "${STOREBENCH_BUILD:-main}" != main ]; then
    echo "1..0 # SKIP runs in the main build"
    exit 0
fi
exec sh "$STOREBENCH_SRCDIR/scripts/tidy" "$STOREBENCH_SRCDIR"
