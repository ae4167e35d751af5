# SPDX-License-Identifier: Apache-2.0
# Ranks that sample on devices, which are emulated: the bytes of the ranks that sample on the CPU, wherever the graph is. tests/rules compares ways to sample.
. "$GNN_TOP/tests/ranks/setup.sh"
gnn-import -q --no-provenance -o s sbm:nodes=700,degree=9
gnn-import -q --no-provenance -o h sbm:nodes=240,types=3
gnn-partition -q --no-provenance -k 7 -o s7 s
gnn-partition -q --no-provenance -k 4 -o s4 s
gnn-partition -q --no-provenance -k 4 --halo-edges -o halo s
gnn-partition -q --no-provenance -k 5 --method random -o h5 h

# draw RANKS DEVICES ARGUMENTS...
draw() {
    _n=$1 _d=$2
    shift 2
    on "$_n" "$_d" gnn-sample --no-provenance "$@"
}
together() {
    # shellcheck disable=SC2086
    ranks "$1" gnn-sample -q --no-provenance "$3" $4 -o 'want.%r' && draw "$1" "$2" "$3" $4 --device "$5" $6 -o 'got.%r' && same_files "$1"
}
# try RANKS DEVICES STORE "OPTIONS" DEVICE "DEVICE'S OPTIONS"
try() {
    rm -f got.* want.*
    turn 4 || return 0
    check "gnn-sample on $1 ranks with $5 of $2 devices gives the bytes of the CPU: $3 $4${6:+ }$6" together "$@"
}

