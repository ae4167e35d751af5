#!/bin/sh
# The strings of options are split into words.
# shellcheck disable=SC2086
# Everything about GPUs in one call of at most nine minutes, on a machine with nothing but a CUDA driver: kernels beside their
# CPU twins, rates beside the machine's limits, streams and models of both devices compared, compute-sanitizer. Unpack
# what `make gpu-bundle` made, and run it there.
# usage: gpu-check.sh [OUT-DIRECTORY]   (default: results) where results.md and the log go; status 1 if a check failed
# environment: GNN_CHECK_BIN folder of programs (default: bin beside this); GNN_CHECK_SMALL=1: tiny graphs, rates that mean
# nothing - how the script itself is tested on devices that are emulated
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-results}
bin=${GNN_CHECK_BIN:-$here/bin}
small=${GNN_CHECK_SMALL:-}
plain='--eval none --lr 0.01 --dropout 0 --no-layer-norm' # steps, and nothing else
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
work=$(mktemp -d) || exit 1
holder=
trap 'rm -rf "$work"; [ -z "$holder" ] || kill "$holder" 2>/dev/null' EXIT
trap 'exit 1' HUP INT TERM
began=$(date +%s)
end=$((began + ${GNN_CHECK_SECONDS:-530}))
path0=${LD_LIBRARY_PATH-} # the machine's own: where its driver may be
PATH=$bin:$PATH
LD_LIBRARY_PATH=$here/lib${path0:+:$path0}
LC_ALL=C
passed=0 failed=0 skipped=0
: >"$out/log"
: >"$out/results.md"

left() { echo $((end - $(date +%s))); }
say() { printf '%s\n' "$*" | tee -a "$out/results.md"; }
# limited SECONDS COMMAND...: at most so long, and not beyond the end
limited() {
    most=$1
    shift
    [ "$(left)" -gt 5 ] || return 124
    [ "$most" -lt "$(left)" ] || most=$(left)
    timeout -k 5 "$most" "$@"
}
# needed COMMAND...: nothing can go on without it
needed() {
    limited 90 "$@" >>"$out/log" 2>"$work/why" && return
    say "Not possible: $*: $(head -n 1 "$work/why")"
    exit 1
}

# cuBLASLt and NCCL are too large for the bundle: the toolkit's, or ones that came with a Python package.
if [ -z "${GNN_CHECK_SMALL:-}" ]; then
    timeout 30 find / -xdev \( -name 'libcublasLt.so.1[23]' -o -name libnccl.so.2 \) >"$work/libs" 2>/dev/null
    for lib in libcublasLt libnccl; do
        found=$(grep "/$lib" "$work/libs" | sort | tail -n 1)
        [ -z "$found" ] || LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$(dirname "$found")
    done
    for device in /dev/nvidia[0-9]*; do # held open, or every program that starts would start the device, too
        [ -r "$device" ] || continue
        sh -c 'exec sleep 600 3<"$1"' hold "$device" >/dev/null 2>&1 &
        holder=$!
        break
    done
fi
export PATH LD_LIBRARY_PATH LC_ALL
cd "$work" || exit 1

# check NAME COMMAND...
check() {
    name=$1
    shift
    if [ "$(left)" -le 5 ]; then
        skipped=$((skipped + 1))
        echo "skipped, no time left: $name" | tee -a "$out/log"
    else
        "$@" >>"$out/log" 2>&1
        rc=$?
        case $rc in
        0) passed=$((passed + 1)) said=ok ;;
        124 | 137) if [ "$(left)" -le 5 ]; then skipped=$((skipped + 1)) said='skipped, no time left'; else failed=$((failed + 1)) said='FAILED, too long'; fi ;;
        *) failed=$((failed + 1)) said=FAILED ;;
        esac
        echo "$said: $name" | tee -a "$out/log"
    fi
}
# same NAME COMMAND: the command, with \$dev for a device, writes the same bytes to stdout on the CPU and on the GPU
same() {
    check "$1" same_bytes "$2"
}
same_bytes() {
    for dev in cpu cuda; do
        export dev
        limited 90 sh -c "$1" >"$dev.out" || return $?
        [ -s "$dev.out" ] || return 1
    done
    cmp cpu.out cuda.out
}
# number KEY FILE: the last value of a key in NDJSON
number() { grep -o "\"$1\":[-0-9.e+]*" "$2" | tail -n 1 | cut -d: -f2; }
calc() { awk "BEGIN { printf \"%.4g\", $1 }"; }

say "# $(date -u +%Y-%m-%d), commit $(tr '\n' ' ' <"$here/COMMIT" 2>/dev/null || echo unknown)"
say
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | head -n 1 | tee -a "$out/results.md"
say "$(nproc) cores, $(awk '/^MemTotal/ { print int($2 / 1e6) " GB" }' /proc/meminfo) of memory, $(df -Pk . | awk 'END { print int($4 / 1e6) " GB" }') of disk left, Linux $(uname -r)"
say

