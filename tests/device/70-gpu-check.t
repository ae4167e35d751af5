# SPDX-License-Identifier: Apache-2.0
# scripts/gpu-check.sh: every section of it with devices that are emulated; with programs that fail; and on a clock of its own, on which
# programs are slow.
. "$GNN_TOP/tests/lib.sh"
refusing=gpu-check.sh
# gpu_check BIN RES VARIABLES...: without a home, and with no more of a path than any machine has
gpu_check() {
    _bin=$1 _res=$2
    shift 2
    rm -rf "$_res"
    env -u HOME GNN_CHECK_BIN="$PWD/$_bin" PATH=/usr/bin:/bin "$@" sh "$GNN_TOP/scripts/gpu-check.sh" "$_res"
}
# told RES NAME PATTERN: what results.md says
told() { check "gpu-check.sh $2" grep -q -e "$3" "$1/results.md"; }

# instead BIN PROGRAM: what it is instead, from stdin
instead() {
    rm -f "$1/$2"
    { echo '#!/bin/sh'; cat; } >"$1/$2"
    chmod +x "$1/$2"
}
# kernels_of BIN: the real ones, of three groups only unless the tier is wider: all of them are a test of their own
kernels_of() {
    if wide; then ln -sf "$GNN_B/emu/tests/gpu/check_kernels" "$1/check_kernels"; else
        instead "$1" check_kernels <<T
[ "\$1" = --groups ] && exec printf '%s\n' gather rows spmm
exec "$GNN_B/emu/tests/gpu/check_kernels" "\$@"
T
    fi
}

mkdir bin
ln -s "$GNN_BIN"/gnn-* bin
for p in "$GNN_B"/emu/bin/gnn-* "$GNN_B"/emu/tests/gpu/check_reduce "$GNN_B"/emu/tests/gpu/bench_gpu; do ln -sf "$p" bin; done
kernels_of bin
cat >bin/ncu <<'T'
#!/bin/sh
echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters'
exit 1
T
chmod +x bin/ncu
# bf16 is refused, as it may be
# It takes minutes, and on a busy machine many: what it says meanwhile is said here.
{
    gpu_check bin res GNN_FAKE_NO_BF16=0 GNN_CHECK_SMALL=1 GNN_CHECK_SECONDS=5000
    echo $? >rc
} 2>&1 | sed -u 's/^/# /'
check "gpu-check.sh passes every check on emulated devices" test "$(cat rc)" = 0
told res "reports how many checks passed" '^Checks: [1-9][0-9]* passed, 0 failed, 0 skipped'
told res "reports the versions of the driver, the runtime and cuBLASLt" 'the driver knows CUDA 13.0, the runtime is 13.0; cuBLASLt 130000'
told res "says how much memory there is" '^[0-9]* cores, [0-9]* GB of memory, [0-9]* GB of it available'
for row in 'gather, device memory | [0-9.]* GB/s, [0-9.]* us | [0-9.]*, [0-9.]* %' 'sampling, products:, --graph-memory device | [0-9.e+]* us a batch, [0-9.e-]* G edges/s | 100 us' \
    'sampling, products:, --graph-memory uva --graph-cache 0 | [0-9.e+]* us' 'sampling, products:, --labor | [0-9.e+]* us' 'sampling, products:, --disjoint | [0-9.e+]* us' \
    'sampling, products:, --weight weight | [0-9.e+]* us' 'sampling, products:, --seeds dated --time-rule le | [0-9.e+]* us' \
    'epoch, SAGE 3x256, bf16, median of the last 1 | [0-9.]* s | 0.3 s; cuBLASLt cannot multiply' 'epoch, the default model, tf32 | [0-9.]* s' 'predict, all nodes | [0-9.]* s' \
    'aggregation, 256 columns: [0-9]* rows, [0-9]* sources, [0-9]* edges | [0-9.]* GB/s, [0-9.]* us | [0-9.]*, [0-9.]* %' 'aggregation, 100 columns: of gradients, ' 'transposing blocks: ' \
    'activation, backward: ' 'column sums: ' 'optimiser: Adam, ' 'attention, backward, by destination: GATv2, ' 'matrix product, layer 0: ([0-9]*, 100) by (100, 256), bf16 | refused' \
    'matrix product, layer 0: ([0-9]*, 100) by (100, 256), tf32 | [0-9.]* TFLOP/s, [0-9.]* us | tensor cores' \
    'matrix product (rows, 100) by (100, 8) | [0-9.]*, [0-9]* times | [0-9.]* ms | [0-9.]* MB | [0-9.]* us | [0-9]* % |' 'layer norm | ' 'attention | ' 'maximum aggregation, 8 columns | ' \
    'priority | [0-9.]* s | [0-9.]* s | [0-9.]* s | [0-9.]* s |' '1 | [0-9.]* | [0-9.]* | [0-9.]* |'; do
    told res "reports a row of ${row%% |*}" "^| $row"
