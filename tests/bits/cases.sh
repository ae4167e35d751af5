# SPDX-License-Identifier: Apache-2.0
# The matrix, read by run.sh: q NAME COMMAND for cases of both lists, a NAME COMMAND for those of `all` only. A name begins with its
# group. The result of a case is what its command leaves in its directory, and if there is no file o, its output becomes that;
# @{NAME} stands for o of an earlier case. Commands are run by run.sh, whose functions they use.
# shellcheck disable=SC2016,SC2154

# --- stores ---
q 'import s' 'imp sbm:nodes=600,degree=8,features=12'
q 'import b, binary' 'imp sbm:nodes=400,classes=2,degree=6,features=7,signal=0.5,flip=0.1'
q 'import h, typed' 'imp sbm:nodes=240,types=3,weights=1,times=1'
q 'import r, directed' 'imp --split random:0.5,0.2,0.3 rmat:scale=10,features=5,classes=3'
q 'import p' 'imp products:scale=0.002'
q 'import l, labels of several columns' 'columns && imp -u e.txt --features x.txt --labels y.txt --task multilabel --split random:0.6,0.2,0.2 --nodes 500 && rm ./*.txt'
q 'import m' 'imp products:scale=0.01'
q 'import w' 'imp sbm:nodes=20000,degree=12,features=64'
q 'import e, no edges' 'imp sbm:nodes=200,degree=0'
q 'import t, some types without features' 'imp "$GNN_BITS_TOP"/tests/train/data/typed.zip'
q 'import y, bf16' 'imp --dtype bf16 sbm:nodes=300,degree=6,features=13'
q 'import z, int8' 'imp --dtype int8 sbm:nodes=300,degree=6,features=13'
q 'import hub, with 400,000 in-edges' 'seq 1 400000 | awk "{ print \$1, 0 }" >e.txt && imp e.txt && rm e.txt'
q 'import hubs, with some 6000 in-edges' 'awk "BEGIN { for (i = 1; i <= 6000; i++) { print i, i % 9 ? 0 : 1; print (i * 7) % 6000 + 1, i } for (i = 1; i <= 40; i++) print 0, i * 9 }" >e.txt && imp e.txt && rm e.txt'
q 'import keys' 'awk "BEGIN { for (i = 0; i < 300; i++) print i * i * 7 % 9001 * 1000, i * 31 % 577 }" >e.txt && imp -u --dedup e.txt && rm e.txt'
q 'import words' 'awk "BEGIN { for (i = 0; i < 300; i++) print \"w\" i * i % 91 \"\t\" \"r\" i % 5 \"\t\" \"w\" i * 31 % 97 }" >train.txt && imp train.txt && rm train.txt'
q 'import g, numbers' 'imp sbm:nodes=400,features=9,signal=0.6,targets=2'
q 'import igbh' 'imp igbh:scale=1e-5,features=20,classes=9 --self-loops add'
for o in '' -u --dedup '-u --dedup --self-loops add' '--self-loops remove --dedup'; do
    q "import through a file $o" "imp --sort-memory 64k $o rmat:scale=13,weights=1,times=1"
    a "import through a file, typed $o" "imp --sort-memory 64k $o sbm:nodes=2000,degree=30,types=3,weights=1"
done
q 'import a directory' 'mkdir d && cp "$GNN_BITS_TOP"/tests/import/corpus/good-edges.npy d/edge_index.npy && imp d && rm -r d'
q 'import several files' 'printf "a\tr\tb\nb\ts\tc\n" >train.txt && printf "c\tr\ta\n" >valid.txt && imp train.txt valid.txt && rm ./*.txt'
for g in sbm: sbm:nodes=700,types=3,weights=1,times=1,degree=5 sbm:nodes=50,degree=0 sbm:nodes=300,homophily=0.2,train=0.3,valid=0.1 \
    rmat:scale=11 rmat:scale=8,edges=100,a=0.4,b=0.3,c=0.2,weights=1 products:scale=0.001,features=10,homophily=0.4,signal=1,flip=0.2; do
    q "import $g" "imp $g"
    q "import $g --seed 2 -j 3" "imp $g --seed 2 -j 3"
    a "import $g -u --dedup" "imp $g -u --dedup"
    a "import $g --dedup --self-loops add --dtype bf16" "narrow bf16 $g --dedup --self-loops add"
    a "import $g --sort-memory 64k" "imp $g --sort-memory 64k"
done
for o in --directed --dedup '-u --dedup' '--self-loops keep' '--self-loops add' '--self-loops remove' '-u --dedup --self-loops add' \
    '--split random:0.1,0.3,0.6 --seed 3' '--sort-memory 64k' '--dtype f16' '--dtype bf16'; do
    q "import rmat:scale=10,features=5,classes=3,weights=1,times=1 $o" "imp $o rmat:scale=10,features=5,classes=3,weights=1,times=1"
    a "import sbm:nodes=200,types=3,weights=1 $o" "imp $o sbm:nodes=200,types=3,weights=1"
done
for f in "$top"/tests/import/corpus/good-*; do
    f=${f##*/}
    q "import $f" "imp \"\$GNN_BITS_TOP\"/tests/import/corpus/$f"
    q "import $f -u --dedup --self-loops add" "imp -u --dedup --self-loops add \"\$GNN_BITS_TOP\"/tests/import/corpus/$f"
    a "import $f --directed" "imp --directed \"\$GNN_BITS_TOP\"/tests/import/corpus/$f"
    a "import $f --dtype f16 --sort-memory 64k" "narrow f16 --sort-memory 64k \"\$GNN_BITS_TOP\"/tests/import/corpus/$f"
done
for w in duplicates/bad-duplicate upper/bad-upper fractions/bad-integer; do
    q "import ${w#*/}.mtx --allow ${w%/*}" "imp --allow ${w%/*} \"\$GNN_BITS_TOP\"/tests/import/corpus/${w#*/}.mtx"
done
q 'import --format csv good-snap.txt' 'imp --format csv "$GNN_BITS_TOP"/tests/import/corpus/good-snap.txt'
table='printf "from,to,trust,date\n0,1,5,1\n1,1,4,2\n0,1,7,3\n1,0,2,4\n2,1,3,5\n" >t.csv'
for o in '' --columns\ source=from,target=to,weight=trust,time=date '--columns source=2,target=1,cost=3' '--weight trust --time date' \
    '--map =trust --map when=date' '--nodes 5' '-u --dedup' '--self-loops add --weight trust'; do
    q "import a table $o" "$table && imp $o t.csv && rm t.csv"
done
q 'import --features --labels' 'printf "3 2\n2\n1 3\n2\n" >g.graph && printf "0.5,1\n2,0\n1,1\n" >x.csv && printf "0\n1\n0\n" >y.csv && imp --features x.csv --labels y.csv --task binary --split random:0.4,0.3,0.3 g.graph && rm g.graph ./*.csv'
q 'import --split of files' 'seq 0 2 99 >a && seq 1 4 99 >b && imp --split train=a,valid=b sbm:nodes=100 && rm a b'
for d in cora.zip amazon-computers.zip acm.zip '-u tolokers.npz' '--columns source=from,target=to,weight=feature,time=time bitcoin-otc.csv' \
    web-NotreDame.txt.gz WN18RR.tar.gz 4elt.graph test.mgraph; do
    a "import data ${d##* }" "imp \"\$GNN_DATA\"/${d##* } $(case $d in *' '*) echo "${d% *}" ;; esac)"
done

# --- parts ---
for g in s 'h, typed' 'r, directed'; do
    for o in '-k 2' '-k 3 --objective vol' '-k 7 --seed 2 --imbalance 1.2' '-k 4 --balance nodes,edges,train' '--two-level 2,2'; do
        q "partition ${g%,*} $o" "prt $o @{import $g}"
    done
    for m in fennel ldg access random; do
        q "partition ${g%,*} -k 4 --method $m" "prt -k 4 --method $m @{import $g}"
        q "partition ${g%,*} -k 3 --method $m --halo-edges -j 3" "prt -k 3 --method $m --halo-edges -j 3 @{import $g}"
        [ $m = random ] || a "partition ${g%,*} --two-level 2,3 --method $m --balance nodes,edges,train --passes 3" \
            "prt --two-level 2,3 --method $m --balance nodes,edges,train --passes 3 @{import $g}"
    done
    q "partition ${g%,*} --from" "seq 0 5000 | awk '{ print \$1 * 7 % 5 }' | head -n \$(gnn-inspect --json @{import $g} | awk '/node_types/ { on = 1 } /edge_types/ { on = 0 } on && /\"count\"/ { gsub(/[^0-9]/, \"\"); n += \$0 } END { print n }') | prt --from - @{import $g}"
    q "partition ${g%,*} -k 1, put together again" "prt -k 1 @{partition ${g%,*} -k 3 --method fennel --halo-edges -j 3}"
    q "partition ${g%,*} -k 5 --method random --seed 9, from parts" "prt -k 5 --method random --seed 9 @{partition ${g%,*} -k 4 --method ldg}"
    a "partition ${g%,*} -k 3 --method access --split valid -f 3,2 -b 50" "prt -k 3 --method access --split valid -f 3,2 -b 50 @{import $g}"
    a "partition ${g%,*} -k 70 --method random" "prt -k 70 --method random @{import $g}"
    for k in 2 4 8; do
        for seed in 0 1 5; do a "partition ${g%,*} -k $k --seed $seed --halo-edges" "prt -k $k --seed $seed --halo-edges @{import $g}"; done
    done
done
q 'partition s -k 4 --method random --no-edge-ids' 'prt -k 4 --method random --no-edge-ids @{import s}'
q 'partition h --balance types' 'prt -k 3 --balance types @{import h, typed}'
q 'partition words -k 3 --method random --halo-edges' 'prt -k 3 --method random --halo-edges @{import words}'
q 'partition words, put together again' 'prt -k 1 @{partition words -k 3 --method random --halo-edges}'
q 'partition keys -k 4 --method fennel' 'prt -k 4 --method fennel @{import keys}'
q 'partition y -k 2 --method ldg' 'prt -k 2 --method ldg @{import y, bf16}'
q 'partition z -k 2 --method ldg' 'prt -k 2 --method ldg @{import z, int8}'
q 'partition s -k 3 --method random --dtype int8' 'prt -k 3 --method random --dtype int8 @{import s}'
q 'partition s -k 3 --method random --dtype f16' 'prt -k 3 --method random --dtype f16 @{import s}'
q 'partition p -k 4 --method fennel' 'prt -k 4 --method fennel @{import p}'
q 'partition p -k 4 --method access -f 5,3 -b 64' 'prt -k 4 --method access -f 5,3 -b 64 @{import p}'
q 'partition l -k 3 --method random' 'prt -k 3 --method random @{import l, labels of several columns}'
q 'partition the figures of fennel' 'gnn-partition --no-provenance --metrics m -k 3 --method fennel -o o @{import p} >/dev/null && grep -oE "\"(cut|halo|passes|assign_bytes)\":[0-9]+" m >n && rm m'
for d in cora.zip acm.zip 4elt.graph web-NotreDame.txt.gz amazon-computers.zip tolokers.npz; do
    a "partition $d -k 4 --method fennel --halo-edges" "prt -k 4 --method fennel --halo-edges @{import data $d}"
    a "partition $d -k 3" "prt -k 3 @{import data $d}"
done

for m in fennel ldg access random metis; do
    q "partition w -k 4 --method $m" "prt -k 4 --method $m @{import w}"
    a "partition m -k 3 --method $m --halo-edges -j 3" "prt -k 3 --method $m --halo-edges -j 3 @{import m}"
    for d in cora.zip acm.zip amazon-computers.zip web-NotreDame.txt.gz; do
        case $m-$d in
        random-*) a "partition $d -k 8 --method $m" "prt -k 8 --method $m @{import data $d}" ;;
        access-web*) ;; # has no set
        *) a "partition $d -k 8 --method $m --balance nodes,edges" "prt -k 8 --method $m --balance nodes,edges @{import data $d}" ;;
        esac
    done