needed gnn-import -q -o tiny sbm:nodes=300,degree=8,features=8
needed gnn-sample -q --device cuda -f 1 --count tiny # says why there is no device

# ---- correctness ----
if [ -n "$small" ]; then scale=1 rmat=8 nodes=300; else scale=150 rmat=20 nodes=20000; fi
check "kernels, scale $scale" limited 90 check_kernels $scale
[ -n "$small" ] || check "training, beside the CPU, twice, and from checkpoints" limited 90 check_train
check "sums of one rank on its device" limited 60 check_sums
sed -n 's/^ok [0-9]* - \(.*\) # SKIP \(.*\)/Skipped: \1, \2./p' "$out/log" | tee -a "$out/results.md"

# ---- rates ----
# row WHAT VALUE LIMIT-OR-AIM
row() { say "| $1 | $2 | $3 |"; }
# measured WHAT COMMAND...: false, and said, if it fails, which only a lack of time may do
measured() {
    what=$1
    shift
    "$@" >>"$out/log" 2>&1 && return
    rc=$?
    row "$what" "not measured, status $rc" ''
    case $rc in 124 | 137) ;; *) check "$what" false ;; esac
    return 1
}
if [ -n "$small" ]; then
    products=products:scale=0.0001 sampling='-f 3,2,2 -b 8' width=8 rows=700 epochs=2
else
    products=products: sampling='-f 15,10,5 -b 1024' width=256 rows='' epochs=20
fi
# What only a device can tell comes before the longer checks, but has half of the time at most.
rates() {
    end=$((began + (end - began) / 2))
    say '| what | rate | limit, share; or aim |'
    say '|---|---|---|'
    measured 'kernels' limited 60 sh -c "bench_gpu $rows >rates" && awk '!/^#/ { name = substr($0, 1, 28); sub(/ +$/, "", name) # as bench_gpu prints it
        split(substr($0, 29), f); printf "| %s | %s %s | %s |\n", name, f[1], f[2], f[3] == "" ? "a limit" : f[3] ", " f[4] " %" }' rates | tee -a "$out/results.md"
    if measured 'products:' limited 90 gnn-import -q -o products $products; then
        for memory in device uva 'uva --graph-cache 50M' 'uva --graph-cache 0'; do
            what="sampling, products:, --graph-memory $memory"
            measured "$what" limited 60 gnn-sample --device cuda --graph-memory $memory $sampling --epochs $epochs --count --metrics s.json products || continue
            row "$what" \
                "$(calc "1e6 / $(number batches_per_second s.json)") us a batch, $(calc "$(number edges_per_second s.json) / 1e9") G edges/s" \
                "$([ "$memory" = device ] && echo '100 us' || echo '0.5 G edges/s')"
        done
        for precision in f32 tf32 bf16; do
            what="epoch, SAGE 3x256, $precision, second of two"
            measured "$what" limited 60 gnn-train --store products $sampling --hidden $width --epochs 2 --keep last $plain --device cuda --precision $precision \
                --metrics t.json -o m.st || continue
            row "$what" "$(calc "$(number train_s t.json) + $(number wait_s t.json)") s" '0.3 s'
        done
        measured 'predict, all nodes' limited 60 gnn-predict -q -n --device cuda --metrics p.json products m.st &&
            row 'predict, all nodes' "$(calc "$(number seconds p.json)") s" "$(calc "$(number edges p.json) / $(number seconds p.json) / 1e9") G edges/s"
    fi
    for python in python3 /opt/conda/bin/python; do
        if command -v $python >/dev/null && limited 90 env LD_LIBRARY_PATH="$path0" $python "$here/peer.py" >peers 2>>"$out/log"; then
            awk '!/^#/ { n = match($0, / +[0-9.]+ [A-Za-z\/]+$/); printf "| %s |%s | beside us |\n", substr($0, 1, n - 1), substr($0, n) }' peers | tee -a "$out/results.md"
            break
        fi
    done
}
final=$end
rates
end=$final
say

