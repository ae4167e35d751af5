# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests here. Each model of ./models whose layer is one of $layers learns from full batches in all the ways below, and
# each way has the losses of another one, or makes its model to the bit. `make check` takes a few ways of each model.
export GNN_MPI="$GNN_B/lib/gnn-tools/gnn-mpi.so" # beside emulated programs there is none
if command -v mpirun >/dev/null 2>&1 && [ -e "$GNN_MPI" ]; then
    . "$GNN_TOP/tests/ranks/setup.sh"
    mpi=1
else
    . "$GNN_TOP/tests/lib.sh"
    mpi=
    skip "full batches of ${layers?} on ranks" 'no MPI'
fi
# Numbers that are fetched are waited for, and lie where a device can leave them.
export OMP_NUM_THREADS=1 GNN_FAKE_PINNED=1

# Graphs w (weights), h (f16), x (features of edges) and t (node types) with many seeds; with an n, few, whose hops do not reach all
# nodes. In the partitions with a p, 0 has a single node, 1 neither edges nor seeds, and the others share the rest; only 3 has those few.
perl -e 'srand 4; print "source,target,weight\n"; printf "%d,%d,%.3f\n", int rand 301, int rand 280, .1 + rand for 1 .. 2000; print "5,5,2\n7,7,0.5\n"' >e.csv
perl -e 'srand 4; print "source,target,weight\n"; printf "%d,%d,%.3f\n", int rand 301, int rand 280, .1 + rand for 1 .. 400; printf "%d,%d,1\n", $_, $_ * 7 % 280 for 0 .. 300; print "5,5,2\n7,7,0.5\n"' >ne.csv
perl -e 'print $_ % 3, "\n" for 1 .. 301' >y.csv
perl -e 'srand 5; print join(",", $_ % 3 + rand, rand, 1), "\n" for 1 .. 301' >x.csv
perl -e 'print $_ == 9 ? 0 : $_ >= 290 ? 1 : 2 + $_ % 3, "\n" for 0 .. 300' >assign
seq 1 30 289 >train
seq 4 30 289 >valid
make_graphs() { # PREFIX SPLIT OPTIONS-OF-SBM
    _n=$1
    for _g in w 'x --map x=weight' 'h --dtype f16'; do
        # shellcheck disable=SC2086
        gnn-import -q --directed --labels y.csv --features x.csv --split "$2" -o "$_n"$_g "${_n}e.csv" &&
            gnn-partition -q --from assign -o "$_n${_g%% *}p" "$_n${_g%% *}" || return
    done
    gnn-import -q -o "${_n}t" "sbm:nodes=150,types=3,features=6$3" && gnn-partition -q -k 5 -o "${_n}tp" "${_n}t"
}
make_graphs '' random:0.5,0.25,0.25 '' && make_graphs n train=train,valid=valid ',degree=2,train=0.03,valid=0.05' ||
    _not_ok 'gnn-import and gnn-partition make graphs'
for g in w x h t; do
    gnn-partition -q -k 1 -o "${g}1" $g && gnn-partition -q -k 5 -o "${g}5" $g || _not_ok "gnn-partition divides $g"
done

