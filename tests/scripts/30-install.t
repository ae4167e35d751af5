# SPDX-License-Identifier: Apache-2.0
# make install puts everything where it belongs, what is installed works, and uninstall takes all of it away.
. "$GNN_TOP/tests/lib.sh"
home=$PWD
run_make() { env -u MAKEFLAGS -u MAKELEVEL make -s -C "$GNN_TOP" "$@" DESTDIR="$home/d" PREFIX=/opt/gnn; }
check 'make install runs' run_make install
# sudo often has a PATH without nvcc.
(PATH=/usr/sbin:/usr/bin:/sbin:/bin && run_make -n install) >again.txt
check 'make install compiles nothing, whatever PATH is' sh -c '! grep -E "^echo +.  (CC|NVCC) " again.txt'
d=$home/d/opt/gnn
for p in "$GNN_BIN"/gnn-*; do
    p=$(basename "$p")
    check "make install installs $p, which runs" "$d/bin/$p" --version
    check "make install installs the manual of $p" test -s "$d/share/man/man1/$p.1"
    check "make install installs the completion of $p" bash -n "$d/share/bash-completion/completions/$p"
    check "the installed completion of $p offers options" grep -q -e --metrics "$d/share/bash-completion/completions/$p"
done
check 'make install installs gnb(5)' test -s "$d/share/man/man5/gnb.5"
check 'make install installs gnn(7)' test -s "$d/share/man/man7/gnn.7"
check 'make install installs gnn-gpu(7)' test -s "$d/share/man/man7/gnn-gpu.7"
check 'make install installs the scripts for Slurm' cmp "$d/share/gnn-tools/slurm/train.sbatch" "$GNN_TOP/scripts/slurm/train.sbatch"
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    check 'make install installs the Python package, which finds the programs' env -u GNN_BIN PYTHONPATH="$d/share/gnn-tools" /usr/bin/python3 -B -c "
import os, gnntools
assert os.path.samefile(gnntools._child.find('gnn-sample'), '$d/bin/gnn-sample')
assert os.path.dirname(gnntools.__file__) == '$d/share/gnn-tools/gnntools'"
else
    skip 'make install installs the Python package, which finds the programs' 'no NumPy'
fi
# Headers of CUDA define some names of NVTX in whoever includes them.
nm "$d/lib/libgnn.a" 2>nm.err | awk '$2 ~ /^[TDRBVC]$/ && $3 !~ /^(gnn_|_Z|\.|nvtx|InitializeInjectionNvtx)/ { print $3 }' >names
check 'every symbol that libgnn.a exports begins with gnn_' test -s "$d/lib/libgnn.a" -a ! -s names
nm "$d/lib/libgnn.a" 2>nm.err | awk '$2 ~ /^[TDBR]$/ { print $3 }' | sort | uniq -d >twice
check 'libgnn.a defines no symbol twice' test ! -s twice
check 'make install installs 10 public headers at most' test "$(find "$d/include" -type f | wc -l)" -le 10
nm -D --defined-only "$d/lib/libgnn.so" | sed -n 's/.* [TDBRV] \(.*\)@@.*/\1/p' | sort >offered
cat "$d"/include/gnn/*.h | sed -n 's/.*\b\(gnn_[a-z_]*\)(.*/\1/p' | sort -u >declared
check 'libgnn.so offers the functions of its headers, and no other' sh -c 'test -s offered && diff offered declared'
readelf -d "$d/lib/libgnn.so" >needed
check 'libgnn.so loads neither oneDNN nor METIS nor libarchive nor libyaml at the start' sh -c '! grep -E "NEEDED.*(dnnl|metis|archive|yaml)" needed'
check 'libgnn.so starts no process and handles no signal' sh -c '! nm -D "$0" | grep -wE "U (fork|vfork|posix_spawnp?|execve?|signal|sigaction|(pthread_)?sigmask|sigprocmask|raise)"' "$d/lib/libgnn.so"
# The CUDA runtime, which a build with CUDA links in, calls kill().
check 'nothing in the library sends a signal' sh -c 'nm "$0" 2>/dev/null >names && grep -qw "T gnn_graph_open" names && ! grep -w "U kill" names' "$d/lib/libgnn.a"