done
q 'partition c -k 3 --no-edge-ids' 'prt -k 3 --no-edge-ids @{import w}'

# --- sampled streams ---
P='partition s -k 4 --method ldg'
for f in all new; do
    for o in '-f 4,3 -b 64' '-f -1,-1 -b 50' '-f 5 -b 1024' '-f 3,-1,2 -b 30' '-r -f 6,4 -b 64'; do
        q "sample s --frontier $f $o" "smp --frontier $f $o @{import s}"
        q "sample s in parts --frontier $f $o" "smp --frontier $f $o @{$P}"
        q "sample r --frontier $f $o" "smp --frontier $f $o @{import r, directed}"
        q "sample h --frontier $f $o --edge-ids" "smp --frontier $f $o --edge-ids @{import h, typed}"
        a "sample h in parts --frontier $f $o --edge-ids --original-ids" "smp --frontier $f $o --edge-ids --original-ids @{partition h -k 4 --method ldg}"
        a "sample p in parts --frontier $f $o -j 3" "smp --frontier $f $o -j 3 @{partition p -k 4 --method fennel}"
        a "sample t --frontier $f $o" "smp --frontier $f $o @{import t, some types without features}"
        for d in cora.zip acm.zip; do a "sample $d --frontier $f $o" "smp --frontier $f $o @{import data $d}"; done
    done
done
for o in --no-shuffle '--drop-last' '--eval valid --eval test --epochs 0:2' '--epochs 3:5' '--steps 2:4' '--steps 1 --epochs 2:4' \
    '--seed 2' '--seed 12345678901' '--split valid' '--split random/test' '-j 3' '-b 1' '-b 360' --edge-ids '--transport inline' \
    '--no-verify' '--eval valid --drop-last --no-shuffle --epochs 2 -j 3'; do
    q "sample s -f 4,3 -b 50 $o" "smp -f 4,3 -b 50 $o @{import s}"
    q "sample s in parts -f 4,3 -b 50 $o --original-ids" "smp -f 4,3 -b 50 $o --original-ids @{$P}"
    a "sample h -f 4,3 -b 20 $o" "smp -f 4,3 -b 20 $o @{import h, typed}"
    a "sample r --frontier new -f 4,3,2 -b 100 $o" "smp --frontier new -f 4,3,2 -b 100 $o @{import r, directed}"
    a "sample l -r -f 4,3,2 -b 100 $o" "smp -r -f 4,3,2 -b 100 $o @{import l, labels of several columns}"
done
for o in '' '--layer-dependency --batch-dependency 3' '--frontier new -j 3'; do
    q "sample s by LABOR $o" "smp -f 4,3 -b 50 --labor $o @{import s}"
    q "sample s in parts by LABOR $o" "smp -f 4,3 -b 50 --labor --original-ids $o @{$P}"
    q "sample h by LABOR $o" "smp -f 4,-1,2 -b 30 --labor --edge-ids $o @{import h, typed}"
    a "sample r by LABOR $o" "smp -f 70,3 -b 30 --labor $o @{import r, directed}"
done
for o in '' -r '--frontier new --edge-ids'; do
    q "sample s --disjoint -f 4,3 -b 50 $o" "smp --disjoint -f 4,3 -b 50 $o @{import s}"
    q "sample s in parts --disjoint -f 4,3 -b 50 $o" "smp --disjoint -f 4,3 -b 50 $o --original-ids @{$P}"
done
for o in '--time-rule le' '--time-rule lt --window 900 -r' '--time-rule le --latest --disjoint -j 3' '--time-rule lt --weight weight --hop-time edge --edge-ids' \
    '--time-rule le --labor'; do
    q "sample h $o" "awk 'BEGIN { for (i = 0; i < 200; i++) print i, i * 37 % 3000 }' >at && smp -f 4,3 -b 50 $o --seeds at --seed-type t0 @{import h, typed} && rm at"
done
for o in '' '--disjoint -j 3' '--frontier new --edge-ids'; do
    q "sample s --induced -f 4,3 -b 50 $o" "smp --induced -f 4,3 -b 50 $o @{import s}"
    q "sample s in parts --induced -f 4,3 -b 50 $o" "smp --induced -f 4,3 -b 50 $o --original-ids @{$P}"
    q "sample h --induced --weight weight -f 4,3 -b 50 $o" "smp --induced --weight weight -f 4,3 -b 50 $o @{import h, typed}"
done
q 'sample s as clusters' "smp --clusters 2 --epochs 2 --eval valid --edge-ids @{$P}"
q 'sample s as clusters --disjoint' "smp --clusters 2 --disjoint -j 3 @{$P}"
for o in '' '--restart 0.2 -j 3' '--node2vec 0.5,2' '--pairs 3'; do
    q "sample s as walks $o" "smp --walk-length 8 --walks-per-seed 2 -b 50 $o @{import s}"
    q "sample s in parts as walks $o" "smp --walk-length 8 --walks-per-seed 2 -b 50 --original-ids $o @{$P}"
