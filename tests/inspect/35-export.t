# SPDX-License-Identifier: Apache-2.0
# gnn-inspect --export: what it writes is read back as the same store, from any partitions; tables say what the store says.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/pipe/setup.sh"
refusing='gnn-inspect --export'
exports() { gnn-inspect --export "$@"; }

# ---- import, export, import ----
# Edges with weights and times, several at the same time; nodes that only few edges know.
perl -e 'srand 4; print "from,to,time,weight\n"; print join(",", $_ % 90, int rand 97, int(rand 40) - 20, sprintf "%.3g", rand), "\n" for 1 .. 900' >e.csv
gnn-import -q --directed --nodes 97 -o timed e.csv
gnn-import -q -o sbm sbm:nodes=300
gnn-import -q -o times sbm:nodes=300,times=1
gnn-import -q -o types sbm:nodes=300,types=2,times=1
perl -e 'print "$_\n" for 7, 3, 290, 11' >dev && perl -e 'print "$_\n" for 20 .. 30' >held
gnn-import -q -o two --split dev=dev,held-out=held --split random:0.8,0.1,0.1 sbm:nodes=300,types=2,times=1
# Masks, and masks of several splits, as data sets have them, from the arrays of a store.
cat >arrays.pl <<'END2'
# arrays.pl DIR: .npy files of a graph of 6 nodes with masks and a field of each kind.
my $d = shift;
mkdir $d;
sub npy { my ($name, $descr, $shape, $bytes) = @_;
    my $h = "{'descr': '$descr', 'fortran_order': False, 'shape': ($shape), }";
    $h .= ' ' x (63 - (10 + length $h) % 64) . "\n";
    open my $f, '>:raw', "$d/$name.npy" or die; print $f "\x93NUMPY\1\0", pack('v', length $h), $h, $bytes }
npy('edge_index', '<i8', '2, 8', pack 'q<*', 0, 1, 2, 3, 4, 5, 5, 0, 1, 2, 3, 4, 5, 0, 1, 0);
npy('edge_weight', '<f4', '8,', pack 'f<*', map { $_ / 3 } 1 .. 8);
npy('x', '<f4', '6, 2', pack 'f<*', map { $_ / 7 } 1 .. 12);
npy('y', '<i8', '6,', pack 'q<*', 0, 1, 2, -1, 1, 0);
npy('year', '<i8', '6,', pack 'q<*', 1990 .. 1995);
npy('train_mask', '|b1', @ARGV ? '6, 2' : '6,', pack 'C*', @ARGV ? (1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0) : (1, 1, 0, 0, 0, 0));
npy('val_mask', '|b1', @ARGV ? '6, 2' : '6,', pack 'C*', @ARGV ? (0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0) : (0, 0, 1, 1, 0, 0));
npy('test_mask', '|b1', @ARGV ? '6, 2' : '6,', pack 'C*', @ARGV ? (0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 1) : (0, 0, 0, 0, 1, 1));
END2
perl arrays.pl one.d && perl arrays.pl many.d many
gnn-import -q --directed -o mask one.d && gnn-import -q --directed -o masks many.d || exit 1
for s in timed sbm times types two mask masks; do
    check "gnn-inspect --export writes the arrays of $s" exports $s.npz $s
    check "gnn-import reads them ($s)" gnn-import -q --directed -o $s.again $s.npz
    check "it is the same store ($s)" gnn-inspect --diff --ignore provenance --ignore identity $s $s.again
    [ $s = mask ] || [ $s = masks ] && k=2 || k=4
    check "$s is partitioned" gnn-partition -q -k $k --method random -o $s.parts $s
    check "gnn-inspect --export writes the arrays of partitions ($s)" exports $s.p.npz $s.parts
    check "they are those of the store ($s)" cmp $s.npz $s.p.npz
done
members() { unzip -Z1 "$1" | tr '\n' ' '; }
check 'a graph of one type has plain names' test "$(members mask.npz)" = \
    'num_nodes.npy x.npy y.npy year.npy train_mask.npy val_mask.npy test_mask.npy edge_index.npy edge_weight.npy '
