# SPDX-License-Identifier: Apache-2.0
# Each command block of the README runs as it stands, or is skipped with a reason; the files that it and CONTRIBUTING.md name exist.
. "$GNN_TOP/tests/lib.sh"
readme=$GNN_TOP/README.md
export GNN_MPI="$GNN_B/lib/gnn-tools/gnn-mpi.so" # beside emulated programs there is none
export PYTHONPATH="$GNN_TOP/formats/python${PYTHONPATH:+:$PYTHONPATH}" GNN_BIN
python=${GNN_PYTHON:-/usr/bin/python3}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

# Blocks go to 1.sh, 2.python and so on, in the order of the text, which is the order in which they run.
awk '/^```(sh|python)$/ { file = ++n "." substr($0, 4); next } /^```/ { file = ""; next } file { print >file }' "$readme"
count=$(ls ./*.sh ./*.python | wc -l)
check 'README.md has at least 8 command blocks' test "$count" -ge 8

# Why a block is not run here; nothing if it is.
reason() {
    case $1 in
    *.python)
        # shellcheck disable=SC2046
        for module in $(sed -n 's/^\(import\|from\) \([a-z_]*\).*/\2/p' "$1"); do
            "$python" -c "import $module" 2>/dev/null || { echo "$python has no $module"; return; }
        done
        ;;
    *)
        ! grep -q 'scripts/demo.sh' "$1" || { echo 'the demo takes minutes'; return; }
        ! grep -q '^pip install' "$1" || { echo 'tests/scripts/37-packages.t installs the wheel'; return; }
        ! grep -q '^make' "$1" || { echo 'tests/scripts/30-install.t installs'; return; }
        ! grep -q '^sbatch' "$1" || { echo 'tests/ranks/30-slurm.t submits jobs'; return; }
        ! grep -q 'GNN_DATA' "$1" || [ -n "${GNN_DATA-}" ] || { echo 'GNN_DATA is not set'; return; }
        ! grep -q '^mpirun' "$1" || [ -e "$GNN_MPI" ] || { echo 'no MPI'; return; }
        ! grep -q -e '--device cuda' "$1" || [ -x "$GNN_B/emu/bin/gnn-train" ] || { echo 'no emulated devices (make unit)'; return; }
        ;;
    esac
}
# A block with --device cuda has emulated devices.
run() { # BLOCK
    case $1 in
    *.python) "$python" "$1" ;;
    *)
        if grep -q -e '--device cuda' "$1"; then
            sed "s|\\(gnn-train .*--device cuda\\)|env GNN_FAKE_DEVICES=2 $GNN_B/emu/bin/\\1|" "$1" >emulated
            sh -eu emulated
        else
            sh -eu "$1"
        fi
        ;;
    esac
}
for i in $(seq "$count"); do
    block=$(ls "$i".*)
    name="block $i of README.md runs: $(head -n 1 "$block" | tr -d '\\\\' | cut -c 1-60)"
    why=$(reason "$block")
    if [ -n "$why" ]; then
        skip "$name" "$why"
    elif (run "$block") >"out.$i" 2>err; then
        _ok "$name"
    else
        _not_ok "$name (status $?)"
        tail -n 5 err | sed 's/^/# /'
    fi
done
check 'README.md has 14,000 characters at most' test "$(wc -m <"$readme")" -le 14000
check 'README.md predicts fields of papers by their ids' grep -qE '^W7,(AI|DB|IR),' fields.csv
# Ids and columns as shown; the last digits of a probability are those of one processor.
shows=$(grep -l '^head .* fields\.csv$' ./*.sh | sed 's/[^0-9]//g')
cut -d, -f1,2,4 <"out.$shows" >got
grep -e '^id,' -e '^W[0-9]*,' "$readme" | cut -d, -f1,2,4 >want
check 'README.md shows what gnn-predict writes' diff want got
check 'the pipeline of README.md leaves a model' test -s model.safetensors
check 'the prediction of README.md leaves classes' test -s classes.npy

for f in $(grep -oE '\b(scripts|man)/[a-z/-]+\.(sh|sbatch|[157])|\]\([A-Za-z./-]+\)' "$readme" | tr -d '](' | tr -d ')' | sort -u); do
    check "README.md names $f, which exists" test -e "$GNN_TOP/$f"
done
for f in $(grep -ohE '`(cmd|lib|kernels|formats|man|tests|scripts)/[A-Za-z0-9_./-]+`' "$readme" "$GNN_TOP/CONTRIBUTING.md" | tr -d '`' | sort -u); do
    check "README.md or CONTRIBUTING.md names $f, which exists" test -e "$GNN_TOP/$f"
done
for page in $(grep -oE '\bgn[nb][a-z-]*\([157]\)' "$readme" | tr -d ')' | tr '(' . | sort -u); do
    check "README.md names man/$page, which exists" test -e "$GNN_TOP/man/$page"
done
for p in "$GNN_BIN"/gnn-*; do
    p=$(basename "$p")
    check "the table of README.md has a line of $p" grep -q "^| \`$p\` " "$readme"
done
done_testing
