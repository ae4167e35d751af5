# SPDX-License-Identifier: Apache-2.0
# gnn-train sums up features where they lie in the store, where its first layer can, also when gnn-gather passes it the file: the
# models are those of batches that have copies.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q -o g sbm:nodes=900,degree=6,features=20,classes=3,train=0.6,valid=0.2 || exit 1
gnn-import -q -o half --dtype bf16 sbm:nodes=900,degree=6,features=20,classes=3,train=0.6,valid=0.2 || exit 1
gnn-import -q -o typed igbh:scale=0.00002,features=8 || exit 1
gnn-partition -q -k 3 -o parts g || exit 1
# alike WHAT STORE SAMPLING MODEL [GATHERING]
alike() {
    # shellcheck disable=SC2086
    check "gnn-train --store makes the model that it makes of copies: $1" sh -c \
        'gnn-train --no-provenance -q -j2 --store "$1" $2 $3 --seed 3 --epochs 2 --eval none -o one.st && gnn-sample -q $2 --seed 3 --epochs 0:2 "$1" |
        gnn-gather -q --transport inline $4 "$1" | gnn-train --no-provenance -q -j2 $3 --seed 3 -o two.st && cmp one.st two.st' sh "$2" "$3" "$4" "$5"
    check "and so does a pipe by reference: $1" sh -c \
        'gnn-sample -q $2 --seed 3 --epochs 0:2 "$1" | gnn-gather -q --transport shm --metrics gathered $4 "$1" |
        gnn-train --no-provenance -q -j2 $3 --seed 3 -o three.st && cmp one.st three.st' sh "$2" "$3" "$4" "$5"
    case $1 in
    rgcn*) _n='[1-9]' ;;
    *max* | *encoder* | *ffn* | *dropout-input* | *feature-norm* | *partitions* | *gcn* | *gat* | *typed*) _n=0 ;; # typed: f16
    *) _n='[1-9]' ;;
    esac
    check "with features $([ "$_n" = 0 ] && echo copied || echo in place): $1" grep -q "\"in_place_batches\":$_n" gathered
}
for frontier in new all; do
    alike "sage, $frontier" g "-f 4,4 -b 128 --frontier $frontier" '-m sage --hidden 32'
done
new='-f 4,4 -b 128 --frontier new'
for m in 'sage --aggr sum' 'sage --aggr max' 'sage --normalize' 'sage --project' gin 'gin --train-eps' rgcn 'sage --residual' 'sage --encoder 16' 'sage --ffn' \
    'sage --dropout-input 0.3' 'sage --feature-norm row'; do
    alike "$m" g "$new" "-m $m --hidden 32"
done
alike 'messages that are narrower than features' g "$new" '-m sage --hidden 4'
alike 'trees, in which a node is more than once' g "$new --disjoint" '-m sage --hidden 32'
alike 'a typed graph' typed '-f 3,3 -b 64 --frontier new' '-m sage --hidden 16'
alike 'R-GCN of a typed graph' typed '-f 3,3 -b 64 --frontier new' '-m rgcn --hidden 16'
alike 'three partitions' parts "$new" '-m sage --hidden 32'

# A model that would be implausibly large but for features of such a width.
gnn-import -q -o broad sbm:nodes=200,degree=3,features=5000,classes=3,train=0.5 || exit 1
alike 'features wide enough for a large model' broad '-f 2,2 -b 100' '-m sage --hidden 2048'
check 'gnn-gather says how many batches have features in place' sh -c "gnn-sample -q -f 2,2 -b 20 --epochs 0:2 g | gnn-gather -v g 2>said |
    gnn-train -q --hidden 8 -o m.st && grep -q ' by reference, [1-9][0-9]* with features in place$' said"

# What has no rows is not passed; and few descriptors, or another reader's.
for few in 8 9 10 11 12; do
    gnn-sample -q -f 2,2 -b 100 g | gnn-gather -q g | { sh -c "ulimit -n $few; exec gnn-train -q --hidden 8 -o few.st" 2>said; echo $? >status; } 2>/dev/null
    case $(cat status) in
    0) _ok "gnn-train works with $few descriptors" ;;
    1) check "gnn-train says that $few descriptors are too few" grep -q 'too many are open\|Too many open files' said ;;
    *) _not_ok "gnn-train ends with status $(cat status) for $few descriptors: $(cat said)" ;;
    esac
