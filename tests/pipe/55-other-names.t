# SPDX-License-Identifier: Apache-2.0
# What PyG and DGL call our options is suggested where a program has the option, and where it has not, it says what decides this.
. "$GNN_TOP/tests/lib.sh"
programs='gnn-import gnn-partition gnn-sample gnn-gather gnn-train gnn-predict gnn-inspect'
for p in $programs; do
    "$p" --completion | sed -n 's/^--\([a-z0-9-]*\).*/\1/p' >"$p.has"
done
said_of() { "$@" >out 2>err; _rc=$?; [ $_rc -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && cat err; }
# Each row of the table: "ours" theirs|theirs
sed -n '/^} table/,/^};/p' "$GNN_TOP/cmd/other_names.c" | tr -d '\n' | sed 's/"  *"//g; s/},/},\n/g' |
    sed -n 's/.*{"\([^"]*\)", *"\([^"]*\)"}.*/\1 \2/p' >table
check 'the table of names is read' test "$(wc -l <table)" -gt 40
while read -r ours theirs; do
    has=$(grep -lx -e "$ours" *.has)
    check "a program has --$ours" test -n "$has"
    bad=
    for p in $has; do
        p=${p%.has}
        for name in $(echo "$theirs" | tr '|' ' '); do
            grep -qx -e "$name" "$p.has" && bad="$bad $p:$name is its own"
            # Of two options with the name, the first in the table is meant.
            first=$(awk -v n="$name" 'NR == FNR { has[$1]; next } $1 in has { k = split($2, a, "|"); for (i = 1; i <= k; i++) if (a[i] == n) { print $1; exit } }' \
                "$p.has" table)
            said_of "$p" "--$name" 3 | grep -q -F "did you mean '--$first'?" || bad="$bad $p:$name"
        done
    done
    check "$theirs: --$ours is suggested$bad" test -z "$bad"
done <table
# As they are written in Python, and in any case.
while read -r p name ours; do
    check "$p $name: --$ours is suggested" sh -c '"$1" "$2" 3 2>&1 | grep -q -F "unknown option '\''${2%=*}'\''; did you mean '\''--$3'\''?"' - "$p" "$name" "$ours"
done <<'.'
gnn-train --learning_rate lr
gnn-train --learning_rate=0.1 lr
gnn-train --Learning-Rate lr
gnn-train --num_neighbors fanout
gnn-train --fanouts fanout
gnn-train --hidden_channels hidden
gnn-train --num_layers layers
gnn-train --batch_size batch
gnn-train --weight_decay weight-decay
gnn-train --num_workers prefetch
gnn-sample --num_workers threads
gnn-sample --batch-size batch
gnn-partition --num_parts parts
gnn-import --to_undirected undirected
gnn-gather --node_features fields
gnn-train --epoch epochs
.
# What another program, or a file, decides.
while IFS='|' read -r p option why; do
    refusing=$p
    refuses 2 "^$p: unknown option '$option': $why" "$option" "$p" "$option" 3
done <<'.'
gnn-predict|-f|the model's file says how batches are sampled, and --store STORE samples them so
gnn-predict|--fanout|the model's file says how batches are sampled
gnn-predict|--num_neighbors|the model's file says how batches are sampled
gnn-predict|--no-shuffle|the model's file says how batches are sampled
gnn-predict|-b|the model's file says how batches are sampled
gnn-predict|--hidden|the model's file says this (gnn-inspect shows it)
gnn-predict|--num-layers|the model's file says this
gnn-predict|-m|the model's file says this
gnn-predict|--lr|gnn-train trains
gnn-gather|-f|gnn-sample decides this, and gnn-gather reads its batches
gnn-gather|--batch-size|gnn-sample decides this
gnn-sample|--fields|gnn-gather adds features and other fields to the batches
gnn-sample|-F|gnn-gather adds features
gnn-sample|--hidden|gnn-train has this option
gnn-train|--seeds|gnn-sample has this option
gnn-train|-k|gnn-partition has this option
gnn-train|--fields|the model uses features x and labels y
.
refusing=gnn-gather
refuses 2 "^gnn-gather: --fields: the name is empty\|^gnn-gather: STORE is missing" 'nothing but -F, which it has' gnn-gather -F x
done_testing