check 'a named split keeps its name' test "$(members sbm.npz)" = \
    'num_nodes.npy x.npy y.npy random.train_idx.npy random.valid_idx.npy random.test_idx.npy edge_index.npy '
check 'a graph of types has their names' sh -c 'unzip -Z1 types.npz | grep -qx t0/up/t1/edge_index.npy'
check 'times that follow from others are not written' sh -c '! unzip -Z1 times.npz | grep effective'

# ---- Matrix Market ----
check 'gnn-inspect --export writes a matrix' exports timed.mtx timed
check 'gnn-inspect --export writes the matrix of partitions' exports parts.mtx timed.parts
check 'they are the same' cmp timed.mtx parts.mtx
check 'a matrix with weights is real' grep -qx '%%MatrixMarket matrix coordinate real general' timed.mtx
check 'gnn-import reads the matrix' gnn-import -q --directed --allow duplicates -o matrix timed.mtx
tail -n +2 e.csv | awk -F, '{ print $1, $2 }' | sort >want
gnn-inspect --edges node/to/node matrix | sort >got
check 'its edges are those of the table' cmp want got
check 'gnn-inspect --export writes a matrix without weights' exports sbm.mtx sbm
check 'it is a pattern' grep -qx '%%MatrixMarket matrix coordinate pattern general' sbm.mtx
check 'gnn-inspect --export writes the matrix of a type' exports up.mtx --edges t0/up/t1 types
check 'it has the nodes of its types' sh -c 'sed -n 2p up.mtx | grep -qx "300 300 1500"'

# ---- CSV ----
check 'gnn-inspect --export writes edges' exports out.csv --edges node/to/node timed
sort e.csv | sed 's/from,to,/source,target,/' >want
check 'they have the numbers of the table' perl -e 'sub rows { open my $f, "<", shift or die; my @h = split /,|\n/, <$f>;
    my %n = map { $h[$_] => $_ } 0 .. $#h; [sort map { chomp; my @c = split /,/; join " ", map { $c[$n{$_}] + 0 } "source", "target", "time", "weight" } <$f>] }
    open my $e, "<", "e.csv" or die; my $t = do { local $/; <$e> }; $t =~ s/^from,to/source,target/; open my $w, ">", "want.csv"; print $w $t; close $w;
    die if "@{rows(q(want.csv))}" ne "@{rows(q(out.csv))}"'
check 'gnn-inspect --export writes nodes' exports out.csv --nodes node sbm
check 'each node is a line' test "$(wc -l <out.csv)" -eq 301
check 'their columns are named' sh -c 'head -n 1 out.csv | grep -qx "id,x_0,.*,x_15,y"'
cp out.csv nodes.csv
check 'gnn-inspect --export writes their edges' exports edges.csv --edges node/to/node sbm
check 'gnn-import reads both tables' gnn-import -q --directed --nodes nodes.csv:id -o tables edges.csv
check 'gnn-inspect --export writes the arrays of the tables' exports tables.npz tables
for a in x y edge_index; do check "$a is what it was" sh -c "unzip -p sbm.npz $a.npy >want && unzip -p tables.npz $a.npy | cmp - want"; done
check 'gnn-inspect --export writes one array as CSV' exports y.csv --tensor y sbm
check 'it is the column of the table' sh -c 'sed "s/.*,//" out.csv | cmp - y.csv'
# Words as ids, with all that CSV has to quote.
cat >w.csv <<'END2'
from,to,weight
plain,"with, comma",0.5
"with ""quotes""",plain,0.1
"with, comma","with ""quotes""",3
END2
gnn-import -q --directed -o words w.csv && gnn-partition -q -k 2 --method random -o words2 words || exit 1
check 'gnn-inspect --export writes names' exports words.csv --edges node/to/node words
check 'gnn-inspect --export writes the names of partitions' exports words2.csv --edges node/to/node words2
check 'they are the same' cmp words.csv words2.csv
sort w.csv | sed 's/^from,to/source,target/' | sort >want
check 'names are quoted as they were' sh -c 'sort words.csv | cmp - want'
check 'gnn-inspect --export says what an .npz has not' exports words.npz words
cp err said
check 'it is names' grep -qx 'gnn-inspect: words.npz: left out: names of nodes (--nodes TYPE writes them as CSV)' said

