# SPDX-License-Identifier: Apache-2.0
# Where devices find the graph: in their own memory, or in the host's. What they draw is the same.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/device/setup.sh"
gather=$GNN_B/emu/bin/gnn-gather
gnn-import -q sbm:nodes=400,degree=7 -o s
gnn-import -q sbm:nodes=200,types=3,weights=1 -o h
gnn-partition -q -k 3 -o s3 s
gnn-partition -q -k 2 -o h2 h
for how in '' GNN_FAKE_MAP=1; do
    [ -z "$how" ] || export "${how?}"
    for size in 0 4K 12K; do
        same "with the graph in the memory of the host and $size for cached rows $how" 1 1 cuda -f 4,3 -b 20 --steps 0:3 --edge-ids --with uva $size s
    done
    same "from several parts in the memory of the host $how" 2 2 cuda:1,0 -f 4,3 -b 20 --steps 0:3 --original-ids --edge-ids --with uva 9K s3
    same "for a graph of several node types in parts in the memory of the host $how" \
        1 3 cuda -f 3,2 -b 16 --steps 0:2 --frontier new --edge-ids --with uva 60K h2
    same "by LABOR with the graph in the memory of the host $how" 1 9 cuda -f 4,3 -b 20 --steps 0:2 --labor --with uva 9K h2
    same "by weight with the graph in the memory of the host $how" 1 8 cuda -f 4,3 -b 20 --steps 0:2 --weight weight --with uva 9K h2
    same "for all neighbours with the graph in the memory of the host $how" 1 4 cuda -f -1,3 -b 10 --steps 0:2 --with uva 6K s
done
unset GNN_FAKE_MAP
GNN_FAKE_NO_REGISTER=1
export GNN_FAKE_NO_REGISTER
same "with the graph in memory that the runtime has pinned" 1 1 cuda -f 4,3 -b 20 --steps 0:3 --edge-ids --with uva 4K s3
unset GNN_FAKE_NO_REGISTER
same "with as large a cache of rows as there is space for" 2 5 cuda:0,1 -f 4,3 -b 20 --steps 0:3 --edge-ids --with uva '' h
same "with the graph in the memory of the devices" 2 6 cuda:0,1 -f 4,3 -b 20 --steps 0:3 --edge-ids --with device '' h

gnn-import -q sbm:nodes=400,degree=60 -o big
said() { # WHERE TEXT ENVIRONMENT ARGUMENTS...: what is said of the graph, and the CPU's bytes
    _where=$1 _text=$2 _env=$3
    shift 3
    env $_env "$emu" --no-provenance -v --device cuda -f 2,1 -b 2 --steps 0:3 "$@" big -o dev 2>said
    check "gnn-sample -v says that the graph is $_where" grep -q "$_text" said
    check "gnn-sample gives the bytes of the CPU with the graph $_where" cmp cpu dev
}
smp -f 2,1 -b 2 --steps 0:3 big -o cpu
said "in the memory of a device by default" 'graph: 0.09[0-9]* MB on each device' ''
host="graph: 0.096 MB in host memory"
said "in the memory of the host, if it does not fit into that of the device" \
    "$host, in a pinned copy; 0.0[34][0-9]* MB on each device, 0.0[23][0-9]* MB of it for cached rows" GNN_FAKE_MEMORY=81920
said "where the host maps it, if the system can pin that" \
    "$host; .* 0 MB of it for cached rows" GNN_FAKE_MAP=1 --graph-memory uva --graph-cache 0
said "in the memory of the host and all its rows are cached" \
    "$host, .* 0.09[6-9][0-9]* MB of it for cached rows" '' --graph-memory uva
said "in memory of the host that the runtime has pinned" \
    "$host, in a pinned copy; .* 0 MB of it for cached rows" GNN_FAKE_NO_REGISTER=1 --graph-memory uva --graph-cache 0
fails 1 "gnn-sample --graph-memory uva fails when it cannot pin enough memory" \
    "not enough memory to pin: 98304 bytes for the graph, with [0-9]* pinned already, and the process is limited to 90000" \
    env GNN_FAKE_PINNABLE=90000 "$emu" -f 2 big --device cuda --graph-memory uva
