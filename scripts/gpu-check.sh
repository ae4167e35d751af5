#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The strings of options are split into words.
# shellcheck disable=SC2086
# Everything about GPUs in one call of at most eight minutes, on a machine with nothing but a CUDA driver: kernels beside their
# CPU twins, rates beside the machine's limits, a profile by kernel, streams and models of both devices compared, compute-sanitizer.
# Each has a share of the time, what the former leaves included. Unpack what `make gpu-bundle` made, and run it there.
# usage: gpu-check.sh [OUT-DIRECTORY]   (default: results) where results.md and the log go; status 1 if a check failed
# environment: GNN_CHECK_BIN folder of programs (default: bin beside this); GNN_CHECK_SECONDS in all (default: 465); GNN_CHECK_SMALL=1:
# tiny graphs, rates that mean nothing - how the script itself is tested on devices that are emulated
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
all=${GNN_CHECK_SECONDS:-465}
path0=${LD_LIBRARY_PATH-} # the machine's own: where its driver may be
PATH=$bin:$PATH
LD_LIBRARY_PATH=$here/lib${path0:+:$path0}
LC_ALL=C
passed=0 failed=0 skipped=0
spare=5 # seconds that nothing begins in
[ -z "$small" ] || spare=0
: >"$out/log"
: >"$out/results.md"