# ---- one array; standard output ----
check 'gnn-inspect --export writes an .npy' exports y.npy --tensor y mask
check 'it is the member of the .npz' sh -c 'unzip -p mask.npz y.npy | cmp - y.npy'
check 'gnn-inspect --export writes some arrays' exports some.npz --tensor x --tensor edge_index mask
check 'they are these' test "$(members some.npz)" = 'x.npy edge_index.npy '
check 'gnn-inspect --export writes an .npz to standard output' sh -c 'gnn-inspect --export - mask | cmp - mask.npz'
check 'gnn-inspect --format says what standard output gets' sh -c 'gnn-inspect --export - --format mtx timed | cmp - timed.mtx'
check 'gnn-inspect --raw writes tensors as they are stored' exports raw.npz --raw sbm.parts
check 'they have the names of the store' sh -c 'unzip -Z1 raw.npz | grep -qx part-3/edge/node/to/node/indptr.npy'
check 'gnn-inspect --raw --tensor writes some of them' exports raw.npz --raw --tensor node/node/y sbm.parts
check 'of all partitions' test "$(members raw.npz)" = 'part-0/node/node/y.npy part-1/node/node/y.npy part-2/node/node/y.npy part-3/node/node/y.npy '

# ---- batches ----
gnn-sample -q -f 4,3 -b 60 --epochs 2 --eval valid --edge-ids -o stream sbm || exit 1
all=$(gnn-inspect --export all.npz stream && unzip -Z1 all.npz | grep -c '/key.npy')
check 'gnn-inspect --export writes all batches' test "$all" -eq 8
count() { # WANT NAME OPTION...
    want=$1 name=$2
    shift 2
    check "gnn-inspect --export takes $name" exports b.npz "$@" stream
    check "there are $want ($name)" test "$(unzip -Z1 b.npz | grep -c '/key.npy')" -eq "$want"
}
count 6 'the batches of a set' --split train
count 2 'those of another' --split valid
count 4 'those of an epoch' --epochs 1:2
count 3 'those of an epoch and set' --epochs 1:2 --split train
count 4 'every second step' --split train --steps 0:3:2
count 1 'one batch' --split train --epochs 1:2 --steps 1
check 'its number is that in the stream' sh -c 'unzip -Z1 b.npz | grep -qx batch-5/key.npy'
unzip -p all.npz batch-5/nodes/node.npy >want
check 'gnn-inspect --export writes one tensor of a batch' exports nodes.npy --tensor nodes/node --split train --epochs 1:2 --steps 1 stream
check 'it is the member of the .npz' cmp want nodes.npy
check 'gnn-inspect --export reads a stream from standard input' sh -c 'gnn-inspect --export - --format npy --tensor nodes/node --split train --epochs 1:2 --steps 1 <stream | cmp - want'
check 'gnn-inspect --export writes the edges of a batch' exports b.csv --edges node/to/node --split train --epochs 1:2 --steps 1 stream
check 'their ends are edges of the store' sh -c 'gnn-inspect --edges node/to/node sbm | sort -u >edges; tail -n +2 b.csv | cut -d, -f2,3 | tr , " " | sort -u | comm -23 - edges >odd; ! [ -s odd ]'
check 'there are hops and edge ids' sh -c 'head -n 1 b.csv | grep -qx hop,source,target,edge_id && grep -q ^0, b.csv && grep -q ^1, b.csv'
check 'gnn-inspect --export writes a batch as a matrix' exports b.mtx --split train --epochs 1:2 --steps 1 stream
check 'it has as many edges' sh -c '[ $(($(wc -l <b.csv) + 1)) -eq "$(wc -l <b.mtx)" ]'

