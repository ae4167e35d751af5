# SPDX-License-Identifier: Apache-2.0
# Features stored as int8 with a scale for each row: made, gathered, trained on and read as NumPy says, from gnb(5) alone.
. "$GNN_TOP/tests/lib.sh"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
python=/usr/bin/python3
$python -c 'import numpy, xxhash' 2>/dev/null || { skip "NumPy reads int8 features" "no numpy, or no xxhash"; done_testing; }
num() { $python "$GNN_TOP/tests/interop/int8.py" "$@"; }
check "NumPy writes features of all sizes" num edges g

# A column that takes the steps of all others.
printf '0,1\n1,2\n' >year.csv
printf '%s\n' 1990,0.5 1991,1 1992,2 >year.txt
check "gnn-import --dtype int8 imports columns of different size" gnn-import --dtype int8 --features year.txt -o year year.csv
cp err said
check "gnn-import --dtype int8 warns of them" \
    grep -q 'warning: int8 .*column 1 of features of node, with values up to 1992, column 2, up to 2, has nothing but zeros (--standardize)' said

# From a data set, and from a store in however many partitions.
gnn-import -q --no-provenance -o f g.npz
check "gnn-import --dtype int8 imports" gnn-import --no-provenance --dtype int8 -o i g.npz
cp err said
check "gnn-import --dtype int8 stores the nearest numbers" num quantised i f
check "gnn-import --dtype int8 tells the largest error: $(num quantised i f) %" \
    grep -q "int8 with a scale for each row: the largest error is $(num quantised i f) % of" said
for d in 0 1; do
    gnn-import -q --no-provenance -o f$d g$d.npz
    gnn-import -q --no-provenance --dtype int8 -o i$d g$d.npz
    check "gnn-import --dtype int8 stores one column, $d" num quantised i$d f$d
    seq 0 89 | gnn-sample -q -f 2 -b 20 --seeds - -o b.gnb i$d
    check "gnn-gather gathers one column, $d" gnn-gather -q i$d -i b.gnb -o c.gnb
    check "gnn-gather gives one column as the numbers that it stands for, $d" num gathered i$d c.gnb
done
for k in 1 3; do
    check "gnn-partition -k $k --dtype int8 converts" gnn-partition --no-provenance --method random -k $k --dtype int8 -o i$k.new f
    cp err said
    check "gnn-partition -k $k --dtype int8 tells the largest error" grep -q "the largest error is $(num quantised i f) % of" said
    check "gnn-partition -k $k --dtype int8 stores the nearest numbers" num quantised i$k.new f
    check "gnn-inspect --verify finds $k partitions of int8 sound" gnn-inspect --verify i$k.new
    cp out said
    check "gnn-inspect --verify checks their scales" grep -q '^ok  rows of int8: 90, scales finite$' said
    gnn-partition -q --no-provenance -k 1 -o again i$k.new
    check "gnn-partition -k $k --dtype int8 stores what gnn-import --dtype int8 does" gnn-inspect --diff --original again i
    rm -r again
done
gnn-partition -q --no-provenance -k 3 --method random -o i3 i
check "gnn-partition of int8 gives the bytes of gnn-partition --dtype int8" sh -c 'for p in 0 1 2; do
    gnn-inspect --raw --export a.npz i3 && gnn-inspect --raw --export b.npz i3.new && cmp a.npz b.npz || exit 1; done'
for to in f32 bf16; do
    gnn-partition -q --no-provenance -k 2 --method random --dtype $to -o from.$to i3
    gnn-partition -q --no-provenance -k 1 --dtype int8 -o back from.$to
    [ $to = bf16 ] || check "gnn-partition --dtype int8 of what --dtype f32 made is what it was" gnn-inspect --diff --original back i
    rm -r back
done
status 1 "gnn-inspect --diff --original finds int8 instead of f32" gnn-inspect --diff --original i f
scale() { # PART ROW BYTES: the changes that make these the scale of a row of 37 elements
    echo "$1/node/node/x=$(($2 * 44 + 40))=$3 $1/node/node/x=$(($2 * 44 + 41))=$4 $1/node/node/x=$(($2 * 44 + 42))=$5 $1/node/node/x=$(($2 * 44 + 43))=$6"
}
# shellcheck disable=SC2046 # several words
$python "$GNN_TOP/tests/interop/roundtrip.py" copy i scale $(scale 0 9 0 0 0 64)
status 1 "gnn-inspect --diff --original finds a scale that differs" gnn-inspect --diff --original i scale
mv out said
check "and says whose it is" grep -q 'scale of tensor node/node/x, original node 9, element 0: ' said

