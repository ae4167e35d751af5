# SPDX-License-Identifier: Apache-2.0
# gnn-inspect --edges: the edges of a type as text, which are those that were imported, and whose ends can be seeds.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/pipe/setup.sh"
e=node/to/node
edges() { gnn-inspect --edges "$@"; }

# Tables, in which each node occurs: few times, real ones that need all their digits, and none.
perl -e 'srand 4; print "from,to,time\n"; print $_ % 300, ",", int rand 300, ",", int(rand 40) - 20, "\n" for 1 .. 4000;
    print "7,8,9007199254740992\n8,7,-9007199254740992\n"' >whole.csv
perl -e 'srand 5; print "from,to,time\n"; printf "%d,%d,%.17g\n", $_ % 300, rand 300, (rand() - 0.5) * 10 ** int rand 30 for 1 .. 4000;
    printf "9,8,%.17g\n", $_ for 0.1, 5' >real.csv
cut -d, -f1,2 whole.csv >none.csv
# The lines of a table, by destination and time; those of the same time as they are in the table.
cat >want.pl <<'END'
use sort 'stable';
my ($head, @row) = map { chomp; [split /,/] } <STDIN>;
print join(' ', @$_), "\n" for sort { $a->[1] <=> $b->[1] or @$a > 2 && $a->[2] <=> $b->[2] } @row;
END
for t in whole real none; do
    gnn-import -q --directed -o $t $t.csv || exit 1
    gnn-partition -q -k 4 -o ${t}4 $t || exit 1
    perl want.pl <$t.csv >want
    check "gnn-inspect --edges prints the edges of a table ($t)" sh -c "gnn-inspect --edges $e $t >got"
    check "gnn-inspect --edges prints what was imported, in the order of the store ($t)" cmp want got
    check "gnn-inspect --edges prints the edges of 4 partitions ($t)" sh -c "gnn-inspect --edges $e ${t}4 >got4"
    check "gnn-inspect --edges prints partitions in their order ($t)" sh -c '! cmp -s got got4'
    sort got >sorted && sort got4 >sorted4
    check "gnn-inspect --edges prints the same edges of 4 partitions ($t)" cmp sorted sorted4
    # What is printed can be imported.
    { [ $t = none ] && echo from,to || echo from,to,time; tr ' ' , <got; } >again.csv
    rm -rf again
    gnn-import -q --directed -o again again.csv
    check "gnn-import reads the same graph from what gnn-inspect --edges prints ($t)" \
        gnn-inspect --diff --ignore provenance --ignore identity $t again
done

# Several types, of different node types, each with times.
gnn-import -q -o types sbm:nodes=300,types=2,times=1
gnn-partition -q -k 4 -o types4 types
gnn-inspect --json types >json
perl -MJSON::PP -0777 -ne 'print "$_->{name} $_->{count}\n" for @{decode_json($_)->{edge_types}}' json >list
check "there are several edge types" test "$(wc -l <list)" -ge 4
while read -r type count; do
    edges "$type" types >got && edges "$type" types4 | sort >sorted4
    check "gnn-inspect --edges prints each edge of $type" test "$(wc -l <got)" -eq "$count"
    check "gnn-inspect --edges prints edges of $type by destination and time" sort -s -c -k2,2n -k3,3n got
    check "gnn-inspect --edges prints the same edges of $type from 4 partitions" sh -c 'sort got | cmp - sorted4'
done <list
edges t0/up/t1 types | awk '{ print $2, $1, $3 }' | sort >up
edges t1/rev_up/t0 types | sort >rev
check "gnn-inspect --edges prints reverse edges from the other end" cmp up rev
check "gnn-inspect --edges counts edges in --metrics" sh -c "gnn-inspect --edges $e --metrics m whole4 >got4"
check "gnn-inspect --edges says how many there are" grep -q "\"event\":\"edges\",\"type\":\"$e\",\"edges\":4002}" m

# The ends of edges are seeds that do not see their edge.
gnn-import -q -o graph sbm:nodes=500,times=1
gnn-partition -q -k 4 -o graph4 graph
for s in graph graph4; do
    edges $e $s | sort -k3,3n | awk '{ print $1, $3; print $2, $3 }' |
        gnn-sample -q -f 5,5 -b 500 --time-rule lt --edge-ids --original-ids --seeds - -o batches $s
    check "seeds of edges know nothing of their time ($s)" sh -c "gnn-inspect --leaks --against $s batches >said"
    check "and have neighbours ($s)" grep -qE '^edges of the future: 0 of [0-9]{4,} in 20 batches$' said
    check "their batches are sound ($s)" gnn-inspect -q --verify --against $s batches
    rm batches
