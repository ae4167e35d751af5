# SPDX-License-Identifier: Apache-2.0
# gnn-import --split-links of files: links that are given, which may be no edges.
. "$GNN_TOP/tests/import/splits.sh"
perl -e 'srand 3; print "source,target,time,weight\n"; print int rand 60, ",", int rand 60, ",", int rand 50, ",", rand, "\n" for 1 .. 900' >t.csv
import --directed --nodes 60 -o t t.csv
import --undirected --nodes 60 -o u t.csv
perl -e 'srand 4; print "source,target\n"; print int rand 40, ",", int rand 40, "\n" for 1 .. 400' >d.csv
import --directed --nodes 40 -o d d.csv
import --undirected --nodes 40 -o s d.csv
perl -e 'srand 5; print int rand 50, ",", int rand 30, "\n" for 1 .. 400; print "49,29\n"' >ui.csv
perl "$GNN_TOP/tests/import/both_ways.pl" data <ui.csv
import -o n data
for g in t u d s n; do cut -k 4 --method random -o ${g}p $g; done

# Files of edges, each once and in another order; and pairs that are no edges.
# pick CSV COLUMNS BOTH SHARE: one in 8 of the different links; BOTH: a pair is one link.
pick() {
    perl -F, -lane 'BEGIN { ($columns, $both, $share) = splice @ARGV, 0, 3 } chomp @F; next if /[a-z]/; $#F = $columns - 1;
        $k = join ",", $both && $F[0] > $F[1] ? (@F[1, 0], @F[2 .. $#F]) : @F; $line{$k} //= join ",", @F;
        END { @k = sort keys %line; print $line{$k[$_]} for grep { $_ % 8 == $share } reverse 0 .. $#k }' "$2" "$3" "$4" "$1"
}
for what in valid:1 test:2 train:3; do
    name=${what%:*} share=${what#*:}
    pick t.csv 3 0 $share >t.$name
    pick t.csv 3 1 $share >u.$name
    pick d.csv 2 0 $share >d.$name
    pick d.csv 2 1 $share >s.$name
    pick ui.csv 2 0 $share >n.$name
done
tr ',' '\t' <d.test | sed '3s/.*/&\n/' >d.tabs
gzip -k s.test
"$python" -c '
import numpy as np
np.save("t.npy", np.loadtxt("t.valid", delimiter=",").astype("i4"))
np.save("s.npy", np.loadtxt("s.valid", delimiter=",").astype("i8"))'
i=0
while read -r g type files; do
    i=$((i + 1))
    list=$(echo $files | tr ' ' ',')
    check "$g: $list" split $type=$list -o one$i $g
    # shellcheck disable=SC2086
    check "$g: sets are those of files: $list" looks given one$i $g $type $files
    split $type=$list -o four$i ${g}p
    check "both verify" sh -c "gnn-inspect --verify one$i && gnn-inspect --verify four$i"
    check "of four partitions, it is the same graph" gnn-inspect --verify four$i --against one$i
    cut -k 1 -o whole$i four$i
    cut -k 1 -o again$i one$i
    check "gnn-partition makes both complete, and the same" gnn-inspect --diff whole$i again$i
    # In a directed graph, an edge may run back between the ends of a link.
    [ $g = d ] || check "nothing leaks" sh -c "test -z \"\$(gnn-inspect -q --leaks one$i)\""
done <<'END'
t node/to/node valid=t.valid test=t.test
t node/to/node train=t.train valid=t.npy test=t.test
u node/to/node valid=u.valid test=u.test
d node/to/node test=d.tabs
d node/to/node train=d.train test=d.test
s node/to/node valid=s.npy test=s.test.gz
s node/to/node train=s.train valid=s.valid
n user/buys/item valid=n.valid test=n.test
END

# What is said, and links that are no edges.
printf '%s\n' source,target a,b b,c c,d d,e e,a a,c b,d f,g g,h h,i i,j j,f >g.csv
import -u -o g g.csv
printf 'a,e\nb e\n' >valid
printf 'a;d\n\nc;e\n' >test
gnn-import --split-links node/to/node=valid=valid,test=test -o gs g 2>said
check "links that are no edges are links" sh -c 'gnn-inspect gs | grep -qE "links/test +2 "'
check "and are counted" grep -q 'links/valid: 2 links, of which 1 is no edge of the store' said
check "in each set" grep -q 'links/test: 2 links, of which 2 are no edge of the store' said
printf 'a,b\n' >train
gnn-import --split-links node/to/node=train=train,valid=valid -o gt g 2>said
check "edges that are in no set are counted" grep -q '20 edges are no link of a file: they carry messages, and are in no set' said
check "strict negatives know links that are no edges" sh -c 'gnn-sample -q -f 2 --links node/to/node --split test --negatives triplet:2 --strict -o b gs && gnn-inspect --verify b --against gs'
check "models learn from such sets" gnn-train -q --store gs --task links -f 2,2 --epochs 2 -o m

# What is wrong.
refusing='gnn-import --split-links'
# wrong STATUS MESSAGE NAME FILES: of the store g
wrong() { refuses "$1" "$2" "$3" gnn-import --split-links "node/to/node=$4" -o x "${5:-g}"; }
printf 'a,e\n\ne,a\nz,b\n' >bad
wrong 3 "bad: line 4: 'z' is not the id of a node of type 'node'" 'an unknown id' valid=bad
printf "a d\n" >both
wrong 3 'test: line 1: this link is in set valid, too, by line 1 of both' 'a link in two sets' valid=both,test=test
printf "d a\n" >both

wrong 3 'test: line 1: this link is in set valid, too, by line 1 of both' 'a link in two sets, in two directions' valid=both,test=test
printf 'a,b\na,d\n' >some
wrong 3 'some: line 2: this link is no edge of the store' 'a training link that is no edge' train=some
tail -n +2 g.csv >all
wrong 3 'so nothing is left to train on' 'a split without training links' test=all
: >none
wrong 3 'none: no links in it' 'an empty file' valid=none
wrong 3 'gone: cannot open' 'a file that is gone' valid=gone
printf 'a\n' >one
wrong 3 'one: line 1: expected a head, a tail and no more' 'a head alone' valid=one
printf 'a,b,3\n' >timed
wrong 3 'and no more: edges of the type have no times' 'a time of edges without' valid=timed
wrong 2 'expected S/R/D=train=FILE,valid=FILE,test=FILE' 'no file' valid=
wrong 2 'expected S/R/D=train=FILE,valid=FILE,test=FILE' 'a set that is there twice' valid=valid,valid=test
wrong 2 'expected S/R/D=train=FILE,valid=FILE,test=FILE' 'another set' valid=valid,dev=test
wrong 3 'd.valid: line 1: expected a head, a tail and a time' 'no time of edges with times' valid=d.valid t
printf '1,2,soon\n' >soon
wrong 3 'soon: line 1: the time of the link is not a whole number' 'a time that is no number' valid=soon t
"$python" -c 'import numpy as np; np.save("wide.npy", np.zeros((3, 4), "i8")); np.save("far.npy", np.array([[1, 2], [3, 77]]))'
wrong 3 'wide.npy: rows of 4: expected a head and a tail' 'an array of four columns' valid=wide.npy d
wrong 3 "far.npy: row 2: '77' is out of range" 'an id of an array that is out of range' valid=far.npy d
refuses 2 'has no effect on a split by files' 'a seed' gnn-import --split-links node/to/node=valid=valid --seed 2 -o x g
refuses 2 'cannot be used with a split by files' 'supervision' gnn-import --split-links node/to/node=valid=valid --supervision 0.5 -o x g
refuses 2 "no edge type 'node/no/node'" 'another type' gnn-import --split-links node/no/node=valid=valid -o x g
printf '5,40\n' >types
refuses 3 "types: line 1: '40' is out of range: there are fewer nodes of type 'item'" 'a head as a tail' \
    gnn-import --split-links user/buys/item=valid=types -o x n
check "nothing is left of them" sh -c '! ls x* 2>/dev/null'
done_testing