done
q 'sample h as walks' 'smp --walk-length 8 --metapath t1/rev_up/t0 --metapath t0/up/t1 -b 50 --seed 2 @{import h, typed}'
q 'sample h, fan-outs by edge type' 'smp -f 3,2 -f t0/to/t0=5,0 -f t1/rev_up/t0=0,4 -f t1/down/t0=-1,1 -b 32 @{import h, typed}'
q 'sample h, one edge type' 'smp -f t0/to/t0=5,3 -b 32 --frontier new @{import h, typed}'
q 'sample --seeds' 'seq 5 7 590 >ids && smp -f 4,3 -b 32 --seeds ids @{import s} && rm ids'
q 'sample --seeds -' 'seq 5 7 590 | smp -f 4,3 -b 32 --seeds - @{import s}'
q 'sample --seeds --shuffle --epochs' 'seq 5 7 590 >ids && smp -f 4,3 -b 32 --seeds ids --shuffle --epochs 3 @{import s} && rm ids'
q 'sample --seeds in parts --original-ids' "seq 5 7 590 >ids && smp -f 4,3 -b 32 --seeds ids --original-ids @{$P} && rm ids"
q 'sample --seeds --seed-type' 'seq 5 7 230 >ids && smp -f 4,3 -b 32 --seeds ids --seed-type t2 @{import h, typed} && rm ids'
for o in '-f 15,10,5' '-f 5,5 --frontier new -j 3' '-f -1,2 -b 100' '-r -f 10,5 --edge-ids'; do
    q "sample m $o" "smp $o @{import m}"
    q "sample w $o" "smp $o @{import w}"
    q "sample w in parts $o" "smp $o @{partition w -k 4 --method ldg}"
    q "sample e $o" "smp $o @{import e, no edges}"
    a "sample w in parts of metis --original-ids $o" "smp --original-ids $o @{partition w -k 4 --method metis}"
    for d in amazon-computers.zip tolokers.npz; do a "sample $d $o" "smp $o @{import data $d}"; done
    a "sample 4elt.graph, seeds $o" "seq 1 3 15000 >ids && smp $o --seeds ids @{import data 4elt.graph} && rm ids"
    a "sample web-NotreDame.txt.gz, seeds $o" "seq 1 37 320000 >ids && smp $o --seeds ids --shuffle @{import data web-NotreDame.txt.gz} && rm ids"
done
for o in '-f 80,3' '-r -f 70,70' '-f 3,100 --frontier new --edge-ids'; do
    q "sample r, many $o" "smp $o -b 32 @{import r, directed}"
    q "sample r, many, in parts $o" "smp $o -b 32 --original-ids @{partition r -k 4 --method ldg}"
done
q 'sample hub' 'echo 0 >ids && smp --seeds ids --shuffle --epochs 1000 -f 64 -b 1 @{import hub, with 400,000 in-edges} && rm ids'
q 'sample hub -r' 'echo 0 >ids && smp --seeds ids --shuffle --epochs 1000 -f 64 -r -b 1 @{import hub, with 400,000 in-edges} && rm ids'
hubs='echo 0 1 9 18 0 27 36 0 45 2 0 3 >ids'
q 'sample hubs -f -1,-1' "$hubs && smp -f -1,-1 -b 2 --seeds ids --frontier new @{import hubs, with some 6000 in-edges} && rm ids"
q 'sample words in parts' 'seq 0 60 >ids && smp -f 3,2 -b 20 --seeds ids --edge-ids @{partition words -k 3 --method random --halo-edges} && rm ids'
q 'sample keys in parts --original-ids' 'seq 0 60 >ids && smp -f 3,2 -b 20 --seeds ids --original-ids @{partition keys -k 4 --method fennel} && rm ids'
q 'sample c, parts without edge ids' 'smp -f 4,3 @{partition c -k 3 --no-edge-ids}'
q 'sample relations' 'seq 0 2 >ids && smp -f 2,2 --seeds ids --edge-ids @{import good-triples.tar.gz} && rm ids'
a 'sample WN18RR.tar.gz' 'seq 0 11 40000 >ids && smp -f 2,2 --seeds ids --edge-ids @{import data WN18RR.tar.gz} && rm ids'
for z in 1 3 19; do
    q "sample -z $z" "smp -f 4,3 -b 64 -z $z @{import s}"
    a "sample h -z $z" "smp -f 4,3 -b 64 -z $z --edge-ids @{import h, typed}"
done
for g in 'import s' "$P" 'import h, typed'; do
    q "sample --count --frequency, $g" "smp -f 4,3 -b 50 --epochs 2 --count --frequency f.npy @{$g} | grep -v -e ^first -e ^seconds -e ^rate"
done
q 'sample s, counted for caches' 'smp -f 4,3 -b 60 --count --frequency o @{import s} >/dev/null'
q 'sample h, counted for caches' 'smp -f 3,2 -b 16 --count --frequency o @{import h, typed} >/dev/null'
for how in inline auto shm; do
    q "sample through a pipe --transport $how" "smp -f 4,3 -b 50 --epochs 2 --transport $how @{import s} | gat --transport inline @{import s}"
    a "sample through a pipe --transport $how, typed" "smp -f 4,3 -b 20 --epochs 2 --edge-ids --transport $how -j 3 @{import h, typed} | gat --transport $how -j 3 -F x,y,weight,time,degree @{import h, typed} | ins --export o -"
done
q 'sample slices that are joined' 'smp -f 4,3 -b 50 --steps 0:3 @{import s} && smp -f 4,3 -b 50 --steps 3:100 @{import s}'

# --- rows ---
q 'gather s, its batches' 'smp -f 4,3 -b 60 --eval valid --epochs 2 @{import s}'
q 'gather h, its batches' 'smp -f 3,2 -b 16 --edge-ids @{import h, typed}'
q 'gather k, its batches' 'smp -f 3,2 -b 16 --edge-ids @{partition h -k 3 --method ldg --halo-edges -j 3}'
q 'gather ko, its batches' 'smp -f 3,2 -b 16 --edge-ids --original-ids @{partition h -k 3 --method ldg --halo-edges -j 3}'
q 'gather f, its store' 'imp --dtype f16 sbm:nodes=300,degree=6,features=13'
q 'gather f, its batches' 'smp -f 3,2 -b 30 @{gather f, its store}'
q 'gather l, its batches' 'smp -f 3,2 -b 30 @{import l, labels of several columns}'
for dtype in stored f32 f16 bf16; do
    for w in 's/import s' 'h/import h, typed' 'k/partition h -k 3 --method ldg --halo-edges -j 3' 'ko/partition h -k 3 --method ldg --halo-edges -j 3' \
        'f/gather f, its store' 'l/import l, labels of several columns'; do
        for o in '' '-F x,y,degree' '-F y' '-F degree,x -j 3'; do
            q "gather ${w%%/*} --dtype $dtype $o" "gat --dtype $dtype $o -i @{gather ${w%%/*}, its batches} @{${w#*/}}"
        done
        case $w in
        h/* | k*) q "gather ${w%%/*} --dtype $dtype of edges" "gat --dtype $dtype -F x,weight,time,y -i @{gather ${w%%/*}, its batches} @{${w#*/}}" ;;
        esac
    done
done
q 'gather -z' 'gat -z 3 -i @{gather s, its batches} @{import s}'
q 'gather twice' 'gat -F y -i @{gather k, its batches} @{partition h -k 3 --method ldg --halo-edges -j 3} | gat -F x @{partition h -k 3 --method ldg --halo-edges -j 3}'
q 'gather --count' 'gat -i @{gather s, its batches} --count @{import s} | grep -v -e ^first -e ^seconds -e ^rate'
plan='--plan --cache 0.05,0.2,0.5,8k'
q 'gather --plan' "gat $plan -i @{gather s, its batches} @{import s} | numbers"
q 'gather --plan, orders' "gat $plan --cache-order degree --cache-order access --cache-order @{sample s, counted for caches} -i @{gather s, its batches} @{import s} | numbers"
q 'gather --plan, typed' "gat $plan -F x -i @{gather h, its batches} @{import h, typed} | numbers"
q 'gather --plan, parts' "gat $plan --replicate 0.1,0.5,1 -i @{gather k, its batches} @{partition h -k 3 --method ldg --halo-edges -j 3} | numbers"
q 'gather --plan, parts, orders' "gat --plan --replicate 0.2,1 --cache-order halo --cache-order access --cache-order degree -j 3 -i @{gather ko, its batches} @{partition h -k 3 --method ldg --halo-edges -j 3} | numbers"
for o in '-f 4,3 -b 64' '-r -f 6,4 -b 64' '--frontier new -f 4,3,2 -b 30' '-f -1,2 -b 30' '--no-shuffle -f 5,5 -b 100'; do
    q "gather --plan of $o" "smp $o @{$P} | gat --plan --cache 0.1,0.4 --replicate 0.1,0.5 @{$P} | numbers"
    a "gather --plan of $o, typed" "smp $o @{partition h -k 4 --method ldg} | gat --plan --cache 0.1,0.4 --replicate 0.1,0.5 @{partition h -k 4 --method ldg} | numbers"
    a "gather --plan of $o, products" "smp $o @{partition p -k 4 --method fennel} | gat --plan --cache 0.1,0.4 --replicate 0.1,0.5 @{partition p -k 4 --method fennel} | numbers"
