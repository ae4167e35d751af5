# SPDX-License-Identifier: Apache-2.0
# Each file of the corpus is read, or refused with status 3 and one line that names it, and nothing is left behind.
. "$GNN_TOP/tests/lib.sh"
dir=$GNN_TOP/tests/import/corpus
refused() { # FILE: status was 3; look at the rest
    [ "$(wc -l <err)" -eq 1 ] && grep -q "^gnn-import: .*$1" err && [ ! -e S ] && [ -z "$(ls -A | grep -v -x -e out -e err)" ]
}
for f in "$dir"/*; do
    name=${f##*/}
    case $name in
    README) continue ;;
    good-*)
        check "gnn-import reads $name" gnn-import "$f" -o S
        check "gnn-import makes a sound store of $name" gnn-inspect --verify S
        check "gnn-import -u --dedup --self-loops add reads $name" gnn-import -u --dedup --self-loops add "$f" -o S2
        check "gnn-import -u --dedup --self-loops add makes a sound store of $name" gnn-inspect --verify S2
        ;;
    *)
        status 3 "gnn-import refuses $name" gnn-import "$f" -o S
        what="gnn-import refuses $name in one line and leaves nothing"
        if refused "$name"; then _ok "$what"; else
            _not_ok "$what"
            sed 's/^/# /' err
            find . | sed 's/^/# /'
        fi
        ;;
    esac
    rm -rf S S2 out err
    check "the README of the corpus explains $name" grep -q "^$name: ." "$dir/README"
    rm -f out err
done
check 'each file that the README of the corpus explains is there' sh -c '
    sed -n "s/^\([a-z]*-[^:]*\): .*/\1/p" "$1/README" | while read -r n; do [ -e "$1/$n" ] || exit 1; done' - "$dir"
for r in "$GNN_B"/tests/fuzz/replay_*; do
    case $r in
    *.o | *_store | *_stream) continue ;;
    esac
    check "${r##*/} replays the corpus and the seeds" "$r" "$dir"/* "$GNN_TOP"/tests/fuzz/seeds/*
done
done_testing
