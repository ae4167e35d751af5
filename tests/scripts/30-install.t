# make install puts everything where it belongs, what is installed works, and uninstall takes all of it away.
. "$GNN_TOP/tests/lib.sh"
[ -z "${GNN_SAN-}" ] || { skip 'install' 'only of plain builds'; done_testing; }
home=$PWD
run_make() { env -u MAKEFLAGS -u MAKELEVEL make -s -C "$GNN_TOP" "$@" DESTDIR="$home/d" PREFIX=/opt/gnn; }
check 'make install' run_make install
d=$home/d/opt/gnn
for p in "$GNN_BIN"/gnn-*; do
    p=$(basename "$p")
    check "$p is installed" "$d/bin/$p" --version
    check "its manual is" test -s "$d/share/man/man1/$p.1"
    check "its completion is" bash -n "$d/share/bash-completion/completions/$p"
    check "and offers options" grep -q -e --metrics "$d/share/bash-completion/completions/$p"
done
check 'gnb(5) is' test -s "$d/share/man/man5/gnb.5"
check 'gnn(7) is' test -s "$d/share/man/man7/gnn.7"
check 'gnn-gpu(7) is' test -s "$d/share/man/man7/gnn-gpu.7"
check 'scripts for Slurm are' cmp "$d/share/gnn-tools/slurm/train.sbatch" "$GNN_TOP/scripts/slurm/train.sbatch"
cat >user.c <<'P'
#include <lib/gpu/gpu.h>
#include <lib/store/store.h>
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
check 'headers of one module only stay at home' test -z "$(find "$d/include" -name '*impl.h')"
gnn-import -q -o S sbm:nodes=200
PKG_CONFIG_PATH=$d/lib/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2086
check 'a program builds against it' ${CC:-cc} -std=c11 -o user user.c $(pkg-config --define-variable=prefix="$d" --cflags --libs gnn)
check 'and runs' ./user S
check 'make uninstall' run_make uninstall
left=$(find "$home/d" -type f)
[ -z "$left" ] && _ok 'nothing is left' || _not_ok "left: $left"
done_testing