done
told res "says why there are no counters" '^- NOT DONE: kernels by counters: .*ERR_NVGPUCTRPERM'
for rule in uniformly -r '--weight weight' --labor '--seeds dated --time-rule le' '--seeds dated --time-rule lt --window [0-9]*' '--seeds dated --time-rule le --latest' --disjoint --induced; do
    check "gpu-check.sh compares with the CPU what is sampled $rule, with both frontier policies" \
        test "$(grep -c -e "^ok: sampled $rule, frontier \(all\|new\)\$" res/log)" -eq 2
done
for how in clusters walks 'walks, node2vec by weight' 'from several parts, by weight'; do
    check "gpu-check.sh compares with the CPU what is sampled: $how" grep -q "^ok: $how\$" res/log
done

[ -z "${GNN_FAKE_SUMS-}" ] || done_testing # make check-sums: the rest trains nothing

# Counters, as ncu writes them.
cat >ncu.csv <<'T'
==PROF== Connected to process 1
"ID","Process ID","Kernel Name","Context","dram__bytes.sum","gpu__time_duration.sum","lts__t_bytes.sum","sm__warps_active.avg.pct_of_peak_sustained_active"
"","","","","byte","ns","byte","%"
"0","1","void sum_rows<4, float>(const float *, int)","1","2,000,000","1000","4000000","50"
"1","1","gather(Args)","1","1000000","4000","1000000","25"
"2","1","void sum_rows<4, float>(const float *, int)","1","2000000","1000","4000000","50"
T
awk -v limit=4000 -f "$GNN_TOP/scripts/gpu-profile.awk" ncu.csv >profile
check "gpu-profile.awk lists the kernel first that takes longest" \
    sh -c 'sed -n 3p profile | grep -q "^| gather | 66.7 % | 4.0, 1 times | 1.0 MB, 250 GB/s | 6 % | 1.0 MB, 250 GB/s | 25 % |$"'
check "gpu-profile.awk adds up the launches of a kernel" \
    sh -c 'sed -n 4p profile | grep -q "^| sum_rows<4, float> | 33.3 % | 1.0, 2 times | 2.0 MB, 2000 GB/s | 50 % | 4.0 MB, 4000 GB/s | 50 % |$"'
echo '==ERROR== The application returned an error code (9).' >ncu.csv
status 1 "gpu-profile.awk fails when ncu wrote no counters" awk -f "$GNN_TOP/scripts/gpu-profile.awk" ncu.csv

# Programs that do nothing, but for the one that each case is about. What -o names is there after them, a store if gnn-import makes it.
fakes() {
    rm -rf "$1"
    mkdir "$1"
    cat >"$1/nothing" <<'T'
#!/bin/sh
import=
case $0 in *gnn-import) import=1 ;; esac
case "$*" in *gnn-import*) import=1 ;; esac
while [ $# -gt 1 ]; do
    [ "$1" != -o ] || if [ "$import" ]; then mkdir -p "$2" && echo >"$2/store.json"; else echo >"$2"; fi
    shift
done
echo '{"steps":1}'
T
    chmod +x "$1/nothing"
    for _p in gnn-import gnn-partition gnn-sample gnn-gather gnn-train gnn-predict check_kernels check_reduce check_train bench_gpu ncu compute-sanitizer; do
        ln -s nothing "$1/$_p"
    done
}