for pair in $(choice '1.1 1.2 1.4 2.1 2.2 2.4 3.1 3.2 3.4 4.1 4.2 4.4 7.1 7.2 7.4' '1.4 2.2 4.1 7.4'); do
    try ${pair%.*} ${pair#*.} s7 '-f 5,3,2 -b 90 --eval valid --edge-ids' cuda ''
done
try 4 2 s4 '-f 7,4 -b 64 --epochs 0:2' cuda '--graph-memory uva --graph-cache 4k'
try 3 1 h5 '-f 3,2,2 -b 24 --edge-ids' cuda '--graph-memory uva --graph-cache 2k'
try 2 2 s4 '-f 7,4 -b 64 --edge-ids' cuda '--graph-memory uva --graph-cache 0'
try 2 2 s4 '-f 7,4 -b 64' cuda '--graph-memory device -j 3'
try 2 4 s4 '-f 7,4 -b 64' cuda:3,1,0,2 '-j 1'
try 3 2 s4 '-f 7,4 -b 64' cuda:1 ''
try 4 4 h5 '-f 3,2 -b 24 --count-once' cuda ''
try 4 2 s4 '-f 5,5,5 -b 100 --count-once --eval test -j 2' cuda ''
try 4 2 s4 '-f -1,-1,-1 -b 200 --edge-ids --steps 0:2' cuda ''
try 2 1 s4 '-f 0 -b 50 --steps 0:2' cuda ''
try 4 1 halo '-f 5,4 -b 64 --edge-ids' cuda '-v'
try 2 1 halo '-f 5,4 -b 64' cuda '--graph-memory uva'
export GNN_FAKE_MAP=1
try 2 2 s4 '-f 7,4 -b 64' cuda '--graph-memory uva'
unset GNN_FAKE_MAP
seq 100 7 600 >ids
try 4 2 s4 '-f 5,4 -b 50 --seeds ids' cuda ''
head -n 2 ids >few
try 4 2 s4 '-f 5,4 -b 50 --seeds few' cuda ''
check 'gnn-sample draws the batches of one process on the CPU' gnn-sample -q --no-provenance s4 -f 5,4 -b 50 --seeds ids -o one.gnb
draw 4 2 s4 -f 5,4 -b 50 --seeds ids --device cuda -o 'r.%r.gnb'
check 'gnn-sample on 4 ranks with devices draws the batches of one process on the CPU' union s4 one.gnb $(streams r 4)

# The output says where the graph is, and what is free is divided among the ranks of a device.
draw 2 1 s4 -f 3 --device cuda --graph-memory uva -v -o 'got.%r' 2>said
check 'gnn-sample -v says that the graph is in the memory of the host' grep -q 'graph: .* MB in host memory[;,].* MB on each device' said
in_host() { GNN_FAKE_MEMORY=40960 draw 2 "$1" s4 -f 3 -b 16 --device cuda -j 1 -v -o 'got.%r' 2>said && grep -c 'MB in host memory' said; }
check 'gnn-sample divides the free memory of a device among the ranks that share it' test "$(in_host 1) $(in_host 2)" = '2 0'

# From devices to devices, through files.
rm -f want.* got.* w.*
ranks 4 gnn-sample -q --no-provenance s4 -f 5,4 -b 60 -o 'w.%r' && ranks 4 gnn-gather -q --no-provenance s4 -i 'w.%r' -o 'want.%r'
gather() { GNN_FAKE_DEVICES=2 ranks 4 "$emu/gnn-gather" -q --no-provenance --device cuda "$@"; }
check 'gnn-sample on 4 ranks samples on devices into files' draw 4 2 s4 -f 5,4 -b 60 --device cuda -o 's.%r'
check 'gnn-gather on 4 ranks gathers on devices from files' gather s4 -i 's.%r' -o 'got.%r'
check 'gnn-sample and gnn-gather on devices give through files the bytes of the CPU' same_files 4

# Counting; who has a device.
ranks 2 gnn-sample s4 -f 3,2 -b 60 --count >want.txt
draw 2 2 s4 -f 3,2 -b 60 --device cuda --count >got.txt
check 'gnn-sample --count on devices counts what the CPU counts' \
    sh -c 'for f in want got; do grep -e ^batches -e ^seeds -e ^nodes -e ^edges $f.txt >$f.n; done; cmp want.n got.n'
some() { ranks 2 sh -c 'export GNN_FAKE_DEVICES=$OMPI_COMM_WORLD_RANK; exec '"$emu"'/gnn-sample --no-provenance "$@"' sh "$@"; }
rm -f got.* want.*
ranks 2 gnn-sample -q --no-provenance s4 -f 3,2 -b 60 -o 'want.%r'
check 'gnn-sample --device auto runs on ranks of which one has no device' some s4 -f 3,2 -b 60 --device auto -o 'got.%r'
check 'gnn-sample --device auto gives the bytes of the CPU when one rank has no device' same_files 2
rm -f got.*
check 'gnn-sample --device auto runs on ranks that all have a device' draw 2 1 s4 -f 3,2 -b 60 --device auto -o 'got.%r' -v
cp err said
check 'gnn-sample --device auto says that it uses devices when all ranks have one' grep -q 'using cuda:0' said
check 'gnn-sample --device auto gives the bytes of the CPU when all ranks have a device' same_files 2
status 4 'gnn-sample --device cuda refuses to run when one rank has no device' some s4 -f 3,2 -b 60 --device cuda -o 'got2.%r'
for refused in '--frontier new' --original-ids '--transport cuda'; do
    # shellcheck disable=SC2086
    status 2 "gnn-sample --device cuda refuses $refused on several ranks" draw 2 2 s4 -f 3 --device cuda $refused -o 'got2.%r'
done

# A damaged part is told of in the CPU's words, or draws what the CPU draws from it. 20480 bytes from its beginning are the
# offsets, then the sources.
awk 'BEGIN { for (i = 0; i < 30000; i++) print (i * 7919) % 311, (i * i) % 307 }' >edges.txt
gnn-import -q -o e edges.txt && gnn-partition -q -k 2 -o e2 e
seq 0 306 >ids
wrong='' told=0
for k in $(seq 0 $(wide && echo 7 || echo 3)); do
    rm -rf x want.* got.*
    cp -r e2 x && chmod -R u+w x
    perl -e 'my ($f, $i) = @ARGV; srand $i; open my $h, "+<:raw", $f or die; my $at = $i % 4 ? 24576 + 4 * int rand 14000 : 20480 + 4 * int rand 300; seek $h, $at, 0;
        print $h pack "V", $i % 3 ? 300 + int rand 100 : int rand 2**32' x/part-00000.gnb "$k"
    set -- x -f -1,3 -b 32 --seeds ids --no-verify -q
    ranks 2 gnn-sample --no-provenance "$@" -o 'want.%r' 2>said.cpu
    rc=$?
    # shellcheck disable=SC2046
    draw 2 2 "$@" --device cuda $([ $((k % 2)) -eq 0 ] || echo --graph-memory uva --graph-cache 4K) -o 'got.%r' 2>said
    [ $? -eq $rc ] && cmp -s said said.cpu && { [ $rc -ne 0 ] || same_files 2; } || { wrong="$wrong $k:$rc"; sed 's/^/# /' said.cpu said; }
    ! grep -q 'out of range\|decrease or exceed' said || told=$((told + 1))
done
check "gnn-sample on devices treats damaged parts as the CPU does ($told found by a draw)$wrong" test -z "$wrong" -a "$told" -gt $(wide && echo 5 || echo 1)

# Too little memory ends all ranks: with one line, and nothing written.
short() { GNN_FAKE_MEMORY=8192 draw 2 2 s4 -f 3 --device cuda --graph-memory device -o 'got2.%r'; }
status 1 'gnn-sample on ranks fails when a device has too little memory for the graph' short
cp err said
check 'gnn-sample on ranks says that a device has too little memory' grep -q 'rank [01]: not enough device memory' said
check 'gnn-sample on ranks leaves nothing behind when a device has too little memory' sh -c '! ls got2* 2>/dev/null'
set -- h5 -f 3,2 -b 60 --edge-ids --steps 0:2
ranks 2 gnn-sample -q --no-provenance "$@" -o 'want.%r'
one_device_fails gnn-sample "$@" --graph-memory uva --graph-cache 4K
done_testing
