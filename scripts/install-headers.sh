#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the public headers into one folder, in which they include each other as "gnn/NAME.h": outside the tree nobody
# needs to know its modules. A public header that includes one that is not public is an error.
# usage: install-headers.sh FOLDER HEADER...     from the root of the tree; FOLDER/NAME.h is made for each
set -eu
to=$1
shift
install -d "$to"
for h in "$@"; do
    # shellcheck disable=SC2013 # names of headers have no blanks
    for need in $(sed -n 's/^#include "\(.*\)"$/\1/p' "$h"); do
        case " $* " in *" $need "*) ;; *)
            echo "$h: includes $need, which is not public" >&2
            exit 1
            ;;
        esac
    done
    sed 's|^#include "[^"]*/\([^/"]*\)"$|#include "gnn/\1"|' "$h" >"$to/$(basename "$h")"
    chmod 644 "$to/$(basename "$h")"
done
