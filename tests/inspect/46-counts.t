# SPDX-License-Identifier: Apache-2.0
# Batches with other seeds, blocks, nodes or picks than their header promises: no reader takes them; what only --verify finds.
. "$GNN_TOP/tests/lib.sh"
python=/usr/bin/python3
"$python" -B -c 'import numpy, xxhash' 2>/dev/null || { skip 'programs refuse batches that do not fit their header' 'no numpy or xxhash'; done_testing; }
change() { "$python" -B "$GNN_TOP/tests/inspect/change.py" "$@" 2>forge.err; }
sample() { gnn-sample -q --seed 3 "$@"; }
features="nodes=300,degree=6,features=4"
gnn-import -q --dedup -o S sbm:$features && gnn-import -q -o H sbm:$features,types=2 && gnn-import -q -o T sbm:$features,times=1 &&
    gnn-partition -q -k 6 -o P S && seq 0 99 | sed 's/$/ 900/' >ids || exit 1
# Of each kind of batch, gathered.
kind() { # NAME STORE OPTION...
    _s=$1
    shift
    _store=$1
    shift
    sample -o "$_s.raw" "$@" "$_store" && gnn-gather -q -i "$_s.raw" -o "$_s" "$_store" || exit 1
    check "gnn-inspect --verify takes $_s batches" gnn-inspect --verify --against "$_store" "$_s"
    check "the reader in NumPy takes $_s batches" "$python" -B -c '
import sys; sys.path.insert(0, sys.argv[1]); import gnb
assert gnb.read_stream(sys.argv[2])[1]' "$GNN_TOP/tests/interop" "$_s"
}
kind plain S -f 3,2 -b 50
kind new S -f 3,2 -b 50 --frontier new --edge-ids
kind typed H -f 3,2 -b 50
kind all S -f -1,2 -b 50
kind disjoint S -f 3,2 -b 50 --disjoint
kind timed T -f 3,2 -b 50 --time-rule le --seeds ids
kind replace S -f 3,2 -b 50 --replace
kind labor S -f 3,2 -b 50 --labor
kind induced S -f 3,2 -b 50 --induced
kind clusters P --clusters 2
kind walks S --walk-length 4 --walks-per-seed 2 -b 50
kind pairs S --walk-length 4 --pairs 2 -b 50
kind listed S -f 3 -b 50 --seeds /dev/stdin <<X
7
7
9
X

# Every reader refuses it, with the reason; nothing is left.
nobody() { # WHAT KIND CODE WHY
    change "$2" forged "$3" || { check "$1 can be made of $2 batches" logged forge.err false; return; }
    case $2 in typed) _store=H ;; timed) _store=T ;; clusters) _store=P ;; *) _store=S ;; esac
    for reader in "gnn-gather -q --fields y -o got -i forged $_store" "gnn-train -q --lr 0.01 -o got -i forged" "gnn-inspect forged" \
        "gnn-inspect --verify forged" "gnn-inspect --export got forged" "gnn-inspect --diff forged forged"; do
        case $2,$reader in
        walks,gnn-train* | pairs,gnn-train*) continue ;; # nothing learns from them
        *got* | *forged\ forged) turn 4 || continue ;;
        esac
        refusing=${reader%% -[io]*} refuses 3 "$4" "$2 batches with $1" $reader
        [ -e got ] && check "$reader leaves nothing" false
        rm -f got
    done
    turn 2 || return 0
    check "the reader in NumPy refuses $2 batches with $1" "$python" -B -c '
import sys; sys.path.insert(0, sys.argv[1]); import gnb
try:
    gnb.read_stream(sys.argv[2])
except (ValueError, KeyError, IndexError):
    sys.exit(0)
sys.exit(1)' "$GNN_TOP/tests/interop" forged
}
drop='[x.pop(k) for x in b for k in list(x) if k.startswith("hop/%s")]'
for kind in plain new typed disjoint timed replace labor; do
    turn 2 || continue
    nobody 'no blocks' $kind "$(printf "$drop" '')" 'missing, though'
    turn 2 && nobody 'no blocks of hop 1' $kind "$(printf "$drop" 1)" 'missing, though'
