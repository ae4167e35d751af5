# SPDX-License-Identifier: Apache-2.0
# Cut and flipped streams and stores: status 3 and one line, always, and nothing left behind.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/faults/runs.sh"
. "$GNN_TOP/tests/faults/sweep.sh"
check 'the programs make the inputs to damage' inputs
hurt() { # NAME MODE COUNT FILE COPY OUT COMMAND...
    _name=$1
    shift
    if perl "$GNN_TOP/tests/faults/hurt.pl" "$@" >hurt.log 2>&1; then _ok "$_name: $(tail -n 1 hurt.log)"; else
        _not_ok "$_name"
        sed 's/^/# /' hurt.log
    fi
}
hurt 'gnn-gather refuses a stream cut at any edge' edges 0 B bad X gnn-gather -q -o X -i bad S
hurt 'gnn-gather refuses a stream cut anywhere' cut 100 B bad X gnn-gather -q -o X -i bad S
hurt 'gnn-gather refuses a stream with a flipped bit' flip 250 B bad X gnn-gather -q -o X -i bad S
hurt 'gnn-train refuses a stream cut at any edge' edges 0 G bad X gnn-train -q --hidden 8 -o X -i bad
hurt 'gnn-train refuses a stream cut anywhere' cut 50 G bad X gnn-train -q --hidden 8 -o X -i bad
hurt 'gnn-train refuses a stream with a flipped bit' flip 100 G bad X gnn-train -q --hidden 8 -o X -i bad
hurt 'gnn-inspect --verify refuses a stream with a flipped bit' flip 100 G bad - gnn-inspect --verify bad
part=S/part-00000.gnb
hurt 'gnn-sample refuses a partition cut at any edge' edges 0 $part $part X gnn-sample -q -f 2 -o X S
hurt 'gnn-gather refuses a partition cut anywhere' cut 50 $part $part X gnn-gather -q -o X -i B S
hurt 'gnn-inspect --verify refuses a partition with a flipped bit' flip 200 $part $part - gnn-inspect --verify S
check 'gnn-inspect --verify finds a store sound whose damage is undone' gnn-inspect --verify S

# A disk that gives back something else than was written to the file for sorting.
[ -z "${GNN_SAN-}" ] || { skip 'gnn-import notices a bit flipped in the file for sorting' 'the sanitizer owns the calls'; done_testing; }
for o in '' --dedup; do
    for k in 1 2 7; do
        # shellcheck disable=SC2086
        fault write $k FAULT_FLIP=1 -- gnn-import -q --sort-memory 64k $o -o S2 rmat:scale=11,weights=1
        [ $? -eq 1 ] && grep -q '^gnn-import: .*S2: the file for sorting was damaged while it lay on disk, in bytes' fault.err && [ "$(wc -l <fault.err)" -eq 1 ] &&
            [ -z "$(find . -name 'S2*')" ] && _ok "gnn-import${o:+ $o} notices a bit flipped in block $k of the file for sorting, and leaves nothing" ||
            { _not_ok "gnn-import${o:+ $o} takes a bit flipped in block $k of the file for sorting"; sed 's/^/# /' fault.err; }
    done
done
done_testing