# Another graph than that of f32: no checkpoint or stream of the one belongs to the other.
graph() { $python -c 'import json, sys; h = json.load(open(sys.argv[1] + "/store.json")); print(h.get("graph", h["identity"]))' "$1"; }
check "stores of int8 are of one graph, however they are partitioned" test "$(graph i1.new)" = "$(graph i3.new)" -a "$(graph i3)" = "$(graph i)"
check "and not of that of f32" test "$(graph i1.new)" != "$(graph f)" -a "$(graph i)" != "$(graph f)"
gnn-partition -q --no-provenance -k 1 --dtype f32 -o same f
check "gnn-partition --dtype f32 of f32 leaves the graph what it is" test "$(graph same)" = "$(graph f)"
seq 0 89 >all
gnn-sample -q -f 3,2 -b 30 --seeds all -o f.gnb f
status 3 "gnn-gather refuses batches of the store of f32" gnn-gather -q i -i f.gnb -o bad.gnb

# Gathering.
for s in i i3; do
    gnn-sample -q -f 3,2 -b 30 --seeds all -o $s.gnb $s
    check "streams of $s are of version 4" test "$(od -An -tu2 -j4 -N2 $s.gnb)" -eq 4
    for dtype in stored f32 f16 bf16; do
        case $dtype in f16) np='<f2' ;; bf16) np=bf16 ;; *) np='<f4' ;; esac
        check "gnn-gather --dtype $dtype gathers from $s" gnn-gather -q --dtype $dtype $s -i $s.gnb -o x.gnb
        [ $dtype = f16 ] || check "gnn-gather --dtype $dtype from $s gives the numbers that rows stand for" num gathered $s x.gnb $np
    done
    check "gnn-gather gathers from $s out of core" gnn-gather -q $s -i $s.gnb -o x.gnb
    check "gnn-inspect --verify finds the stream of $s sound" gnn-inspect --verify x.gnb --against $s
    check "gnn-inspect --export writes $s" gnn-inspect --export x.npz $s
    check "gnn-inspect --export writes the numbers of $s" num exported $s x.npz
    check "the Python package reads the numbers of $s" num python $s x.gnb "$GNN_TOP/formats/python"
