#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every header compiles alone: all of them as C11, those of the library as C++17 too.
# usage: check-headers.sh [TREE]
set -u
cd "${1:-$(dirname "$0")/..}" || exit 2
flags="-I. -D_GNU_SOURCE -fsyntax-only -Wall -Wextra -Wpedantic -Werror $(pkg-config --cflags libzstd libarchive zlib jansson)"
rc=0
for h in cmd/*.h lib/*/*.h lib/*/*/*.h kernels/*.h kernels/*/*.h formats/*.h; do
    [ -e "$h" ] || continue
    # shellcheck disable=SC2086
    printf '#include "%s"\n#include "%s"\nextern int something;\n' "$h" "$h" | ${CC:-cc} -std=c11 -xc $flags - ||
        { echo "$h: does not compile alone as C11"; rc=1; }
    case $h in cmd/*) continue ;; esac
    # shellcheck disable=SC2086
    printf '#include "%s"\n#include "%s"\nextern int something;\n' "$h" "$h" | ${CXX:-c++} -std=c++17 -xc++ $flags - ||
        { echo "$h: does not compile alone as C++17"; rc=1; }
done
exit $rc
