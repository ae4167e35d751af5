# SPDX-License-Identifier: Apache-2.0
# Options, by inputs that must come to the same store.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-import
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
    check "$what: gnn-import makes the first store" eval "imp $left -o L"
    check "$what: gnn-import makes the second store" imp "$@" -o R
    check "$what: both stores hold the same bytes" cmp L/part-00000.gnb R/part-00000.gnb
}
seen() { gnn-inspect "$1" | grep -q "$2"; }

for f in good-list.txt.gz good-edges.npy good-fortran.npy good-bigendian.npy; do
    same "$f holds the edges of good-snap.txt" "$c/good-snap.txt" -- "$c/$f"
done
same 'gnn-import --format csv reads an edge list' "$c/good-snap.txt" -- --format csv "$c/good-snap.txt"
same 'a METIS graph lists both directions of each edge' -u --dedup "$c/good-snap.txt" -- --dedup "$c/good-graph.graph"
mkdir dir
cp "$c/good-edges.npy" dir/edge_index.npy
same 'a directory may hold an array of edges' "$c/good-snap.txt" -- dir
if command -v bsdtar >zip.out 2>&1; then
    mkdir ogb
    bsdtar -xf "$c/good-ogb.zip" -C ogb
    same 'an OGB archive may be unpacked' "$c/good-ogb.zip" -- ogb
    for how in '-cJf all.tar.xz' '--zstd -cf all.tar.zst' '-czf all.tar.gz' '--format zip -cf all.zip' '-cf all.tar'; do
        (cd ogb && bsdtar $how ./*) && mv ogb/all.* .
        file=$(ls all.*)
        same "$file holds what good-ogb.zip holds" "$c/good-ogb.zip" -- "$file"
        rm "$file"
    done
else skip 'gnn-import reads archives of all formats' 'no bsdtar'; fi

printf 'from,to,weight\n0,1,5\n1,1,4\n0,1,7\n1,0,2\n2,1,3\n' >w.csv
printf 'from,to,weight\n0,1,5\n1,1,4\n1,0,2\n2,1,3\n' >dedup.csv
same 'gnn-import --dedup keeps the first of equal edges' --dedup w.csv -- --dedup dedup.csv
printf 'from,to,weight\n0,1,5\n0,1,7\n1,0,2\n2,1,3\n' >noloop.csv
same 'gnn-import --self-loops remove removes self-loops' --self-loops remove w.csv -- noloop.csv
printf 'from,to,weight\n0,1,5\n1,1,4\n0,1,7\n1,0,2\n2,1,3\n0,0,1\n2,2,1\n' >loops.csv
same 'gnn-import --self-loops add adds the loops that are missing' --self-loops add w.csv -- loops.csv
same 'gnn-import --dedup --self-loops add adds the loops that are missing' --dedup --self-loops add w.csv -- --dedup loops.csv
printf 'from,to,weight\n0,1,5\n1,0,5\n1,1,4\n0,1,7\n1,0,7\n1,0,2\n0,1,2\n2,1,3\n1,2,3\n' >both.csv
same 'gnn-import -u puts each reverse edge after its edge' -u w.csv -- both.csv
for o in '' -u --dedup '-u --dedup --self-loops add' '--self-loops remove'; do
    # shellcheck disable=SC2086
    same "edges${o:+ with $o} are sorted through a file as in memory" \
        -j 1 $o rmat:scale=13,weights=1,times=1 -- --sort-memory 64k $o rmat:scale=13,weights=1,times=1
done
same 'edges of a typed graph are sorted through a file as in memory' \
    sbm:nodes=2000,degree=30,types=3,weights=1 -- --sort-memory 64k sbm:nodes=2000,degree=30,types=3,weights=1
check 'gnn-import --sort-memory leaves no temporary file' test -z "$(find . -name '*.tmp*')"
same 'gnn-import --columns takes the numbers of columns' --columns source=1,target=2,weight=3 w.csv -- w.csv
same 'gnn-import --columns turns the edges of a table round' \
    --columns source=to,target=from,weight=3 w.csv -- --columns target=1,source=2,weight=weight w.csv
printf '#\n0 1 5\n1 1 4\n0 1 7\n1 0 2\n2 1 3\n' >w.txt
same 'gnn-import --columns reads a table without a head line' --columns source=1,target=2,weight=3 w.txt -- w.csv
same 'gnn-import --map renames a field of edges' --map cost=weight w.csv -- --columns source=from,target=to,cost=weight w.csv
same 'gnn-import --map =weight leaves out the weight' --map =weight w.csv -- --columns source=from,target=to w.csv
printf 'a\tr\tb\nb\ts\tc\n' >train.txt
printf 'c\tr\ta\n' >valid.txt
printf 'a\ts\tc\n' >test.txt
same 'several inputs are read like the members of an archive' train.txt valid.txt test.txt -- "$c/good-triples.tar.gz"

# Carriage returns, as Windows writes them, and alone, as old programs for the Mac do; or a file put together from all kinds.
crlf() { sed 's/$/\r/' "$1"; }
cr() { tr '\n' '\r' <"$1"; }
mixed() { awk 'NR % 3 == 0 { printf "%s\r", $0 } NR % 3 == 1 { printf "%s\r\n", $0 } NR % 3 == 2 { print }' "$1"; }
for f in good-snap.txt good-quotes.csv good-sparse.csv good-general.mtx good-symmetric.mtx good-weights.graph good-isolated.graph \
    good-triples.txt good-array.mtx good-skew.mtx; do
    crlf "$c/$f" >"crlf-$f"
    same "$f may have carriage returns" "$c/$f" -- "crlf-$f"
    cr "$c/$f" >"cr-$f"
    same "lines of $f may end in carriage returns only" "$c/$f" -- "cr-$f"
    mixed "$c/$f" >"mixed-$f"
    same "lines of $f may end in different ways" "$c/$f" -- "mixed-$f"
done
seq 0 99999 | awk '{ print $1, ($1 * 7 + 1) % 100000 }' >lines.txt # several blocks of the reader
mixed lines.txt >mixed.txt
same 'many lines may end in different ways' lines.txt -- mixed.txt
sed 'n; s/ /\t-/' lines.txt | cr /dev/stdin >cr.txt
refuses 3 "cr.txt: line 2: a negative id '-8'" 'a negative id' gnn-import -o bad cr.txt
if command -v bsdtar >zip.out 2>&1; then
    mkdir crlf
    for f in good-ogb.zip good-typed.zip; do
        rm -rf crlf/*
        bsdtar -xf "$c/$f" -C crlf
        find crlf -name '*.gz' -exec gzip -d {} +
        find crlf -name '*.csv' -exec sed -i 's/$/\r/' {} +
        same "$f may have carriage returns" "$c/$f" -- crlf
    done
else skip 'files of OGB may have carriage returns' 'no bsdtar'; fi

printf '0\n3\n' >ids.train
printf '1\n' >ids.valid
printf '0.5,1\n2,0\n1,1\n0,0\n' >crlf.x
printf '0\n1\n0\n1\n' >crlf.y
for f in ids.train ids.valid crlf.x crlf.y; do crlf $f >$f.r; done
same 'features, labels and a split may have carriage returns' \
    --features crlf.x --labels crlf.y --split train=ids.train,valid=ids.valid "$c/good-snap.txt" \
    -- --features crlf.x.r --labels crlf.y.r --split train=ids.train.r,valid=ids.valid.r "$c/good-snap.txt"
for f in ids.train ids.valid crlf.x crlf.y; do cr $f >$f.cr; done
same 'lines of features, labels and a split may end in carriage returns only' \
    --features crlf.x --labels crlf.y --split train=ids.train,valid=ids.valid "$c/good-snap.txt" \
    -- --features crlf.x.cr --labels crlf.y.cr --split train=ids.train.cr,valid=ids.valid.cr "$c/good-snap.txt"
for code in UTF-16 UTF-16LE UTF-16BE UTF-32 UTF-32LE UTF-32BE; do
    iconv -f UTF-8 -t $code crlf.y >wide.y
    refuses 3 "wide.y: text in ${code%[BL]E}, where UTF-8 is expected: iconv -f $code -t UTF-8 converts it" "labels in $code" \
        gnn-import -o bad --labels wide.y "$c/good-snap.txt"
    iconv -f UTF-8 -t $code lines.txt >wide.txt
    refuses 3 "wide.txt: text in ${code%[BL]E}, where" "edges in $code" gnn-import -o bad wide.txt
done
for how in ids.train ids.train.r ids.train.cr; do check "gnn-sample reads the seeds in $how" gnn-sample -q --no-provenance -f 2 --seeds $how -o $how.gnb L; done
check 'gnn-sample draws the same from seeds with carriage returns' sh -c 'cmp ids.train.gnb ids.train.r.gnb && cmp ids.train.gnb ids.train.cr.gnb'
crlf crlf.y >parts.r
for how in crlf.y parts.r crlf.y.cr; do
    check "gnn-partition --from reads the partitions in $how" gnn-partition -q --no-provenance --from $how -o $how.parts L
done
check 'gnn-partition --from makes the same partitions of a file with carriage returns' \
    sh -c 'cmp crlf.y.parts/part-00000.gnb parts.r.parts/part-00000.gnb && cmp crlf.y.parts/part-00001.gnb parts.r.parts/part-00001.gnb &&
        cmp crlf.y.parts/part-00000.gnb crlf.y.cr.parts/part-00000.gnb'

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
same 'gnn-import --directed takes one direction of a skew-symmetric matrix' --directed skew.mtx -- --directed --nodes 3 once.csv
mtx 'array real general' '3 3' 0 1 0 2 0 3 0 0 4 >dense.mtx
printf 'from,to,weight\n1,0,1\n0,1,2\n2,1,3\n2,2,4\n' >dense.csv
same 'the values of a dense matrix that are not 0 are edges' dense.mtx -- dense.csv
mtx 'array integer symmetric' '3 3' 5 1 0 0 6 0 >dense.mtx
mtx 'coordinate integer symmetric' '3 3 3' '1 1 5' '2 1 1' '3 2 6' >sparse.mtx
same 'a dense symmetric matrix lists its lower triangle' dense.mtx -- sparse.mtx
mtx 'array real skew-symmetric' '3 3' 1.5 0 -2 >dense.mtx
same 'a dense skew-symmetric matrix lists what is below its diagonal' dense.mtx -- skew.mtx
same 'gnn-import --directed takes one direction of a dense skew-symmetric matrix' --directed dense.mtx -- --directed skew.mtx
mtx 'coordinate integer general' '2 2 2' '1 2 3.0' '2 1 1e2' >whole.mtx
mtx 'coordinate real general' '2 2 2' '1 2 3' '2 1 100' >real.mtx
same 'an integer of a matrix may be written with a point' whole.mtx -- real.mtx
mtx 'coordinate pattern general' '2 2 3' '2 1' '1 2' '2 1' >twice.mtx
printf 'from,to\n1,0\n0,1\n1,0\n' >twice.csv
same 'gnn-import --allow duplicates takes entries that occur twice for parallel edges' --allow duplicates twice.mtx -- twice.csv
same 'gnn-import --dedup takes entries that occur twice for one edge' --dedup twice.mtx -- --dedup twice.csv
mtx 'coordinate pattern symmetric' '3 3 2' '1 2' '3 2' >upper.mtx
mtx 'coordinate pattern symmetric' '3 3 2' '2 1' '3 2' >lower.mtx
same 'gnn-import --allow upper takes an entry above the diagonal for one below' --dedup --allow upper upper.mtx -- --dedup lower.mtx
mtx 'coordinate pattern symmetric' '3 3 2' '1 2' '2 1' >both.mtx
mtx 'coordinate integer general' '2 2 1' '1 2 1.5' >half.mtx
mtx 'coordinate real general' '2 2 1' '1 2 1.5' >real.mtx
same 'gnn-import --allow fractions takes fractions in a matrix of integers' --allow upper,fractions half.mtx -- real.mtx

# Sparse matrices: four entries, 0-1, 0-2, 1-0 and 3-3.
printf 'from,to,weight\n0,1,1.5\n0,2,2\n1,0,-1\n3,3,4\n' >sparse.csv
for how in scipy-csr scipy-csc scipy-coo; do
    same "good-$how.npz holds the edges of a table" "$c/good-$how.npz" -- sparse.csv
done
printf '0,1,0\n2,0,3\n0,0,0\n0,0,0.5\n' >sparse.x
printf '0\n1\n1\n2\n' >sparse.y
same 'the layout of gnn-benchmark holds edges, features and labels' "$c/good-benchmark.npz" -- --features sparse.x --labels sparse.y sparse.csv
same 'gnn-import --map leaves out the features in the layout of gnn-benchmark' \
    --map =attr_indptr "$c/good-benchmark.npz" -- --labels sparse.y sparse.csv
same 'gnn-import --map =edges leaves out one of two arrays of edges' --map =edges "$c/bad-twoedges.npz" -- "$c/good-scipy-csr.npz"
same 'gnn-import --map leaves out arrays that hold no numbers' --map =class_names,=node_names "$c/unsupported-pickle.npz" -- "$c/good-scipy-csr.npz"
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
    check 'gnn-import reads a matrix that SciPy saved' imp --force -o L csr.npz
    check 'gnn-inspect --export writes the store of a matrix that SciPy saved' gnn-inspect --raw --export L.npz L
    check 'SciPy finds its matrix in what gnn-inspect exports, however it was saved' env PYTHONDONTWRITEBYTECODE=1 "$python" -c '
import numpy as np, scipy.sparse as sp
z = np.load("L.npz")
e = [z["edge/node/to/node/" + k] for k in ("weight", "indices", "indptr")]
for f in "csr", "csc", "coo": assert (sp.csc_matrix(tuple(e), (300, 300)) != sp.load_npz(f + ".npz")).nnz == 0'
    same 'coordinates that SciPy saved are its matrix by rows' csr.npz -- coo.npz
    same 'a matrix of ones that SciPy saved has no weights' ones.npz -- pairs.npz
else skip 'gnn-import reads matrices that SciPy saved' 'no scipy'; fi

printf '0.5,1\n2,0\n1,1\n' >x.csv
printf '0\n1\n-1\n' >y.csv
check 'gnn-import reads --features and --labels' imp --features x.csv --labels y.csv w.csv -o F
check 'gnn-import --features stores features x' seen F 'x f32'
check 'gnn-import takes two classes for a binary task' seen F binary
check 'gnn-import reads two classes with --task multiclass and --dtype f16' \
    imp --features x.csv --labels y.csv --task multiclass --dtype f16 w.csv -o F16
check 'gnn-import --dtype f16 stores features of 16 bits' seen F16 'x f16'
printf '0,1\n1,1\n0,0\n' >multi.csv
check 'gnn-import reads several labels a node' imp --labels multi.csv w.csv -o FM
check 'gnn-import takes several labels a node for a multilabel task' seen FM multilabel
check 'gnn-import --nodes accepts more nodes than ids' imp --nodes 10 w.csv -o N --metrics m
check 'gnn-import --nodes 10 makes ten nodes' grep -q '"nodes":10,' m
status 3 'gnn-import --nodes refuses fewer nodes than ids' imp --nodes 2 w.csv -o bad
printf '10\n' >train
printf '7\n7000000000\n' >valid
check 'gnn-import --split reads sets of original ids' imp --split train=train,valid=valid "$c/good-sparse.csv" -o SP
check 'gnn-import --split stores sets of one and two nodes' \
    sh -c 'gnn-inspect SP | grep -q "file/train  *1 " && gnn-inspect SP | grep -q "file/valid  *2 "'
printf '11\n' >valid
status 3 'gnn-import --split refuses an id that no node has' imp --split train=train,valid=valid "$c/good-sparse.csv" -o bad
: >no-ids
imp --split train=train,valid=no-ids "$c/good-sparse.csv" -o EMPTY 2>said
check 'gnn-import --split says that a file has no ids' grep -q 'set file/valid is empty: no-ids has no ids$' said
imp --split random:0.5,0.5,0 sbm:nodes=100 -o EMPTY2 2>said
check 'gnn-import --split is silent about a share of 0' sh -c '! grep -q "is empty" said'
imp --split random:0.99,0.001,0.009 sbm:nodes=100 -o EMPTY3 2>said
check 'gnn-import --split says that a share is less than one node' grep -q 'set random/valid is empty$' said
check 'gnn-import --split random divides the nodes' imp --split random:0.5,0.25,0.25 sbm:nodes=100 -o R1
check 'gnn-import --split random keeps to the shares that it is given' \
    sh -c 'gnn-inspect R1 | grep -q "random/train  *50 " && gnn-inspect R1 | grep -q "random/test  *25 "'
check 'gnn-import --split random --seed 2 divides the nodes of good-ogb.zip' imp --split random:0.5,0.25,0.25 --seed 2 "$c/good-ogb.zip" -o R2
check 'gnn-import --split random divides labelled nodes only' sh -c 'gnn-inspect R2 | grep "random/" | awk "{ n += \$3 } END { exit n != 3 }"'

says() { # NAME PATTERN IMPORT-ARGUMENT...: status 3, and one line that says so
    what=$1 pattern=$2
    shift 2
    status 3 "gnn-import refuses $what" imp "$@" -o bad
    what="gnn-import says what is wrong with $what"
    [ "$(wc -l <err)" -eq 1 ] && grep -q -- "$pattern" err && _ok "$what" || _not_ok "$what"
}
printf '10\n7\n10\n' >train
says 'a node twice in a set' 'train: split file/train: node 10 is a duplicate' --split train=train "$c/good-sparse.csv"
printf '10\n' >train
printf '7\n10\n' >valid
says 'a node in two sets of a split' 'valid: split file/valid: node 10 is also in train' --split train=train,valid=valid "$c/good-sparse.csv"
check 'gnn-import accepts a node in sets of two splits' imp --split train=train --split random:0.5,0.25,0.25 "$c/good-sparse.csv" -o SP2

says 'an entry that a matrix holds twice' 'twice.mtx: entry (2, 1) occurs twice (--allow duplicates' twice.mtx
says 'an entry that a matrix holds twice, with -u' 'twice.mtx: entry (2, 1) occurs twice' -u twice.mtx
says 'an entry of a symmetric matrix and its mirror image' 'entry (2, 1), or its mirror image, occurs twice' --allow upper both.mtx
says 'an entry above the diagonal of a symmetric matrix' \
    'upper.mtx: line 3: entry (1, 2) is above the diagonal of a symmetric matrix.*--allow upper' upper.mtx
says 'a fraction in a matrix of integers' 'half.mtx: line 3: entry (1, 2) is not a whole number.*--allow fractions' half.mtx
mtx 'coordinate real skew-symmetric' '2 2 1' '1 1 3' >bad.mtx
says 'arrays that hold no numbers' 'class_names.npy: the array holds text, .*--map =class_names,=node_names leaves' "$c/unsupported-pickle.npz"
says 'two arrays of edges' "both 'edges.npy' and 'adj_indptr.npy' hold edges (--map =NAME" "$c/bad-twoedges.npz"
says 'the layout dia of SciPy' "layout 'dia', not csr, csc or coo" "$c/unsupported-scipy-dia.npz"
says 'an offset of a sparse matrix that goes back' 'bad-indptr.npz: adj_indptr.npy: element 3: offset 1 after 2' "$c/bad-indptr.npz"
says 'an index beyond the columns of a sparse matrix' 'bad-indices.npz: adj_indices.npy: element 4: index 4 is outside 0 to 3' "$c/bad-indices.npz"
mkdir scipy
if command -v bsdtar >zip.out 2>&1; then
    bsdtar -xf "$c/good-scipy-csr.npz" -C scipy
    printf '1\n2\n3\n4\n' >scipy/note.txt
    says 'a text beside the arrays of a sparse matrix' 'scipy: note.txt: not an array (--map =note.txt' --format npz scipy
    same 'gnn-import --map leaves out a text beside the arrays of a sparse matrix' --format npz --map =note.txt scipy -- "$c/good-scipy-csr.npz"
else skip 'gnn-import refuses a text beside the arrays of a sparse matrix' 'no bsdtar'; fi
status 2 'gnn-import --nodes refuses another number than a matrix has rows' imp --nodes 9 "$c/good-scipy-csr.npz" -o bad
says 'an entry on the diagonal of a skew-symmetric matrix' 'bad.mtx: line 3: entry (1, 1) is on the diagonal' bad.mtx
mtx 'array integer general' '2 2' 1 0 0.5 0 >bad.mtx
says 'a fraction in a dense matrix of integers' 'bad.mtx: line 5: entry (1, 2) is not a whole number' bad.mtx
mtx 'array real general' '2 2' 1 0 nan 0 >bad.mtx
says 'nan in a dense matrix' 'bad.mtx: line 5: weight is missing or nan' bad.mtx
mtx 'coordinate complex general' '2 2 1' '1 1 3 4' >bad.mtx
says 'a matrix with complex entries' 'bad.mtx: line 1: complex entries are not supported' bad.mtx
mtx 'coordinate complex hermitian' '2 2 1' '1 1 3 4' >bad.mtx
says 'a hermitian matrix' 'bad.mtx: line 1: complex entries are not supported' bad.mtx
awk 'BEGIN { print "%%MatrixMarket matrix coordinate pattern general\n50000 50000 50001"
    for (i = 1; i <= 50000; i++) print i, i % 1000 + 1; print "7 8" }' >many.mtx
says 'an entry twice among many that are sorted through a file' 'many.mtx: entry (7, 8) occurs twice' --sort-memory 64k many.mtx
status 2 'gnn-import --allow refuses a word that it does not know' imp --allow upper,down upper.mtx -o bad
cp err said
check 'gnn-import --allow names a word that it does not know, and those it knows' \
    grep -q "^gnn-import: --allow: unknown value 'down'; one of: duplicates, upper, fractions" said

odd() { # WEIGHT TIME COST: a table with an edge of these in line 3
    printf 'from,to,weight,time,cost\n0,1,5,1,2\n1,1,%s\n' "$1,$2,$3" >odd.csv
}
odd nan 1 2
says 'a weight that is nan' 'odd.csv: line 3: weight is missing or nan' odd.csv
check 'gnn-import --map =weight leaves out weights that are nan' imp --map =weight odd.csv -o O1
odd '' 1 2
says 'a missing weight' 'odd.csv: line 3: weight is missing' odd.csv
odd 1e39 1 2
says 'a weight beyond 32 bits' 'odd.csv: line 3: weight is infinite or too large' odd.csv
odd 1 -inf 2
says 'an infinite time' 'odd.csv: line 3: time is infinite' odd.csv
odd 1 1e39 nan
check 'gnn-import accepts a large time, and nan in another field' imp odd.csv -o O2
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 2 inf\n' >odd.mtx
says 'an infinite entry of a matrix' 'odd.mtx: line 4: weight is infinite' odd.mtx
printf '1,2\n3,nan\n' >odd.txt
says 'a feature that is nan' 'odd.txt: row 2, column 2: x is missing or nan' --features odd.txt odd.csv
printf '1,2\n3,70000\n' >odd.txt
says 'a feature that is too large for f16' 'odd.txt: row 2, column 2: 70000 is too large for f16' --features odd.txt --dtype f16 odd.csv
check 'gnn-import --dtype bf16 accepts a feature that is too large for f16' imp --features odd.txt --dtype bf16 odd.csv -o O3

awk 'BEGIN { print "100000 1\n2\n1"; for (i = 0; i < 99998; i++) print "" }' >blank.graph
check 'gnn-import reads a METIS graph of many blank lines' imp blank.graph -o BL --metrics m
check 'gnn-import finds a vertex in each blank line of a METIS graph' grep -q '"nodes":100000,' m
awk 'BEGIN { print "%%MatrixMarket matrix coordinate pattern general"; for (i = 0; i < 40000; i++) print "% comment"
    print "20000000 1 1\n1 1" }' >rows.mtx
status 3 'gnn-import refuses a matrix of 20000000 rows with one edge' imp rows.mtx -o bad
cp err err.rows
check 'gnn-import says how many rows a matrix with one edge has' grep -q '20000000 nodes of type row with 1 edge are' err.rows

imp --progress always -o PR sbm:nodes=3000 2>err.progress
check 'gnn-import --progress always shows progress without a terminal' grep -q 'writing rows .* 3000/3000' err.progress
imp -o PR2 sbm:nodes=3000 2>err.progress
check 'gnn-import shows no progress without a terminal' sh -c '! grep -q "writing rows" err.progress'
# Three columns, one of them words, are a table if their head line or a line of numbers says so.
printf 'from,to,x\n1,2,3\n1,2,friend\n' >kind.csv
refusing=gnn-import refuses 3 "kind.csv: line 3: not a number.*'friend'" 'a word in a table with a head line' imp kind.csv -o bad
printf '1 2 0.5\n2 1 nan\n' >nan.txt
refusing=gnn-import refuses 3 'nan.txt: 3 columns; --columns' 'nan in a table without a head line' imp nan.txt -o bad
printf 'head\trelation\ttail\n1\tr\t2\n' >head.txt
check 'gnn-import reads triples with a head line' imp head.txt -o H
check 'gnn-import takes the head line of triples for no triple' sh -c 'gnn-inspect H | grep -q "edges *node/r/node *1" && ! gnn-inspect H | grep -q relation'
usage() { status 2 "gnn-import refuses $(echo "$*" | sed "s|$c/||g")" imp "$@" -o bad; }
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
status 3 'gnn-import --map refuses to leave out the source of edges' imp --map =from w.csv -o bad
status 3 'gnn-import --labels refuses labels of too few nodes' imp --labels y.csv "$c/good-snap.txt" -o bad
status 3 'gnn-import refuses a file that is not there' imp nowhere -o bad
# Before its edges are missed, each array of an archive is not looked for from the beginning.
mkdir many
perl -e 'chdir "many"; my $h = sprintf "%-117s\n", "{\x27descr\x27: \x27|u1\x27, \x27fortran_order\x27: False, \x27shape\x27: (1,), }";
    for (1 .. 15000) { open my $f, ">", "m$_.npy" or die; print $f "\x93NUMPY\1\0", pack("v", length $h), $h, "x" }'
tar -cf many.tar many
refusing=gnn-import refuses 3 'no array of edges' 'an archive of 15000 arrays without edges in time' timeout 600 gnn-import -o bad many.tar
rm -r many many.tar
mkdir empty
status 3 'gnn-import refuses an empty directory' imp empty -o bad
mkfifo fifo
status 3 'gnn-import refuses standard input that is empty' sh -c 'gnn-import - -o bad </dev/null | cat; true | gnn-import - -o bad'
check 'gnn-import reads standard input' sh -c 'cat w.csv | gnn-import -o piped -'
cp err said
check 'it says where it was kept' grep -q -- "-: a pipe: its [0-9]* bytes were copied to a file in " said
check 'gnn-import reads the same from a file' gnn-import -o plain w.csv
check 'both are the same store' gnn-inspect --diff --ignore provenance piped plain
check 'gnn-import reads a FIFO' sh -c 'cat w.csv >fifo & gnn-import --force -o piped fifo'
check 'it is the same store' gnn-inspect --diff --ignore provenance piped plain
check 'nothing is left of the copy' sh -c 'mkdir tmp && cat w.csv | TMPDIR=$PWD/tmp gnn-import --force -o piped - && rmdir tmp'
status 1 'gnn-import fails where it cannot keep a pipe' sh -c 'cat w.csv | TMPDIR=/nowhere gnn-import -o bad -'
status 1 'gnn-import fails where no pipe fits' sh -c '[ -w /dev/full ] && head -c 3000000 /dev/zero | { ulimit -f 1000; trap "" XFSZ; gnn-import -o bad -; }'
rm -rf piped plain
status 2 'gnn-import refuses to work without -o' gnn-import w.csv
status 2 'gnn-import refuses to work without an input' gnn-import -o bad
status 1 'gnn-import fails in a directory that is not there' imp w.csv -o no/where
check 'gnn-import leaves nothing of what it refuses' test -z "$(find . -name bad -o -name no -o -name '*.tmp*')"
done_testing
