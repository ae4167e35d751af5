# The README's pipeline runs as it stands, and the files it names are there.
. "$GNN_TOP/tests/lib.sh"
awk '/^```sh/ { on = 1; next } /^```/ { on = 0 } on' "$GNN_TOP/README.md" >pipeline.sh
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
sed -i '/^sbatch/d' pipeline.sh # tests/ranks/30-slurm.t runs that
[ -e "$GNN_B/lib/gnn-tools/gnn-mpi.so" ] || sed -i '/^mpirun/d' pipeline.sh
[ "${GNN_SAN-}" != address ] || export ASAN_OPTIONS=detect_leaks=0 # MPI keeps some of its memory
check 'there is a pipeline' test -s pipeline.sh
check 'it runs' timeout 900 sh -eu pipeline.sh
check 'it leaves a model' test -s model.safetensors
check 'it leaves classes' test -s classes.npy
for f in $(grep -oE '\b(scripts|man)/[a-z-]+\.(sh|[157])' "$GNN_TOP/README.md" | sort -u); do
    check "$f" test -e "$GNN_TOP/$f"
done
for p in "$GNN_BIN"/gnn-*; do
    p=$(basename "$p")
    check "$p has its line" grep -q "^| \`$p\` " "$GNN_TOP/README.md"
done
done_testing