done

for dtype in stored f32 f16 bf16; do
    q "gather y --dtype $dtype" "smp -f 3,2 -b 30 @{import y, bf16} | gat --dtype $dtype @{import y, bf16}"
    q "gather y in parts --dtype $dtype" "smp -f 3,2 -b 30 @{partition y -k 2 --method ldg} | gat --dtype $dtype @{partition y -k 2 --method ldg}"
    q "gather z --dtype $dtype" "smp -f 3,2 -b 30 @{import z, int8} | gat --dtype $dtype @{import z, int8}"
    q "gather z in parts --dtype $dtype" "smp -f 3,2 -b 30 @{partition z -k 2 --method ldg} | gat --dtype $dtype @{partition z -k 2 --method ldg}"
done
q 'gather m, a large batch' 'smp -f 20,15,10 -b 2000 @{import m} | gat @{import m}'
for g in m w; do
    for o in '' '-F x,y,degree --dtype bf16 -j 3'; do
        q "gather $g $o" "smp -f 5,5 @{import $g} | gat $o @{import $g}"
        a "gather $g --plan $o" "smp -f 5,5 @{import $g} | gat --plan --cache 0.01,0.1,0.5,1M --cache-order degree --cache-order access @{import $g} | numbers"
    done
done
for d in cora.zip acm.zip amazon-computers.zip tolokers.npz; do
    a "gather $d" "smp -f 5,5 -b 256 --steps 0:5 @{import data $d} | gat @{import data $d}"
    a "gather $d --dtype f16" "smp -f 5,5 -b 256 --steps 0:5 --frontier new @{import data $d} | gat --dtype f16 $(case $d in acm*) ;; *) echo '-F x,y,degree' ;; esac) @{import data $d}"
    a "gather $d --plan" "smp -f 5,5 -b 256 --steps 0:5 @{import data $d} | gat --plan --cache 0.1,0.3 @{import data $d} | numbers"
done

# --- training ---
# fan OPTIONS: the usual fan-out, unless they have one
fan() { case "$1" in *'-f '*) ;; *) echo '-f 4,3' ;; esac; }
# few OPTIONS: few epochs of small batches; a model of one hop has no hidden layer
few() { case "$1" in '-f 5') echo '-b 60 --epochs 3 --lr 0.01' ;; *) echo '-b 60 --epochs 3 --hidden 8 --lr 0.01' ;; esac; }
few=$(few "")
T="--metrics m -o o"
q 'train s --induced --disjoint' "trn --store @{import s} --induced --disjoint -f 4,3 -b 100 --layers 3 --epochs 2 --hidden 8 $T && figures m"
q 'train s --clusters' "trn --store @{$P} --clusters 2 --layers 3 --epochs 2 --hidden 8 $T && figures m"
for o in '' '-m gcn' '--layer-norm --residual --hidden 8,8 -f 3,3,2' '--batch-norm' '--no-layer-norm --dropout 0' '--feature-norm row' '--dropout 0.3 --dropout-input 0.2' \
    '--optimizer adamw --weight-decay 0.1' '--optimizer adam --weight-decay 0.1 --clip 0.5' '--optimizer sgd --momentum 0.9' '--schedule cosine' \
    '--schedule step --step-epochs 1 --step-factor 0.3' '--warmup 1.5' '--eval none' '--eval valid --eval test --metric f1-macro' '--metric f1-micro --keep last' \
    '--metric loss --patience 1' '--frontier new' '-r' '--no-shuffle --drop-last' '--seed 7' '--dtype bf16' '--dtype f16 -m gcn' '-f -1,-1 -b 500 -m gcn --dropout 0' \
    '--batch-norm --residual --hidden 8,8,8 -f 3,3,2,2 --frontier new' '-m gcn --layer-norm --residual --hidden 8,8 -f 3,3,2' '--split valid --eval test' '-f 5'; do
    m=a # the rest of all kinds of tasks
    [ -n "$o" ] || m=q
    few=$(few "$o")
    q "train s $o" "trn --store @{import s} $few $(fan "$o") $o $T && figures m"
    $m "train b $o" "trn --store @{import b, binary} $few $(fan "$o") $o $(case $o in *f1* | '--metric loss'*) ;; *) echo --metric roc-auc ;; esac) $T && figures m"
    $m "train l $o" "trn --store @{import l, labels of several columns} $few $(fan "$o") $o $T && figures m"
    $m "train r $o" "trn --store @{import r, directed} $few $(fan "$o") $o $T && figures m"
    case $o in
    *gcn*) ;;
    *)
        q "train h $o" "trn --store @{import h, typed} $few $(fan "$o") $o $T && figures m"
        $m "train t $o" "trn --store @{import t, some types without features} $few -b 5 $(fan "$o") $o $T && figures m"
        a "train acm.zip $o" "trn --store @{import data acm.zip} $few $(fan "$o") -b 150 --epochs 1 $o $T && figures m"
        ;;
    esac
    $m "train s in parts $o" "trn --store @{$P} $few $(fan "$o") $o $T && figures m"
    a "train s, 2 threads $o" "trn -j 2 --store @{import s} $few $(fan "$o") $o $T && figures m"
    a "train cora.zip $o" "trn --store @{import data cora.zip} $few $(fan "$o") --epochs 1 $o $T && figures m"
done
few=$(few "")
q 'train b --metric accuracy --batch-norm' "trn --store @{import b, binary} -f 4,3 $few --metric accuracy --batch-norm $T && figures m"
q 'train l -m gcn --metric f1-micro' "trn --store @{import l, labels of several columns} -f 4,3 $few -m gcn --metric f1-micro $T && figures m"
q 'train p' "trn --store @{import p} -f 5,3 -b 256 --epochs 2 --hidden 32 $T && figures m"
q 'train h in parts' "trn --store @{partition h -k 4 --method ldg} -f 4,3 $few $T && figures m"
for j in 2 3; do
    for g in s 'h, typed' p; do q "train ${g%,*} -j $j" "trn -j $j --store @{import $g} -f 4,3 $few --batch-norm --residual $T && figures m"; done
done
for o in '' '-m gcn --hidden 48' '--batch-norm --residual --hidden 40,40 -f 5,5,5' '--frontier new -j 2' '-j 3 --layer-norm --dropout 0.2'; do
    for g in m w; do q "train $g $o" "trn --store @{import $g} $(fan "$o") --epochs 1 --hidden 64 $o $T && figures m"; done
    a "train w in parts $o" "trn --store @{partition w -k 4 --method ldg} $(fan "$o") --epochs 2 --hidden 64 $o $T && figures m"
    for d in amazon-computers.zip tolokers.npz; do a "train $d $o" "trn --store @{import data $d} $(fan "$o") --epochs 2 --hidden 32 $o $T && figures m"; done
done
q 'train e' "trn --store @{import e, no edges} -f 4,3 $few $T && figures m"
q 'train y' "trn --store @{import y, bf16} -f 4,3 $few $T && figures m"
q 'train the defaults' "trn --store @{import b, binary} --epochs 4 $T && figures m"
q 'train two streams, joined' 'smp -f 4,3 -b 60 --epochs 0:1 --eval valid @{import s} | gat -o g @{import s} && smp -f 4,3 -b 60 --epochs 1:3 --eval valid @{import s} | gat @{import s} | cat g - | trn --hidden 8 -o o && rm g'
q 'train by a FIFO' 'mkfifo f && { smp -f 4,3 -b 60 --epochs 2 @{import s} | gat -o f @{import s} & trn --hidden 8 -i f -o o && wait $! && rm f; }'
q 'train by pipe -j 3, typed, edges' 'smp -f 4,3 -b 40 --epochs 2 --edge-ids -j 3 @{import h, typed} | gat -j 3 -F x,y,weight @{import h, typed} | tee copy | trn -j 3 --hidden 8 -o o'
q 'train by pipe' 'smp -f 4,3 -b 60 --epochs 3 --eval valid @{import s} | gat @{import s} | trn --hidden 8 --lr 0.01 -o o'
q 'train by pipe, gcn' 'smp -f 4,3 -b 60 --epochs 3 --eval valid @{import s} | gat -F x,y,degree @{import s} | trn -m gcn --hidden 8 --lr 0.01 -o o'
q 'train by pipe, parts, original ids' "smp -f 4,3 -b 60 --epochs 3 --original-ids @{$P} | gat @{$P} | trn --hidden 8 --lr 0.01 --dropout 0.4 -o o"
q 'train by pipe, typed, narrow' 'smp -f 4,3 -b 60 --epochs 3 --eval test @{import h, typed} | gat --dtype f16 @{import h, typed} | trn --batch-norm --hidden 8 --lr 0.01 -o o'
for how in inline shm; do
    q "train by pipe --transport $how" "smp --transport $how -f 4,3 -b 60 --epochs 2 @{import p} | gat --transport $how @{import p} | trn --hidden 16 -o o"