done
check "gnn-inspect says that features are int8" sh -c 'gnn-inspect i | grep -q "x int8\[37\]"'
check "gnn-inspect --export writes the numbers as text" sh -c 'gnn-inspect --export x.csv --nodes node i && $0 -c "
import sys; sys.path.insert(0, sys.argv[1]); import int8, numpy as np
a = np.genfromtxt(\"x.csv\", delimiter=\",\", skip_header=1, dtype=np.float32)
assert any(np.array_equal(a[:, k:k + 37], int8.numbers(\"i\")) for k in range(4))" '"$GNN_TOP/tests/interop" "$python"

# Training and inference see the same numbers whether they are stored as int8 or as f32.
gnn-import -q --no-provenance --dtype int8 -o s8 sbm:nodes=300,degree=6,features=13
gnn-partition -q --no-provenance -k 1 --dtype f32 -o s32 s8
gnn-partition -q --no-provenance -k 3 --method random -o p8 s8
for s in s8 s32 p8; do
    gnn-train -q --no-provenance --store $s -f 4,3 -b 40 --epochs 2 --seed 3 -o $s.st
    gnn-predict -q $s $s.st -o $s.npy
    gnn-train -q --no-provenance --store $s --full-batch --epochs 3 --seed 3 -o full.$s.st
    gnn-predict -q $s full.$s.st -o full.$s.npy
done
for x in '' full.; do
    for s in s32 p8; do
        [ "$x$s" = full.p8 ] || check "gnn-train and gnn-predict${x:+ --full-batch} give with s8 what they give with $s" cmp ${x}s8.npy $x$s.npy
    done
done
check "gnn-predict gives numbers" test -s s8.npy -a -s full.s8.npy -a -s full.p8.npy
gnn-partition -q --no-provenance -k 3 --method random -o p32 s32
gnn-train -q --no-provenance --store p32 --full-batch --epochs 3 --seed 3 -o full.p32.st
check "gnn-train --full-batch learns from partitions of int8 as from those of f32" sh -c 'gnn-predict -q p32 full.p32.st -o full.p32.npy && cmp full.p32.npy full.p8.npy'
check "gnn-train --full-batch --memory learns from partitions of int8 the same" sh -c '
    gnn-train -q --no-provenance --store p8 --full-batch --memory 80M --epochs 3 --seed 3 -o m.st && gnn-predict -q p8 m.st -o m.npy && cmp m.npy full.p8.npy'
learn() { gnn-train -q --no-provenance -f 4,3 -b 40 --seed 3 --checkpoint c "$@"; }
check "gnn-train keeps a checkpoint" learn --store s8 --epochs 1 -o c.st
refusing='gnn-train --resume'
refuses 3 . 'a checkpoint of int8 for features of f32' learn --store s32 --epochs 2 --resume -o d.st
check "gnn-train --resume goes on with int8" learn --store s8 --epochs 2 --resume -o d.st
check "gnn-train --resume learns what it does without a stop" cmp d.st s8.st

# What cannot be.
refusing='gnn-import --dtype int8'
printf '0,1\n1,2\n' >plain.csv
refuses 2 '--dtype: nodes of plain.csv have no features x' 'no features' gnn-import --dtype int8 -o bad plain.csv
refuses 2 '--dtype: nodes of plain.csv have no features x' 'no features for f16' gnn-import --dtype f16 -o bad plain.csv
refuses 3 'row 42, column 13: x is missing or nan' NaN gnn-import --dtype int8 -o bad gnan.npz
refuses 3 'row 42' infinity gnn-import --dtype int8 -o bad ginf.npz
refusing='gnn-partition --dtype int8'
$python "$GNN_TOP/tests/interop/roundtrip.py" copy f nan 0/node/node/x=$((41 * 37 + 12))=nan
refuses 3 'nan: features of node, node 41, column 13: nan is not finite' NaN gnn-partition -k 2 --dtype int8 -o bad nan
refusing='gnn-partition --dtype f16'
refuses 3 'features of node, node [0-9]*, column [0-9]*: [-0-9.e+]* is too large for f16' 'numbers that f16 lacks' gnn-partition -k 2 --dtype f16 -o bad f
refusing='gnn-partition'
refuses 2 'DGL has no int8' 'int8 for DGL' gnn-partition -k 2 --layout dgl -o bad i
refuses 2 'DGL has no int8' 'int8 for DGL' gnn-partition -k 2 --layout dgl --dtype int8 -o bad f
gnn-import -q -o bare sbm:nodes=40,features=0 2>/dev/null && refuses 2 'no features x' 'a store without features' gnn-partition -k 2 --dtype int8 -o bad bare
check "nothing is left of what was refused" test ! -e bad

# Damage, with right sums.
try=$GNN_TOP/tests/interop/roundtrip.py
damage() { # WHY WHAT CHANGES
    rm -rf d
    # shellcheck disable=SC2086 # several words
    $python "$try" copy i3 d $3 || return
    refuses 3 "$1" "$2" gnn-inspect --verify d
}
refusing='gnn-inspect --verify'
check "NumPy writes a store that is not damaged" $python "$try" copy i3 good
check "gnn-inspect --verify finds it sound" gnn-inspect --verify good
damage 'd/part-00001.gnb: tensor node/node/x: row 2: its scale is nan' 'a scale of NaN' "$(scale 1 2 0 0 192 127)"
damage 'tensor node/node/x: row 2: its scale is inf' 'a scale of infinity' "$(scale 1 2 0 0 128 127)"
damage 'tensor node/node/x: row 0: its scale is -1' 'a negative scale' "$(scale 1 0 0 0 128 191)"
damage 'tensor node/node/x: row 7: its scale is 0' 'a scale of 0 of a row that is not' "$(scale 2 7 0 0 0 0)"
damage 'tensor node/node/x: row 3: byte 1 after its elements is not 0' 'padding that is not 0' 0/node/node/x=$((3 * 44 + 38))=1
forge() { # WHY WHAT PYTHON: of header and parts
    rm -rf d
    $python -c "
import json, os, sys
sys.path.insert(0, sys.argv[1])
import gnb, numpy as np
header, parts = gnb.read_store('i')
x = header['schema']['node_types'][0]['fields'][0]
major = None
$3
os.mkdir('d')
for final in (0, 1):
    text = json.dumps(header['schema'], separators=(',', ':')).encode()
    with open('d/part-00000.gnb', 'wb') as f:
        text += gnb.write_frames(f, header, [list(parts[0].items())], 4096, gnb.TENSORS, major).to_bytes(8, 'little')
    header['identity'] = '%016x' % gnb.xxh3(text)
json.dump(header, open('d/store.json', 'w'))
" "$GNN_TOP/tests/interop" && refuses 3 "$1" "$2" gnn-inspect d
}
refusing='gnn-inspect'
bad="tensor 'node/node/x' does not have the dtype or shape of its schema"
forge "$bad" 'rows without scales' "parts[0]['node/node/x'] = parts[0]['node/node/x'][:, :37].copy().view('i1')"
forge "$bad" 'rows without padding' "parts[0]['node/node/x'] = np.delete(parts[0]['node/node/x'], [37, 38, 39], 1)"
forge "$bad" 'too few rows' "parts[0]['node/node/x'] = parts[0]['node/node/x'][1:]"
forge "$bad" 'rows that are i8' "parts[0]['node/node/x'] = parts[0]['node/node/x'].view('i1')"
forge "$bad" 'rows of another width' "x['width'] = 33"
forge "field 'x' is f32: only i8 has scales" 'scales of f32' "x['dtype'] = 'f32'"
forge "'scaled' is not true" 'a word for scaled' "x['scaled'] = 'yes'"
forge "only features x have" 'scales of another field' "x['name'] = 'z'"
forge 'stores with int8 features or lists of candidates require version 4' 'version 1' 'major = 1'
forge 'stores without int8 features and lists of candidates require version 1' 'version 4 of what has no int8' "del x['scaled']; major = 4"
done_testing