# One fault hides no other.
fakes part
instead part check_kernels <<'T'
[ "$1" = --groups ] && exec printf '%s\n' gather sample spmm
echo "# a device, scale $1"
[ "$2" != sample ] || { echo 'not ok 2 - sampling: 3 nodes differ'; exit 1; }
echo "ok 1 - $2"
T
instead part compute-sanitizer <<'T'
case "$*" in *check_kernels*) echo '========= Invalid __global__ read of size 4 bytes' && exit 9 ;; esac
T
instead part bench_gpu <<'T'
[ "$1" = --parts ] && exec printf '%s\n' limits latency gather
[ "$2" != latency ] || kill -SEGV $$
echo '# a device'
echo "| $2 of $1 rows | 1 GB/s | a limit |"
T
instead part gnn-import <<'T'
case "$*" in *'-o products '*) [ -e "$TMPDIR/again" ] || { >"$TMPDIR/again"; echo 'gnn-import: no space left on device' >&2; exit 1; } ;; esac
while [ "$1" != -o ]; do shift; done
mkdir -p "$2" && echo >"$2/store.json"
T
status 1 "gpu-check.sh fails when one of its checks fails" gpu_check part res GNN_CHECK_SMALL=1 TMPDIR="$PWD"
for g in gather spmm; do check "gpu-check.sh checks the kernels of $g though those of sampling fail" grep -q "^ok: kernels, $g, scale 1" res/log; done
told res "says which kernels fail, and why" '^- FAILED: kernels, sample, scale 1: status 1: not ok 2 - sampling: 3 nodes differ'
told res "says which kernels memcheck looks at" '^- memcheck of the kernels of sample, at scale 1, says:$'
told res "says what memcheck finds in the kernels that fail" '^  - ========= Invalid __global__ read of size 4 bytes'
before=$(cat res/results.md res/log | cksum)
status 2 "gpu-check.sh refuses a directory that has results" \
    env GNN_CHECK_BIN="$PWD/part" GNN_CHECK_SMALL=1 sh "$GNN_TOP/scripts/gpu-check.sh" res
cp err said
check "gpu-check.sh says that there are results" grep -q 'there are results in .*/res already: name another directory' said
check "gpu-check.sh leaves results as they are" test "$(cat res/results.md res/log | cksum)" = "$before"
# Arguments and an environment that would lead elsewhere.
wrong() { # WHAT PATTERN ENVIRONMENT... -- ARGUMENT...
    _what=$1 _pattern=$2
    shift 2
    refuses 2 "^gpu-check.sh: $_pattern$" "$_what" env GNN_CHECK_BIN="$PWD/part" GNN_CHECK_SMALL=1 "$@"
}
script=$GNN_TOP/scripts/gpu-check.sh usage='usage: gpu-check.sh \[OUT-DIRECTORY\]'
wrong '--help' "$usage" sh "$script" --help
wrong 'two directories' "$usage" sh "$script" one two
for seconds in 10m -5 0 1e3; do wrong "GNN_CHECK_SECONDS=$seconds" "GNN_CHECK_SECONDS: '$seconds' is not a number of seconds > 0" GNN_CHECK_SECONDS=$seconds sh "$script" none; done
check "gpu-check.sh makes nothing of what it refuses" test ! -e none -a ! -e one -a ! -e --help
mkdir -p 'a b/elsewhere/mine'
status 1 "gpu-check.sh takes relative paths, with blanks and with CDPATH in the environment" \
    env -C 'a b' GNN_CHECK_BIN=../part GNN_CHECK_SMALL=1 CDPATH=elsewhere TMPDIR="$PWD/a b" sh "$script" mine
