# SPDX-License-Identifier: Apache-2.0
# make install puts everything where it belongs, what is installed works, and uninstall takes all of it away.
. "$GNN_TOP/tests/lib.sh"
[ -z "${GNN_SAN-}" ] || { skip 'make install installs programs that work' 'only of plain builds'; done_testing; }
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
cat >user.c <<'P'
#include <gnn/gpu.h>
#include <gnn/store.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    struct gnn_store s = {0};
    struct gnn_err e = {0};
    if (argc < 2 || gnn_store_open(&s, argv[1], true, &e))
        return 1;
    struct gnn_gpu *g; /* with CUDA or without, it links */
    char why[100];
    if (gnn_gpu_open(&g, "auto", why, sizeof why, &e))
        return 1;
    printf("%u parts, %s\n", s.nparts, why);
    gnn_gpu_close(g);
    gnn_store_close(&s);
    return 0;
}
P
# Headers of CUDA define some names of NVTX in whoever includes them.
nm "$d/lib/libgnn.a" 2>nm.err | awk '$2 ~ /^[TDRBVC]$/ && $3 !~ /^(gnn_|_Z|\.|nvtx|InitializeInjectionNvtx)/ { print $3 }' >names
check 'every symbol that libgnn.a exports begins with gnn_' test -s "$d/lib/libgnn.a" -a ! -s names
check 'make install installs 24 public headers at most' test "$(find "$d/include" -type f | wc -l)" -le 24
gnn-import -q -o S sbm:nodes=200
PKG_CONFIG_PATH=$d/lib/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2086
check 'a C program builds against the installed headers and library' \
    ${CC:-cc} -std=c11 -o user user.c $(pkg-config --define-variable=prefix="$d" --cflags --libs gnn)
check 'a C program opens a store with the installed library' ./user S
# The example that opens each header: statements, or whole functions.
for h in "$d"/include/gnn/*.h; do
    name=$(basename "$h")
    sed -n '/^ \* Example/,/^ \*\/$/s/^ \*     //p' "$h" >body
    case $name in
    hd.h | rng.h | pick.h | gather.h | mem.h | io.h | access.h | order.h | safetensors.h | tensor.h | comm.h) continue ;; # what others need
    esac
    check "the installed $name opens with an example" test -s body
    {
        # What the text speaks of, and what the example's own header does not include.
        printf '#include <stdio.h>\n#include <string.h>\n#include <gnn/%s>\n#include <gnn/source.h>\n#include <gnn/store.h>\n' "$name"
        grep -q '^{' body && cat body || { echo 'int example(void);' && echo 'int example(void)' && echo '{' && cat body && echo 'return 0;' && echo '}'; }
    } >"example_${name%.h}.c"
    check "the example of $name compiles" \
        ${CC:-cc} -std=c11 -Wall -Wextra -Werror -c "example_${name%.h}.c" $(pkg-config --define-variable=prefix="$d" --cflags gnn)
done
# All of them together: sample, gather, write a stream; read and write a model.
cat >whole.c <<'P'
#include "example_sampler.c"
#include "example_gatherer.c"
#include "example_stream.c"
#define example model_example
#include "example_model_file.c"
int main(void)
{
    struct gnn_err e = {0};
    struct gnn_store s = {0};
    if (model_example() || gnn_store_open(&s, "S", true, &e))
        return 1;
    struct gnn_source *src = epoch_of(&s, &e);
    src = src ? with_features(src, &s, &e) : NULL;
    const int rc = src ? copy_batches(src, 3, &e) : 1;
    gnn_source_free(src);
    gnn_store_close(&s);
    return rc != 0;
}
P
check 'the examples of the headers make up a program' \
    ${CC:-cc} -std=c11 -o whole whole.c $(pkg-config --define-variable=prefix="$d" --cflags --libs gnn)
gnn-train -q --store S -f 3,3 --hidden 8 --epochs 1 --eval none -o model.safetensors
check 'the program of the examples runs' sh -c './whole >again.safetensors 3>batches'
check 'the program of the examples writes a stream' gnn-inspect --verify batches
check 'the program of the examples writes a model' gnn-inspect --verify again.safetensors
check 'make uninstall runs' run_make uninstall
left=$(find "$home/d" -type f)
[ -z "$left" ] && _ok 'make uninstall leaves nothing' || _not_ok "make uninstall leaves $left"
done_testing