done
for o in '' '--batch-norm --layers 3 --dropout 0.3' '--aggr max --normalize' '-m gcn' '-m gin --train-eps' '-m rgcn --bases 2' '-m gat --heads 2 --remote-rows keep' \
    '-m gatv2 --heads 2 --pipeline-depth 2' '-m hgt --heads 2 --head 0' '--boundary 0.4' '-m gcn --boundary 0.2 --message-dtype bf16' '-m gat --heads 2 --message-dtype bf16' \
    '--needed-only --layers 3' '-m gat --heads 2 --needed-only'; do
    q "train full s $o" "trn --full-batch --store @{$P} --epochs 3 --hidden 8 --lr 0.01 $o $T && figures m"
    case $o in *gcn*) continue ;; esac
    q "train full h $o" "trn --full-batch --store @{partition h -k 4 --method ldg} --epochs 3 --hidden 8 --lr 0.01 $o $T && figures m"
done
q 'train --checkpoint' "trn --store @{import s} -f 4,3 $few --checkpoint c --checkpoint-every 7 --eval none -o o && rm -f c/checkpoint.lock"
q 'train --checkpoint, batch norm, the best kept' "trn --store @{import h, typed} -f 4,3 $few --batch-norm --checkpoint c --checkpoint-every 7 --eval valid -o o && rm -f c/checkpoint.lock"
q 'train --resume' "trn --store @{import s} -f 4,3 $few --epochs 2 --checkpoint c --checkpoint-every 9 --optimizer adamw -o first && trn --store @{import s} -f 4,3 $few --epochs 4 --optimizer adamw --checkpoint c --resume -o o && rm -f c/checkpoint.lock"
q 'train --resume, momentum' "trn --store @{import s} -f 4,3 $few --epochs 2 --checkpoint c --checkpoint-every 9 --optimizer sgd --momentum 0.9 -o first && trn --store @{import s} -f 4,3 $few --epochs 4 --optimizer sgd --momentum 0.9 --checkpoint c --resume -o o && rm -f c/checkpoint.lock"
q 'train g' "trn --store @{import g, numbers} -f 4,3 $few --metric r2 $T && figures m"
q 'train igbh' "trn --store @{import igbh} -f 4,3 $few $T && figures m"
for o in 1,2,3,0.5 balanced; do q "train s --class-weights $o" "trn --store @{import s} -f 4,3 $few --class-weights $o $T && figures m"; done
q 'train b --class-weights 1,3' "trn --store @{import b, binary} -f 4,3 $few --class-weights 1,3 $T && figures m"
q 'train --init' "trn --store @{import s} -f 4,3 $few --init @{train s} $T && figures m"
q 'train --init, typed, batch norm' "trn --store @{import h, typed} -f 4,3 $few --batch-norm --init @{train h --batch-norm} $T && figures m"
for o in 'gat --heads 4' 'gatv2 --heads 2 --last-heads concat' 'gat --heads 2 --attention-dropout 0.3 --frontier new --no-self-loops' \
    'gatv2 --heads 2 --share-weights --negative-slope 0.1'; do
    q "train s -m $o" "trn --store @{import s} -f 4,3 $few -m $o $T && figures m"
    case $o in *share*) ;; *) q "train h -m $o" "trn --store @{import h, typed} -f 4,3 $few -m $o $T && figures m" ;; esac
    q "train s in parts -j 2 -m $o" "trn -j 2 --store @{$P} -f 4,3 $few -m $o $T && figures m"
done
for o in '' '--encoder 8 --residual --batch-norm' '--ffn --layer-norm --dropout 0.2 --frontier new'; do
    q "train s -m hgt $o" "trn --store @{import s} -f 4,3 $few -m hgt --heads 2 --head 0 $o $T && figures m"
    q "train h -m hgt $o" "trn --store @{import h, typed} -f 4,3 $few -m hgt --heads 2 --head 0 $o $T && figures m"
    q "train s in parts -j 2 -m hgt $o" "trn -j 2 --store @{$P} -f 4,3 $few -m hgt --heads 4 --head 0 $o $T && figures m"
done
for o in '' '--train-eps --no-layer-norm' '--train-eps --batch-norm --residual --hidden 8,8 -f 3,3,2'; do
    q "train s -m gin $o" "trn --store @{import s} $few $(fan "$o") -m gin $o $T && figures m"
    q "train h -m gin $o" "trn --store @{import h, typed} $few $(fan "$o") -m gin $o $T && figures m"
    q "train s in parts -j 2 -m gin $o" "trn -j 2 --store @{$P} $few $(fan "$o") --frontier new -m gin $o $T && figures m"
    a "train cora.zip -m gin $o" "trn --store @{import data cora.zip} $few $(fan "$o") --epochs 1 -m gin $o $T && figures m"
    a "train w -j 3 -m gin $o" "trn -j 3 --store @{import w} $few $(fan "$o") --epochs 1 -m gin $o $T && figures m"
done
for o in '' '--bases 2' '--bases 3 --batch-norm --residual --hidden 8,8 -f 3,3,2'; do
    q "train h -m rgcn $o" "trn --store @{import h, typed} $few $(fan "$o") -m rgcn $o $T && figures m"
    q "train s in parts -j 2 -m rgcn $o" "trn -j 2 --store @{$P} $few $(fan "$o") --frontier new -m rgcn $o $T && figures m"
    a "train w -j 3 -m rgcn $o" "trn -j 3 --store @{import w} $few $(fan "$o") --epochs 1 -m rgcn $o $T && figures m"
done
for o in '--aggr sum' '--aggr max --residual --hidden 8,8 -f 3,3,2' '--normalize --no-layer-norm' '--project --batch-norm' '--aggr max --normalize --project --dropout 0.2'; do
    q "train s $o" "trn --store @{import s} $few $(fan "$o") $o $T && figures m"
    q "train h $o" "trn --store @{import h, typed} $few $(fan "$o") $o $T && figures m"
    a "train s in parts -j 2 $o" "trn -j 2 --store @{$P} $few $(fan "$o") --frontier new $o $T && figures m"
    a "train w -j 3 $o" "trn -j 3 --store @{import w} $few $(fan "$o") --epochs 1 $o $T && figures m"
done

D='"$GNN_BITS_TOP"/tests/train/data'
for w in 'sage-norm --layer-norm' 'sage-batch --batch-norm' 'gcn -m gcn --no-layer-norm' 'typed --no-layer-norm'; do
    store="-u $D/graph.npz"
    [ "${w%% *}" != typed ] || store=$D/typed.zip
    q "train --init, a state dict, $w" "imp $store && mv o S && trn --store S $(case $w in sage*) echo '-f 4,3,2 --hidden 16,16' ;; *) echo '-f 4,3 --hidden 16' ;; esac) ${w#* } -b 7 --epochs 2 --init $D/${w%% *}.safetensors -o o && rm -r S"
done

# --- predictions ---
for m in 's/import s' 's -m gcn/import s' 's --layer-norm --residual --hidden 8,8 -f 3,3,2/import s' 's --batch-norm/import s' 's --feature-norm row/import s' \
    's -f 5/import s' 'h/import h, typed' 'h --batch-norm/import h, typed' 'h --layer-norm --residual --hidden 8,8 -f 3,3,2/import h, typed' 'b/import b, binary' \
    'l/import l, labels of several columns' 'l -m gcn --metric f1-micro/import l, labels of several columns' 't/import t, some types without features' \
    'r/import r, directed' 'p/import p' 'm/import m' 'w/import w' 'w -m gcn --hidden 48/import w' 'w -j 3 --layer-norm --dropout 0.2/import w' 'e/import e, no edges'; do
    model=${m%/*} g=${m##*/}
    for o in classes probs embeddings; do
        q "predict $o, $model" "prd --output-kind $o -o o @{$g} @{train $model}"
    done
    q "predict scores, $model" "prd -n --split train --split test -j 3 --metrics m @{$g} @{train $model} && figures m"
    a "predict probs -j 2 --memory 20k, $model" "prd -j 2 --memory 20k --output-kind probs -o o @{$g} @{train $model}"
