# SPDX-License-Identifier: Apache-2.0
# In-edges sorted by time. What gnn-import makes of random edges with few different times is compared with what a few lines of
# Perl make of them; weights number the edges, so that one that moves without its fields shows.
. "$GNN_TOP/tests/lib.sh"
imp() { gnn-import -q --no-provenance "$@"; }
turns_down() { # PATTERN NAME ARGUMENT...
    why=$1 what=$2
    shift 2
    status 3 "gnn-import turns_down $what" imp -o bad "$@"
    cp err said
    check "gnn-import says where it is: $why" grep -q -- "$why" said
}

dump() { perl "$GNN_TOP/tests/import/dump.pl" "$@"; }

# want.pl MODE NODE-TIMES <edges.csv: the same lines (destination, source, weight, time, effective time) from the table. MODE: any of
# u (with reverses), d (without duplicates), l (with self-loops of all nodes), r (only the reverses). NODE-TIMES: a file or -.
cat >want.pl <<'E2'
use strict; use warnings; use sort 'stable';
my ($mode, $nodes) = @ARGV;
my (@in, @loop, @time);
if ($nodes ne '-') { open my $fh, '<', $nodes or die; chomp(@time = <$fh>) }
<STDIN>;
while (<STDIN>) {
    chomp;
    my ($s, $d, $w, $t) = split /,/;
    push @{$in[$d]}, [$s, $w, $t] unless $mode =~ /r/;
    push @{$in[$s]}, [$d, $w, $t] if $mode =~ /[ur]/ && $s != $d;
    $loop[$s] = 1 if $s == $d;
}
for my $v (0 .. ($ENV{NODES} // 20) - 1) {
    push @{$in[$v]}, [$v, 1, 0] if $mode =~ /l/ && !$loop[$v];
    my @row = @{$in[$v] // []};
    if ($mode =~ /d/) { my %had; @row = sort { $a->[0] <=> $b->[0] } grep { !$had{$_->[0]}++ } @row }
    for (@row) { my $n = $time[$_->[0]]; push @$_, defined $n && $n > $_->[2] ? $n : $_->[2] }
    print join(' ', $v, @$_), "\n" for sort { $a->[3] <=> $b->[3] } @row;
}
E2

perl -e 'srand 3; print "from,to,weight,time\n"; print int rand 20, ",", int rand 20, ",$_,", int(rand 9) - 4, "\n" for 1 .. 600;
    print "$_,", 19 - $_, ",", 601 + $_, ",0\n" for 0 .. 19' >t.csv
for o in '' -u --dedup '-u --dedup' '--self-loops add' '-u --dedup --self-loops add'; do
    mode=
    case $o in *-u*) mode=u ;; esac
    case $o in *dedup*) mode=${mode}d ;; esac
    case $o in *loops*) mode=${mode}l ;; esac
    rm -rf S
    # shellcheck disable=SC2086
    check "gnn-import $o reads edges with times" imp $o -o S t.csv
    perl want.pl "x$mode" - <t.csv | cut -d' ' -f1-4 >want
    dump S/part-00000.gnb node/to/node weight time >got
    check "gnn-import $o sorts in-edges stably by time, with their fields" cmp want got
    check "gnn-inspect --verify finds in-edges with $o in order" sh -c 'gnn-inspect --verify S | grep -q "^ok  order: [1-9][0-9]* in-edges"'
done
check 'gnn-inspect says that in-edges are ordered by time' sh -c 'gnn-inspect S | grep -q "time i64; in-edges ordered by time$"'
check 'gnn-inspect --json says by which field in-edges are ordered' \
    perl -MJSON::PP -e 'die unless decode_json(scalar `gnn-inspect --json S`)->{edge_types}[0]{order} eq "time"'
check 'store.json has the mark' grep -q '"order": *"time"' S/store.json

# Without times, nothing is sorted or marked.
cut -d, -f1-3 t.csv >plain.csv
check 'gnn-import reads edges without times' imp -o plain plain.csv
perl -ne 'next if $. == 1; chomp; my ($s, $d, $w) = split /,/; push @{$r[$d]}, "$d $s $w\n"; END { print @{$r[$_]} for 0 .. 19 }' plain.csv >want
dump plain/part-00000.gnb node/to/node weight >got
check 'gnn-import keeps the order of edges without times' cmp want got
check 'gnn-import marks no edges without times' sh -c '! grep -q order plain/store.json'
check 'gnn-import reads times under another name' imp --map when=time -o other t.csv
check 'gnn-import marks no edges whose field is not called time' sh -c '! grep -q order other/store.json'
imp -o with t.csv
sed '1s/time/when/' t.csv >when.csv
check 'gnn-import --time names the field of times' imp --time when -o named when.csv
check 'gnn-import --time comes to the same store' cmp named/part-00000.gnb with/part-00000.gnb