done
edges $e real | sort -k3,3g | awk '{ print $1, $3; print $2, $3 }' | gnn-sample -q -f 5 --time-rule le --edge-ids --seeds - -o batches real
check "seeds at the real times of edges see these edges (le)" \
    perl -MJSON::PP -0777 -e 'my $r = decode_json(scalar `gnn-inspect --json --leaks --against real batches`);
        die unless $r->{edges} >= 4000 && !$r->{future_edges}{count}'

# What is refused.
refusing='gnn-inspect --edges'
gnn-sample -q -f 3 -b 50 --time-rule any -o batches.gnb graph
refuses 2 "^gnn-inspect: --edges: no edge type 'node/too/node'; did you mean 'node/to/node'? edge types: node/to/node$" 'a type that is not there' edges node/too/node graph
refuses 2 "no edge type 'to'; did you mean 'node/to/node'" 'the name of a relation' edges to graph
refuses 2 '--edges: batches.gnb is not a store' 'a stream' edges $e batches.gnb
refuses 2 '--edges: stdin is not a store' 'standard input' edges $e
refuses 2 '--edges: M is not a store' 'a model' edges $e M
refuses 3 'absent' 'a store that is not there' edges $e absent
refuses 2 '--edges' 'no type' gnn-inspect --edges
for o in --verify --leaks --diff '--plot x.png'; do
    # shellcheck disable=SC2086
    refuses 2 '--export, --edges, --table and --plot exclude each other' "$o" edges $e $o graph
done
for o in --tensors --stats --json; do refuses 2 "$o has no effect" $o edges $e $o graph; done
refuses 2 '--against requires' --against edges $e --against graph graph
refuses 2 '--original requires' --original edges $e --original graph
refuses 2 'stdout takes the edges' 'metrics among the edges' edges $e --metrics - graph
refuses 1 '^gnn-inspect: stdout: cannot write: No space left on device$' 'a full disk' sh -c "gnn-inspect --edges $e graph >/dev/full"
cp said err
says_one 'gnn-inspect --edges says once that the disk is full'
gnn-import -q -o few sbm:nodes=10,times=1
refuses 1 'stdout: cannot write: No space left on device$' 'a full disk at the end' sh -c "gnn-inspect --edges $e few >/dev/full"
gnn-import -q -o long sbm:nodes=20000,degree=20,times=1
quiet_pipe 'gnn-inspect --edges' gnn-inspect --edges $e long

# Damage: wrong bits, and wrong contents with right checksums.
# A flipped bit in what is not printed, such as features, does no harm.
edges $e graph4 >got
cat >printed.sh <<'END'
gnn-inspect --edges node/to/node graph4 >now 2>why
rc=$?
[ $rc -eq 0 ] && cmp -s got now && echo unharmed >why && rc=3
cat why >&2
exit $rc
END
part=graph4/part-00002.gnb
check 'gnn-inspect --edges never prints wrong edges as if they were right' perl "$GNN_TOP/tests/faults/hurt.pl" flip 200 $part $part - sh printed.sh
check 'gnn-inspect --edges refuses a partition that is cut' perl "$GNN_TOP/tests/faults/hurt.pl" cut 20 $part $part - gnn-inspect --edges $e graph4
python=/usr/bin/python3
"$python" -c 'import numpy, xxhash' 2>/dev/null || { skip 'gnn-inspect --edges refuses wrong contents' 'no numpy or xxhash'; done_testing; }
wrong() { # CHANGE PATTERN
    rm -rf bad
    PYTHONDONTWRITEBYTECODE=1 "$python" "$GNN_TOP/tests/interop/roundtrip.py" copy real4 bad "$1" || exit 1
    refuses 3 "$2" "the change $1" edges $e bad
    cp said err
    says_one "gnn-inspect --edges says one line of the change $1"
}
wrong "0/edge/$e/indptr=5=100000" "^gnn-inspect: bad/part-00000.gnb: tensor 'edge/$e/indptr' is damaged at row "
wrong "1/edge/$e/indptr=3=0" "^gnn-inspect: bad/part-00001.gnb: tensor 'edge/$e/indptr' is damaged at row 2$"
wrong "1/edge/$e/indices=7=300" "^gnn-inspect: bad/part-00001.gnb: tensor 'edge/$e/indices' is damaged: edge 7: source 300 of 300$"
wrong "2/node/node/id=3=300" "^gnn-inspect: bad/part-00002.gnb: tensor 'node/node/id': row 3: id 300 is out of range$"
wrong "2/node/node/id=3=5" "is a duplicate$"
wrong "3/edge/$e/indices" "part-00003.gnb: .*edge/$e/indices"
wrong "3/edge/$e/time=9=nan" "^gnn-inspect: bad/part-00003.gnb: tensor edge/$e/time: element 9 is nan$"
wrong "3/edge/$e/time" "part-00003.gnb: .*edge/$e/time"
done_testing
