#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# All C and CUDA code is as clang-format 14 writes it with .clang-format; other versions write other lines.
# usage: check-format.sh [TREE]
set -u
cd "${1:-$(dirname "$0")/..}" || exit 2
format=
for f in clang-format-14 clang-format; do
    case $($f --version 2>/dev/null) in *"version 14."*) format=$f && break ;; esac
done
if [ -z "$format" ]; then
    echo "check-format: no clang-format 14: the format of the code is not checked" >&2
    exit 0
fi
find cmd lib kernels formats tests \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cc' \) -print0 |
    xargs -0 -r -P 2 -n 60 "$format" --dry-run -Werror --ferror-limit=1
