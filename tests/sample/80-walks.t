# SPDX-License-Identifier: Apache-2.0
# gnn-sample --walk-length: random walks and the pairs of nodes in them. tests/rules compares the ways to draw them.
. "$GNN_TOP/tests/lib.sh"
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || { skip 'gnn-sample walks at random' 'no numpy'; done_testing; }
smp() { gnn-sample -q --no-provenance "$@"; }
walks() { "$python" "$GNN_TOP/tests/sample/walks.py" "$@"; }
refusing=gnn-sample
gnn-import -q -o s sbm:nodes=1500,degree=6,weights=1
gnn-import -q -o h sbm:nodes=700,types=3,weights=1
path='--metapath t0/to/t0 --metapath t1/rev_up/t0 --metapath t0/up/t1'
gnn-inspect h | grep -o 't[0-9]/[a-z_]*/t[0-9]' >types

# Walks are the beginnings of longer ones.
for how in '' '--weight weight --walks-per-seed 3' '--restart 0.3 --walks-per-seed 2' '--node2vec 0.5,2' '--node2vec 3,0.2 --weight weight'; do
    smp s --walk-length 12 -b 50 --steps 0:8 $how -o one
    walks list s one >one.txt
    smp s --walk-length 5 -b 50 --steps 0:8 $how -o short
    check "shorter walks are the beginnings of longer ones: $how" sh -c "test \$(wc -l <one.txt) -ge 400 && cut -d' ' -f1-7 one.txt | sort | cmp - \$(\"$python\" \"$GNN_TOP/tests/sample/walks.py\" list s short >short.txt; echo short.txt)"
done
smp s --walk-length 12 -b 50 --steps 0:8 --original-ids -o one
check "gnn-inspect --verify follows walks of original ids" gnn-inspect --verify one --against s
check "gnn-inspect tells of the walks" sh -c 'gnn-inspect one | grep -q -e " --walk-length 12 --walks-per-seed 1"'

# Metapaths.
smp h --walk-length 9 $path --walks-per-seed 2 -b 40 -o one
check "gnn-inspect --verify follows walks of several types" gnn-inspect --verify one --against h

# Laws: of whole walks, which shows too that steps, and walks from one seed, are independent.
printf 'source,target,w\n' >few.csv
perl -e 'srand 4; for my $v (0 .. 5) { for my $u (0 .. 5) { print "$u,$v,", int rand 7, "\n" if $u != $v && rand() < 0.6 } } print "0,6,1\n"' >>few.csv
gnn-import -q --directed -o few few.csv
seq 0 6 >seven
wide && each=150000 || each=15000
[ -z "${GNN_SAN:-}" ] || each=15000
for how in '' '--weight w' '--node2vec 0.5,2' '--node2vec 4,0.25' '--node2vec 0.2,8 --weight w' '--node2vec 1,3' '--restart 0.25' '--restart 0.6 --weight w'; do
    smp few --walk-length 3 --walks-per-seed $each -b 7 --seeds seven $how -o walked
    # shellcheck disable=SC2046
    check "walks have the law that they should have: $how" walks law few walked $(case $how in *weight*) echo w ;; esac)
    sed 's/^/# /' out
done
gnn-import -q -o mix sbm:nodes=6,degree=3,types=2,weights=1
seq 0 5 >six
mixed='--metapath t0/to/t0 --metapath t1/rev_up/t0 --metapath t0/up/t1'
for how in '' '--weight weight'; do
    smp mix --walk-length 4 $mixed --walks-per-seed $each -b 6 --seeds six --seed-type t0 $how -o walked
    # shellcheck disable=SC2046
    check "walks of several types have the law that they should have: $how" walks law mix walked $(case $how in *weight*) echo weight ;; esac)
    sed 's/^/# /' out
done

# Dead ends: node 6 has one in-edge, from node 0; node 7 has none.
printf 'source,target\n1,0\n2,1\n' >line.csv
gnn-import -q --directed -o line line.csv
seq 0 2 >three
smp line --walk-length 4 --seeds three -o ended
check "a walk ends at a node without in-edges" sh -c "test \"\$(\"$python\" \"$GNN_TOP/tests/sample/walks.py\" list line ended)\" = '0/0 0 1 2 -1 -1
0/0 1 2 -1 -1 -1
0/0 2 -1 -1 -1 -1'"
check "gnn-inspect --verify follows walks that end" gnn-inspect --verify ended --against line
printf '2\n2\n' >twice
smp line --walk-length 1 --seeds twice -o ended
check "a seed that is given twice starts twice as many walks" test "$(walks list line ended | wc -l)" = 2

