# SPDX-License-Identifier: Apache-2.0
# Every program on several threads gives the bytes it gives on one; run under TSan by make check-san.
. "$GNN_TOP/tests/lib.sh"
same() { if _said=$(cmp "$1" "$2" 2>&1); then _ok "$3"; else _not_ok "$3"; echo "# $_said"; fi; }
opts=--no-provenance
check 'gnn-import -j 4 makes a store' gnn-import $opts -j 4 -o S sbm:nodes=3000,degree=8,features=16
gnn-import $opts -j 1 -o S1 sbm:nodes=3000,degree=8,features=16
same S/part-00000.gnb S1/part-00000.gnb 'gnn-import -j 4 makes the store that -j 1 makes'
check 'gnn-partition makes partitions in several threads' gnn-partition $opts -k 4 -o P S
check 'gnn-sample -j 4 draws batches' gnn-sample $opts -j 4 -f 5,5 -b 64 --epochs 0:2 --eval valid -o B P
gnn-sample $opts -j 1 -f 5,5 -b 64 --epochs 0:2 --eval valid -o B1 P
same B B1 'gnn-sample -j 4 draws the batches that -j 1 draws'
check 'gnn-gather -j 4 gathers rows' gnn-gather $opts -j 4 -i B -o G P
gnn-gather $opts -j 1 -i B -o G1 P
same G G1 'gnn-gather -j 4 gathers the rows that -j 1 gathers'
check 'gnn-inspect --verify finds partitions sound in several threads' gnn-inspect --verify P
check 'gnn-train learns from a stream' gnn-train $opts --hidden 16 -j 1 -i G -o M
check 'gnn-train --prefetch 3 learns from partitions' \
    gnn-train $opts --hidden 16 -j 1 --prefetch 3 --store P -f 5,5 -b 64 --epochs 0:2 --eval valid --frontier all -o M1
same M M1 'gnn-train makes the same model from partitions as from a stream'
check 'gnn-predict -j 4 predicts' gnn-predict -j 4 -o C P M
gnn-predict -j 1 -o C1 P M
same C C1 'gnn-predict -j 4 gives the classes that -j 1 gives'
# oneDNN leaves work undone when it gets fewer threads than OpenMP promised.
OMP_THREAD_LIMIT=1 gnn-predict -j 4 -o C2 P M
same C C2 'gnn-predict gives the same classes with fewer threads than -j asks for'
OMP_DYNAMIC=true OMP_THREAD_LIMIT=2 gnn-train $opts --hidden 16 -j 8 -i G -o M2
same M M2 'gnn-train makes the same model with fewer threads than -j asks for'
done_testing