PKG_CONFIG_PATH=$d/lib/pkgconfig
export PKG_CONFIG_PATH
flags() { pkg-config --define-variable=prefix="$d" "$@" gnn; }
gnn-import -q -o S sbm:nodes=300 || exit 1
gnn-partition -q -k 3 --no-provenance -o S3 S || exit 1
outside=$GNN_TOP/tests/interop/outside
# shellcheck disable=SC2046
{
    check 'a C program builds against libgnn.so' ${CC:-cc} -std=c11 -Wall -Wextra -Werror -o c_user "$outside.c" $(flags --cflags --libs)
    check 'a C program builds against libgnn.a' ${CC:-cc} -std=c11 -o static_user "$outside.c" $(flags --cflags) $(pkg-config --define-variable=prefix="$d" --libs gnn-static)
    check 'a C++ program builds against libgnn.so' ${CXX:-c++} -std=c++17 -Wall -Wextra -Werror -x c++ -o cxx_user "$outside.c" $(flags --cflags --libs)
}
LD_LIBRARY_PATH=$d/lib
export LD_LIBRARY_PATH
for s in S S3; do
    gnn-sample -q --no-provenance -f 5,3 -b 20 --epochs 2 --edge-ids --seed 7 $s |
        gnn-gather -q --no-provenance -F x,y --dtype f16 -o $s.gnb $s
    for p in c_user static_user cxx_user; do
        check "$p draws from $s what gnn-sample and gnn-gather do" ./$p $s $s.gnb $p.gnb
        mv out said
        check "$p draws all batches, and says what is wrong with an option" grep -Eqx '[0-9.]+ [1-9][0-9] [0-9]{3,}: --fanuot: unknown option; did you mean .fanout.[?]' said
        check "$p writes the stream of gnn-sample and gnn-gather" cmp $s.gnb $p.gnb
    done
    if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
        check "ctypes draws from $s what gnn-sample and gnn-gather do" env PYTHONPATH="$GNN_TOP/tests/interop" /usr/bin/python3 -B "$outside.py" "$d/lib/libgnn.so" $s $s.gnb
    else
        skip "ctypes draws from $s what gnn-sample and gnn-gather do" 'no NumPy'
    fi
done
check 'a program finds the version that it was compiled for' test "$(./c_user S S.gnb again.gnb | cut -d' ' -f1)" = "$(flags --modversion)"
status 1 'a program is told what is no store' ./c_user S.gnb S.gnb again.gnb
mv err said
check 'a program is told why a store cannot be opened' grep -q 'S.gnb' said
# shellcheck disable=SC2046
check 'a program that writes stores builds' ${CC:-cc} -std=c11 -Wall -Wextra -Werror -o rebuild "$GNN_TOP/tests/interop/rebuild.c" $(flags --cflags --libs)
gnn-import -q --no-provenance -o igbh igbh:scale=0.00001 || exit 1
printf 'source,target,f\n0,1,5\n2,1,6.5\n1,0,7\n2,2,-1\n' >edges.csv
printf 'id,y\n0,0.5\n1,\n2,-3\n' >nodes.csv
gnn-import -q --no-provenance --nodes nodes.csv --task regression --split random:0.4,0.3,0.3 -o values edges.csv || exit 1
for s in 'S multiclass' 'igbh multiclass' 'values regression'; do
    check "a program writes the store of gnn-import, bit for bit: $s" ./rebuild "${s% *}" again "${s#* }"
    check "gnn-inspect finds it the same: $s" gnn-inspect --diff --ignore provenance "${s% *}" again
    status 1 'a store is not overwritten unless it is asked for' ./rebuild "${s% *}" again "${s#* }"
    rm -r again
done
status 1 'labels that the task does not accept are refused' ./rebuild values none multiclass
check 'and nothing is left of the store' test ! -e none
# shellcheck disable=SC2046
{
    check 'a C program that trains builds' ${CC:-cc} -std=c11 -Wall -Wextra -Werror -o learner "$GNN_TOP/tests/interop/learner.c" $(flags --cflags --libs)
    check 'a C++ program that trains builds, with libgnn.a' ${CXX:-c++} -std=c++17 -Wall -Wextra -Werror -x c++ -o static_learner "$GNN_TOP/tests/interop/learner.c" -x none \
        $(flags --cflags) $(pkg-config --define-variable=prefix="$d" --libs gnn-static)
}
# learns PROGRAM STORE KIND OPTION...: the model of gnn-train, and the outputs of gnn-predict
learns() {
    _p=$1 _s=$2 _kind=$3
    shift 3
    _words=
    for _o in "$@"; do _words="$_words --$_o"; done
    # shellcheck disable=SC2086
    case $_words in *--eval*) _eval= ;; *) _eval='--eval none' ;; esac
    # shellcheck disable=SC2086
    gnn-train -q --no-provenance --store "$_s" $_words $_eval -o want.safetensors &&
        gnn-predict -q --output-kind "$_kind" --no-original-order --layer-wise -o want.npy "$_s" want.safetensors &&
        ./"$_p" "$_s" got.safetensors "$_kind" got.raw "$@" >epochs &&
        gnn-inspect --diff got.safetensors want.safetensors &&
        tail -c "$(wc -c <got.raw)" want.npy | cmp - got.raw
}
check 'a program trains the model of gnn-train, and predicts as gnn-predict' learns learner S classes fanout=5,3 hidden=8 epochs=3 eval=valid seed=3
check 'it is told of each epoch' test "$(wc -l <epochs)" -eq 3 -a "$(cut -d' ' -f1 epochs | tr -d '\n')" = 012
check 'so does one with libgnn.a' learns static_learner S classes fanout=5,3 hidden=8 epochs=2
check 'of three partitions' learns learner S3 embeddings fanout=4,4,2 hidden=8,6 epochs=2 batch=64 eval=random/valid eval=test
check 'of several types' learns learner igbh probs fanout=3,3 hidden=8 epochs=1 batch=512
check 'of a regression' learns learner values values fanout=2 epochs=2
while read -r options; do
    # shellcheck disable=SC2086
    check "with $options" learns learner S probs epochs=2 patience=0 $options