# ---- the same bytes, the same models ----
check "rmat 2^$rmat is made" limited 60 gnn-import -q -o rmat "rmat:scale=$rmat"
check "sbm is made" limited 60 gnn-import -q -o sbm "sbm:nodes=$nodes,degree=15,features=32"
awk -v n=$((1 << rmat)) 'BEGIN { for (i = 0; i < 8 * (n < 9999 ? 16 : 1024); i++) print (i * 7919) % n }' >seeds
graphs=sbm
[ -n "$small" ] || for s in "$here"/data/*; do [ -e "$s" ] && graphs="$graphs $s"; done
if [ -n "$small" ]; then fan=4,3 b=16 steps=0:3; else fan=15,10,5 b=256 steps=0:6; fi
draw="gnn-sample -q --no-provenance --device \$dev"
for how in '' '--frontier new --edge-ids' '--replace' '--graph-memory uva' '--graph-memory uva --frontier new --edge-ids'; do
    memory=$how
    case $how in --graph-memory*) memory="\$([ \$dev = cpu ] || echo '${how%% --f*}') ${how#--graph-memory uva}" ;; esac
    same "rmat 2^$rmat, sampled $how" "$draw -f $fan -b $((b * 4)) --seeds seeds $memory rmat"
    for g in $graphs; do
        same "$(basename "$g"), sampled $how" "$draw -f $fan -b $b --steps $steps $memory $g"
    done
done
for g in $graphs; do
    check "$(basename "$g"), batches to gather for" limited 60 gnn-sample -q --no-provenance -f $fan -b $b --steps $steps -o batches "$g"
    for how in '--cache none' '--cache 0.3' '--cache auto' '--cache 0.3 --cache-order access' '--cache auto --dtype f16'; do
        dtype=
        case $how in *--dtype*) dtype="--dtype ${how##* }" ;; esac
        same "$(basename "$g"), gathered $how" \
            "gnn-gather -q --no-provenance --device \$dev $dtype \$([ \$dev = cpu ] || echo '${how%% --dtype*}') -i batches $g"
    done
done

# Batches that stay on the device between two programs.
if limited 60 gnn-sample -q --device cuda --handoff cuda -f 2 -b 16 tiny 2>why | limited 60 gnn-gather -q --device cuda --count tiny >>"$out/log" 2>&1; then
    for g in $graphs; do
        same "$(basename "$g"), handed off on the device" "h=; [ \$dev = cpu ] || h='--handoff cuda'
            $draw \$h -f $fan -b $b --steps $steps $g | gnn-gather -q --no-provenance --device \$dev $g"
    done
else
    say "Nothing is handed off on the device: $(head -n 1 why)"
    grep -Eq 'sharing device memory: operation not (supported|permitted)' why || check 'handing off on the device' false # what the system forbids is not our fault
fi

# near FILE FILE: the losses of the first 50 steps agree
near() {
    for f in "$1" "$2"; do grep '"event": *"step"' "$f" | grep -o '"loss": *[-0-9.e+]*' | grep -o '[-0-9.e+]*$' | head -n 50 >"$f.losses"; done
    paste "$1.losses" "$2.losses" | awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 1e-4 * ($1 > 1 ? $1 : 1) || NF < 2) bad = 1; if (d / $1 > most) most = d / $1 }
        END { printf "%d steps, apart by %.1e\n", NR, most; exit bad || !NR }'
}
# trains ARGUMENTS...: on the CPU and twice on the GPU
trains() {
    limited 90 gnn-train -q --metrics cpu.json -o cpu.st "$@" &&
        limited 90 gnn-train -q --device cuda --metrics cuda.json -o cuda.st "$@" &&
        limited 90 gnn-train -q --device cuda -o again.st "$@" && near cpu.json cuda.json && cmp cuda.st again.st
}
if [ -n "$small" ]; then train="--epochs 2 -b 16 -f 3,3 --hidden 8"; else train="--epochs 3 -b 512 -f 10,10 --hidden 256"; fi
for g in $graphs; do
    check "$(basename "$g"), trained: losses near the CPU's, the same bits twice" trains --store "$g" $train --keep last $plain --no-provenance
    check "$(basename "$g"), trained with dropout and norm" trains --store "$g" $train --keep last $plain --no-provenance --dropout 0.5 --layer-norm
    check "$(basename "$g"), trained with batch norm" trains --store "$g" $train --keep last $plain --no-provenance --batch-norm
    if [ -s cpu.st ]; then
        same "$(basename "$g"), predicted: the same classes" "gnn-predict -q --device \$dev $g cpu.st"
    fi
done

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
if [ -n "$sanitizer" ]; then
    limited 60 "$sanitizer" "$bin/gnn-sample" -q --device cuda -f 1 --count tiny >sanitized 2>&1
    grep -i 'not supported' sanitized >why && sanitizer= && say "compute-sanitizer: $(head -n 1 why)"
fi
if [ -n "$sanitizer" ]; then
    for tool in 'memcheck --report-api-errors no' racecheck; do # what the run-time refuses, programs see
        check "compute-sanitizer $tool, kernels" limited 80 "$sanitizer" --tool $tool --error-exitcode 9 "$bin/check_kernels" 1
        check "compute-sanitizer $tool, sampling" limited 60 "$sanitizer" --tool $tool --error-exitcode 9 \
            "$bin/gnn-sample" -q --device cuda -f 5,3 -b 64 --count tiny
        check "compute-sanitizer $tool, training" limited 120 "$sanitizer" --tool $tool --error-exitcode 9 \
            "$bin/gnn-train" -q --store tiny --device cuda -f 5,3 -b 64 --epochs 1 --keep last $plain -o m.st
    done
elif [ ! -e sanitized ]; then
    say 'compute-sanitizer is not on this machine.'
fi
say "Checks: $passed passed, $failed failed, $skipped skipped for lack of time; seconds: $(($(date +%s) - began))."
grep -e '^FAILED' -e '^skipped,' "$out/log" | sed 's/^/- /' | tee -a "$out/results.md"
say

say "Seconds in all: $(($(date +%s) - began))."
[ "$failed" -eq 0 ]
