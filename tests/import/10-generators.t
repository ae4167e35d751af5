# SPDX-License-Identifier: Apache-2.0
. "$GNN_TOP/tests/lib.sh"
same() { cmp -s "$1/part-00000.gnb" "$2/part-00000.gnb"; }
differ() { ! same "$1" "$2"; }
counts() { # METRICS-FILE NODES EDGES
    grep -q "\"nodes\":$2,\"edges\":$3," "$1"
}
imp() { gnn-import --no-provenance "$@"; }

for g in sbm:nodes=3000,degree=8 sbm:nodes=700,types=3,weights=1,times=1 rmat:scale=11 \
    sbm:nodes=700,targets=3 rmat:scale=9,features=5,classes=3 products:scale=0.004 \
    igbh:scale=1e-5,features=20,classes=9; do
    rm -rf a b c
    check "gnn-import generates $g" imp "$g" -o a
    check "gnn-import -j 3 generates $g" imp "$g" -o b -j 3
    check "gnn-import writes the same bytes of $g with 3 threads" same a b
    check "gnn-import --seed 2 generates $g" imp "$g" -o c --seed 2
    check "gnn-import --seed 2 writes other bytes of $g" differ a c
done

check "gnn-import generates sbm: with 3000 nodes of degree 8" imp sbm:nodes=3000,degree=8 -o s --metrics m
check "gnn-import --metrics counts the edges of sbm: in both directions" counts m 3000 24000
check "gnn-import generates rmat: with 4 edges a node" imp rmat:scale=10,edges=4 -o r --metrics m
check "gnn-import --metrics counts the edges of rmat: in one direction" counts m 1024 4096
check "gnn-import generates sbm:seed=7 with --seed 1" imp sbm:seed=7 -o s1 --seed 1
check "gnn-import generates sbm:seed=7 with --seed 2" imp sbm:seed=7 -o s2 --seed 2
check "seed= of a generator wins over --seed of gnn-import" same s1 s2

rm -rf s
check "gnn-import --self-loops add generates sbm:" imp sbm:nodes=100,degree=4 -o s --self-loops add --metrics m
check "gnn-import --self-loops add adds a loop to each node" counts m 100 500
check "gnn-import --dedup --self-loops remove generates rmat:" imp rmat:scale=8,edges=100 -o d --dedup --self-loops remove --metrics m
check "gnn-import --metrics counts the duplicates that --dedup removes" grep -q '"duplicates":[1-9]' m

for bad in sbm:nodes=0 sbm:nodes=3,classes=4 sbm:colour=3 rmat:scale=32 rmat:a=0.9,b=0.9 sbm:nodes= sbm:nodes=5x sbm:classes=0 \
    igbh:scale=20 igbh:classes=0 igbh:dtype=f64 igbh:dtype=20 igbh:weights=1 igbh:train=0.9,valid=0.2 products:scale=0 sbm:nodes=9, sbm:train=0.8,valid=0.4; do
    status 2 "gnn-import refuses $bad" imp "$bad" -o bad
    check "gnn-import refuses $bad in one line" test "$(wc -l <err)" -eq 1
done
status 2 "gnn-import --split refuses random shares with a sum over 1" imp sbm: -o bad --split random:0.6,0.6,0.2
status 2 "gnn-import --split refuses two random shares" imp sbm: -o bad --split random:0.6,0.2
check "gnn-import leaves nothing of a generator that it refuses" test -z "$(ls -A | grep -v -e '^[a-z0-9]*$' -e '^s[12]$'; ls -d bad 2>/dev/null)"
status 2 "gnn-import does not overwrite a store" imp sbm: -o a
check "gnn-import --force overwrites a store" imp sbm: -o a --force

# igbh: the published numbers, scaled; reverses as MLPerf has them; degrees of a power law; classes that can be learned.
check "gnn-import generates igbh:" imp igbh:scale=1e-5,classes=8,features=128,signal=0.15 -o I --self-loops add --metrics m
check "gnn-import --metrics counts the edges of igbh: and of its reverses" counts m 5475 115451
gnn-inspect --stats I >said
for line in 'nodes  paper  *2693: x f16\[128\], y i32' 'nodes  author  *2772: x f16\[128\]' 'edges  paper/cites/paper  *77235' \
    'edges  paper/written_by/author  *7168' 'edges  author/rev_written_by/paper  *7168' 'edges  author/affiliated_to/institute  *485' \
    'edges  fos/rev_topic/paper  *10503' 'edges  journal/rev_published/paper  *898' 'edges  paper/venue/conference  *54' \
    'split  random/train  *1363  of paper' 'split  random/valid  *454  of paper' 'task   multiclass of paper, 8 classes' \
    'nodes without a label: 422'; do
    check "gnn-inspect shows of igbh: $line" grep -q "$line" said
done
check "igbh: has papers that are cited much more than others" perl -ne \
    'if (m{paper/cites/paper: symmetric}) { $_ = <>; exit !(/median (\d+), mean (\S+), max (\d+)/ && $1 < $2 && $3 > 10 * $2) }' said
check "gnn-train learns igbh:" gnn-train --store I -f 5,5 -b 128 --epochs 10 --hidden 32 --lr 0.01 --patience 0 -q -o I.st
gnn-predict -q -n I I.st --split test --metrics p
v=$(sed -n 's/.*"accuracy":\([0-9.]*\).*/\1/p' p)
check "gnn-train learns classes of igbh: $v" perl -e 'exit !($ARGV[0] > 0.8)' "$v"
check "gnn-import --dtype bf16 generates igbh:" imp igbh:scale=1e-6 --dtype bf16 -o J
gnn-inspect J >said
check "gnn-import --dtype bf16 stores features of igbh: in bf16" grep -q 'x bf16\[1024\]' said
check "gnn-import generates igbh: with dtype=f32" imp igbh:scale=1e-6,dtype=f32 -o K
gnn-inspect K >said
check "dtype=f32 of igbh: stores features in f32" grep -q 'x f32\[1024\]' said

# Memory: well below the store's size, for features and edges stream by.
check "gnn-import generates products:scale=0.1" imp products:scale=0.1 -o big --metrics m
size=$(($(wc -c <big/part-00000.gnb) * 13 / 10))
check "gnn-import generates products: in at most 1.3 times the memory of its store's size" sh -c \
    'p=$(sed "s/.*peak_bytes\":\([0-9]*\).*/\1/" m); echo "$p of $1"; [ -n "${GNN_SAN-}" ] || [ "$p" -gt 0 ] && [ "$p" -le "$1" ]' - "$size"
done_testing