done
nobody 'no induced block' induced "$(printf "$drop" '')" 'missing, though'
nobody 'no blocks of partitions' clusters "$(printf "$drop" '')" 'missing, though'
nobody 'one block less' typed 'del b[0][[k for k in b[0] if k.startswith("hop/1/") and k.endswith("indptr")][0]]' 'missing, though\|does not declare'
nobody 'blocks' walks 'b[0]["hop/0/node/to/node/indptr"] = np.zeros(len(b[0]["nodes/node"]) + 1, "u4"); b[0]["hop/0/node/to/node/indices"] = np.zeros(0, "u4")' 'does not declare'
none='c = b[0]["counts/node"]; c[0] = 0; del b[0]["node/node/y"]'
nobody 'no seeds' induced "$none" 'no seeds'
nobody 'no seeds' listed 'for x in b: x["counts/node"][0] = 0; x["hop/0/node/to/node/indptr"] = x["hop/0/node/to/node/indptr"][:1]; x["hop/0/node/to/node/indices"] = x["hop/0/node/to/node/indices"][:0]; del x["node/node/y"]' 'no seeds'
nobody 'seeds beyond the set' plain 'h["sampling"]["splits"][0]["seeds"] = 49' '50 seeds, where there can be 49'
nobody 'seeds beyond the batch' disjoint 'h["sampling"]["batch_size"] = 49' 'where there can be\|not a position'
nobody 'more picks than the header says' plain 'h["sampling"]["fanout"] = [[2], [2]]' 'where there can be'
for kind in plain typed labor replace; do
    nobody 'a pick of another row' $kind 'k = [k for k in b[0] if k.startswith("hop/0/") and k.endswith("indptr") and list(b[0][k][:3]) == [0, 3, 6]][0]; b[0][k][1] += 1' 'row 0 has 4 edges, and the fan-out is 3'
done
many='for x in b: x["hop/1/node/to/node/indptr"] *= 50; x["hop/1/node/to/node/indices"] = np.repeat(x["hop/1/node/to/node/indices"], 50)'
nobody 'fifty times the edges' plain "$many" 'rows, where there can be'
nobody 'fifty times the edges' new "${many}; x['hop/1/node/to/node/id'] = np.repeat(x['hop/1/node/to/node/id'], 50)" 'rows, where there can be'
nobody 'a thousand times the edges' all 'for x in b: x["hop/0/node/to/node/indptr"] *= 1000; x["hop/0/node/to/node/indices"] = np.repeat(x["hop/0/node/to/node/indices"], 1000)' 'rows, where there can be'
nobody 'a thousand times the edges' induced 'for x in b: x["hop/2/node/to/node/indptr"] *= 1000; x["hop/2/node/to/node/indices"] = np.repeat(x["hop/2/node/to/node/indices"], 1000)' 'rows, where there can be'
more='for x in b: n = x["nodes/node"]; x["nodes/node"] = np.append(n, np.setdiff1d(np.arange(300, dtype="u4"), n)[:1]); x["counts/node"][-1] += 1; x["node/node/x"] = np.vstack([x["node/node/x"], x["node/node/x"][:1]])'
nobody 'a node that no induced edge finds' induced "$more" 'induced edges find nodes'
nobody 'walks of one seed' walks 'for x in b: x["walk"][:] = x["walk"][:1]' 'no walk begins at seed 1'
nobody 'a walk that begins at a seed to come' walks 'b[0]["walk"][0] = b[0]["walk"][2]' 'does not begin at its seed'
nobody 'walks that leave a seed out' walks 'b[0]["walk"][-2:] = b[0]["walk"][:2]' 'no walk begins at seed\|does not begin'
nobody 'frames of version 2' walks 'major = 2' 'require version 1'
nobody 'frames of version 3' plain 'major = 3' 'require version 1'
nobody 'frames of version 1' induced 'major = 1' 'require version 2'
nobody 'more pairs than walks have' pairs 'b[0]["pair"] = np.tile(b[0]["pair"], (9, 1))' 'rows, where there can be'
nobody 'features of more nodes' plain 'b[0]["node/node/x"] = np.vstack(2 * [b[0]["node/node/x"]])' 'wrong dtype or shape'
nobody 'a tensor that is not declared' plain 'b[0]["extra"] = b[0]["key"]' 'does not declare'

