# SPDX-License-Identifier: Apache-2.0
# What a build with CUDA costs where there is none of it: nothing at the start, one line when a GPU is asked for.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q sbm:nodes=100,degree=4 -o s
if [ -e /dev/nvidiactl ]; then
    skip "gnn-sample --device cuda fails without a device" "there is one"
else
    status 4 "gnn-sample --device cuda fails without a device" gnn-sample -q -f 3 s --device cuda -o o
    [ "$(wc -l <err)" -eq 1 ] && grep -q '^gnn-sample: no CUDA device' err && [ ! -e o ] &&
        _ok "gnn-sample --device cuda says in one line that there is no device" ||
        _not_ok "gnn-sample --device cuda says in one line that there is no device: $(cat err)"
    status 0 "gnn-sample --device auto runs without a device" gnn-sample --no-provenance -f 3 s --device auto -o o
    cp err said
    check "gnn-sample --device auto says that it uses the CPU" grep -q 'using cpu: no CUDA device' said
    gnn-sample --no-provenance -f 3 s -o cpu
    check "gnn-sample --device auto without a device gives the bytes of the CPU" cmp o cpu
fi
gnn-sample --completion >words
check "gnn-sample --completion offers the devices" grep -q '^--device choice cpu|cuda|auto' words
# What takes time at the start is loading libraries: none that is only needed for some work may be among them. (The time
# itself is a row of `make bench`.)
LD_DEBUG=libs gnn-sample --version >/dev/null 2>loaded
check "gnn-sample loads the C library at its start" grep -q 'find library=libc\.so' loaded
status 1 "gnn-sample loads nothing of CUDA, MPI, NCCL or oneDNN at its start" grep -E 'find library=lib(cuda|cublas|nccl|mpi|dnnl|archive)' loaded
done_testing
