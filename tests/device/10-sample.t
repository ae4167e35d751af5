# SPDX-License-Identifier: Apache-2.0
# gnn-sample on devices that are emulated (tests/emu): the same bytes as on the CPU, whatever the devices and the order in
# which their work is done; and what goes wrong there is said.
# tests/rules compares ways to sample.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/device/setup.sh"
gnn-import -q sbm:nodes=400,degree=7 -o s
gnn-import -q sbm:nodes=200,types=3,weights=1 -o h
gnn-import -q sbm:nodes=9000,degree=5 -o big
gnn-partition -q -k 3 -o s3 s
gnn-partition -q -k 2 -o h2 h
seq 5 3 200 >ids

# One hop after the other, several batches on each lane, a last batch that is not full, two epochs, sets in between.
same "for epochs with evaluation" 1 1 cuda -f 3,2 -b 30 --epochs 0:2 --eval valid s
same "for epochs with evaluation" 2 2 cuda:0,1 -f 3,2 -b 30 --epochs 0:2 --eval valid s
same "for one epoch with evaluation" 4 3 cuda:3,1,0,2 -f 3,2 -b 30 --epochs 1:2 --eval valid s
gnn-import -q sbm:nodes=400,degree=9,weights=1 -o w
gnn-sample -q -f 3 --steps 0 --weight weight --keep-index -c w >stats
for memory in device uva; do
    same "by weight with an index, in $memory memory" 1 41 cuda --with $memory '' -f 40,3 -b 20 --steps 0:3 --weight weight --edge-ids w
done
rm -rf w.index
same "in trees that have the graph's nodes repeatedly" 1 55 cuda -f -1,-1,-1 -b 100 --steps 0:2 --disjoint s
/usr/bin/python3 "$GNN_TOP/tests/sample/temporal.py" real.npz f8 300 4000
gnn-import -q -o real real.npz
perl -e 'srand 3; print int rand 300, " ", int(rand 30) - 9, "\n" for 1 .. 100' >pairs
same "by real time in a window, from a file" 2 57 cuda:0,1 -f 4,3 -b 20 --time-rule lt --window 7.5 --seeds pairs real
same "with edge ids" 1 6 auto -f 4,3 -b 20 --steps 0:3 --edge-ids s
same "from several parts" 1 7 cuda -f 4,3 -b 20 --steps 0:3 --edge-ids s3
same "from several parts with original ids" 2 8 cuda:1 -f 4,3 -b 20 --steps 0:3 --original-ids --frontier new s3
same "for a graph of several node types in parts with --frontier new" 2 10 cuda:1,0 -f 3,2 -b 16 --steps 0:4 --frontier new --original-ids h2
key=$(gnn-inspect -t h | sed -n 's|.* edge/\([^ ]*\)/indptr .*|\1|p' | head -n 1)
same "for fan-outs of one edge type only" 1 11 cuda -f "$key=3,2" -b 16 --steps 0:2 h
# A relation without edges, the only way to its sources.
raw() { mkdir -p "$(dirname "e/raw/$1")" && printf "$2" | gzip >"e/raw/$1.csv.gz"; }
raw num-node-dict 'a,b\n2,3\n'
raw triplet-type-list 'a,ab,b\nb,ba,a\n'
raw nodetype-has-feat 'a,b\nFalse,False\n'
raw relations/a___ab___b/edge ''
raw relations/a___ab___b/num-edge-list '0\n'
raw relations/b___ba___a/edge '0,0\n2,1\n'
raw relations/b___ba___a/num-edge-list '2\n'
gnn-import -q -o none e
echo 2 0 >two
same "for a relation without edges" 1 23 cuda -f 3,2 -b 1 --seeds two --seed-type b none
same "for a fan-out of 0" 1 12 cuda -f 0 -b 50 --steps 0:2 s
same "for a fan-out of all neighbours" 1 13 cuda -f -1,-1 -b 20 --steps 0:2 s
same "for fan-outs of 20 and 100" 1 14 cuda -f 20,100 -b 4 --steps 0:2 s
same "for a fan-out that is larger than the set of a block" 1 15 cuda -f 5000 -b 8 --steps 0:1 -r s
same "for few nodes of a large graph" 2 31 cuda:0,1 -f 3,2 -b 4 --steps 0:9 big
same "for few nodes of a large graph with --frontier new" 1 32 cuda -f 4,2 -b 3 --steps 0:9 --frontier new --edge-ids big
same "for the seeds of a file" 1 16 cuda -f 3,2 -b 16 --seeds ids s
echo 5 9 5 7 9 9 30 5 7 1 2 1 >repeated
same "for seeds that are repeated in a file" 1 24 cuda -f 3,2 -b 6 --seeds repeated s
same "for original ids of a file with --shuffle" 2 17 cuda:0,1 -f 3,2 -b 16 --seeds ids --original-ids --shuffle s3
same "with --drop-last" 1 18 cuda -f 2 -b 150 --drop-last s
same "for a batch that is larger than the set" 1 19 cuda -f 2 -b 1000000 s
for many in 1 2; do
    smp -f 3,2 -b 16 --seeds - -o cpu s3 --original-ids <ids
    check "gnn-sample draws on $many devices for seeds from a pipe" \
        sh -c "GNN_FAKE_DEVICES=$many $emu -q --no-provenance -f 3,2 -b 16 --seeds - -o dev s3 --original-ids --device cuda <ids"
    check "gnn-sample gives the bytes of the CPU for seeds from a pipe, with $many devices" cmp cpu dev
