# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests here. Each line of ./rules for which `takes OPTIONS` is true draws batches in all the ways below: they are those of
# one process with one thread. `make check` takes a few ways of each line.
export GNN_MPI="$GNN_B/lib/gnn-tools/gnn-mpi.so" # beside emulated programs there is none
if command -v mpirun >/dev/null 2>&1 && [ -e "$GNN_MPI" ]; then
    . "$GNN_TOP/tests/ranks/setup.sh"
    mpi=1
else
    . "$GNN_TOP/tests/lib.sh"
    mpi=
    skip "ranks draw the batches of one process" 'no MPI'
fi
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || { skip 'batches are the same in all ways to draw them' 'no numpy'; done_testing; }
helper() { # NAME ARGUMENTS...: of tests/sample
    _helper=$1
    shift
    "$python" "$GNN_TOP/tests/sample/$_helper.py" "$@"
}

# Graphs s, t (node types), i and f (times, whole and real), all with weights; with a p in partitions, with an h with halo edges, too.
gnn-import -q -o s sbm:nodes=900,degree=12,weights=1 && gnn-import -q -o t sbm:nodes=300,types=3,weights=1,degree=9 &&
    helper temporal i.npz i8 400 5000 && gnn-import -q -o i i.npz && helper temporal f.npz f8 400 5000 && gnn-import -q -o f f.npz ||
    _not_ok 'gnn-import makes graphs'
for g in s t i f; do
    gnn-partition -q -k 4 -o ${g}p $g && gnn-partition -q -k 4 --halo-edges -o ${g}h $g || _not_ok "gnn-partition divides $g"
done

