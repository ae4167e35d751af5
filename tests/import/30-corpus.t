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
        check "$name" gnn-import "$f" -o S
        check "$name makes a sound store" gnn-inspect --verify S
        check "$name can be undirected, without duplicates, with loops" gnn-import -u --dedup --self-loops add "$f" -o S2
        check "$name makes a sound store then too" gnn-inspect --verify S2
        ;;
    *)
        status 3 "$name is refused" gnn-import "$f" -o S
        if refused "$name"; then _ok "$name: $(cut -c 1-200 err | tr -d '#')"; else
            _not_ok "$name: one line and no remains"
            sed 's/^/# /' err
            find . | sed 's/^/# /'
        fi
        ;;
    esac
    rm -rf S S2 out err
    check "$name is explained" grep -q "^$name: ." "$dir/README"
    rm -f out err
done
check 'nothing is explained that is not there' sh -c '
    sed -n "s/^\([a-z]*-[^:]*\): .*/\1/p" "$1/README" | while read -r n; do [ -e "$1/$n" ] || exit 1; done' - "$dir"
for r in "$GNN_B"/tests/fuzz/replay_*; do
    case $r in
    *.o | *_store | *_stream) continue ;;
    esac
    check "${r##*/} replays the corpus" "$r" "$dir"/* "$GNN_TOP"/tests/fuzz/seeds/*
done
done_testing