done

# Of bf16 in the store: in place, and in a stream's batches, where they are summed up as they are, too.
for m in sage 'gin --train-eps' rgcn gcn 'sage --aggr max' 'sage --dropout-input 0.3' 'sage --feature-norm row' 'gat --heads 2'; do
    alike "$m of bf16" half "$new" "-m $m --hidden 32" '--fields x,y,degree'
done
alike 'products of bf16 of features of bf16' half "$new" '-m sage --hidden 32 --precision bf16'
# The same numbers in f32 make the same model.
gnn-partition -q -k 1 --dtype f32 -o widened half || exit 1
tensors() {
    python3 -c 'import sys
m = open(sys.argv[1], "rb").read()
sys.stdout.buffer.write(m[8 + int.from_bytes(m[:8], "little"):])' "$1"
}
for m in '-m sage -f 4,4 -b 128' '-m gcn -f 4,4 -b 128' '-m rgcn -f 4,4 -b 128' '-m sage --encoder 16 -f 4,4 -b 128' '-m sage --full-batch' \
    '-m sage --encoder 16 --full-batch' '-m hgt --heads 2 --head 0 --full-batch'; do
    for g in half widened; do
        # shellcheck disable=SC2086
        gnn-train --no-provenance -q -j2 --store $g $m --hidden 32 --epochs 2 --eval none -o $g.st && gnn-predict -q -o $g.npy $g $g.st || exit 1
        tensors $g.st >$g.tensors
    done
    check "$m: there is a model" test -s half.tensors
    check "$m: numbers of bf16 make the model that the same make in f32" cmp half.tensors widened.tensors
    check "$m: and the same predictions" cmp half.npy widened.npy
done

# They are in place indeed: batches ahead would have copies otherwise, and features that are scaled a copy more.
for dtype in f32 bf16; do
    gnn-import -q --dtype $dtype -o wide-$dtype sbm:nodes=40000,degree=10,features=256,classes=3,train=0.1,valid=0 || exit 1
done
peak_of() { # COMMAND...
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$@"
}
peak() { # STORE OPTION...
    peak_of gnn-train -q -j2 -f 10,10 -b 2000 --hidden 256 --epochs 2 --eval none -o m.st --store "$@"
}
for dtype in f32 bf16; do
    in_place=$(peak wide-$dtype) copied=$(peak wide-$dtype --feature-norm row)
    echo "# $in_place MB in place, $copied MB copied"
    check "batches ahead hold no copies of features of $dtype" test "$((copied - in_place))" -ge 70
done

# Exact inference has features in memory, but not beside the tables of later layers.
gnn-import -q -o narrow sbm:nodes=40000,degree=10,features=8,classes=3,train=0.1,valid=0 || exit 1
for g in wide-f32 narrow; do
    gnn-train -q -j2 --store $g -f 2,2,2,2 -b 2000 --hidden 256 --epochs 1 --eval none -o $g.st || exit 1
done
wide=$(peak_of gnn-predict -q -o wide.npy wide-f32 wide-f32.st) narrow=$(peak_of gnn-predict -q -o narrow.npy narrow narrow.st)
echo "# $wide MB with 41 MB of features, $narrow MB with 1 MB"
if [ -n "${GNN_SAN-}" ]; then skip 'gnn-predict gives back the memory of features' 'the sanitizer keeps it'; else
    check 'gnn-predict gives back the memory of features' test "$((wide - narrow))" -lt 25
fi

# Numbers that damage has made NaN: the damage is told, not what it leads to.
perl -e 'open F, "+<:raw", $ARGV[0]; seek F, int(0.3 * -s F), 0; print F "\xff" x 2e7' wide-f32/part-00000.gnb
for program in train predict; do
    case $program in
    train) set -- gnn-train -q --store wide-f32 -f 3,3 -b 500 --hidden 8 --epochs 1 -o bad.st ;;
    predict) set -- gnn-predict -q -o bad.npy wide-f32 m.st ;;
    esac
    status 3 "gnn-$program ends at damage that makes its numbers NaN" "$@"
    cp err said
    check "gnn-$program names the tensor" grep -q "wide-f32/part-00000.gnb: tensor 'node/node/x': checksum mismatch" said
done
check 'nothing is written' test ! -e bad.st -a ! -e bad.npy
done_testing