# Features of three types of nodes, each array less than the limit.
gnn-import -q -o three sbm:nodes=600,types=3,features=512
gnn-sample -q -f 2 -b 20 --steps 0:2 -o seen three
for how in '' GNN_FAKE_NO_REGISTER=1 GNN_FAKE_MAP=1; do
    fails 1 "gnn-gather fails when arrays can be pinned one by one, but not all together $how" \
        "not enough memory to pin: [0-9]* bytes for .*, with [0-9]* pinned already, and the process is limited to 1500000" \
        env $how GNN_FAKE_PINNABLE=1500000 "$gather" --device cuda --cache none -i seen three
    check "gnn-gather gathers when all arrays can be pinned $how" \
        env $how GNN_FAKE_PINNABLE=20000000 "$gather" -q --device cuda --cache none -i seen three -o o
done

# A copy does not stay in the page cache a second time, whether checksums have still to be checked or not.
cached() { fincore -bno PAGES big/part-00000.gnb | tr -d ' '; }
if command -v fincore >/dev/null && gnn-sample -q -f 2,1 -b 2 --count big >out && [ "$(cached)" -gt 20 ]; then
    before=$(cached)
    for verify in '' --no-verify; do
        cat big/part-00000.gnb >all
        "$emu" -q -f 2,1 -b 2 --count $verify --device cuda --graph-memory uva big >out
        left=$(cached)
        check "gnn-sample --graph-memory uva leaves no second copy in the page cache $verify ($left of $before pages stay)" \
            test $((before - left)) -ge 22
    done
    cat big/part-00000.gnb >all
    GNN_FAKE_MAP=1 "$emu" -q -f 2,1 -b 2 --count --device cuda --graph-memory uva big >out
    check "gnn-sample leaves all pages in the page cache where it maps them" test "$(cached)" -eq "$before"
else
    skip "gnn-sample --graph-memory uva leaves no second copy in the page cache" "cannot see what is in it"
fi

fails 2 "gnn-sample refuses --graph-memory without --device" 'graph-memory has no effect' "$emu" -f 3 s --graph-memory uva
fails 2 "gnn-sample refuses --graph-cache with --graph-memory device" \
    'graph-cache requires' "$emu" -f 3 s --device cuda --graph-memory device --graph-cache 1K
fails 1 "gnn-sample --graph-memory uva fails when the device has too little memory for the offsets" \
    'not enough device memory.*the graph' env GNN_FAKE_MEMORY=4096 "$emu" -f 3 s --device cuda --graph-memory uva
sweep_calls "with the graph in the memory of the host" -f 3,2 -b 40 --steps 0:4 --edge-ids --graph-memory uva --graph-cache 4K s3

# A store that is damaged: the CPU's words, or its bytes. Most of this one is offsets and sources.
awk 'BEGIN { for (i = 0; i < 3000; i++) print (i * 7919) % 311, (i * i) % 307 }' >edges.txt
gnn-import -q edges.txt -o d
seq 0 3 300 >ids
_bad=0 _seen=0 _i=0
while [ $_i -lt 30 ]; do
    rm -rf x cpu dev
    cp -r d x
    perl -e 'my ($f, $i) = @ARGV; srand $i; open my $h, "+<:raw", $f or die; my $at = 4 * int rand((-s $f) / 4); seek $h, $at, 0;
        print $h pack "V", $i % 3 ? 300 + int rand 100 : int rand 2**32' x/part-00000.gnb $_i
    verify=$([ $((_i % 2)) -eq 0 ] || echo --no-verify)
    smp -f -1,3 -b 32 --seeds ids $verify -o cpu x 2>err.cpu
    _want=$?
    memory=$([ $((_i % 3)) -eq 0 ] || echo "--graph-memory uva --graph-cache 4K")
    "$emu" -q --no-provenance -f -1,3 -b 32 --seeds ids $verify -o dev x --device cuda $memory 2>err
    _rc=$?
    clean_err
    [ $_rc -eq $_want ] && cmp -s err err.cpu && { [ $_rc -ne 0 ] || cmp -s cpu dev; } || { _bad=$((_bad + 1)); echo "# damage $_i: status $_rc, not $_want: $(cat err)"; }
    ! grep -q 'out of range\|decrease or exceed' err || _seen=$((_seen + 1))
    _i=$((_i + 1))
done
check "gnn-sample on a device treats 30 damaged stores as the CPU does ($_seen of them found by a draw)" test $_bad -eq 0 -a $_seen -gt 5
done_testing