# What costs more than readers have, or comes later.
verify() { # WHAT KIND STORE CODE WHY
    change "$2" forged "$4" || { check "$1 can be made of $2 batches" logged forge.err false; return; }
    refusing='gnn-inspect --verify' refuses 3 "$5" "$2 batches with $1" gnn-inspect --verify ${3:+--against $3} forged
}
verify 'seeds beyond the set, later' plain '' 'h["sampling"]["splits"][0]["seeds"] = 51' 'seeds, where there can be 1$'
twice='for x in b:
    for k in [k for k in x if k.endswith("indices")]:
        p = x[k.replace("indices", "indptr")]
        for i, j in zip(p, p[1:]): x[k][i:j] = x[k][i]'
verify 'a node that no edge leads to' plain '' "$more" 'does not occur'
verify 'a node that no edge leads to' replace '' "$more" 'does not occur'
verify 'one neighbour of each node repeatedly' plain '' "$twice" 'does not occur\|occurs before'
verify 'one neighbour of each node repeatedly' disjoint '' "$twice" 'does not occur\|occurs before'
last='k = "hop/1/node/to/node/indices"; p = b[0][k.replace("indices", "indptr")]; i = [i for i in range(len(p) - 1) if p[i + 1] - p[i] == 2 and max(b[0][k][p[i]:p[i + 1]]) < 50][0]; b[0][k][p[i] + 1] = b[0][k][p[i]]'
verify 'one neighbour twice' plain S "$last" 'is there 2 times, more often than in the store'
verify 'an edge twice' new '' 'k = "hop/0/node/to/node/id"; b[0][k][1] = b[0][k][0]' 'is there twice'
verify 'nodes in another order' plain '' 'for x in b: a = x["hop/1/node/to/node/indices"]; m, l = a.max(), a.max() - 1; s, t = a == m, a == l; a[s] = l; a[t] = m' 'occurs before number'
verify 'a node of walks in another order' walks '' 'x = b[0]["walk"]; m = x.max(); s, t = x == m, x == m - 1; x[s] = m - 1; x[t] = m' 'occurs before number'
fewer='k = "hop/0/node/to/node/"; x = b[0]; a, p = x[k + "indices"], x[k + "indptr"]; i = [i for i in range(1, len(a)) if a[i] in a[:i]][0]; x[k + "indices"] = np.delete(a, i); p[np.searchsorted(p, i, "right"):] -= 1'
verify 'an edge less' plain S "$fewer" 'has 2 edges, and should have 3'
verify 'the same seeds twice' plain S 'k = b[1]["key"].copy(); b[1] = {n: a.copy() for n, a in b[0].items()}; b[1]["key"] = k' "is twice in an epoch of 'train'"
verify 'fewer seeds than there are' induced S 'x = b[0]; x["counts/node"][0] -= 1; x["node/node/y"] = x["node/node/y"][:-1]' 'has 49 seeds, and should have 50'
verify 'seeds of another set' plain S 'h["sampling"]["splits"][0]["name"] = "valid"; h["sampling"]["splits"][0]["seeds"] = '"$(gnn-inspect --json S | perl -MJSON::PP -0777 -ne 'print +(grep $_->{set} eq "valid", @{decode_json($_)->{splits}})[0]{count}')" 'not in the set\|seeds, where'
done_testing
