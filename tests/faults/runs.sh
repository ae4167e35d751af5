# SPDX-License-Identifier: Apache-2.0
# Sourced: small runs of all programs, by name, over inputs that `inputs` makes.
export GNN_DEBUG_SWAP=1 # with --memory, everything goes to the temporary file after each turn
graph=sbm:nodes=300,degree=6,features=16
inputs() {
    gnn-import -q -o S "$graph" &&
        gnn-sample -q -f 3,2 -b 64 -o B S &&
        gnn-gather -q -o G -i B S &&
        gnn-train -q --hidden 8 -o M -i G &&
        gnn-import -q -o R "$graph,targets=2" &&
        gnn-import -q -o W "$graph,weights=1" &&
        gnn-partition -q -k 3 -o Q S
}
programs='import import-sort partition partition-access partition-dgl sample sample-count sample-index gather gather-plan train train-store train-weights train-numbers train-full train-approx train-needed train-memory train-bf16 predict inspect export export-csv export-batch'
# call_of RUN: the program, and the option that tells its runs apart
call_of() { echo "gnn-$1" | sed 's/^gnn-export/gnn-inspect --export/; s/-csv$/ to CSV/; s/-batch$/ of a batch/; s/-sort$/ --sort-memory/; s/-access$/ --method access/; s/-dgl$/ --layout dgl/; s/-\(count\|plan\|store\)$/ --\1/; s/-index$/ --keep-index/; s/-weights$/ --class-weights/; s/-numbers$/ of a regression/; s/-full$/ --full-batch/; s/-approx$/ --boundary/; s/-needed$/ --needed-only/; s/-memory$/ --memory/; s/-bf16$/ --precision bf16/'; }
out_of() {
    case $1 in
    import | import-sort) echo S2 ;; partition | partition-access | partition-dgl) echo P ;; sample) echo B2 ;; sample-count) echo F.npy ;; sample-index) echo W.index/weight-weight-0-0 ;; gather) echo G2 ;; train | train-store | train-weights | train-numbers | train-full | train-approx | train-needed | train-memory | train-bf16) echo M2 ;; predict) echo C.npy ;;
    gather-plan | inspect) echo - ;; export) echo X.npz ;; export-csv) echo X.csv ;; export-batch) echo X.mtx ;;
    esac
}
run_of() {
    case $1 in
    import) echo gnn-import -q -o S2 "$graph" ;;
    import-sort) echo gnn-import -q --sort-memory 64k -u --dedup -o S2 rmat:scale=11,weights=1 ;;
    partition) echo gnn-partition -q -k 3 -o P S ;;
    partition-access) echo gnn-partition -q --method access --two-level 2,2 -f 3,2 -b 64 -o P S ;;
    partition-dgl) echo gnn-partition -q --layout dgl -k 3 --method random -o P S ;;
    sample) echo gnn-sample -q -f 3,2 -b 64 -o B2 S ;;
    sample-count) echo gnn-sample -q -f 3,2 -b 64 --count --frequency F.npy S ;;
    sample-index) echo gnn-sample -q -f 3,2 -b 64 --steps 0:2 --weight weight --keep-index -c W ;;
    gather) echo gnn-gather -q -o G2 -i B S ;;
    gather-plan) echo gnn-gather -q --plan --cache 0.1,0.5 -i B S ;;
    train) echo gnn-train -q --hidden 8 -o M2 -i G ;;
    train-store) echo gnn-train -q --hidden 8 --store S -f 3,2 -b 64 --epochs 0:2 --eval valid --checkpoint C --checkpoint-every 2 -o M2 ;;
    train-weights) echo gnn-train -q --hidden 8 --store S -f 3,2 -b 64 --epochs 0:2 --eval valid --class-weights balanced -o M2 ;;
    train-numbers) echo gnn-train -q --hidden 8 --store R -f 3,2 -b 64 --epochs 0:2 --eval valid --metric r2 -o M2 ;;
    train-full) echo gnn-train -q --full-batch --store Q -m gat --heads 2 --hidden 8 --epochs 2 --checkpoint C --checkpoint-every 1 -o M2 ;;
    train-approx) echo gnn-train -q --full-batch --store Q --hidden 8 --batch-norm --epochs 2 --boundary 0.5 --message-dtype bf16 -o M2 ;;
    train-needed) echo gnn-train -q --full-batch --store Q -m gcn --hidden 8 --epochs 2 --needed-only -o M2 ;;
    train-memory) echo gnn-train -q --full-batch --store Q -m gat --heads 2 --hidden 8 --epochs 2 --memory 1G -o M2 ;;
    train-bf16) echo gnn-train -q --hidden 8 --store S -f 3,2 -b 64 --epochs 0:2 --eval valid --precision bf16 -o M2 ;;
    predict) echo gnn-predict -q -o C.npy S M ;;
    inspect) echo gnn-inspect --verify S ;;
    export) echo gnn-inspect --export X.npz Q ;;
    export-csv) echo gnn-inspect --export X.csv --nodes node Q ;;
    export-batch) echo gnn-inspect --export X.mtx --steps 1 --split train B ;;
    esac
}
