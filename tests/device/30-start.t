# What a build with CUDA costs where there is none of it: nothing at the start, one line when a GPU is asked for.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q sbm:nodes=100,degree=4 -o s
if [ -e /dev/nvidiactl ]; then
    skip "no device" "there is one"
else
    status 4 "no device" gnn-sample -q -f 3 s --device cuda -o o
    [ "$(wc -l <err)" -eq 1 ] && grep -q '^gnn-sample: no CUDA device' err && [ ! -e o ] && _ok "one line" || _not_ok "one line: $(cat err)"
    status 0 "auto goes on" gnn-sample --no-provenance -f 3 s --device auto -o o
    cp err said
    check "and says so" grep -q 'using cpu: no CUDA device' said
    gnn-sample --no-provenance -f 3 s -o cpu
    check "the same bytes" cmp o cpu
fi
gnn-sample --completion >words
check "devices are offered by completion" grep -q '^--device choice cpu|cuda|auto' words
# What takes time at the start is loading libraries: none that is only needed for some work may be among them. (The time
# itself is a row of `make bench`.)
LD_DEBUG=libs gnn-sample --version >/dev/null 2>loaded
check "the start loads libraries" grep -q 'find library=libc\.so' loaded
status 1 "the start loads nothing of CUDA, MPI, NCCL or oneDNN" grep -E 'find library=lib(cuda|cublas|nccl|mpi|dnnl|archive)' loaded
done_testing