seed=0
# on DEVICES STORE OPTION...: gnn-sample with emulated devices, which do their work in another order each time
on() {
    _n=$1
    shift
    seed=$((seed + 10))
    GNN_FAKE_DEVICES=$_n GNN_FAKE_SEED=$seed "$GNN_B/emu/bin/gnn-sample" "$@"
}
# draws WAY: makes WAY, or WAY.RANK.gnb, unless it is there
draws() {
    [ ! -e "$1" ] && [ ! -e "$1.0.gnb" ] || return 0
    _way=$1 _out=$1
    case $_way in
    one) set -- gnn-sample $g ;;
    sampled) set -- gnn-sample $g ;;
    threads*) set -- gnn-sample $g -j "${_way#threads}" ;;
    parts) set -- gnn-sample ${g}p -j 2 ;;
    device) set -- on 1 $g --device cuda ;;
    devices) set -- on 2 $g --device cuda:1,0 ;;
    device-parts) set -- on 1 ${g}p --device cuda --graph-memory uva --graph-cache 4k ;;
    ranks2) set -- ranks 2 gnn-sample $ranked -j 2 ;;
    ranks4) set -- ranks 4 gnn-sample $ranked $once ;;
    devices-ranks2)
        seed=$((seed + 10))
        # shellcheck disable=SC2016
        set -- env GNN_FAKE_DEVICES=$((1 + line / 2 % 2)) GNN_FAKE_SEED=$seed mpirun --quiet -n 2 sh -c 'export GNN_FAKE_SEED=$((GNN_FAKE_SEED + OMPI_COMM_WORLD_RANK)); exec timeout 600 "$@" --timeout 120' sh \
            "$GNN_B/emu/bin/gnn-sample" $ranked --device cuda
        ;;
    esac
    case $_way in *ranks*) _out=$_way.%r.gnb ;; esac
    _opts=$opts
    [ $_way != sampled ] || _opts=$(echo "$opts" | sed 's/ --induced//')
    # shellcheck disable=SC2086
    check "gnn-sample $_opts draws from $g: $_way" "$@" -q --no-provenance $_opts -b 40 --steps 0:5 $ids -o "$_out"
}
slices() {
    for _r in 0:2 2:3 3:5; do
        # shellcheck disable=SC2086
        gnn-sample -q --no-provenance $g $opts -b 40 --steps $_r $ids || return
    done >sliced
    gnn-inspect --diff one sliced
}
same_ranks() { for _r in 0 1; do cmp ranks2.$_r.gnb devices-ranks2.$_r.gnb || return; done; }
# Walks are compared one by one, by original ids.
walks() { helper walks list $g one >one.txt && [ -s one.txt ] && helper walks list "$@" >many.txt && cmp one.txt many.txt; }
counted() { union $ranked one $(streams ranks4 4) >counted && grep -q ' [1-9][0-9]* nodes counted' counted; }
# holds WAY: it is what it should be
holds() {
    case $1,$opts in
    look,*--induced*)
        draws sampled
        set -- 'has the edges among the nodes found' helper induced $g one sampled
        ;;
    look,*) set -- 'picks what may be picked' helper times $g one ;;
    verify,*) set -- 'draws what gnn-inspect --verify proves' gnn-inspect --verify one --against $g ;;
    verify-parts,*) set -- 'draws from partitions what gnn-inspect --verify proves' gnn-inspect --verify parts --against ${g}p ;;
    verify-ranks,*) set -- 'draws on a rank what gnn-inspect --verify proves' gnn-inspect --verify ranks4.1.gnb --against $ranked ;;
    slices,*) set -- 'draws steps in slices as in one run' slices ;;
    parts,*walk*) set -- "walks the same from 4 partitions" walks ${g}p parts ;;
    parts,*) set -- "draws the same from 4 partitions" gnn-inspect --diff --original --store $g --store ${g}p one parts ;;
    ranks*,*walk*) set -- "walks the same on ${1#ranks} ranks" walks $ranked $(streams $1 ${1#ranks}) ;;
    ranks2,*) set -- "draws the same on 2 ranks" union $ranked one $(streams ranks2 2) ;;
    ranks4,*) set -- "draws the same on 4 ranks, and counts each node once" counted ;;
    devices-ranks2,*) set -- "draws the bytes of the CPU on ranks with devices" same_ranks ;;
    device-parts,*) set -- "draws the bytes of the CPU on a device, from partitions in the memory of the host" cmp parts device-parts ;;
    *) set -- "draws the bytes of one thread: $1" cmp one $1 ;;
    esac
    _what=$1
    shift
    check "gnn-sample $opts $_what ($g)" "$@"
}
# asked WAY: whether there is such a way of this line, and it is its turn
asked() {
    case $1,$opts in
    look,*--induced* | look,*--time-rule*) ;;
    look,* | parts,*--pairs* | *ranks*,*--pairs* | *ranks*,*--frontier\ new*) return 1 ;;
    *ranks*,*--induced*) case $opts in *--disjoint*) ;; *) return 1 ;; esac ;;
    esac
    case $1 in *ranks*) [ "$mpi" ] || return 1 ;; esac
    if [ -n "${GNN_SAN-}" ]; then # it sees nothing else in the others
        case $1 in threads5 | parts | ranks4 | device) ;; *) return 1 ;; esac
    fi
    wide || [ $(((line + way_number) % 8)) -eq 0 ]
}
line=0
while read -r g opts <&4; do # mpirun would read standard input
    [ "$g" != '#' ] && takes "$opts" || continue
    line=$((line + 1))
    rm -f ./*.gnb one sampled threads* parts device* ranks*
    ids=--edge-ids once=--count-once
    case $opts in *walk*) ids='' once='' ;; esac
    [ $((line / 2 % 2)) = 0 ] && ranked=${g}p || ranked=${g}h
    way_number=0
    for way in verify look slices threads2 threads5 parts verify-parts device devices device-parts ranks2 ranks4 verify-ranks devices-ranks2; do
        way_number=$((way_number + 1))
        asked $way || continue
        draws one
        case $way in
        verify | look | slices) ;;
        verify-parts) draws parts ;;
        verify-ranks) draws ranks4 ;;
        device-parts) draws parts && draws $way ;;
        devices-ranks2) draws ranks2 && draws $way ;;
        *) draws $way ;;
        esac
        holds $way
    done
done 4<"$GNN_TOP/tests/rules/rules"
done_testing