# Real times, some of them negative.
sed '2,$s/$/.25/' t.csv >real.csv
rm -rf S
check 'gnn-import reads times that are real numbers' imp -o S real.csv
perl want.pl x - <real.csv | cut -d' ' -f1-4 >want
dump S/part-00000.gnb node/to/node weight time >got
check 'gnn-import sorts in-edges by times that are real numbers' cmp want got

npy() { perl "$GNN_TOP/tests/import/npy.pl" "$@"; }
arrays() { # DIRECTORY EDGE-TIMES-DTYPE NODE-TIMES-DTYPE, of t.csv and node.times
    rm -rf "$1"
    mkdir "$1"
    m=$(($(wc -l <t.csv) - 1))
    sed 1d t.csv | cut -d, -f1,2 | tr , ' ' | npy "$1/edges.npy" '<i8' "$m, 2"
    sed 1d t.csv | cut -d, -f3 | npy "$1/edge_weight.npy" '<f4' "$m,"
    sed 1d t.csv | cut -d, -f4 | npy "$1/edge_time.npy" "$2" "$m,"
    npy "$1/time.npy" "$3" "${NODES-20}," <node.times
}
perl -e 'srand 5; print int(rand 9) - 4, "\n" for 1 .. 20' >node.times
for types in '<i8 <i8' '<f8 <f8' '<i8 <f8' '<f8 <i8'; do
    # shellcheck disable=SC2086
    arrays both $types
    for o in '' -u '-u --dedup' '--self-loops add'; do
        mode=
        case $o in *-u*) mode=u ;; esac
        case $o in *dedup*) mode=${mode}d ;; esac
        case $o in *loops*) mode=${mode}l ;; esac
        rm -rf S
        # shellcheck disable=SC2086
        check "gnn-import $o reads times of edges and nodes ($types)" imp $o -o S both
        perl want.pl "x$mode" node.times <t.csv >want
        dump S/part-00000.gnb node/to/node weight time effective_time >got
        check "gnn-import $o sorts by the later of the edge's and the source's time ($types)" cmp want got
        check "gnn-import $o names effective times as the order ($types)" grep -q '"order": *"effective_time"' S/store.json
    done
done
check "gnn-inspect --verify finds effective times in order" gnn-inspect --verify S

# Times of sources that are never the later ones need no field.
perl -e 'print "-4\n" x 20' >low.times
npy both/time.npy '<i8' '20,' <low.times
arrays low '<i8' '<i8'
npy low/time.npy '<i8' '20,' <low.times
rm -rf S
check 'gnn-import reads times of nodes that are early' imp -o S low
check 'gnn-import adds no field where no source is later than its edge' sh -c 'grep -q "\"order\": *\"time\"" S/store.json && ! grep -q effective S/store.json'
perl want.pl x - <t.csv | cut -d' ' -f1-4 >want
dump S/part-00000.gnb node/to/node weight time >got
check 'gnn-import sorts edges by their own times where no source is later' cmp want got

# Times of nodes alone.
rm both/edge_time.npy
npy both/time.npy '<i8' '20,' <node.times
rm -rf S
check 'gnn-import reads times of nodes only' imp -o S both
sed '2,$s/,[-0-9]*$/,-1000/' t.csv >early.csv
perl want.pl x node.times <early.csv | cut -d' ' -f1-3,5 >want
dump S/part-00000.gnb node/to/node weight effective_time >got
check "gnn-import sorts by the sources' times where edges have none" cmp want got

# As many edges as nodes: edge_time is the edges' all the same.
mkdir square
echo '5 3' | npy square/edge_time.npy '<i8' '2,'
rm -rf S
echo '0 1 1 1' | npy square/edges.npy '<i8' '2, 2'
check 'gnn-import reads edge_time of as many edges as nodes' imp -o S square
echo '1 1 3
1 0 5' >want
dump S/part-00000.gnb node/to/node time >got
check 'gnn-import takes edge_time for times of edges, even if there are as many nodes' cmp want got