# ---- what is refused ----
refuses 2 'out.txt ends in none of .npz, .npy, .mtx and .csv' 'another ending' exports out.txt sbm
refuses 2 'a CSV file has edges, nodes or one tensor: name them by' 'CSV of nothing' exports o.csv sbm
refuses 2 'only one of --edges' 'CSV of two things' exports o.csv --nodes node --edges node/to/node sbm
refuses 2 'an .npy file has one array' 'an .npy of all' exports o.npy sbm
refuses 2 'the format holds one array, and 2 are named' 'CSV of two arrays' exports o.csv --tensor x --tensor y sbm
refuses 2 "has no 'yy'; did you mean 'y'? tensors: num_nodes, x, y" 'an array that is not there' exports o.npz --tensor yy sbm
refuses 2 "no node type 'nodes'" 'a node type that is not there' exports o.csv --nodes nodes sbm
refuses 2 'a matrix is of one edge type, and types has 5: --edges S/R/D' 'a matrix of several types' exports o.mtx types
refuses 2 '--edges: with --export, requires a file .mtx or .csv' 'edges to an .npz' exports o.npz --edges node/to/node sbm
refuses 2 '--nodes requires --export to a CSV file' 'nodes to an .npz' exports o.npz --nodes node sbm
refuses 2 '--tensor has no effect' 'tensors to a matrix' exports o.mtx --tensor x sbm
refuses 2 '--raw: stream is not a store' 'a stream with --raw' exports o.npz --raw stream
refuses 2 '--nodes: stream is not a store' 'the nodes of a stream' exports o.csv --nodes node stream
refuses 2 'M is a model, which has no edges' 'the edges of a model' exports o.mtx M
refuses 2 '--split requires a stream of batches' 'a set of a store' exports o.npz --split train sbm
refuses 2 'stdout takes the export' 'metrics in the export' exports - --metrics - sbm
refuses 2 'requires --export' '--format alone' gnn-inspect --format csv sbm
refuses 2 'edge_index: a table of 3000 columns' 'an array that is no table' exports o.csv --tensor edge_index sbm
refuses 2 'in 4 partitions: .npz holds them' 'stored tensors of several partitions' exports o.npy --raw --tensor node/node/y sbm.parts
refuses 2 "--split: stream has no batches of 'tset'; sets: train, valid" 'a set that the stream has not' exports o.npz --split tset stream
refuses 2 'none of 8 batches is of the set, epochs and steps' 'an epoch that the stream has not' exports o.npz --epochs 7:9 stream
refuses 2 'the format holds one batch, and stream has several' 'a matrix of several batches' exports o.mtx stream
refuses 2 'the format holds one batch, and stream has several' 'a tensor of several batches' exports o.csv --tensor nodes/node stream
for o in o.npz o.npy o.csv o.mtx; do absent $o "nothing is left of what was refused ($o)"; done
sh -c 'gnn-inspect --export - --format mtx stream' >printed 2>err
check 'nothing is printed of several batches' sh -c '! [ -s printed ]'

# ---- whole, or not at all ----
refuses 1 '^gnn-inspect: /dev/full: cannot write.*No space left on device$' 'a full disk' exports /dev/full --format npz sbm
refuses 1 'No space left on device' 'a full disk, as text' sh -c 'gnn-inspect --export - --format csv --nodes node sbm >/dev/full'
refuses 1 'no/o.npz' 'a directory that is not there' exports no/o.npz sbm
gnn-import -q -o long sbm:nodes=20000,degree=20
quiet_pipe 'gnn-inspect --export' gnn-inspect --export - long
quiet_pipe 'gnn-inspect --export to CSV' gnn-inspect --export - --format csv --nodes node long
cp -r sbm hurt
perl -e 'open my $f, "+<", "hurt/part-00000.gnb" or die; seek $f, 9000, 0; read $f, my $b, 1; seek $f, 9000, 0; print $f chr(ord($b) ^ 1)'
refuses 3 'hurt/part-00000.gnb' 'a damaged store' exports hurt.npz hurt
absent hurt.npz 'nothing is written of a damaged store'
head -c 20000 stream >cut
refuses 3 'cut' 'a stream that is cut' exports cut.npz cut
absent cut.npz 'nothing is written of a stream that is cut'
check 'gnn-inspect --export writes a parameter of a model' exports w.csv --tensor "$(gnn-inspect -t M | awk '/weight/ { print $1; exit }')" M
done_testing
