# SPDX-License-Identifier: Apache-2.0
# gnn-sample --induced on devices that are emulated: the bytes of the CPU wherever the graph is and whatever there
# is space for. tests/rules compares ways to sample.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/device/setup.sh"
gnn-import -q sbm:nodes=400,degree=7 -o s
gnn-import -q sbm:nodes=200,types=3,weights=1 -o h
gnn-import -q sbm:nodes=9000,degree=5 -o big
gnn-partition -q -k 3 -o s3 s
gnn-partition -q -k 2 -o h2 h
/usr/bin/python3 "$GNN_TOP/tests/sample/temporal.py" times.npz i8 300 4000
/usr/bin/python3 "$GNN_TOP/tests/sample/temporal.py" real.npz f8 300 4000
gnn-import -q -o times times.npz && gnn-import -q -o real real.npz && gnn-partition -q -k 3 -o times3 times
perl -e 'srand 3; print int rand 300, " ", int(rand 30) - 9, "\n" for 1 .. 100' >pairs
seed=0
# induced WHEN ARGUMENTS... STORE: on one device, and on two
induced() {
    _when=$1
    shift
    seed=$((seed + 2))
    same "with --induced, $_when" 1 $seed cuda --induced "$@"
    same "with --induced, $_when" 2 $((seed + 1)) cuda:1,0 --induced "$@"
}
induced "for epochs with evaluation" -f 3,2 -b 30 --epochs 0:2 --eval valid s
induced "from several parts with original ids" -f 4,3 -b 40 --steps 0:4 --edge-ids --original-ids s3
induced "for few nodes of a large graph" -f 9,5 -b 4 --steps 0:9 --edge-ids big
induced "for few nodes of a large graph with --frontier new" -f 4,2,2 -b 3 --steps 0:9 --frontier new big
key=$(gnn-inspect -t h | sed -n 's|.* edge/\([^ ]*\)/indptr .*|\1|p' | head -n 1)
induced "for fan-outs of one edge type only" -f "$key=3,2" -b 16 --steps 0:3 --edge-ids h
induced "for fan-outs without one edge type" -f 3,2 -f "$key=0,0" -b 16 --steps 0:3 --edge-ids h
induced "with edges of a type that no batch has" -f t1/rev_up/t0=3 -f t2/rev_up/t1=3 -b 16 --steps 0:3 --edge-ids h
induced "in trees with edges of a type that no batch has" -f t1/rev_up/t0=3 -f t2/rev_up/t1=3 -b 16 --steps 0:3 --disjoint h2
induced "in trees that have the graph's nodes repeatedly" -f -1,-1 -b 60 --steps 0:2 --disjoint s
induced "by real time in a window, from a file" -f 4,3 -b 20 --time-rule lt --window 7.5 --seeds pairs real
induced "for a hop without fan-out" -f 0 -b 50 --steps 0:2 s
induced "for all neighbours" -f -1,-1 -b 20 --steps 0:2 --edge-ids s
seq 5 3 200 >ids
induced "for the seeds of a file" -f 3,2 -b 16 --seeds ids --edge-ids s
echo 5 9 5 7 9 9 30 5 7 1 2 1 >repeated
induced "for seeds that are repeated in a file" -f 3,2 -b 6 --seeds repeated s
for many in 1 2; do
    smp -f 3,2 -b 16 --seeds - -o cpu s3 --induced --original-ids <ids
    check "gnn-sample --induced draws on $many devices for seeds from a pipe" sh -c \
        "GNN_FAKE_DEVICES=$many $emu -q --no-provenance -f 3,2 -b 16 --seeds - -o dev s3 --induced --original-ids --device cuda <ids"
    check "gnn-sample --induced gives the bytes of the CPU for seeds from a pipe, with $many devices" cmp cpu dev
done

# Where the graph is.
for size in 0 2k 40k; do
    for store in s3 h2; do
        same "with --induced, the graph of $store in the memory of the host, but for $size" 1 1$size cuda \
            --induced -f 4,3 -b 20 --steps 0:4 --edge-ids --with uva $size $store
    done
    same "with --induced in trees by weight and time, the graph in the memory of the host, but for $size" 2 2$size cuda:0,1 \
        --induced -f 4,3 -b 20 --steps 0:4 --disjoint --weight weight --time-rule le --edge-ids --with uva $size times3
done

# More than the space first given: of edges that are looked at, and of those that stay.
awk 'BEGIN { for (i = 1; i <= 6000; i++) { print i, i % 9 ? 0 : 1; print (i * 7) % 6000 + 1, i }
    for (i = 1; i <= 40; i++) print 0, i * 9 }' >edges.txt
gnn-import -q edges.txt -o star
echo 0 1 9 18 0 27 36 0 45 2 0 3 >hubs
induced "for more edges than there is capacity for" -f 2,2 -b 2 --seeds hubs --frontier new --edge-ids star
induced "for more neighbours than there is capacity for" -f -1,2 -b 2 --seeds hubs --edge-ids star
awk 'BEGIN { for (i = 0; i < 300; i++) for (j = 0; j < 300; j++) if (i != j) print i, j; for (i = 300; i < 30000; i++) print i, i + 1 }' >edges.txt
gnn-import -q --directed -o dense edges.txt
perl -e 'print join(" ", 400 .. 499, 0 .. 99, 4000 .. 4049, 100 .. 149), "\n"' >some
induced "for more edges that stay than there is capacity for" -f 3 -b 100 --seeds some --edge-ids dense
induced "in trees, for more edges that stay than there is capacity for" -f 30 -b 20 --seeds some --disjoint dense

# Counting needs no batch on the host; frequencies do.
smp --count --induced -f 3,2 -b 30 s | grep -v '^first\|^seconds\|^rate' >cpu
"$emu" -q --count --induced --device cuda -f 3,2 -b 30 s | grep -v '^first\|^seconds\|^rate' >dev
check "gnn-sample --count --induced on a device counts what the CPU counts" cmp cpu dev
smp --count --induced --frequency cpu -f 3,2 -b 30 s3 >out
"$emu" -q --count --induced --frequency dev --device cuda -f 3,2 -b 30 s3 >out
check "gnn-sample --frequency --induced on a device counts the accesses that the CPU counts" cmp cpu dev
check "gnn-sample --induced draws on a device with GNN_DEBUG_SYNC=1" \
    env GNN_DEBUG_SYNC=1 "$emu" -q --no-provenance --induced --device cuda -f 3,2 -b 30 s -o dev
smp --induced -f 3,2 -b 30 s -o cpu
check "gnn-sample --induced with GNN_DEBUG_SYNC=1 gives the bytes of the CPU" cmp cpu dev
for transport in cuda inline; do
    check "gnn-gather takes induced edges from a device, by --transport $transport" sh -c \
        "GNN_FAKE_DEVICES=1 $emu -q --induced --device cuda --transport $transport -f 3,2 -b 30 s |
        GNN_FAKE_DEVICES=1 $GNN_B/emu/bin/gnn-gather -q --device cuda --transport inline s | gnn-inspect --verify - --against s"
done
sweep_calls "with induced edges" --induced -f 3,2 -b 40 --steps 0:3 --edge-ids --disjoint s3
done_testing