# Pairs.
smp s --walk-length 12 -b 50 --steps 0:8 -o one
for window in 1 3 50; do
    smp s --walk-length 12 -b 50 --steps 0:8 --pairs $window -o made
    check "gnn-sample --pairs $window writes the pairs of the walks" walks pairs s one made
done
check "gnn-inspect --verify says that it proves nothing of pairs" sh -c "gnn-inspect --verify made --against s | grep -q 'pairs: .* not proved'"
smp line --walk-length 4 --seeds three --pairs 2 -o made
smp line --walk-length 4 --seeds three -o ended
check "pairs end where walks end" walks pairs line ended made

# What reads them.
check "gnn-gather gathers features of the nodes of walks" sh -c 'gnn-gather -q -i one s -o gathered && gnn-inspect --verify gathered --against s && gnn-inspect -t gathered | grep -q "^walk .* 50 x 13"'
check "gnn-sample --count counts steps" sh -c 'gnn-sample -q s --walk-length 12 -c | grep -qx "steps 10800"'
check "gnn-sample --count counts pairs" sh -c 'gnn-sample -q s --walk-length 2 --pairs 1 -c | grep -qx "pairs 3600"'
refuses 3 'random walks, not neighbourhoods' 'walks in gnn-train' sh -c 'gnn-gather -q -i one s | gnn-train -o x'
refuses 2 'expected accesses are known of uniform picks only' 'expected accesses of walks' gnn-gather -q -i one --plan --cache 0.1 --cache-order access s

# Streams in which something is wrong.
if "$python" -c 'import xxhash' 2>/dev/null; then
    forge() { "$python" "$GNN_TOP/tests/sample/forge.py" "$@"; }
    for what in $(forge one); do
        forge one "$what"
        status 3 "gnn-inspect refuses walks with something wrong: $what" gnn-inspect --verify forged
    done
    "$python" - "$GNN_TOP/tests/interop" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import gnb
with open("one", "rb") as f:
    frames = list(gnb.read_frames(f))
batches = [{n: np.array(a) for n, a in t} for kind, t in frames if kind == gnb.BATCH]
batches[0]["walk"][0, 3] = (batches[0]["walk"][0, 3] + 1) % len(batches[0]["nodes/node"])
with open("forged", "wb") as f:
    gnb.write_frames(f, frames[0][1], [list(b.items()) for b in batches])
END
    status 3 "gnn-inspect --verify finds a step that is not along an edge" gnn-inspect --verify forged --against s
else
    skip "gnn-inspect refuses walks with something wrong" "no xxhash"
fi

# What is refused.
for o in '-f 3' '--frontier new' --edge-ids -r --disjoint --labor '--time-rule le'; do
    refuses 2 'walk' "$o with walks" smp s --walk-length 3 $o -o x
done
for o in 1 1,2,3 0,1 1,1000 nan,1; do
    refuses 2 'node2vec' "--node2vec $o" smp s --walk-length 3 --node2vec $o -o x
done
refuses 2 'cannot be used with --node2vec' 'restarts of node2vec' smp s --walk-length 3 --restart 0.5 --node2vec 2,1 -o x
refuses 2 'node2vec requires walks along one edge type' 'node2vec of several types' smp h --walk-length 3 $path --node2vec 2,1 -o x
for o in '--walks-per-seed 2' '--node2vec 2,2' '--metapath t0/to/t0' '--restart 0.2' '--pairs 2'; do
    refuses 2 'requires --walk-length' "$o without walks" smp s -f 3 $o -o x
done
refuses 2 'probability from 0 to less than 1' 'a restart probability of 1' smp s --walk-length 3 --restart 1 -o x
refuses 2 'cannot be used with --pairs' 'pairs across restarts' smp s --walk-length 3 --restart 0.5 --pairs 2 -o x
refuses 2 'metapath must name' 'several edge types without a metapath' smp h --walk-length 3 -o x
refuses 2 'no edge type' 'a metapath of an edge type that is not there' smp h --walk-length 3 --metapath a/b/c -o x
refuses 2 'a walk has 1' 'a metapath longer than the walk' smp h --walk-length 1 $path -o x
refuses 2 'steps go from destinations to sources' 'a metapath that breaks off' smp h --walk-length 3 --metapath t0/to/t0 --metapath t0/up/t1 -o x
refuses 2 "cannot begin with" 'a metapath that begins elsewhere' smp h --walk-length 1 --metapath t0/up/t1 -o x
refuses 2 'require walks among nodes of one type' 'pairs of several types' smp h --walk-length 3 --metapath t1/rev_up/t0 --metapath t0/up/t1 --pairs 2 -o x
check "nothing is left of what was refused" test -z "$(ls -d x x.* 2>/dev/null)"
done_testing
