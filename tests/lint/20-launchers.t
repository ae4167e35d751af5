# SPDX-License-Identifier: Apache-2.0
# Every launcher that kernels/*.h declares is called by a test that runs on devices, and by the library: none is for tests only.
# Benchmarks, bench_* and their part_*, compare nothing.
. "$GNN_TOP/tests/lib.sh"
calls() { cat "$@" | grep -v '^ [*]' | grep -o 'gnn_cuda_[a-z0-9_]*(' | sort -u; }
# uncalled TREE FOLDER: launchers that no file there calls, one a line; status 1 if there are any
uncalled() {
    calls "$1"/kernels/*.h >declared
    find "$1/$2" -name '*.[ch]' ! -name 'bench*' ! -name 'part_*' | sort >files
    calls $(cat files) >called
    comm -23 declared called
    [ -s declared ] && [ -z "$(comm -23 declared called)" ]
}
check 'every launcher is called by a test in tests/gpu' uncalled "$GNN_TOP" tests/gpu
check 'every launcher is called in lib' uncalled "$GNN_TOP" lib
mkdir -p tree/tests tree/kernels
cp "$GNN_TOP"/kernels/*.h tree/kernels
cp -r "$GNN_TOP/tests/gpu" tree/tests
sed 's/gnn_cuda_raise_back(/raise_back(/' "$GNN_TOP/tests/gpu/case_rows.c" >tree/tests/gpu/case_rows.c
status 1 'a launcher that no test calls is found' uncalled tree tests/gpu
cp out found
check 'it is named, and no other' sh -c '[ "$(cat found)" = "gnn_cuda_raise_back(" ]'
for f in part_rows bench_gpu; do
    echo 'int f(void) { return gnn_cuda_raise_back(0, 0, 0, 0, 0, 0, 0); }' >tree/tests/gpu/$f.c
    status 1 "a launcher that only a benchmark calls, in $f.c, is found" uncalled tree tests/gpu
done
done_testing