done
# A batch of ids that have come is drawn before more are waited for.
mkfifo line
rm dev
GNN_FAKE_DEVICES=2 "$emu" -q --no-provenance -f 3 -b 2 --seeds - s --device cuda:0,1 --transport inline <line >dev &
pid=$!
exec 9>line
echo 1 2 >&9
until [ -e dev ] && [ "$(wc -c <dev)" -gt 1500 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
check "gnn-sample --seeds - writes a batch before the seeds of the next one come" test "$(wc -c <dev)" -gt 1500
exec 9>&-
wait $pid
check "gnn-sample --seeds - ends its stream well when the pipe ends" gnn-inspect --verify dev

# Some 6000 in-edges where 2 are usual: more than the space first given, in the first batch and in those under way behind it.
awk 'BEGIN { for (i = 1; i <= 6000; i++) { print i, i % 9 ? 0 : 1; print (i * 7) % 6000 + 1, i }
    for (i = 1; i <= 40; i++) print 0, i * 9 }' >edges.txt
gnn-import -q edges.txt -o star
echo 0 1 9 18 0 27 36 0 45 2 0 3 >hubs
same "for more neighbours than there is capacity for" 1 20 cuda -f -1,-1 -b 2 --seeds hubs --frontier new star
same "for more neighbours in the second hop than there is capacity for" 2 21 cuda:0,1 -f 2,-1,2 -b 2 --seeds hubs --edge-ids star
same "for more neighbours than there is capacity for, with original ids" 1 22 cuda -f -1,3 -b 2 --seeds hubs --original-ids star

# Counting needs no batch on the host; frequencies do.
smp --count -f 3,2 -b 30 s | grep -v '^first\|^seconds\|^rate' >cpu
"$emu" -q --count --device cuda -f 3,2 -b 30 s | grep -v '^first\|^seconds\|^rate' >dev
check "gnn-sample --count on a device counts what the CPU counts" cmp cpu dev
smp --count --frequency cpu -f 3,2 -b 30 s3 >out
"$emu" -q --count --frequency dev --device cuda -f 3,2 -b 30 s3 >out
check "gnn-sample --frequency on a device counts the accesses that the CPU counts" cmp cpu dev
check "gnn-sample draws on a device with GNN_DEBUG_SYNC=1" env GNN_DEBUG_SYNC=1 "$emu" -q --no-provenance --device cuda -f 3,2 -b 30 s -o dev
smp -f 3,2 -b 30 s -o cpu
check "gnn-sample with GNN_DEBUG_SYNC=1 gives the bytes of the CPU" cmp cpu dev

# What goes wrong.
fails 4 "gnn-sample --device cuda fails without a device" 'no CUDA device' env GNN_FAKE_DEVICES=0 "$emu" -f 3 s --device cuda
fails 4 "gnn-sample --device cuda:0,2 fails with two devices" 'no CUDA device 2: there are 2' env GNN_FAKE_DEVICES=2 "$emu" -f 3 s --device cuda:0,2
fails 4 "gnn-sample --device cuda fails on a device of a compute capability that is too low" \
    'fake, has compute capability 7.5: this build needs 8.0' env GNN_FAKE_CAPABILITY=75 "$emu" -f 3 s --device cuda
fails 2 "gnn-sample refuses an unknown --device" "device 'gpu'" "$emu" -f 3 s --device gpu
fails 2 "gnn-sample refuses -j with --device cuda" 'threads has no effect' "$emu" -f 3 s --device cuda -j 2
fails 1 "gnn-sample --graph-memory device fails when the device has too little memory for the graph" \
    'not enough device memory.*the graph' env GNN_FAKE_MEMORY=8192 "$emu" -f 3 s --device cuda --graph-memory device
fails 1 "gnn-sample --device cuda fails when the device has too little memory for batches" \
    'not enough device memory' env GNN_FAKE_MEMORY=40960 "$emu" -f 3,3,3 -b 100 s --device cuda
status 0 "gnn-sample --device auto runs without a device" env GNN_FAKE_DEVICES=0 "$emu" --no-provenance -f 3,2 -b 30 s -o dev --device auto
cp err said
status 0 "gnn-sample --device auto runs on a device of a compute capability that is too low" \
    env GNN_FAKE_CAPABILITY=75 "$emu" -f 3,2 -b 30 s -o old --device auto
cp err old
check "gnn-sample --device auto says that the compute capability of the device is too low" grep -q 'using cpu: CUDA device 0, fake, has compute' old
check "gnn-sample --device auto says that it uses the CPU" grep -q 'using cpu: no CUDA device' said
check "gnn-sample --device auto without a device gives the bytes of the CPU" cmp cpu dev
status 0 "gnn-sample --device auto runs on a device" "$emu" --no-provenance -f 3,2 -b 30 s -o dev --device auto
cp err said
check "gnn-sample --device auto says which device it uses" grep -q 'using cuda:0, fake' said

sweep_calls "over several batches" -f 3,2 -b 40 --steps 0:6 --original-ids s3
done_testing