# Numbers that a double does not hold.
mkdir large
echo '0 1 2 1 0 2 2 1' | npy large/edges.npy '<i8' '4, 2'
echo '9007199254740993 9007199254740992 1 9223372036854775807' | npy large/edge_time.npy '<i8' '4,'
rm -rf S
check 'gnn-import reads times beyond 2^53' imp -o S large
printf '1 2 9007199254740992\n1 0 9007199254740993\n1 2 9223372036854775807\n2 0 1\n' >want
dump S/part-00000.gnb node/to/node time >got
check 'gnn-import compares times beyond 2^53 exactly' cmp want got
echo '9007199254740994 5 9007199254740993' | npy large/time.npy '<i8' '3,'
rm -rf S
check 'gnn-import reads times of nodes beyond 2^53' imp -o S large
printf '1 2 9007199254740993\n1 0 9007199254740994\n1 2 9223372036854775807\n2 0 9007199254740994\n' >want
dump S/part-00000.gnb node/to/node effective_time >got
check 'gnn-import compares times of nodes beyond 2^53 exactly' cmp want got
echo '0 0.5 1' | npy large/time.npy '<f8' '3,'
turns_down 'edge 1: time 9007199254740993 cannot be compared' 'to compare a time beyond 2^53 with real ones' large
echo '1 2 3 4' | npy large/edge_time.npy '<f8' '4,'
echo '0 9007199254740993 1' | npy large/time.npy '<i8' '3,'
turns_down 'time.npy: row 2: time 9007199254740993 cannot be compared' 'to compare a time of a node beyond 2^53 with real ones' large

# What is no time.
sed '5s/,[-0-9]*$/,nan/' t.csv >nan.csv
turns_down 'nan.csv: line 5: time is missing or nan' 'a time that is nan in a table' nan.csv
rm large/time.npy
echo '1 2 nan 4' | npy large/edge_time.npy '<f8' '4,'
turns_down 'edge_time.npy: row 3: time is missing or nan' 'a time of an edge that is nan' large
echo '1 2 3 4' | npy large/edge_time.npy '<f8' '4,'
echo '1 nan 2' | npy large/time.npy '<f8' '3,'
turns_down 'time.npy: row 2: time is missing or nan' 'a time of a node that is nan' large
rm large/time.npy
echo '1 2 3 4 5 6 7 8' | npy large/edge_time.npy '<i8' '4, 2'
turns_down 'has 2 columns of i64, expected one .*--map' 'times of two columns' large
rm -rf S
check 'gnn-import --map keeps two columns under another name' imp --map span=edge_time -o S large
check 'gnn-import leaves no store where it failed' test ! -e bad

# A typed graph, in which users have times and items do not.
mkdir -p typed/raw/relations/user___buys___item typed/raw/relations/item___sold_to___user typed/raw/node_time/user
printf '%s\n' user,item 3,2 >typed/raw/num-node-dict.csv
printf '%s\n' user,buys,item item,sold_to,user >typed/raw/triplet-type-list.csv
printf '%s\n' 0,0 1,0 2,0 1,1 0,1 >typed/raw/relations/user___buys___item/edge.csv
printf '%s\n' 0,0 1,0 1,2 >typed/raw/relations/item___sold_to___user/edge.csv
echo 5 >typed/raw/relations/user___buys___item/num-edge-list.csv
echo 3 >typed/raw/relations/item___sold_to___user/num-edge-list.csv
printf '7\n3\n5\n' >typed/raw/node_time/user/node_time.csv
rm -rf S
check 'gnn-import reads times of one node type' imp -o S typed
dump S/part-00000.gnb user/buys/item effective_time >got
printf '0 1 3\n0 2 5\n0 0 7\n1 1 3\n1 0 7\n' >want
check 'gnn-import sorts edges whose sources have times' cmp want got
check 'gnn-import marks only edges whose sources have times' test "$(grep -c '"order"' S/store.json)" -eq 1
rm -rf S
check 'gnn-import -u reads times of one node type' imp -u -o S typed
dump S/part-00000.gnb user/rev_sold_to/item effective_time >got
printf '0 0 7\n1 2 5\n1 0 7\n' >want
check 'gnn-import -u sorts reverse edges by the times of their own sources' cmp want got

# Edge types that -u does not add, as their reverses are there, amid others that are sorted through a file.
mkdir -p twoway/raw/node_time/a twoway/raw/node_time/b
printf '%s\n' a,b 300,200 >twoway/raw/num-node-dict.csv
printf '%s\n' a,r,b b,q,a a,s,b >twoway/raw/triplet-type-list.csv
for r in a___r___b b___q___a a___s___b; do
    mkdir -p twoway/raw/relations/$r
    echo 20000 >twoway/raw/relations/$r/num-edge-list.csv
