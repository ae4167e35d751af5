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

# A disk that gives back something else than was written to a temporary file.
# flips NAME OUT MESSAGE OP COMMAND...: a bit is flipped by one call or another. That is noticed, or it was in what is not read again: OUT is
# the same.
flips() {
    _name=$1 _out=$2 _message=$3 _op=$4 _bad='' _noticed=0
    shift 4
    rm -rf "$_out"
    fault "$_op" 0 FAULT_FLIP=1 FAULT_COUNT=count -- "$@" && _want=$(sum "$_out") || _bad=' none'
    for _k in $(ks "$(cat count)"); do
        rm -rf "$_out"
        fault "$_op" "$_k" FAULT_FLIP=1 -- "$@"
        case $? in
        0) [ "$(sum "$_out")" = "$_want" ] || _bad="$_bad $_k" ;;
        1)
            _noticed=$((_noticed + 1))
            grep -q "$_message" fault.err && [ "$(wc -l <fault.err)" -eq 1 ] && [ -z "$(find . -name "$_out*")" ] || _bad="$_bad $_k: $(cat fault.err)"
            ;;
        *) _bad="$_bad $_k" ;;
        esac
    done
    [ -z "$_bad" ] && [ $_noticed -gt 0 ] && _ok "$_name ($_noticed of $(ks "$(cat count)" | wc -l))" || _not_ok "$_name: $_noticed noticed, wrong:$_bad"
}
for op in write read; do
    for o in '' --dedup; do
        # shellcheck disable=SC2086
        flips "gnn-import${o:+ $o} notices a bit flipped by a $op of the file for sorting" S2 '^gnn-import: .*S2: the file for sorting was damaged while it lay on disk, in bytes' \
            $op gnn-import -q --sort-memory 64k $o --no-provenance -o S2 rmat:scale=11,weights=1
    done
    # With GNN_DEBUG_SWAP=1 all that is held goes to the file after each turn, and is read again. Wrong numbers of nodes, features that are no
    # numbers and losses that are not finite would be blamed on something else.
    for p in train-memory train-memory-sage; do
        run=$(run_of train-memory)
        [ $p = train-memory ] || run=$(echo "$run" | sed 's/-m gat --heads 2/-m sage --batch-norm --dropout 0.2/')
        # shellcheck disable=SC2086
        flips "gnn-$p notices a bit flipped by a $op of its temporary file" M2 '^gnn-train: .*M2: the temporary file of --memory was damaged while it lay on disk, in bytes' \
            $op $run --no-provenance
    done
done
for model in 'sage' 'gat --heads 2' 'gin' 'gcn' 'hgt --heads 2' 'sage --jk cat'; do
    # shellcheck disable=SC2086
    gnn-train -q --store S -f 3,3,3 --hidden 20 -m $model --epochs 1 --feature-norm row -o M3
    flips "gnn-predict -m $model notices a bit flipped in its temporary files" C.npy '/gnn-predict: the temporary file of activations was damaged while it lay on disk, in bytes 0 to' \
        share gnn-predict -q --memory 1 -o C.npy --output-kind embeddings S M3
done
gnn-train -q --store S -f 3,3 --hidden 20 -b 10 --epochs 1 -o M3
flips "gnn-predict --store notices a bit flipped by a write of its temporary file" C.npy '/gnn-predict: the temporary file of activations was damaged while it lay on disk, in bytes 0 to' \
    write gnn-predict -q --memory 1 --store S -o C.npy --output-kind embeddings M3
done_testing