check "gpu-check.sh leaves results there, and its log" test -s 'a b/mine/results.md' -a -s 'a b/mine/log' -a -z "$(ls 'a b/elsewhere/mine')"
check "gpu-check.sh finds its programs by a relative path" grep -q '^Checks: [1-9][0-9]* passed' 'a b/mine/results.md'
for g in limits gather; do told res "measures $g though another part of bench_gpu crashes" "^| $g of 700 rows"; done
told res "says which part of bench_gpu crashed" '^- FAILED: rates of kernels, latency: status 139'
told res "says why products: is not there" '^- FAILED: products:.* is made: status 1: gnn-import: no space left on device'
told res "takes a smaller graph where products: cannot be made" '^Rates are those of products:'
told res "measures rates of the smaller graph" '^| sampling, products:, --graph-memory device | '
instead part gnn-sample <<'T'
echo 'gnn-sample: no CUDA device: no driver is installed' >&2
exit 4
T
status 1 "gpu-check.sh ends at once without a device" gpu_check part res GNN_CHECK_SMALL=1 TMPDIR="$PWD"
told res "says why there is no device" '^Not possible: gnn-sample: no CUDA device: no driver is installed'
instead part gnn-sample <<'T'
echo 'gnn-sample: CUDA: a kernel: an illegal memory access was encountered' >&2
exit 4
T
status 1 "gpu-check.sh fails when the first batch does" gpu_check part res GNN_CHECK_SMALL=1 TMPDIR="$PWD"
told res "says why the first batch fails" '^- FAILED: a first batch on the device: status 4: .*illegal memory access'
told res "goes on when the first batch fails" '^Checks: [1-9][0-9]* passed'

# Real kernels, of which one gives wrong results.
fakes wrong
kernels_of wrong
instead wrong compute-sanitizer <<'T'
while :; do case $1 in --tool | --error-exitcode | --report-api-errors) shift 2 ;; *) break ;; esac; done
case $1,$# in *check_kernels,3) ;; *) exit 0 ;; esac # one group
echo '========= COMPUTE-SANITIZER'
"$@" || { rc=$?; echo '========= ERROR SUMMARY: 0 errors'; exit $rc; }
T
status 1 "gpu-check.sh fails when a kernel is wrong" gpu_check wrong res GNN_CHECK_SMALL=1 GNN_CHECK_SECONDS=5000 GNN_FAKE_FAULT=gelu_back
told res "names the kernels that give wrong results, and the first case of them" '^- FAILED: kernels, rows, scale 1: status 1: not ok [0-9]* - .*GELU'
told res "runs the kernels that give wrong results again under memcheck" '^- memcheck of the kernels of rows, at scale 1, says:$'
told res "shows what memcheck says of kernels that give wrong results" '^  - not ok [0-9]* - .*GELU'
check "gpu-check.sh finds all other kernels right" sh -c 'grep "^\(ok\|FAILED\): kernels, " res/log >of &&
    [ "$(grep -c "^ok" of)" -eq $(($("$1" --groups | wc -l) - 1)) ] && [ "$(grep -c ^FAILED of)" -eq 1 ]' sh wrong/check_kernels
told res "runs everything else when a kernel is wrong" '^Checks: [1-9][0-9]* passed, [1-9][0-9]* failed, 0 skipped'
told res "measures rates when a kernel is wrong" '^| sampling, products:, --graph-memory device | '