done
perl -e 'srand 2; my ($s, $d);
    sub file { open my $fh, ">", "twoway/raw/$_[0]" or die; $fh }
    my ($r, $q, $o) = map { file("relations/$_/edge.csv") } "a___r___b", "b___q___a", "a___s___b";
    for (1 .. 20000) { $s = int rand 300; $d = int rand 200; print $r "$s,$d\n"; print $q "$d,$s\n"; print $o int rand 300, ",", int rand 100, "\n" }
    print {file("node_time/a/node_time.csv")} map { int(rand 50) . "\n" } 1 .. 300;
    print {file("node_time/b/node_time.csv")} map { int(rand 50) . "\n" } 1 .. 200'
rm -rf A B
check 'gnn-import -u --dedup reads reverses and other types' imp -u --dedup -o A twoway
check 'gnn-import -u --dedup adds reverses to the others only' test "$(gnn-inspect A | grep -c '^  edges .*ordered by effective_time')" -eq 4
check 'gnn-import -u --dedup reads reverses and other types through a file' imp -u --dedup --sort-memory 64k -o B twoway
check 'gnn-import -u --dedup sorts by time through a file as in memory' cmp A/part-00000.gnb B/part-00000.gnb
check 'gnn-inspect --verify finds those edges in order' gnn-inspect --verify B

# Memory or a file, one thread or several.
for g in sbm:nodes=3000,degree=40,types=2,weights=1,times=1 rmat:scale=13,weights=1,times=1; do
    for o in '' '-u --dedup' '--self-loops add'; do
        rm -rf A B C
        # shellcheck disable=SC2086
        check "gnn-import $o $g works on one thread" imp -j 1 $o -o A "$g"
        # shellcheck disable=SC2086
        check "gnn-import $o $g works on 5 threads" imp -j 5 $o -o B "$g"
        check "gnn-import $o $g is the same on 5 threads" cmp A/part-00000.gnb B/part-00000.gnb
        # shellcheck disable=SC2086
        check "gnn-import $o $g works through a file" imp -j 3 --sort-memory 64k $o -o C "$g"
        check "gnn-import $o $g is the same through a file" cmp A/part-00000.gnb C/part-00000.gnb
        check "gnn-inspect --verify finds $g with $o in order" gnn-inspect --verify A
    done
done
# One node has more in-edges than the window has space for, and sources are later than edges.
perl -e 'srand 9; print "from,to,weight,time\n"; print int rand 2000, ",", (rand() < .7 ? 4 : int rand 2000), ",$_,", int rand 1000, "\n" for 1 .. 20000' >t.csv
perl -e 'srand 5; print int rand 1000, "\n" for 1 .. 2000' >node.times
NODES=2000
export NODES
arrays hub '<i8' '<f8'
for o in '' -u '-u --dedup' '--self-loops add'; do
    mode=
    case $o in *-u*) mode=u ;; esac
    case $o in *dedup*) mode=${mode}d ;; esac
    case $o in *loops*) mode=${mode}l ;; esac
    rm -rf A B
    # shellcheck disable=SC2086
    check "gnn-import $o reads a node of many in-edges in memory" imp $o -o A hub
    # shellcheck disable=SC2086
    check "gnn-import $o reads a node of many in-edges through a file" imp --sort-memory 64k $o -o B hub
    check "gnn-import $o sorts a node of many in-edges through a file as in memory" cmp A/part-00000.gnb B/part-00000.gnb
    perl want.pl "x$mode" node.times <t.csv >want
    dump A/part-00000.gnb node/to/node weight time effective_time >got
    check "gnn-import $o sorts a node of many in-edges" cmp want got
done

# Partitions keep the order, the mark and effective times.
for how in '-k 3' '-k 3 --halo-edges'; do
    rm -rf P O
    # shellcheck disable=SC2086
    check "gnn-partition $how reads a store with times" gnn-partition -q --no-provenance --method random $how -o P A
    check "gnn-partition $how keeps the mark" sh -c 'grep -q "\"order\": *\"" P/store.json'
    check "gnn-partition $how keeps in-edges in order" gnn-inspect --verify --against A P
    check "gnn-partition -k 1 puts partitions by $how together" gnn-partition -q --no-provenance -k 1 -o O P
    check "gnn-partition -k 1 makes of partitions by $how what they were" gnn-inspect --diff --original O A
done