done <<'O'
model=gat heads=2 hidden=8 dropout=0.1 fanout=3,3
model=gcn batch-norm weight-decay=0.01 optimizer=adamw hidden=8 fanout=3,3
model=gin residual activation=elu hidden=8 fanout=3,3,3 frontier=new
head=8 jk=cat encoder=6 hidden=8 ffn fanout=3,3 dropout-input=0.2
aggr=max feature-norm=row hidden=8 fanout=4,4 replace no-shuffle drop-last batch=50 dtype=f16
induced layers=3 hidden=8 fanout=3,3 clip=1 optimizer=sgd momentum=0.9 keep=last eval=valid metric=f1-macro
schedule=cosine warmup=1 hidden=8 fanout=3,3
schedule=step step-epochs=1 step-factor=0.1 hidden=8 fanout=3,3
O
check 'libgnn.so loads oneDNN when a model is trained, and not before' sh -c 'LD_DEBUG=files ./learner S got.safetensors classes got.raw fanout=3 epochs=1 2>&1 | grep -q "dnnl.*dynamic" && ! LD_DEBUG=files ./c_user S S.gnb again.gnb 2>&1 | grep -q dnnl'
while IFS='|' read -r why options; do
    # shellcheck disable=SC2086
    status 3 "training is refused with $options" ./learner S none classes none.raw epochs=1 $options
    mv err said
    check "and why is said: $why" grep -qe "$why" said
    check 'and nothing is left' test ! -e none
done <<'O'
--heads requires --model gat or gatv2|fanout=3 heads=2
model: unknown value|model=sgae
walk-length: unknown option|walk-length=3
--layer-norm and --batch-norm exclude|fanout=3,3 batch-norm layer-norm
--hidden names 2 widths; 2 hops need 1|fanout=3,3 hidden=8,8
hidden: '8,,' is not a list|fanout=3,3 hidden=8,,
--hidden: 0: expected a width > 0|fanout=3,3 hidden=0
--jk requires --head|fanout=3,3 jk=max
--keep best requires a set to evaluate|fanout=3 keep=best
layers requires --induced|fanout=3 layers=2
momentum requires|fanout=3 momentum=0.5
metric: unknown|fanout=3 metric=f3
dropout requires hidden rows|fanout=3 dropout=0.5
no set 'vaild'|fanout=3 eval=vaild
O
# The example that opens each header: statements, or whole functions.
for h in "$d"/include/gnn/*.h; do
    name=$(basename "$h")
    sed -n '/^ \* Example/,/^ \*\/$/s/^ \*     //p' "$h" >body
    check "the installed $name opens with an example" test -s body
    {
        printf '#include <stdio.h>\n#include <gnn/%s>\n' "$name"
        grep -q '^{' body && cat body || { echo 'int example(void);' && echo 'int example(void)' && echo '{' && cat body && echo 'return 0;' && echo '}'; }
    } >"example_${name%.h}.c"
    check "the example of $name compiles" \
        ${CC:-cc} -std=c11 -Wall -Wextra -Werror -c "example_${name%.h}.c" $(flags --cflags)
done
check 'make uninstall runs' run_make uninstall
left=$(find "$home/d" -type f -o -type l)
[ -z "$left" ] && _ok 'make uninstall leaves nothing' || _not_ok "make uninstall leaves $left"
done_testing