# The budget, on a clock that only what takes time sets forward.
fakes slow
instead slow date <<'T'
[ "$*" = +%s ] && exec cat "$CLOCK"
exec /bin/date "$@"
T
instead slow sleep <<'T'
[ "$1" -lt 100 ] || exec /bin/sleep "$1"
echo $(($(cat "$CLOCK") + $1)) >"$CLOCK"
T
# Each program wants $WANTS seconds, and has $LATE seconds more than it may have if it does not end when it is told to.
instead slow timeout <<'T'
[ "$1" != -k ] || shift 2
most=$1
shift
case $most in 240) exec nothing "$@" ;; esac # behind the others
case $1 in cat) exec /bin/cat ;; nvidia-smi | find) exit 1 ;; gnn-import) WANTS=1 ;; esac
case "$*" in *'ahead '*) exit 0 ;; *--groups) exec printf 'a\nb\nc\n' ;; *--parts) exec printf 'limits\nlatency\n' ;; esac
echo "$(cat "$CLOCK") $*" >>"$CLOCK.log"
[ "$WANTS" -le "$most" ] || { echo $(($(cat "$CLOCK") + most + LATE)) >"$CLOCK"; exit $((LATE ? 137 : 124)); }
echo $(($(cat "$CLOCK") + WANTS)) >"$CLOCK"
exec nothing "$@"
T
export CLOCK="$PWD/clock"
# lasts NAME WANTS LATE
lasts() {
    echo 1000000 >clock
    rm -f clock.log
    gpu_check slow res WANTS="$2" LATE="$3" >out 2>err
    check "gpu-check.sh ends in its 560 seconds where $1" test "$(cat clock)" -le 1000560 -a -s clock.log
}
lasts 'every program takes 2 seconds' 2 0
told res "has time for everything where every program takes 2 seconds" ' 0 skipped for lack of time'
lasts 'every program takes 9 seconds' 9 0
told res "says what is left out for lack of time" '^- skipped, no time left: sampled'
for what in 'check_kernels 100 c' 'bench_gpu 2449029 latency' 'gnn-train .*--epochs 6' 'GNN_DEBUG_TIME=1 gnn-train' 'ncu --clock' '--metrics cpu.json' peer.py 'compute-sanitizer --tool'; do
    check "gpu-check.sh gets to ${what##* }, each program of 9 seconds before it" grep -q -e "$what" clock.log
done
lasts 'no program ends' 100000 0
told res "says which kernels did not end, and what ran" \
    '^- FAILED, stopped: kernels, a, scale 100: after 30 s: check_kernels 100 a; what it wrote last: '
told res "goes on to the next kernels when some do not end" '^- FAILED, stopped: kernels, b, scale 100: after 30 s'
check "gpu-check.sh calls nothing skipped that it began" \
    sh -c 'sed -n "s/^- skipped, no time left: //p" res/results.md >skipped; ! grep -q "^kernels, [ab]," skipped'
lasts 'no program ends, and all have to be killed' 100000 5
# A program that cannot even be killed.
instead slow timeout <<'T'
case "$*" in *tiny*) exit 0 ;; *' cat') exec /usr/bin/timeout "$@" ;; esac
echo $$ >>"$CLOCK.pids"
trap '' TERM
exec /bin/sleep 1000
T
rm -f slow/date slow/sleep
rm -rf res
check "gpu-check.sh ends although a program does not" sh -c '! "$@"' ends env -u HOME GNN_CHECK_BIN="$PWD/slow" GNN_CHECK_SMALL=1 GNN_CHECK_SECONDS=2 PATH=/usr/bin:/bin \
    sh "$GNN_TOP/scripts/gpu-check.sh" res
kill -KILL $(cat clock.pids)
told res "says in which section it ended" '^- ENDED: start: no time left'

# Killed at once, it leaves nothing behind.
fakes killed
mkdir temporary
instead killed gnn-import <<'T'
echo $$ >"$TMPDIR.pid"
exec /bin/sleep 1000
T
rm -rf res
env -u HOME GNN_CHECK_BIN="$PWD/killed" GNN_CHECK_SMALL=1 TMPDIR="$PWD/temporary" PATH=/usr/bin:/bin sh "$GNN_TOP/scripts/gpu-check.sh" res >out 2>&1 &
script=$!
until [ -s temporary.pid ]; do sleep 0.1; done
here() { for _c in /proc/[0-9]*/cwd; do case $(readlink "$_c") in "$PWD"/temporary*) echo "$_c" ;; esac; done; }
check "gpu-check.sh works in a temporary directory" test "$(here | wc -l)" -gt 1
kill -KILL $script "$(cat temporary.pid)"
wait $script 2>/dev/null
_t=0
until [ -z "$(here)$(ls temporary)" ] || [ $_t -eq 100 ]; do sleep 0.1 && _t=$((_t + 1)); done
check "gpu-check.sh leaves no process and no file when it is killed" test -z "$(here)$(ls temporary)"
done_testing