# Whole times beside real ones: what order edges and seeds have is of one type, whatever the values, and none is rounded.
mixed() { # WHAT EDGE-TIMES NODE-TIMES DTYPES WANT
    printf 'source,target,time\n%s' "$(echo "$2" | awk '{ for (i = 1; i <= NF; i++) print i - 1 "," i % 3 "," $i }')" >mixed.csv
    printf 'id,time,split\n%s' "$(echo "$3" | awk '{ for (i = 1; i <= NF; i++) print i - 1 "," $i ",train" }')" >nodes.csv
    rm -rf S
    gnn-import --no-provenance -o S --nodes nodes.csv mixed.csv >out 2>said
    check "gnn-import reads $1" test -d S
    check "gnn-import stores $1 as $4" sh -c 'gnn-inspect S | tr "\n" " " | grep -q -- "$0"' "$4"
    echo "$5" >want
    dump S/part-00000.gnb node/to/node effective_time >got 2>/dev/null || dump S/part-00000.gnb node/to/node time >got
    check "gnn-import orders edges by $1" sh -c 'tr "\n" " " <got | grep -q -- "^$(cat want)"'
    check "gnn-sample compares $1" sh -c 'gnn-sample -q -f 2 -b 2 --time-rule le S >b && gnn-inspect -q --verify --against S b'
}
real='time f64.*effective_time f64; in-edges ordered by effective_time'
mixed 'whole times of edges, none before its source' '5 6 7' '1.5 2.5 3' "$real" '0 2 7 1 0 5 2 1 6'
mixed 'whole times of edges, some before their source' '5 6 1' '1.5 7.5 3' "$real" '0 2 3 1 0 5 2 1 7.5'
check 'gnn-import says that whole times are beside real ones' grep -q 'some times are whole numbers, others real' said
check 'gnn-import keeps the whole times of edges' sh -c 'gnn-inspect S | grep -q "time i64, effective_time f64"'
mixed 'whole times of nodes, real ones of edges' '5.5 6 7' '1 2 3' 'time f64.*time f64; in-edges ordered by time' '0 2 7 1 0 5.5 2 1 6'
mixed 'whole times only' '5 6 7' '1 2 3' 'time i64.*time i64; in-edges ordered by time' '0 2 7 1 0 5 2 1 6'
check 'gnn-import says nothing of times of one kind' sh -c '! grep -q "some times" said'
mixed 'real times that are whole' '5.0 6.0 7.0' '1.0 2.0 3.0' 'time f64.*time f64; in-edges ordered by time' '0 2 7 1 0 5 2 1 6'
printf 'id,time\n0,9007199254740993\n1,2\n2,3\n' >nodes.csv
turns_down "nodes.csv: node '0': time 9007199254740993 cannot be compared" 'a whole time that f64 would round' --nodes nodes.csv mixed.csv

# What a user is told of it.
printf '0 1 5\n2 1 3\n' >few.txt
gnn-import --directed --columns source=1,target=2,time=3 -o told few.txt 2>said
check 'gnn-import says that in-edges are sorted by time' grep -q 'the in-edges of each node are sorted by time$' said
gnn-import --directed --columns source=1,target=2,t=3 -o untold few.txt 2>said
check 'gnn-import says nothing of the order of edges without times' sh -c '! grep -q sorted said'
printf 'from,to,time\n0,1,2024-01-03\n1,2,1970-01-02T00:00:01Z\n2,0,2024-01-02 23:00:00-02:00\n' >dates.csv
check 'gnn-import reads dates as times' gnn-import --directed --force -o dated dates.csv
cp err said
check 'it says how' grep -q 'dates.csv: dates of time are read as seconds since 1970-01-01, and those without a time zone as UTC' said
printf 'from,to,time\n0,1,1704240000\n1,2,86401\n2,0,1704243600\n' >seconds.csv
check 'gnn-import reads the same in seconds' gnn-import --directed --force -o seconds seconds.csv
check 'both are the same store' gnn-inspect --diff --ignore provenance dated seconds
printf 'from,to,time\n0,1,2024-01-03\n1,2,7\n' >both.csv
turns_down 'both.csv: time is a date in line 2 and a number in line 3' 'dates and numbers in one column' both.csv
printf 'from,to,time\n0,1,2024-01-03\n1,2,2024-02-30\n' >both.csv
turns_down "line 3: neither a number nor a date like 2024-01-03 or 2024-01-03T05:06:07Z: '2024-02-30'" 'a day that there is not' both.csv
printf 'from,to,year\n0,1,2024-01-03\n' >other.csv
turns_down "line 2: not a number '2024-01-03', in column 3" 'dates in another column' other.csv
done_testing
