# SPDX-License-Identifier: Apache-2.0
# Seeds by the names of nodes.
. "$GNN_TOP/tests/lib.sh"
printf '%s\n' 'a	r	b' 'b	r	c d' 'c d	r	a' '7	r	a' 'b	r	7' 'x, y	r	b' >t.tsv
gnn-import -q --directed -o s t.tsv && gnn-partition -q -k 2 -o p s || _not_ok 'a store with names is made'
sample() { gnn-sample -q --no-provenance -f 2,2 -b 2 "$@"; }
printf '%s\n' 2 0 3 >positions
printf '%s\n' 'c d' '  a' '"7"' >names
check 'gnn-sample takes positions' sample --seeds positions -o b1 s
check 'gnn-sample takes names, and numbers as names in quotes' sample --seeds names -o b2 s
check 'both are the same seeds' cmp b1 b2
printf 'c d\r\n\r\na \r\n7' | sed 's/7/"7"/' >crlf
check 'gnn-sample takes names with carriage returns, and a last line without an end' sample --seeds crlf -o b3 s
check 'these are the same, too' cmp b1 b3
printf '2 0\n3\n' >two
check 'gnn-sample takes two positions in a line' sample --seeds two -o b4 s
check 'and has all of them' cmp b1 b4
sample --seeds - s <names >b5
printf '\na\n2 0\n\n\nc d\n   \n3\n' | sample --seeds - s >lists
check 'an empty line ends a batch of names from a pipe' sh -c 'gnn-inspect lists | grep -q "batches 4, 5 seeds"'
[ -s b5 ] && _ok 'seeds from a pipe make batches' || _not_ok 'seeds from a pipe make batches'
check 'gnn-sample takes positions before partitioning' sample --original-ids --seeds positions -o b6 p
check 'gnn-sample takes names with --original-ids' sample --original-ids --seeds names -o b7 p
check 'they are the same' cmp b6 b7
check 'gnn-sample takes names in a partitioned store' sample --seeds names -o b8 p
check 'of which the batches are those of the whole one' gnn-inspect --diff --original --store p b8 b6
says() { # NAME PATTERN TEXT
    printf '%b' "$3" >bad
    status 3 "gnn-sample refuses $1" sample --seeds bad -o no s
    grep -q -e "$2" err && _ok "gnn-sample says what is wrong with $1" || _not_ok "gnn-sample says what is wrong with $1"
}
says 'a name that no node has' "bad: line 2: no node is called 'zz', and it is no node id" 'a\nzz\n'
says 'a name in another case' "bad: line 1: no node is called 'A'" 'A\n'
says 'a name or position' 'bad: line 2: 7 is the name of a node, and may be a position: write names in quotes' 'a\n7\n'
says 'a position out of range' 'bad: line 1: node id 9 is out of range: there are 5' '9\n'
says 'a quote that is not closed' "bad: line 1: no node is called '\"a'" '"a\n'
says 'two names in a line' "bad: line 1: no node is called 'a b'" 'a b\n'
printf '%s\n' 'source,target,time' a,b,1 b,c,2 c,a,3 a,c,4 >times.csv
gnn-import -q --directed -o t times.csv || _not_ok 'a store with names and times is made'
printf '%s\n' 'a 3' 'c  2' >named
printf '%s\n' '0 3' '2 2' >numbered
check 'gnn-sample takes names with times' sample --time-rule lt --seeds named -o b9 t
check 'gnn-sample takes positions with times' sample --time-rule lt --seeds numbered -o b10 t
check 'they are the same seeds and times' cmp b9 b10
printf 'a\n' >untimed
status 3 'gnn-sample refuses a name without its time' sample --time-rule lt --seeds untimed -o no t
printf 'b x\n' >untimed
status 3 'gnn-sample refuses a name with a word for its time' sample --time-rule lt --seeds untimed -o no t
done_testing