done
for o in '' --no-original-order '--metric f1-macro --split valid -n' '--metric loss --split valid -n'; do
    q "predict parts $o" "prd $o $(case $o in *-n) ;; *) echo --output-kind probs -o o ;; esac) --metrics m @{$P} @{train s} && figures m"
    q "predict parts, typed $o" "prd $o $(case $o in *-n) ;; *) echo --output-kind probs -o o ;; esac) --metrics m @{partition h -k 4 --method ldg} @{train h} && figures m"
done
for d in cora.zip acm.zip amazon-computers.zip tolokers.npz; do
    for o in 'probs -j 3' 'embeddings --memory 1M'; do a "predict $o, $d" "prd --output-kind $o -o o @{import data $d} @{train $d}"; done
done
q 'predict y' 'prd --output-kind probs -o o @{import y, bf16} @{train y}'
q 'predict y in parts' 'prd --output-kind probs -o o @{partition y -k 2 --method ldg} @{train y}'
q 'predict all sets' 'prd -n --metrics m @{import s} @{train s} && figures m'
q 'predict parts, more rows' "prd -j 3 --output-kind probs -o o @{partition w -k 4 --method ldg} @{train w}"
for o in '' ' --train-eps --batch-norm --residual --hidden 8,8 -f 3,3,2'; do
    q "predict parts, gin$o" "prd --output-kind probs -o o @{$P} @{train s -m gin$o}"
    q "predict h, gin$o" "prd --output-kind embeddings -o o @{import h, typed} @{train h -m gin$o}"
    q "device predict, gin$o" "on 1 gnn-predict --device cuda --output-kind probs -o o @{import h, typed} @{train h -m gin$o}"
done
for o in 'gat --heads 4' 'gatv2 --heads 2 --last-heads concat'; do
    q "predict parts, $o" "prd --output-kind probs -o o @{$P} @{train s -m $o}"
    q "predict h, $o" "prd --output-kind embeddings -o o @{import h, typed} @{train h -m $o}"
    q "device predict, $o" "on 1 gnn-predict --device cuda --output-kind probs -o o @{import h, typed} @{train h -m $o}"
done
q 'predict parts, hgt' "prd --output-kind probs -o o @{$P} @{train s -m hgt }"
q 'predict h, hgt' "prd --output-kind embeddings -o o @{import h, typed} @{train h -m hgt }"
q 'device predict, hgt' "on 1 gnn-predict --device cuda --output-kind probs -o o @{import h, typed} @{train h -m hgt }"
q 'predict parts, gcn' "prd --output-kind probs -o o @{$P} @{train s -m gcn}"
for m in sage gcn sage-norm sage-batch gin gin-batch; do
    q "predict a state dict, $m" "imp -u $D/graph.npz && mv o S && prd --output-kind probs -o o S $D/$m.safetensors; rm -rf S"
done
for m in 'sage-max --aggr max' 'sage-sum --aggr sum' 'sage-more --aggr max --normalize'; do
    q "predict a state dict, $m" "imp -u $D/graph.npz && mv o S && prd ${m#* } --output-kind probs -o o S $D/${m%% *}.safetensors; rm -rf S"
done
for k in rgcn rgcn-bases; do
    q "predict a state dict, $k" "imp $D/gin-typed.zip && mv o S && prd --output-kind probs -o o S $D/$k.safetensors; rm -rf S"
done
q 'predict h, rgcn' 'prd --output-kind embeddings -o o @{import h, typed} @{train h -m rgcn --bases 2}'
q 'predict parts, typed, rgcn' 'prd --output-kind probs -o o @{partition h -k 4 --method ldg} @{train h -m rgcn --bases 2}'
q 'device predict, rgcn' 'on 1 gnn-predict --device cuda --output-kind probs -o o @{import h, typed} @{train h -m rgcn --bases 2}'
for o in '--aggr max --residual --hidden 8,8 -f 3,3,2' '--aggr max --normalize --project --dropout 0.2'; do
    q "predict h $o" "prd --output-kind embeddings -o o @{import h, typed} @{train h $o}"
    q "predict parts $o, sage" "prd --output-kind probs -o o @{$P} @{train s $o}"
    q "device predict $o" "on 1 gnn-predict --device cuda --output-kind probs -o o @{import h, typed} @{train h $o}"
done
q 'predict a state dict, typed' "prd --output-kind probs -o o @{import t, some types without features} $D/typed.safetensors"

# --- reports ---
for g in 'import s' 'import h, typed' 'import l, labels of several columns' 'import r, directed' 'import good-triples.tar.gz' "$P" 'partition h -k 3 --method ldg --halo-edges -j 3'; do
    q "inspect --json, $g" "ins --json @{$g} | masked"
    q "inspect --stats --tensors --json, $g" "ins -s -t --json @{$g} | masked"
    q "inspect text, $g" "ins -v @{$g} | numbers"
    q "inspect --stats --tensors, $g" "ins -s -t @{$g} | numbers"
    q "inspect --verify, $g" "ins --verify --json @{$g} | masked"
    q "inspect --export, $g" "ins --export o --raw @{$g}"
done
for g in 'gather s, its batches' 'gather h, its batches' 'gather ko, its batches' 'gather s --dtype stored' 'gather h --dtype bf16 of edges' 'sample -z 3'; do
    q "inspect --json, $g" "ins --json @{$g} | masked"
    q "inspect --tensors, $g" "ins -t @{$g} | numbers"
    q "inspect --verify, $g" "ins --verify --json - <@{$g} | masked"
    q "inspect --export, $g" "ins --export o @{$g}"
done
for g in 'train s' 'train h --batch-norm' 'train s -m gcn' 'train l'; do
    q "inspect --json, $g" "ins --json @{$g} | masked"
    q "inspect --tensors, $g" "ins -t @{$g} | numbers"
    q "inspect --verify, $g" "ins --verify --json @{$g} | masked"
    q "inspect --export, $g" "ins --export o @{$g}"
done
q 'inspect a checkpoint' "trn --store @{import s} -f 4,3 $few --checkpoint c --checkpoint-every 4 --eval valid -o m && ins --json c/checkpoint.safetensors | masked && ins --export e.npz c/checkpoint.safetensors && rm -r c"
q 'inspect a state dict' "ins --json $D/typed.safetensors | masked"
q 'inspect --verify --against' "ins --verify --against @{import s} @{$P} | numbers"
q 'inspect --verify --against, a stream' 'ins --verify --against @{import h, typed} @{gather h, its batches} | numbers'
q 'inspect --diff, equal' "ins --diff --original @{import s} @{$P} && echo equal"
q 'inspect --diff --original, typed' 'ins --diff --original @{import h, typed} @{partition h -k 4 --method ldg} && ins --diff --original @{partition h -k 3 --method random --halo-edges -j 3} @{partition h -k 4 --method ldg} && echo equal'
q 'inspect --diff, parts' "ins --diff --json @{partition s -k 4 --method random} @{$P} | masked"
q 'inspect --diff, parts and words' 'ins --diff --json @{partition words -k 3 --method random --halo-edges} @{import words} | masked'
q 'inspect --verify --against, words' 'ins --verify --against @{import words} @{partition words -k 3 --method random --halo-edges} | numbers'
q 'inspect --stats, keys' 'ins -s -t --json @{partition keys -k 4 --method fennel} | masked'
q 'inspect --stats --export, bf16' 'ins -s --json @{import y, bf16} | masked && ins --export e.npz --raw @{import y, bf16}'
q 'inspect --diff, stores' "ins --diff --json @{import s} @{import b, binary} | masked"
q 'inspect --diff, models' "ins --diff --json @{train s} @{train s --seed 7} | masked"
q 'inspect --diff, streams' "ins --diff --json @{sample s -f 4,3 -b 50 --seed 2} @{sample s -f 4,3 -b 50 -b 1} | masked"
q 'inspect --diff --original, streams' "ins --diff --original --json --store @{$P} @{sample s --frontier all -f 4,3 -b 64} @{sample s in parts --frontier all -f 4,3 -b 64} | masked"