# by PERCENT: what follows ends when so much of the time is over
by() { end=$((began + all * $1 / 100)); }
left() { echo $((end - $(date +%s))); }
say() { printf '%s\n' "$*" | tee -a "$out/results.md"; }
# limited SECONDS COMMAND...: at most so long, and not beyond the end
limited() {
    most=$1
    shift
    [ "$(left)" -gt $spare ] || return 124
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
# found NAME: the folder that holds it, the newest first, where such things usually are; only then anywhere
found() {
    for folder in /usr/local/cuda*/lib64 /usr/lib/x86_64-linux-gnu /usr/lib64 /opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib \
        /usr/local/lib/python3*/*-packages/nvidia/*/lib /usr/lib/python3*/*-packages/nvidia/*/lib /opt/conda/lib \
        /opt/conda/lib/python3*/site-packages/nvidia/*/lib "$HOME"/.local/lib/python3*/site-packages/nvidia/*/lib; do
        for file in "$folder/$1".1[23] "$folder/$1.2"; do [ ! -e "$file" ] || echo "${file##*.} $folder"; done
    done | sort -rn | head -n 1 | cut -d' ' -f2- | grep . ||
        timeout 20 find / -xdev -name "$1.*" 2>/dev/null | grep -E "/$1"'\.(1[23]|2)$' | sort | tail -n 1 | sed 's|/[^/]*$||'
}
if [ -z "${GNN_CHECK_SMALL:-}" ]; then
    for lib in libcublasLt.so libnccl.so; do
        folder=$(found "$lib")
        [ -z "$folder" ] || LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$folder
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
by 100

# check NAME COMMAND...
check() {
    name=$1
    shift
    if [ "$(left)" -le $spare ]; then
        skipped=$((skipped + 1))
        echo "skipped, no time left: $name" | tee -a "$out/log"
    else
        "$@" >>"$out/log" 2>&1
        rc=$?
        case $rc in
        0) passed=$((passed + 1)) said=ok ;;
        124 | 137) if [ "$(left)" -le $spare ]; then skipped=$((skipped + 1)) said='skipped, no time left'; else failed=$((failed + 1)) said='FAILED, too long'; fi ;;
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

if [ -n "$small" ]; then
    products=products:scale=0.0001 sampling='-f 3,2,2 -b 8' width=8 rows=700 epochs=2 scale=1 rmat=8 nodes=300
else
    products=products: sampling='-f 15,10,5 -b 1024' width=256 rows='' epochs=20 scale=100 rmat=20 nodes=20000
fi
limited 120 gnn-import -q -o products $products >import 2>&1 & # while the first checks run
importing=$!

# ---- correctness ----
by 30
check "kernels, scale $scale" limited 90 check_kernels $scale
[ -n "$small" ] || check "training, beside the CPU, twice, and from checkpoints" limited 90 check_train
check "all-reduces of one rank on its device" limited 60 check_reduce
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
# What only a device can tell comes before the longer checks.
by 55
check 'products: is made' wait $importing
limited 60 sh -c "bench_gpu $rows >rates" >>"$out/log" 2>&1
rc=$?
say "$(sed -n 's/^# //p' rates)."
say
say '| what | rate | limit, share; or aim |'
say '|---|---|---|'
measured 'kernels' sh -c "exit $rc"
grep '^|' rates | tee -a "$out/results.md"
copy=$(sed -n 's/^| copy, device, read + write | \([0-9.]*\) .*/\1/p' rates)
if [ -e products/store.json ]; then
    for memory in device uva 'uva --graph-cache 0'; do
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
        row "$what" "$(calc "$(number train_s t.json) + $(number wait_s t.json)") s" \
            "0.3 s$(sed -n 's/.*"event": *"precision", *"note": *"\([^"]*\)".*/; \1/p' t.json)"
    done
    measured 'predict, all nodes' limited 60 gnn-predict -q -n --device cuda --metrics p.json products m.st &&
        row 'predict, all nodes' "$(calc "$(number seconds p.json)") s" "$(calc "$(number edges p.json) / $(number seconds p.json) / 1e9") G edges/s"
fi
for python in python3 /opt/*/.venv/bin/python3 /opt/conda/bin/python; do
    if command -v $python >/dev/null && limited 90 env LD_LIBRARY_PATH="$path0" $python "$here/peer.py" >peers 2>>"$out/log"; then
        grep '^|' peers | tee -a "$out/results.md"
        sed -n 's/^# //p' peers >>"$out/results.md"
        break
    fi
done
say

# ---- where a step's time goes: by counters where they may be read, else by events ----
by 70
step="gnn-train -q --store products $sampling --hidden $width --epochs 1 --keep last $plain --device cuda --precision tf32 -o m.st"
metrics=gpu__time_duration.sum,dram__bytes.sum,lts__t_bytes.sum,sm__warps_active.avg.pct_of_peak_sustained_active
ncu=$(command -v ncu)
for file in /usr/local/cuda/bin/ncu /opt/nvidia/nsight-compute/*/ncu; do [ -n "$ncu" ] || [ ! -x "$file" ] || ncu=$file; done
if [ -n "$ncu" ]; then
    limited 100 "$ncu" --clock-control none --graph-profiling node --metrics $metrics -s 3000 -c 250 --csv --page raw --print-units base $step >ncu.csv 2>&1
    cat ncu.csv >>"$out/log"
else
    echo 'not on this machine' >ncu.csv
fi
say 'Kernels of some steps of training, sampling and gathering included:'
say
if ! awk -v limit="${copy:-0}" -f "$here/gpu-profile.awk" ncu.csv >profile; then
    say "No counters (ncu: $(grep -m 1 -e ERR -e rror -e 'not on' ncu.csv || echo 'nothing was launched')); operations of an epoch, by events:"
    say
    if GNN_DEBUG_TIME=1 limited 60 $step --metrics o.json >>"$out/log" 2>&1; then
        echo '| operation | us each | in all |' >profile
        echo '|---|---|---|' >>profile
        sed -n 's/.*"event": *"operation", *"name": *"\([^"]*\)", *"calls": *\([0-9]*\), *"ms": *\([0-9.e+-]*\).*/\3 \2 \1/p' o.json | sort -rg |
            awk '{ ms = $1; n = $2; sub(/^[^ ]* [^ ]* /, ""); printf "| %s | %.1f, %d times | %.2f ms |\n", $0, 1000 * ms / n, n, ms }' >>profile
    else
        check 'operations, by events' false
    fi
fi
tee -a "$out/results.md" <profile
say

# ---- the same bytes, the same models ----
by 84
check "rmat 2^$rmat is made" limited 60 gnn-import -q -o rmat "rmat:scale=$rmat"
check "sbm is made" limited 60 gnn-import -q -o sbm "sbm:nodes=$nodes,degree=15,features=32"
awk -v n=$((1 << rmat)) 'BEGIN { for (i = 0; i < 8 * (n < 9999 ? 16 : 1024); i++) print (i * 7919) % n }' >seeds
graphs=sbm
[ -n "$small" ] || for s in "$here"/data/*; do
    [ -e "$s" ] || continue
    g=$(basename "$s" | sed 's/[.].*//')
    check "$g is imported" limited 60 gnn-import -q -o "$g" "$s"
    [ ! -e "$g" ] || graphs="$graphs $g"
done
if [ -n "$small" ]; then fan=4,3 b=16 steps=0:3; else fan=15,10,5 b=256 steps=0:6; fi
draw="gnn-sample -q --no-provenance --device \$dev"
turn=0
# next WORD...: sets g to one of them, each time the next
next() {
    shift $((turn % $#))
    turn=$((turn + 1))
    g=$1
}
# on_device OPTIONS: for the GPU only
on_device() { echo "\$([ \$dev = cpu ] || echo '$*')"; }
for how in '' '--replace'; do
    next $graphs
    same "$(basename "$g"), sampled $how" "$draw -f $fan -b $b --steps $steps $how $g"
done
same "rmat 2^$rmat, sampled" "$draw -f $fan -b $((b * 4)) --seeds seeds --frontier new --edge-ids rmat"
same "rmat 2^$rmat, sampled from the host's memory" "$draw -f $fan -b $((b * 4)) --seeds seeds --edge-ids $(on_device --graph-memory uva --graph-cache 1M) rmat"
for how in '--cache none' '--cache 0.3' '--cache auto --dtype f16' '--cache 0.3 --cache-order access'; do
    next $graphs
    dtype=
    case $how in *--dtype*) dtype="--dtype ${how##* }" ;; esac
    check "$(basename "$g"), batches to gather for" limited 60 gnn-sample -q --no-provenance -f $fan -b $b --steps $steps -o batches "$g"
    same "$(basename "$g"), gathered $how" "gnn-gather -q --no-provenance --device \$dev $dtype $(on_device "${how%% --dtype*}") -i batches $g"
done

# Batches that stay on the device between two programs.
if limited 60 gnn-sample -q --device cuda --transport cuda -f 2 -b 16 tiny 2>why | limited 60 gnn-gather -q --device cuda --count tiny >>"$out/log" 2>&1; then
    next $graphs
    same "$(basename "$g"), between programs on the device" "$draw $(on_device --transport cuda) -f $fan -b $b --steps $steps $g | gnn-gather -q --no-provenance --device \$dev $g"
else
    say "Nothing goes from program to program on the device: $(head -n 1 why)"
    # what the system forbids is not our fault
    grep -Eq 'device memory: (operation not (supported|permitted)|OS call failed or operation not supported)' why || check 'from program to program on the device' false
fi

# near FILE FILE: losses agree, the first ones closely; later a ReLU, or the sign of a small gradient, may fall to the other side
near() {
    for f in "$1" "$2"; do grep '"event": *"step"' "$f" | grep -o '"loss": *[-0-9.e+]*' | grep -o '[-0-9.e+]*$' | head -n 50 >"$f.losses"; done
    paste "$1.losses" "$2.losses" | awk '{ d = ($1 - $2) / ($1 > 1 ? $1 : 1); d = d < 0 ? -d : d; most = d > most ? d : most
        if (NF < 2 || d > (NR <= 2 ? 1e-5 : NR <= 10 ? 1e-3 : 0.05)) bad = NR }
        END { printf "%d steps, apart by %.1e\n", NR, most; exit bad || !NR }'
}
# trains ARGUMENTS...: on the CPU and twice on the GPU
trains() {
    limited 90 gnn-train -q --metrics cpu.json -o cpu.st "$@" &&
        limited 90 gnn-train -q --device cuda --metrics cuda.json -o cuda.st "$@" &&
        limited 90 gnn-train -q --device cuda -o again.st "$@" && near cpu.json cuda.json && cmp cuda.st again.st
}
# predicts GRAPH: the same classes, but for nodes between two whose probabilities are all but the same
predicts() {
    for dev in cpu cuda; do
        limited 60 gnn-predict -q --device $dev --output-kind probs -o $dev.npy "$1" cpu.st || return
        columns=$(head -c 128 $dev.npy | tr -d '\0' | sed -n 's/.*(\([0-9]*\), *\([0-9]*\)).*/\2/p')
        od -An -v -t f4 -w$((4 * ${columns:-1})) -j 128 $dev.npy >$dev.probs
    done
    paste cpu.probs cuda.probs | awk -v c="${columns:-1}" '{ a = b = 1; for (i = 2; i <= c; i++) { if ($i > $a) a = i; if ($(c + i) > $(c + b)) b = i }
        if (NF != 2 * c || (a != b && $a - $b > 1e-3)) bad++ }
        END { printf "%d nodes, %d of another class\n", NR, bad; exit bad || !NR }'
}
if [ -n "$small" ]; then train="--epochs 2 -b 16 -f 3,3 --hidden 8"; else train="--epochs 3 -b 512 -f 10,10 --hidden 256"; fi
turn=0
for how in '--dropout 0.5 --layer-norm' '' '--batch-norm'; do
    next $graphs
    check "$(basename "$g"), trained $how: losses near the CPU's, the same bits twice" trains --store "$g" $train --keep last $plain --no-provenance $how
    [ ! -s cpu.st ] || check "$(basename "$g"), predicted: the same classes" predicts "$g"
    [ -z "$small" ] || break
done
for how in '-m gcn --batch-norm' '-m gat --heads 2 --attention-dropout 0.2'; do
    check "sbm, trained on full batches, $how: losses near the CPU's, the same bits twice" \
        trains --full-batch --store sbm --epochs 3 --hidden 8 --keep last $plain --no-provenance $how
done

# ---- compute-sanitizer ----
by 100
sanitizer=$(command -v compute-sanitizer || command -v /usr/local/cuda/bin/compute-sanitizer)
if [ -n "$sanitizer" ]; then
    limited 60 "$sanitizer" "$bin/gnn-sample" -q --device cuda -f 1 --count tiny >sanitized 2>&1
    grep -i 'not supported' sanitized >why && sanitizer= && say "compute-sanitizer: $(head -n 1 why)"
else
    say 'compute-sanitizer is not on this machine.'
fi
# sanitized WHAT TOOL COMMAND...
sanitized() {
    what=$1 tool=$2
    shift 2
    check "compute-sanitizer $tool, $what" limited 90 "$sanitizer" --tool $tool --error-exitcode 9 "$@"
}
if [ -n "$sanitizer" ]; then # what the runtime refuses, programs see
    sanitized training 'memcheck --report-api-errors no' "$bin/gnn-train" -q --store tiny --device cuda -f 5,3 -b 64 --epochs 1 --keep last $plain -o m.st
    sanitized kernels racecheck "$bin/check_kernels" 1
    sanitized kernels 'memcheck --report-api-errors no' "$bin/check_kernels" 1
    sanitized kernels synccheck "$bin/check_kernels" 1
fi
say "Checks: $passed passed, $failed failed, $skipped skipped for lack of time; seconds: $(($(date +%s) - began))."
grep -e '^FAILED' -e '^skipped,' "$out/log" | sed 's/^/- /' | tee -a "$out/results.md"
[ "$failed" -eq 0 ]
