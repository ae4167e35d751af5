# SPDX-License-Identifier: Apache-2.0
# A limit of address space (ulimit -v) or of data (-d), from too little to enough: never a signal, always one line, nothing left behind. What
# is in short supply is memory for the code that oneDNN generates, for threads and for their stacks.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q -o g sbm:nodes=2000,features=40 && gnn-train -q --store g -f 5,5 --hidden 64 --epochs 1 -o m || exit 1
limit=v
# under KB COMMAND...: how it ends: good, refused, product (refused by one), or bad; $_bad is the first of these
under() {
    _at=$1
    shift
    sh -c 'ulimit -c 0 && ulimit "-$0" "$1" && shift && exec timeout 600 "$@"' $limit "$_at" "$@" >out 2>err
    _rc=$?
    case $_rc,$(wc -l <err) in
        0,0) is=good ;;
        1,1 | 127,1) is=refused ;; # 127: the system's loader
        # So does OpenMP's library, with an empty line, before the program begins.
        1,2) if grep -q '^libgomp: Out of memory' err && [ ! -s out ]; then is=refused; else is=bad; fi ;;
        # The system's loader may crash, at limits that depend on the size of the program, before there is a program.
        139,*) if ! sh -c 'ulimit -c 0 && ulimit "-$0" "$1" && shift && exec "$1" --version' $limit "$_at" "$@" >/dev/null 2>&1; then is=refused; else is=bad; fi ;;
        *) is=bad ;;
    esac
    [ $is != bad ] || { _nbad=$((_nbad + 1)) && _bad="${_bad:-$_rc at $_at KB: $(grep . err | head -n 1)}"; }
    ! grep -q 'a matrix product needs' err || is=product
}
short() { [ $is != good ]; }
early() { [ $is = refused ]; }
# border short|early LEAST MOST COMMAND...: $_to becomes a limit from which on the end is no longer that, within 500 KB
border() {
    _kind=$1 _from=$2 _to=$3
    shift 3
    while [ $((_to - _from)) -gt 500 ]; do
        under $(((_from + _to) / 2)) "$@"
        if $_kind; then _from=$_at; else _to=$_at; fi
    done
}
# window COMMAND...: the limits with which it gets to the first product, but not to the end, are from $least to $most
window() {
    _bad='' _nbad=0
    border short 20000 400000 "$@"
    most=$_to
    border early 20000 $most "$@"
    least=$_to
}
# sweep NAME FIRST STEP COMMAND...: goes through that window, and a little more, from FIRST KB after its beginning on
sweep() {
    _name=$1 _kb=$((least - 1000 + $2)) _step=$3 _bad='' _nbad=0 _refused=0 _good=0
    shift 3
    while [ $_kb -le $((most + 3 * _step)) ]; do
        under $_kb "$@"
        case $is in good) _good=$((_good + 1)) ;; refused | product) _refused=$((_refused + 1)) ;; esac
        _kb=$((_kb + _step))
    done
    if [ $_nbad -eq 0 ] && [ $_good -ge 2 ] && [ $_refused -gt 2 ] && ! ls o.tmp* >ls 2>&1; then _ok "$_name (from $least to $most KB)"; else
        _not_ok "$_name ($_refused refused, $_good good, $_nbad others: $_bad)"
        sed 's/^/# /' ls
    fi
}
both() { # NAME STEP COMMAND...
    _what=$1 _by=$2
    shift 2
    window "$@"
    sweep "$_what" 0 "$_by" "$@"
}
# Batches of few rows and of more make products of different classes, for each of which oneDNN generates code. Two sizes of batches together
# make steps of 500 KB.
everything() { [ "${GNN_SWEEP-}" = all ]; }
everything && layers='sage gat gcn gin gatv2 rgcn hgt' step=500 || layers='sage gat gcn' step=1000
for rows in 1 2 4 16; do
    gnn-sample -q -f 3,3 -b $rows -o s$rows g && gnn-gather -q --fields x,y,degree -i s$rows -o b$rows g || exit 1
done
for layer in $layers; do
    learn="gnn-train -q -j1 --hidden 8 -m $layer -o o -i"
    [ $layer != hgt ] || learn="gnn-train -q -j1 --hidden 8 -m hgt --head 0 -o o -i"
    first=0
    for rows in 1 2 4 16; do
        [ $rows != 1 ] || window $learn b$rows
        sweep "gnn-train -m $layer ends cleanly in little address space with batches of $rows" $first $step $learn b$rows
        first=$(((first + 500) % step))
    done
done
everything || step=3000
both 'gnn-predict -j 1 ends cleanly in little address space' $step gnn-predict -q -j1 -n g m
both 'gnn-predict -j 2 ends cleanly in little address space' $step gnn-predict -q -j2 -n g m
both 'gnn-train -j 1 ends cleanly in little address space' $step gnn-train -q -j1 --prefetch 1 --store g -f 5,5 --hidden 64 --epochs 1 -o o
both 'gnn-train -j 2 ends cleanly in little address space' $step gnn-train -q -j2 --store g -f 5,5 --hidden 64 --epochs 1 -o o
both 'gnn-train --full-batch ends cleanly in little address space' $step gnn-train -q -j1 --full-batch --store g --hidden 64 --epochs 1 -o o
both 'gnn-train --precision bf16 ends cleanly in little address space' $step gnn-train -q -j1 --prefetch 1 --store g -f 5,5 --hidden 64 --epochs 1 --precision bf16 -o o
limit=d
both 'gnn-predict -j 2 ends cleanly under a limit of data' $step gnn-predict -q -j2 -n g m
done_testing