# --- devices, which are emulated ---
on='--device cuda:0,1'
for o in '-f 4,3 -b 64' '-f -1,-1 -b 50' '-r -f 6,4 -b 64 --frontier new' '-f 3,-1,2 -b 30 --frontier new' '-f 4,3 -b 50 --eval valid --epochs 1:3' '-f 4,3 -b 50 --no-shuffle --drop-last --seed 3'; do
    q "device sample s $o" "on 1 gnn-sample --device cuda --graph-memory device $o @{import s}"
    q "device sample h on 2 --graph-memory uva --graph-cache 4k --edge-ids $o" "on 2 gnn-sample $on --graph-memory uva --graph-cache 4k --edge-ids $o @{import h, typed}"
    a "device sample s in parts on 2 --graph-memory uva $o" "on 2 gnn-sample $on --graph-memory uva $o @{$P}"
    a "device sample s in parts --original-ids $o" "on 1 gnn-sample --device cuda --graph-memory device --original-ids $o @{$P}"
    a "device sample h on 2 --graph-memory device --edge-ids $o" "on 2 gnn-sample $on --graph-memory device --edge-ids $o @{import h, typed}"
    a "device sample r on 3 --graph-memory uva --graph-cache 8k $o" "on 3 gnn-sample --device cuda:2,0,1 --graph-memory uva --graph-cache 8k $o @{import r, directed}"
    a "device sample p $o" "on 1 gnn-sample --device cuda $o @{import p}"
done
q 'device sample hubs -f -1,-1' "$hubs && on 1 gnn-sample --device cuda -f -1,-1 -b 2 --seeds ids --frontier new @{import hubs, with some 6000 in-edges} && rm ids"
q 'device sample hubs on 2 -f 2,-1,2' "$hubs && on 2 gnn-sample $on -f 2,-1,2 -b 2 --seeds ids --edge-ids @{import hubs, with some 6000 in-edges} && rm ids"
q 'device sample --seeds -' "seq 5 7 590 | on 2 gnn-sample $on -f 4,3 -b 32 --seeds - @{$P}"
q 'device sample --count --frequency' "on 1 gnn-sample --device cuda -f 4,3 -b 50 --count --frequency f.npy @{$P} | grep -v -e ^first -e ^seconds -e ^rate"
q 'device sample r, many' "on 1 gnn-sample --device cuda -f 80,70 -b 32 --edge-ids @{import r, directed}"
tiers='--metrics m'
for o in '' '--cache none' '--cache 0.2' '--cache 8k --cache-order access' '--cache 0.3 --cache-order @{sample s, counted for caches}' '--dtype f16 --cache 0.2' '-F y' '-F x,y,degree --cache 0.5'; do
    q "device gather s $o" "on 1 gnn-gather --device cuda $o -i @{gather s, its batches} $tiers @{import s} && figures m"
    a "device gather s on 2 of its own $o" "GNN_FAKE_CLIQUE=1 on 2 gnn-gather $on $o -i @{gather s, its batches} $tiers @{import s} && figures m"
done
for policy in auto replicate shard; do
    for cache in 0.003 0.2 0.6 1; do
        q "device gather s on 2 --cache $cache --cache-policy $policy" "on 2 gnn-gather $on --cache $cache --cache-policy $policy -i @{gather s, its batches} $tiers @{import s} && figures m"
        for order in degree access; do
            a "device gather h on 4 in pairs --cache $cache --cache-policy $policy --cache-order $order" "GNN_FAKE_CLIQUE=2 on 4 gnn-gather --device cuda:0,1,2,3 --cache $cache --cache-policy $policy --cache-order $order -F x,y,weight,degree -i @{gather h, its batches} $tiers @{import h, typed} && figures m"
            a "device gather k on 3 --cache $cache --cache-policy $policy --cache-order $order" "on 3 gnn-gather --device cuda:0,1,2 --cache $cache --cache-policy $policy --cache-order $order -F weight,x,degree -i @{gather k, its batches} $tiers @{partition h -k 3 --method ldg --halo-edges -j 3} && figures m"
        done
    done
    q "device gather k on 2 --cache 0.3 --cache-policy $policy --cache-order access" "on 2 gnn-gather $on --cache 0.3 --cache-policy $policy --cache-order access -F x,y,weight,degree -i @{gather k, its batches} $tiers @{partition h -k 3 --method ldg --halo-edges -j 3} && figures m"
    q "device gather ko on 2 --cache 0.3 --cache-policy $policy" "on 2 gnn-gather $on --cache 0.3 --cache-policy $policy -F x,y,degree -i @{gather ko, its batches} $tiers @{partition h -k 3 --method ldg --halo-edges -j 3} && figures m"
done
q 'device gather, little memory' "GNN_FAKE_MEMORY=400000 on 1 gnn-gather --device cuda -i @{gather s, its batches} $tiers @{import s} && figures m"
q 'device gather, pages of files pinned' "GNN_FAKE_MAP=1 on 2 gnn-gather $on --cache 0.3 -F x,y,weight,degree -i @{gather k, its batches} $tiers @{partition h -k 3 --method ldg --halo-edges -j 3} && figures m"
few='-b 100 --epochs 2 --hidden 8 --lr 0.01'
for o in '-m gat --heads 4 --attention-dropout 0.2' '-m gatv2 --heads 2 --frontier new' '-m hgt --heads 2 --head 0'; do
    q "device train s $o" "on 2 gnn-train --device cuda --store @{import s} $few $(fan "$o") $o $T && figures m"
    q "device train h on 2 $o" "on 2 gnn-train $on --store @{import h, typed} $few $(fan "$o") -b 40 $o $T && figures m"
done
for o in '' '-m gcn --feature-norm row' '--batch-norm --dropout 0.3' '--residual --hidden 8,8 -f 3,3,2 --frontier new' '--optimizer sgd --momentum 0.9 --clip 0.5' \
    '--precision tf32' '--precision bf16' '--optimizer adamw --weight-decay 0.1 --schedule cosine' '--cache 0.2 --graph-memory uva'; do
    q "device train s $o" "on 2 gnn-train --device cuda --store @{import s} $few $(fan "$o") $o $T && figures m"
    a "device train s on 2 $o" "on 2 gnn-train $on --store @{import s} $few $(fan "$o") $o $T && figures m"
    a "device train s in parts on 2 $o" "on 2 gnn-train $on --store @{$P} $few $(fan "$o") $o $T && figures m"
    a "device train l on 1 $o" "on 1 gnn-train --device cuda --store @{import l, labels of several columns} $few $(fan "$o") $o $T && figures m"
    a "device train b on 1 $o" "on 1 gnn-train --device cuda --store @{import b, binary} $few $(fan "$o") $o $T && figures m"
    case $o in *gcn*) ;; *) a "device train h on 2 $o" "on 2 gnn-train $on --store @{import h, typed} $few $(fan "$o") -b 40 $o $T && figures m" ;; esac
done
for o in '--train-eps --dropout 0.3' '--batch-norm'; do
    q "device train s -m gin $o" "on 2 gnn-train --device cuda --store @{import s} -f 4,3 $few -m gin $o $T && figures m"
    q "device train h on 2 -m gin $o" "on 2 gnn-train $on --store @{import h, typed} -f 4,3 $few -b 40 -m gin $o $T && figures m"
done
for o in '--aggr max --normalize --project --dropout 0.3' '--aggr sum --batch-norm'; do
    q "device train s $o" "on 2 gnn-train --device cuda --store @{import s} -f 4,3 $few $o $T && figures m"
    q "device train h on 2 $o" "on 2 gnn-train $on --store @{import h, typed} -f 4,3 $few -b 40 $o $T && figures m"
done
for o in '' '--bases 2 --batch-norm --dropout 0.3'; do
    q "device train h on 2 -m rgcn $o" "on 2 gnn-train $on --store @{import h, typed} -f 4,3 $few -b 40 -m rgcn $o $T && figures m"
done
q 'device train h on 2 --cache 0.2 --cache-policy shard --graph-memory uva' "on 2 gnn-train $on --cache 0.2 --cache-policy shard --graph-memory uva --store @{import h, typed} -f 4,3 $few -b 40 $T && figures m"
q 'device train s in parts' "on 1 gnn-train --device cuda --store @{$P} -f 4,3 $few $T && figures m"
q 'device train b' "on 1 gnn-train --device cuda --store @{import b, binary} -f 4,3 $few $T && figures m"
q 'device train l --batch-norm' "on 1 gnn-train --device cuda --store @{import l, labels of several columns} -f 4,3 $few --batch-norm $T && figures m"
q 'device train --checkpoint, resumed' "on 1 gnn-train --device cuda --store @{import s} -f 4,3 $few --checkpoint c --checkpoint-every 3 -o first && on 1 gnn-train --device cuda --store @{import s} -f 4,3 $few --epochs 3 --checkpoint c --resume -o o && rm -f c/checkpoint.lock"
for how in cuda inline; do
    q "device train by pipe --transport $how" "on 1 gnn-sample -f 4,3 -b 100 --epochs 2 --device cuda --transport $how @{import s} | on 1 gnn-gather --device cuda --transport $how @{import s} | on 1 gnn-train --device cuda --hidden 8 -o o"
