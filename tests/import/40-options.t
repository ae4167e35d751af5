# Options, by inputs that must come to the same store.
. "$GNN_TOP/tests/lib.sh"
c=$GNN_TOP/tests/import/corpus
imp() { gnn-import --no-provenance "$@"; }
same() { # NAME  LEFT...  --  RIGHT...: both imports give the same bytes
    what=$1
    shift
    left=
    rm -rf L R
    while [ "$1" != -- ]; do
        left="$left '$1'"
        shift
    done
    shift
    check "$what: one way" eval "imp $left -o L"
    check "$what: other way" imp "$@" -o R
    check "$what: same bytes" cmp L/part-00000.gnb R/part-00000.gnb
}
seen() { gnn-inspect "$1" | grep -q "$2"; }

for f in good-list.txt.gz good-edges.npy good-fortran.npy good-bigendian.npy; do
    same "$f" "$c/good-snap.txt" -- "$c/$f"
done
same 'a forced format' "$c/good-snap.txt" -- --format csv "$c/good-snap.txt"
same 'METIS lists both directions' -u --dedup "$c/good-snap.txt" -- --dedup "$c/good-graph.graph"
mkdir dir
cp "$c/good-edges.npy" dir/edge_index.npy
same 'a directory' "$c/good-snap.txt" -- dir
if command -v bsdtar >zip.out 2>&1; then
    mkdir ogb
    bsdtar -xf "$c/good-ogb.zip" -C ogb
    same 'an archive unpacked' "$c/good-ogb.zip" -- ogb
    for how in '-cJf all.tar.xz' '--zstd -cf all.tar.zst' '-czf all.tar.gz' '--format zip -cf all.zip' '-cf all.tar'; do
        (cd ogb && bsdtar $how ./*) && mv ogb/all.* .
        file=$(ls all.*)
        same "$file" "$c/good-ogb.zip" -- "$file"
        rm "$file"
    done
else skip 'archives' 'no bsdtar'; fi

printf 'from,to,weight\n0,1,5\n1,1,4\n0,1,7\n1,0,2\n2,1,3\n' >w.csv
printf 'from,to,weight\n0,1,5\n1,1,4\n1,0,2\n2,1,3\n' >dedup.csv
same 'of equal edges the first stays' --dedup w.csv -- --dedup dedup.csv
printf 'from,to,weight\n0,1,5\n0,1,7\n1,0,2\n2,1,3\n' >noloop.csv
same 'self-loops are removed' --self-loops remove w.csv -- noloop.csv
printf 'from,to,weight\n0,1,5\n1,1,4\n0,1,7\n1,0,2\n2,1,3\n0,0,1\n2,2,1\n' >loops.csv
same 'self-loops are added' --self-loops add w.csv -- loops.csv
same 'and among unique edges' --dedup --self-loops add w.csv -- --dedup loops.csv
printf 'from,to,weight\n0,1,5\n1,0,5\n1,1,4\n0,1,7\n1,0,7\n1,0,2\n0,1,2\n2,1,3\n1,2,3\n' >both.csv
same 'reverse edges follow their edges' -u w.csv -- both.csv
for o in '' -u --dedup '-u --dedup --self-loops add' '--self-loops remove'; do
    # shellcheck disable=SC2086
    same "sorted through a file: ${o:-as it is}" -j 1 $o rmat:scale=13,weights=1,times=1 -- --sort-memory 64k $o rmat:scale=13,weights=1,times=1
done
same 'also typed graphs' sbm:nodes=2000,degree=30,types=3,weights=1 -- --sort-memory 64k sbm:nodes=2000,degree=30,types=3,weights=1
check 'no file is left' test -z "$(find . -name '*.tmp*')"
same 'columns by number' --columns source=1,target=2,weight=3 w.csv -- w.csv
same 'turned round' --columns source=to,target=from,weight=3 w.csv -- --columns target=1,source=2,weight=weight w.csv
printf '#\n0 1 5\n1 1 4\n0 1 7\n1 0 2\n2 1 3\n' >w.txt
same 'without a head line' --columns source=1,target=2,weight=3 w.txt -- w.csv
same 'a field renamed' --map cost=weight w.csv -- --columns source=from,target=to,cost=weight w.csv
same 'left out' --map =weight w.csv -- --columns source=from,target=to w.csv
printf 'a\tr\tb\nb\ts\tc\n' >train.txt
printf 'c\tr\ta\n' >valid.txt
printf 'a\ts\tc\n' >test.txt
same 'several inputs are a directory' train.txt valid.txt test.txt -- "$c/good-triples.tar.gz"

# Carriage returns, as Windows writes them.
crlf() { sed 's/$/\r/' "$1"; }
for f in good-snap.txt good-quotes.csv good-sparse.csv good-general.mtx good-symmetric.mtx good-weights.graph good-isolated.graph \
    good-triples.txt good-array.mtx good-skew.mtx; do
    crlf "$c/$f" >"crlf-$f"
    same "$f with carriage returns" "$c/$f" -- "crlf-$f"
done
if command -v bsdtar >zip.out 2>&1; then
    mkdir crlf
    for f in good-ogb.zip good-typed.zip; do
        rm -rf crlf/*
        bsdtar -xf "$c/$f" -C crlf
        find crlf -name '*.gz' -exec gzip -d {} +
        find crlf -name '*.csv' -exec sed -i 's/$/\r/' {} +
        same "$f with carriage returns" "$c/$f" -- crlf
    done
else skip 'OGB with carriage returns' 'no bsdtar'; fi

printf '0\n3\n' >ids.train
printf '1\n' >ids.valid
printf '0.5,1\n2,0\n1,1\n0,0\n' >crlf.x
printf '0\n1\n0\n1\n' >crlf.y
for f in ids.train ids.valid crlf.x crlf.y; do crlf $f >$f.r; done
same 'features, labels and a split with carriage returns' --features crlf.x --labels crlf.y --split train=ids.train,valid=ids.valid "$c/good-snap.txt" \
    -- --features crlf.x.r --labels crlf.y.r --split train=ids.train.r,valid=ids.valid.r "$c/good-snap.txt"
for how in ids.train ids.train.r; do check "seeds in $how" gnn-sample -q --no-provenance -f 2 --seeds $how -o $how.gnb L; done
check 'are the same' cmp ids.train.gnb ids.train.r.gnb
crlf crlf.y >parts.r
for how in crlf.y parts.r; do check "an assignment in $how" gnn-partition -q --no-provenance --from $how -o $how.parts L; done
check 'gives the same parts' sh -c 'cmp crlf.y.parts/part-00000.gnb parts.r.parts/part-00000.gnb && cmp crlf.y.parts/part-00001.gnb parts.r.parts/part-00001.gnb'

# Matrices, and the same edges in a table.
mtx() { # BANNER SIZE LINE...
    printf '%%%%MatrixMarket matrix %s\n' "$1"
    shift
    printf '%s\n' "$@"
}
mtx 'coordinate real skew-symmetric' '3 3 2' '2 1 1.5' '3 2 -2' >skew.mtx
printf 'from,to,weight\n1,0,1.5\n0,1,-1.5\n2,1,-2\n1,2,2\n' >skew.csv
same 'a skew-symmetric matrix is both directions, of opposite weights' skew.mtx -- skew.csv
printf 'from,to,weight\n1,0,1.5\n2,1,-2\n' >once.csv
same 'with --directed one' --directed skew.mtx -- --directed --nodes 3 once.csv
mtx 'array real general' '3 3' 0 1 0 2 0 3 0 0 4 >dense.mtx
printf 'from,to,weight\n1,0,1\n0,1,2\n2,1,3\n2,2,4\n' >dense.csv
same 'the values of a dense matrix but 0 are edges' dense.mtx -- dense.csv
mtx 'array integer symmetric' '3 3' 5 1 0 0 6 0 >dense.mtx
mtx 'coordinate integer symmetric' '3 3 3' '1 1 5' '2 1 1' '3 2 6' >sparse.mtx
same 'a dense symmetric matrix lists its lower triangle' dense.mtx -- sparse.mtx
mtx 'array real skew-symmetric' '3 3' 1.5 0 -2 >dense.mtx
same 'a dense skew-symmetric matrix lists what is below its diagonal' dense.mtx -- skew.mtx
same 'with --directed a dense one too' --directed dense.mtx -- --directed skew.mtx
mtx 'coordinate integer general' '2 2 2' '1 2 3.0' '2 1 1e2' >whole.mtx
mtx 'coordinate real general' '2 2 2' '1 2 3' '2 1 100' >real.mtx
same 'a whole number may be written with a point' whole.mtx -- real.mtx
mtx 'coordinate pattern general' '2 2 3' '2 1' '1 2' '2 1' >twice.mtx
printf 'from,to\n1,0\n0,1\n1,0\n' >twice.csv
same 'entries that are there twice can be parallel edges' --allow duplicates twice.mtx -- twice.csv
same 'or one' --dedup twice.mtx -- --dedup twice.csv
mtx 'coordinate pattern symmetric' '3 3 2' '1 2' '3 2' >upper.mtx
mtx 'coordinate pattern symmetric' '3 3 2' '2 1' '3 2' >lower.mtx
same 'an entry above the diagonal can count as one below' --dedup --allow upper upper.mtx -- --dedup lower.mtx
mtx 'coordinate pattern symmetric' '3 3 2' '1 2' '2 1' >both.mtx
mtx 'coordinate integer general' '2 2 1' '1 2 1.5' >half.mtx
mtx 'coordinate real general' '2 2 1' '1 2 1.5' >real.mtx
same 'integers can have fractions' --allow upper,fractions half.mtx -- real.mtx

# Sparse matrices: four entries, 0-1, 0-2, 1-0 and 3-3.
printf 'from,to,weight\n0,1,1.5\n0,2,2\n1,0,-1\n3,3,4\n' >sparse.csv
for how in scipy-csr scipy-csc scipy-coo; do
    same "$how" "$c/good-$how.npz" -- sparse.csv
done
printf '0,1,0\n2,0,3\n0,0,0\n0,0,0.5\n' >sparse.x
printf '0\n1\n1\n2\n' >sparse.y
same 'the layout of gnn-benchmark' "$c/good-benchmark.npz" -- --features sparse.x --labels sparse.y sparse.csv
same 'without its features' --map =attr_indptr "$c/good-benchmark.npz" -- --labels sparse.y sparse.csv
same 'one of two arrays of edges' --map =edges "$c/bad-twoedges.npz" -- "$c/good-scipy-csr.npz"
same 'without what holds no numbers' --map =class_names,=node_names "$c/unsupported-pickle.npz" -- "$c/good-scipy-csr.npz"
python=
for p in python3 /usr/bin/python3; do
    $p -c 'import scipy' 2>scipy.err && python=$p && break
done
if [ -n "$python" ]; then
    "$python" -c '
import numpy as np, scipy.sparse as sp
A = sp.random(300, 300, 0.2, random_state=1, format="csr", dtype=np.float32)
for f in "csr", "csc", "coo": sp.save_npz(f, A.asformat(f))
A.data[:] = 1
sp.save_npz("ones", A)
c = A.tocoo()
np.savez("pairs", src=c.row, dst=c.col, num_nodes=300)'
    check 'a matrix that SciPy saved' imp --force -o L csr.npz
    check 'is exported' gnn-inspect --export L.npz L
    check 'and the same in SciPy, however it was saved' env PYTHONDONTWRITEBYTECODE=1 "$python" -c '
import numpy as np, scipy.sparse as sp
z = np.load("L.npz")
e = [z["edge/node/to/node/" + k] for k in ("weight", "indices", "indptr")]
for f in "csr", "csc", "coo": assert (sp.csc_matrix(tuple(e), (300, 300)) != sp.load_npz(f + ".npz")).nnz == 0'
    same 'coordinates in the order of rows' csr.npz -- coo.npz
    same 'a matrix of ones has no weights' ones.npz -- pairs.npz
else skip 'matrices from SciPy' 'no scipy'; fi

printf '0.5,1\n2,0\n1,1\n' >x.csv
printf '0\n1\n-1\n' >y.csv
check 'features and labels' imp --features x.csv --labels y.csv w.csv -o F
check 'are there' seen F 'x f32'
check 'two classes are a binary task' seen F binary
check 'or not' imp --features x.csv --labels y.csv --task multiclass --dtype f16 w.csv -o F16
check 'features of 16 bits' seen F16 'x f16'
printf '0,1\n1,1\n0,0\n' >multi.csv
check 'several labels a node' imp --labels multi.csv w.csv -o FM
check 'are a multilabel task' seen FM multilabel
check 'more nodes than ids' imp --nodes 10 w.csv -o N --metrics m
check 'ten nodes' grep -q '"nodes":10,' m
status 3 'fewer nodes than ids' imp --nodes 2 w.csv -o bad
printf '10\n' >train
printf '7\n7000000000\n' >valid
check 'a split by original ids' imp --split train=train,valid=valid "$c/good-sparse.csv" -o SP
check 'has one and two nodes' sh -c 'gnn-inspect SP | grep -q "file/train  *1 " && gnn-inspect SP | grep -q "file/valid  *2 "'
printf '11\n' >valid
status 3 'an id that is not there' imp --split train=train,valid=valid "$c/good-sparse.csv" -o bad
check 'random shares' imp --split random:0.5,0.25,0.25 sbm:nodes=100 -o R1
check 'are kept' sh -c 'gnn-inspect R1 | grep -q "random/train  *50 " && gnn-inspect R1 | grep -q "random/test  *25 "'
check 'with another seed' imp --split random:0.5,0.25,0.25 --seed 2 "$c/good-ogb.zip" -o R2
check 'only labelled nodes are divided' sh -c 'gnn-inspect R2 | grep "random/" | awk "{ n += \$3 } END { exit n != 3 }"'

says() { # NAME PATTERN IMPORT-ARGUMENT...: status 3, and one line that says so
    what=$1 pattern=$2
    shift 2
    status 3 "$what" imp "$@" -o bad
    [ "$(wc -l <err)" -eq 1 ] && grep -q -- "$pattern" err && _ok "says: $pattern" || _not_ok "says: $pattern"
}
printf '10\n7\n10\n' >train
says 'a node twice in a set' 'train: split file/train: node 10 is a duplicate' --split train=train "$c/good-sparse.csv"
printf '10\n' >train
printf '7\n10\n' >valid
says 'a node in two sets' 'valid: split file/valid: node 10 is also in train' --split train=train,valid=valid "$c/good-sparse.csv"
check 'but in two splits' imp --split train=train --split random:0.5,0.25,0.25 "$c/good-sparse.csv" -o SP2

says 'an entry that is there twice' 'twice.mtx: entry (2, 1) occurs twice (--allow duplicates' twice.mtx
says 'also with -u' 'twice.mtx: entry (2, 1) occurs twice' -u twice.mtx
says 'an entry and its mirror image' 'entry (2, 1), or its mirror image, occurs twice' --allow upper both.mtx
says 'an entry above the diagonal' 'upper.mtx: line 3: entry (1, 2) is above the diagonal of a symmetric matrix.*--allow upper' upper.mtx
says 'a fraction among integers' 'half.mtx: line 3: entry (1, 2) is not a whole number.*--allow fractions' half.mtx
mtx 'coordinate real skew-symmetric' '2 2 1' '1 1 3' >bad.mtx
says 'arrays without numbers, all of them' 'class_names.npy: the array holds text, .*--map =class_names,=node_names leaves' "$c/unsupported-pickle.npz"
says 'two arrays of edges' "both 'edges.npy' and 'adj_indptr.npy' hold edges (--map =NAME" "$c/bad-twoedges.npz"
says 'a layout of SciPy' "layout 'dia', not csr, csc or coo" "$c/unsupported-scipy-dia.npz"
says 'an offset that goes back' 'bad-indptr.npz: adj_indptr.npy: element 2: offset 1 after 2' "$c/bad-indptr.npz"
says 'an index beyond the columns' 'bad-indices.npz: adj_indices.npy: element 3: index 4 is outside 0 to 3' "$c/bad-indices.npz"
mkdir scipy
if command -v bsdtar >zip.out 2>&1; then
    bsdtar -xf "$c/good-scipy-csr.npz" -C scipy
    printf '1\n2\n3\n4\n' >scipy/note.txt
    says 'a text beside the arrays of a sparse matrix' 'scipy: note.txt: not an array (--map =note.txt' --format npz scipy
    same 'which is left out' --format npz --map =note.txt scipy -- "$c/good-scipy-csr.npz"
else skip 'a text beside the arrays of a sparse matrix' 'no bsdtar'; fi
status 2 'another number of nodes than of rows' imp --nodes 9 "$c/good-scipy-csr.npz" -o bad
says 'a diagonal of a skew-symmetric matrix' 'bad.mtx: line 3: entry (1, 1) is on the diagonal' bad.mtx
mtx 'array integer general' '2 2' 1 0 0.5 0 >bad.mtx
says 'a fraction in a dense matrix' 'bad.mtx: line 5: entry (1, 2) is not a whole number' bad.mtx
mtx 'array real general' '2 2' 1 0 nan 0 >bad.mtx
says 'no number in a dense matrix' 'bad.mtx: line 5: weight is missing or nan' bad.mtx
mtx 'coordinate complex general' '2 2 1' '1 1 3 4' >bad.mtx
says 'complex entries' 'bad.mtx: line 1: complex entries are not supported' bad.mtx
mtx 'coordinate complex hermitian' '2 2 1' '1 1 3 4' >bad.mtx
says 'a hermitian matrix' 'bad.mtx: line 1: complex entries are not supported' bad.mtx
awk 'BEGIN { print "%%MatrixMarket matrix coordinate pattern general\n50000 50000 50001"
    for (i = 1; i <= 50000; i++) print i, i % 1000 + 1; print "7 8" }' >many.mtx
says 'an entry twice among many that go in ranges' 'many.mtx: entry (7, 8) occurs twice' --sort-memory 64k many.mtx
status 2 'a word that --allow does not know' imp --allow upper,down upper.mtx -o bad
cp err said
check 'is named with those it knows' grep -q "^gnn-import: --allow: unknown value 'down'; one of: duplicates, upper, fractions" said

odd() { # WEIGHT TIME COST: a table with an edge of these in line 3
    printf 'from,to,weight,time,cost\n0,1,5,1,2\n1,1,%s\n' "$1,$2,$3" >odd.csv
}
odd nan 1 2
says 'a weight that is no number' 'odd.csv: line 3: weight is missing or nan' odd.csv
check 'may be left out' imp --map =weight odd.csv -o O1
odd '' 1 2
says 'a missing weight' 'odd.csv: line 3: weight is missing' odd.csv
odd 1e39 1 2
says 'a weight beyond 32 bits' 'odd.csv: line 3: weight is infinite or too large' odd.csv
odd 1 -inf 2
says 'an infinite time' 'odd.csv: line 3: time is infinite' odd.csv
odd 1 1e39 nan
check 'a large time, and nan in another field' imp odd.csv -o O2
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 2 inf\n' >odd.mtx
says 'an infinite entry' 'odd.mtx: line 4: weight is infinite' odd.mtx
printf '1,2\n3,nan\n' >odd.txt
says 'a feature that is no number' 'odd.txt: row 2: x is missing or nan' --features odd.txt odd.csv
printf '1,2\n3,70000\n' >odd.txt
says 'a feature beyond f16' 'features, row 2: 70000 is too large for f16' --features odd.txt --dtype f16 odd.csv
check 'that bf16 holds' imp --features odd.txt --dtype bf16 odd.csv -o O3

awk 'BEGIN { print "100000 1\n2\n1"; for (i = 0; i < 99998; i++) print "" }' >blank.graph
check 'a METIS graph of blank lines, across blocks' imp blank.graph -o BL --metrics m
check 'has all its vertices' grep -q '"nodes":100000,' m
awk 'BEGIN { print "%%MatrixMarket matrix coordinate pattern general"; for (i = 0; i < 40000; i++) print "% comment"
    print "20000000 1 1\n1 1" }' >rows.mtx
status 3 'a number of nodes without edges' imp rows.mtx -o bad
cp err err.rows
check 'is said in a line' grep -q '20000000 nodes of type row with 1 edges' err.rows

imp --progress always -o PR sbm:nodes=3000 2>err.progress
check 'progress if asked for' grep -q 'writing rows .* 3000/3000' err.progress
imp -o PR2 sbm:nodes=3000 2>err.progress
check 'not otherwise' sh -c '! grep -q "writing rows" err.progress'
# Three columns, one of them words, are a table if their head line or a line of numbers says so.
printf 'from,to,x\n1,2,3\n1,2,friend\n' >kind.csv
status 3 'a word in a table with a head line' imp kind.csv -o bad
cp err said
check 'is named' grep -q "kind.csv: line 3: not a number.*'friend'" said
printf '1 2 0.5\n2 1 nan\n' >nan.txt
status 3 'a number missing in a table without one' imp nan.txt -o bad
cp err said
check 'asks for columns' grep -q 'nan.txt: 3 columns; --columns' said
printf 'head\trelation\ttail\n1\tr\t2\n' >head.txt
check 'a head line of triples' imp head.txt -o H
check 'is one of them' seen H node/relation/node
usage() { status 2 "$1" imp "$@" -o bad; }
usage --columns source=1,target=2 sbm:
usage --nodes 5 "$c/good-graph.graph"
usage --map a=b w.csv
usage --map a "$c/good-ogb.zip"
usage --columns source=from,target=nothing w.csv
usage --columns source=from,target=from w.csv
usage --columns source=from w.csv
usage --format generator sbm:
usage --format elf w.csv
usage --self-loops perhaps w.csv
usage --features x.csv sbm:
usage --task binary --labels multi.csv w.csv
status 3 'a column that is needed' imp --map =from w.csv -o bad
status 3 'labels of too few nodes' imp --labels y.csv "$c/good-snap.txt" -o bad
status 3 'no such file' imp nowhere -o bad
# Before its edges are missed, each array of an archive is not looked for from the beginning.
mkdir many
perl -e 'chdir "many"; my $h = sprintf "%-117s\n", "{\x27descr\x27: \x27|u1\x27, \x27fortran_order\x27: False, \x27shape\x27: (1,), }";
    for (1 .. 15000) { open my $f, ">", "m$_.npy" or die; print $f "\x93NUMPY\1\0", pack("v", length $h), $h, "x" }'
tar -cf many.tar many
status 3 'an archive of 15000 arrays, of which none is of edges' timeout 600 gnn-import -o bad many.tar
grep -q 'no array of edges' err && _ok 'and that is said' || _not_ok 'and that is said'
rm -r many many.tar
mkdir empty
status 3 'an empty directory' imp empty -o bad
mkfifo fifo
status 2 'standard input' imp - -o bad
status 2 'a pipe' imp fifo -o bad
status 2 'no output' gnn-import w.csv
status 2 'no input' gnn-import -o bad
status 1 'a directory that is not there' imp w.csv -o no/where
check 'nothing is left' sh -c '! ls -d bad no .*.tmp* 2>ls.err'
done_testing