learn='-q --no-provenance --optimizer sgd --lr 0.05 --dropout 0.3 --hidden 8 --epochs 3'
seed=0
# on RANKS COMMAND...: each rank has a device of its own, and each device does its work in another order
on() {
    _n=$1
    shift
    seed=$((seed + 10))
    if [ "$_n" = 1 ]; then GNN_FAKE_SEED=$seed "$@"; else
        # shellcheck disable=SC2016
        GNN_FAKE_DEVICES=$_n GNN_FAKE_SEED=$seed ranks "$_n" sh -c 'export GNN_FAKE_SEED=$((GNN_FAKE_SEED + OMPI_COMM_WORLD_RANK)); exec timeout 600 "$@" --timeout 120' sh "$@"
    fi
}
# learns WAY: makes WAY.st and WAY.json, unless they are there
learns() {
    [ ! -e "$1.st" ] || return 0
    _way=$1 _opts=$opts
    case $_way in
    full) set -- gnn-train --full-batch --store "${g}p" ;;
    batch)
        _opts=${opts% --layers 3}
        set -- gnn-train --store "$g" -f "$all" -b 1000000 --no-shuffle
        ;;
    # Of induced edges, the layers use all that full batches use, and some that no seed depends on.
    induced) set -- gnn-train --induced --store "$g" -f "$all" -b 1000000 --no-shuffle ;;
    parts*) set -- gnn-train --full-batch --store "$g${_way#parts}" ;;
    # Each buffer leaves the memory after each step.
    memory) set -- env GNN_DEBUG_SWAP=1 gnn-train --full-batch --store "${g}p" --memory 4G ;;
    ahead) set -- ranks 4 gnn-train --full-batch --store "${g}p" --pipeline-depth 3 ;;
    ranks*) set -- ranks "${_way#ranks}" gnn-train --full-batch --store "${g}p" ;;
    device | again) set -- on 1 "$GNN_B/emu/bin/gnn-train" --full-batch --store "${g}p" --device cuda ;;
    devices) set -- on 2 "$GNN_B/emu/bin/gnn-train" --full-batch --store "${g}p" --device cuda ;;
    rows) set -- gnn-train --full-batch --store "n${g}p" ;;
    needed) set -- gnn-train --full-batch --needed-only --store "n${g}p" ;;
    needed-ranks) set -- ranks $((2 + line % 2 * 3)) gnn-train --full-batch --needed-only --store "n${g}p" ;;
    needed-device) set -- on 1 "$GNN_B/emu/bin/gnn-train" --full-batch --needed-only --store "n${g}p" --device cuda ;;
    esac
    # shellcheck disable=SC2086
    check "gnn-train $opts learns from $g: $_way" "$@" $learn $_opts --metrics "$_way.json" -o "$_way.st"
}
# Losses of all epochs and sets; what needed rows are sent for, which is what ranks send.
losses() { grep '"event": *"epoch"' "$1.json" | grep -o '"loss": *[-0-9.e+]*' | cut -d: -f2; }
sent() { grep -E '"event": *"(needed_only|full_batch)"' "$1.json" | grep -oE '"(rows|(fetched|pushed|evaluated)_bytes)": *[^a-z]*'; }
near() { # A B BOUND
    losses "$1" >a
    losses "$2" >b
    [ "$(wc -l <a)" -ge 3 ] && [ "$(wc -l <a)" -eq "$(wc -l <b)" ] &&
        paste a b | awk -v most="$3" '{ d = $1 - $2; if (!(d <= most * $1 && d >= -most * $1)) { print; bad = 1 } } END { exit bad }'
}
# asked WAY: whether there is such a way for the model, and it is this model's turn
asked() {
    case $1,$opts in
    batch,*--b[ao][tu]* | batch,*-dtype* | induced,*--b[ao][tu]* | induced,*-dtype* | parts*--b[ao][tu]* | parts*-dtype* | batch,*--remote* | induced,*--remote* | \
        memory,*--remote* | parts1,*--remote* | needed*--batch-norm* | needed*--boundary* | needed,*-dtype* | ahead,*--remote-rows\ all*) return 1 ;;
    esac
    case $1 in *ranks* | devices | ahead) [ "$mpi" ] || return 1 ;; esac
    [ "${GNN_SWEEP-}" != all ] || return 0
    case $1,$((line % 2)) in ranks[134],* | ranks2,0 | ranks5,1) return 1 ;; esac
    if [ -n "${GNN_SAN-}" ]; then # it sees nothing else in the others
        case $1 in memory | ranks* | device | needed) ;; *) return 1 ;; esac
    fi
    if [ -n "${GNN_FAKE_SUMS-}" ]; then # make check-sums: of devices
        case $1 in device | needed-device) [ $(((line + way_number) % 4)) -eq 0 ] && return ;; esac
        return 1
    fi
    wide || [ $(((line + way_number) % 16)) -eq 0 ]
}
line=0
while read -r g opts <&4; do # mpirun would read standard input
    case $g in '#') continue ;; esac
    line=$((line + 1))
    for layer in $layers; do case "$opts " in "-m $layer "*) break ;; esac; layer=; done
    [ "$layer" ] || continue
    case $opts in *--layers\ 3*) all=-1,-1,-1 ;; *) all=-1,-1 ;; esac
    rm -f ./*.st
    way_number=0
    while read -r way to how <&5; do
        way_number=$((way_number + 1))
        asked "$way" || continue
        learns "$to"
        learns "$way"
        case $how in
        bits) check "gnn-train $opts makes the same model: $way as $to" cmp "$to.st" "$way.st" ;;
        *) check "gnn-train $opts has the same losses within $how: $way as $to" near "$to" "$way" "$how" ;;
        esac
        [ "$way" != needed-ranks ] ||
            check "gnn-train $opts computes and sends the same: $way as $to" test "$(sent "$to")" -a "$(sent "$to")" = "$(sent "$way")"
    done 5<<END
batch full 1e-5
induced full 1e-5
parts1 full 1e-5
parts5 full 1e-5
memory full bits
ranks1 full bits
ranks2 full bits
ranks3 full bits
ranks4 full bits
ranks5 full bits
ahead full bits
device full 1e-4
again device bits
devices device bits
needed rows 1e-5
needed-ranks needed bits
needed-device needed 1e-4
END
done 4<"$GNN_TOP/tests/full/models"
done_testing