done
for m in 's/import s' 's -m gcn/import s' 's --batch-norm/import s' 'h/import h, typed' 'h --layer-norm --residual --hidden 8,8 -f 3,3,2/import h, typed' 'l/import l, labels of several columns'; do
    q "device predict probs, ${m%/*}" "on 1 gnn-predict --device cuda --output-kind probs -o o @{${m##*/}} @{train ${m%/*}}"
    a "device predict embeddings, ${m%/*}" "on 2 gnn-predict --device cuda:1 --output-kind embeddings -o o @{${m##*/}} @{train ${m%/*}}"
    a "device predict classes, ${m%/*}" "on 1 gnn-predict --device cuda -o o @{${m##*/}} @{train ${m%/*}}"
done
q 'device predict parts' "on 1 gnn-predict --device cuda --output-kind probs -o o @{$P} @{train s}"

# --- ranks ---
P3='partition s -k 3 --method random --halo-edges -j 3' H='partition h -k 3 --method random --halo-edges -j 3'
for n in 2 3; do
    q "ranks $n sample s" "ranks $n gnn-sample -f 4,3 -b 60 --eval valid --edge-ids -o o.%r @{$P}"
    q "ranks $n sample h, halo edges" "ranks $n gnn-sample -f 4,3 -b 60 --edge-ids --count-once -j 2 -o o.%r @{$H}"
    q "ranks $n gather s" "ranks $n gnn-gather -i @{ranks $n sample s}.%r -o o.%r --metrics m.%r @{$P} && figures m.*"
    q "ranks $n gather h" "ranks $n gnn-gather -F x,y,weight,degree --dtype f16 -i @{ranks $n sample h, halo edges}.%r -o o.%r @{$H}"
    q "ranks $n train s" "ranks $n gnn-train --store @{$P} -f 4,3 -b 60 --epochs 2 --eval valid --hidden 8 $T && figures m"
    q "ranks $n train h --batch-norm" "ranks $n gnn-train --store @{$H} -f 4,3 -b 60 --epochs 2 --eval valid --hidden 8 --batch-norm $T && figures m"
    for o in '-r -f 6,4 -b 64' '-f -1,-1 -b 30 --steps 0:3' '-f 5 -b 70 --no-shuffle --drop-last' '-f 3,3,2 -b 50 --epochs 1:3 --seed 4'; do
        a "ranks $n sample s $o" "ranks $n gnn-sample $o -o o.%r @{$P}"
        a "ranks $n sample h $o" "ranks $n gnn-sample $o --edge-ids -j 2 -o o.%r @{partition h -k 4 --method ldg}"
    done
    for order in access degree halo; do
        a "ranks $n gather s --replicate 0.4 --cache-order $order" "ranks $n gnn-gather --replicate 0.4 --cache-order $order -i @{ranks $n sample s}.%r -o o.%r --metrics m.%r @{$P} && figures m.*"
    done
    for o in '-m gcn' '--residual --hidden 8,8 -f 3,3,2' '--optimizer sgd --momentum 0.9 --clip 0.5' '--replicate 0.5 --cache-order degree' '-r --dropout 0.3' '-j 2 --batch-norm' '--dtype bf16 --schedule cosine'; do
        a "ranks $n train s $o" "ranks $n gnn-train --store @{$P} $(fan "$o") -b 60 --epochs 2 --eval valid --hidden 8 $o $T && figures m"
    done
    a "ranks $n train l" "ranks $n gnn-train --store @{partition l -k 3 --method random} -f 4,3 -b 60 --epochs 2 --eval valid --hidden 8 $T && figures m"
    a "ranks $n train, checkpoint" "ranks $n gnn-train --store @{$P} -f 4,3 -b 60 --epochs 2 --eval valid --hidden 8 --checkpoint c --checkpoint-every 3 $T && figures m && rm -f c/checkpoint.lock"
done
q 'ranks 1 train s' "ranks 1 gnn-train --store @{$P} -f 4,3 -b 60 --epochs 2 --eval valid --hidden 8 $T && figures m"
q 'ranks 3 sample --seeds' "seq 5 7 590 >ids && ranks 3 gnn-sample --seeds ids -f 4,3 -b 32 -o o.%r @{$P3} && rm ids"
q 'ranks 3 sample --count' "ranks 3 gnn-sample -f 4,3 -b 60 -c @{$P3} | grep -E '^(batches|seeds|nodes|edges|hop)'"
q 'ranks 2 gather --replicate 0.4' "ranks 2 gnn-gather --replicate 0.4 -i @{ranks 2 sample s}.%r -o o.%r --metrics m.%r @{$P} && figures m.*"
q 'ranks 3 gather --replicate 0.4 --cache-order halo' "ranks 3 gnn-gather --replicate 0.4 --cache-order halo -i @{ranks 3 sample s}.%r -o o.%r --metrics m.%r @{$P} && figures m.*"
q 'ranks 3 train from streams' "ranks 3 gnn-train -i @{ranks 3 gather s}.%r --hidden 8 $T && figures m"
q 'ranks 3 train h -m gin --train-eps --batch-norm' "ranks 3 gnn-train --store @{$H} -f 4,3 -b 60 --epochs 2 --eval valid --hidden 8 -m gin --train-eps --batch-norm $T && figures m"
q 'ranks 3 train h --aggr max --normalize --project' "ranks 3 gnn-train --store @{$H} -f 4,3 -b 60 --epochs 2 --eval valid --hidden 8 --aggr max --normalize --project $T && figures m"
q 'ranks 3 train h -m rgcn --bases 2' "ranks 3 gnn-train --store @{$H} -f 4,3 -b 60 --epochs 2 --eval valid --hidden 8 -m rgcn --bases 2 $T && figures m"
q 'ranks 2 train s -m gin --train-eps on 2 devices' "ranks_on 2 2 gnn-train --device cuda --store @{$P} -f 4,3 -b 100 --epochs 2 --hidden 8 -m gin --train-eps $T && figures m"
q 'ranks 2 train s -m gcn --replicate 0.5' "ranks 2 gnn-train --store @{$P} -m gcn -f 4,3 -b 60 --epochs 2 --hidden 8 --replicate 0.5 $T && figures m"
q 'ranks 2 sample on 2 devices' "ranks_on 2 2 gnn-sample --device cuda --graph-memory uva --graph-cache 4k -f 4,3 -b 60 --edge-ids -o o.%r @{$P}"
q 'ranks 2 gather on 2 devices' "ranks_on 2 2 gnn-gather --device cuda --cache 0.2 --cache-policy shard -F x,y,degree -i @{ranks 2 sample s}.%r -o o.%r --metrics m.%r @{$P} && figures m.*"
q 'ranks 2 train on 2 devices' "ranks_on 2 2 gnn-train --device cuda --store @{$P} -f 4,3 -b 100 --epochs 2 --hidden 8 --batch-norm $T && figures m"
q 'ranks 2 train on 2 devices, sums of the host' "GNN_NCCL=none ranks_on 2 2 gnn-train --device cuda --store @{$P} -f 4,3 -b 100 --epochs 2 --hidden 8 $T && figures m"
for o in '--cache none' '--cache 0.3 --cache-policy replicate --cache-order access' '--cache 0.2 --cache-policy shard --cache-order access --replicate 0.3' '--dtype f16 --cache 0.3'; do
    for n in 2 3; do
        a "ranks $n gather on 2 devices $o" "ranks_on $n 2 gnn-gather --device cuda $o -F x,y,degree -i @{ranks $n sample s}.%r -o o.%r --metrics m.%r @{$P} && figures m.*"
        a "ranks $n train on 2 devices $o" "ranks_on $n 2 gnn-train --device cuda $o --store @{$P} -f 4,3 -b 100 --epochs 2 --hidden 8 $T && figures m"
    done
done
for n in 2 3; do
    for memory in device uva; do
        a "ranks $n sample h on 3 devices --graph-memory $memory" "ranks_on $n 3 gnn-sample --device cuda --graph-memory $memory -f 4,3 -b 60 --edge-ids --count-once -o o.%r @{$H}"
        a "ranks $n train h on 3 devices --graph-memory $memory" "ranks_on $n 3 gnn-train --device cuda --graph-memory $memory --store @{$H} -f 4,3 -b 60 --epochs 2 --hidden 8 $T && figures m"
    done
done
a 'ranks 3 sample acm.zip' 'ranks 3 gnn-sample -f 4,4 -b 128 --edge-ids -o o.%r @{partition acm.zip -k 4 --method fennel --halo-edges}'
a 'ranks 3 train cora.zip' "ranks 3 gnn-train --store @{partition cora.zip -k 3} -f 5,5 -b 64 --epochs 2 --hidden 16 $T && figures m"
