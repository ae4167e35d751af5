#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The strings of options are split into words.
# shellcheck disable=SC2086
# Everything about GPUs in one call, on a machine with nothing but a CUDA driver: kernels, streams and models beside their CPU twins,
# rates beside the machine's limits, where a step's time goes, variants, compute-sanitizer. What teaches most comes first; each section
# ends when its share of the time is over, what the former leave included, and what fails or is left out is said in results.md.
# Unpack what `make gpu-bundle` made, and run it there.
# usage: gpu-check.sh [OUT-DIRECTORY]   (default: results) where results.md and the log go; status 1 if a check failed, 2 if there are
# results in it already, or for wrong arguments
# environment: GNN_CHECK_BIN folder of programs (default: bin beside this); GNN_CHECK_SECONDS in all (default: 560); GNN_CHECK_SMALL=1:
# tiny graphs, rates that mean nothing - how the script itself is tested on devices that are emulated
set -u
unset CDPATH # with it, cd goes elsewhere, and says where
refuse() { echo "gpu-check.sh: $*" >&2; exit 2; }
case $#,${1-} in 0, | 1,[!-]*) ;; *) refuse 'usage: gpu-check.sh [OUT-DIRECTORY]' ;; esac
small=${GNN_CHECK_SMALL:-}
all=${GNN_CHECK_SECONDS:-560}
case $all in 0* | *[!0-9]*) refuse "GNN_CHECK_SECONDS: '$all' is not a number of seconds > 0" ;; esac
here=$(cd "$(dirname "$0")" && pwd) || exit 1
bin=$(cd "${GNN_CHECK_BIN:-$here/bin}" && pwd) || exit 1
out=${1:-results}
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 1
for file in results.md log; do
    [ ! -e "$out/$file" ] || refuse "there are results in $out already: name another directory for those of this run"
done
work=$(mktemp -d) || exit 1
# What another run, begun at the same time, has made is not replaced.
if ! { cd "$work" && mkfifo alive && (set -C && : >"$out/log" && : >"$out/results.md"); }; then
    rm -rf "$work"
    exit 1
fi
# What runs behind the script ends with it, even if it is killed: it reads from a pipe that the script alone has open for writing.
exec 9<>alive
path0=${LD_LIBRARY_PATH-} # the machine's own: where its driver may be
PATH=$bin:$PATH
LC_ALL=C
export PATH LC_ALL
began=$(date +%s)
passed=0 failed=0 skipped=0 spent='' section='' helpers='' child='' ended='' came=end
spare=$((all / 60)) # seconds that nothing works in, as a program that does not end at once gets 5 more
: >told

# ---- how checks are made ----

say() { printf '%s\n' "$*" | tee -a "$out/results.md"; }
# memory NAME: of /proc/meminfo
memory() { awk -v name="$1:" '$1 == name { printf "%d GB", $2 / 1e6 }' /proc/meminfo; }
elapsed() { echo $(($(date +%s) - began)); }
left() { echo $((end - $(date +%s))); }
# part NAME PERCENT: what follows has its title, and ends when so much of the time is over
part() {
    [ -z "$section" ] || spent="$spent$section $(($(elapsed) - section_began)), "
    section=$1 section_began=$(elapsed) end=$((began + (all - spare) * $2 / 100))
    say
    say "## $section"
    say
}
# At the end, or when the time is over in the middle of something that does not end.
finish() {
    [ -z "$ended" ] || return
    ended=1
    [ -z "$child" ] || kill "$child" 2>/dev/null
    [ -z "$helpers" ] || kill $helpers 2>/dev/null
    [ -z "$section" ] || spent="$spent$section $(($(elapsed) - section_began)), "
    say
    say "Checks: $passed passed, $failed failed, $skipped skipped for lack of time. Seconds: $(elapsed) of $all: ${spent%, }." \
        "Memory now: $(memory MemTotal), $(memory MemAvailable) of it available."
    tee -a "$out/results.md" <told
    cd / && rm -rf "$work"
}
trap finish EXIT
trap 'echo "- ENDED: $section: no time left, or ended from outside" >>told; exit 1' HUP INT TERM
# limited SECONDS COMMAND...: at most so long, which devices that are emulated may not keep to, and not beyond the end of the section;
# nor is it begun just before that. $came: "late", and it was not begun; "end", to which it came; or "after N s: COMMAND", and was stopped
limited() {
    most=$1 came=late
    shift
    least=$((all / 40 < most ? all / 40 : most))
    [ "$(left)" -gt 0 ] && [ "$(left)" -ge "$least" ] || return 124
    [ -z "$small" ] && [ "$most" -lt "$(left)" ] || most=$(left)
    came=end started=$(date +%s)
    timeout -k 5 "$most" "$@" 9>&- & # in the background, as the shell notices no signal while it waits for what is not
    child=$!
    wait $child
    limited_rc=$?
    child=
    case $limited_rc in 124 | 137) [ $(($(date +%s) - started)) -lt "$most" ] || came="after $most s: $*" ;; esac
    return $limited_rc
}
# reason FILE: the line that says why, in what a program has printed
reason() {
    { grep -m 1 -E '^not ok|^Bail out|ERR|[Ee]rror|cannot|differ|not enough|too old|no such' "$1" || tail -n 1 "$1"; } | cut -c 1-240
}
# outcome NAME STATUS: counts what ended so, and what was printed, in ./now, goes into the log; false unless it went well. What was begun
# and had to be stopped has failed: it may wait for ever.
outcome() {
    { echo "--- $1"; cat now; } >>"$out/log"
    why="status $2: $(reason now)"
    case $2,$came in
    0,*) said=ok ;;
    124,late) said='skipped, no time left' ;;
    124,after* | 137,after*) said='FAILED, stopped' why="$came; what it wrote last: $(tail -n 1 now | cut -c 1-240)" ;;
    *) said=FAILED ;;
    esac
    case $said in
    ok) passed=$((passed + 1)) ;;
    skipped*) skipped=$((skipped + 1)) && echo "- $said: $1" >>told ;;
    *) failed=$((failed + 1)) && echo "- $said: $1: $why" >>told ;;
    esac
    echo "$said: $1" | tee -a "$out/log"
    return "$2"
}
# check NAME COMMAND...
check() {
    name=$1
    shift
    "$@" >now 2>&1
    outcome "$name" $?
}
# missing WHAT WHY: what cannot be done here
missing() { echo "- NOT DONE: $1: $2" | tee -a "$out/log" >>told; }
# same NAME COMMAND: the command, with \$dev for a device, writes the same bytes to stdout on the CPU and on the GPU
same() { check "$1" same_bytes "$2"; }
same_bytes() {
    for dev in cpu cuda; do
        export dev
        limited 60 sh -c "$1" >$dev.out || return $?
        [ -s $dev.out ] || { echo 'nothing was written'; return 1; }
    done
    cmp cpu.out cuda.out
}
# number KEY FILE: the last value of a key in NDJSON
number() { grep -o "\"$1\": *[-0-9.e+]*" "$2" | tail -n 1 | sed 's/.*: *//'; }
calc() { awk "BEGIN { printf \"%.4g\", $1 }"; }
# row WHAT VALUE LIMIT-OR-AIM
row() { say "| $1 | $2 | $3 |"; }
table() {
    say
    say '| what | rate | limit, share; or aim |'
    say '|---|---|---|'
}
# measured WHAT COMMAND...: false, and said, if it fails, which only a lack of time may do
measured() {
    what=$1
    shift
    "$@" >now 2>&1 && { cat now >>"$out/log"; return; }
    outcome "$what" $?
    row "$what" "not measured: $said" "$(tr '|' '/' <now | tail -n 1 | cut -c 1-120)"
    return 1
}

# ---- what this machine is, and what takes time behind the rest ----

# Ends the script when all is over, whatever a program waits for in the driver; or cleans up when the script is gone.
sh -c 'timeout "$1" cat <&8; if [ $? -eq 124 ]; then kill "$2"; else rm -rf "$3"; fi' watch "$all" $$ "$work" 8<alive 9>&- >/dev/null 2>&1 &
helpers=$!
# cuBLASLt and NCCL are too large for the bundle: the toolkit's, or ones that came with a Python package.
# found NAME: the folder that holds it, the newest first, where such things usually are; only then anywhere
found() {
    for folder in /usr/local/cuda*/lib64 /usr/lib/x86_64-linux-gnu /usr/lib64 /opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib \
        /usr/local/lib/python3*/*-packages/nvidia/*/lib /usr/lib/python3*/*-packages/nvidia/*/lib /opt/conda/lib \
        /opt/conda/lib/python3*/site-packages/nvidia/*/lib "${HOME:-/root}"/.local/lib/python3*/site-packages/nvidia/*/lib; do
        for file in "$folder/$1".1[23] "$folder/$1.2"; do [ ! -e "$file" ] || echo "${file##*.} $folder"; done
    done | sort -rn | head -n 1 | cut -d' ' -f2- | grep . ||
        timeout 20 find / -xdev -name "$1.*" 2>/dev/null | grep -E "/$1"'\.(1[23]|2)$' | sort | tail -n 1 | sed 's|/[^/]*$||'
}
pythons='python3'
for file in /opt/*/.venv/bin/python3 /opt/conda/bin/python; do [ ! -x "$file" ] || pythons="$pythons $file"; done
if [ -z "$small" ]; then
    LD_LIBRARY_PATH=$path0
    for lib in libcublasLt.so libnccl.so; do
        folder=$(found $lib)
        if [ -n "$folder" ]; then LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder; else missing "$lib" 'it was not found'; fi
    done
    export LD_LIBRARY_PATH
    # They lie on a disk that may be slow, and so does PyTorch, for later.
    # shellcheck disable=SC2016
    timeout 120 sh -c 'for f in $(echo "$1" | tr : " "); do cat "$f"/libcublas*.so.1[23] "$f"/libnccl.so.2; done
        shift
        for python; do cat $("$python" -c "import importlib.util as u; print(u.find_spec(\"torch\").submodule_search_locations[0])")/lib/*.so; done' \
        ahead "$LD_LIBRARY_PATH" $pythons >/dev/null 2>&1 9>&- &
    helpers="$helpers $!"
    for device in /dev/nvidia[0-9]*; do # held open, or every program that starts would start the device, too
        [ -r "$device" ] || continue
        cat <alive 3<"$device" 9>&- >/dev/null 2>&1 &
        helpers="$helpers $!"
        break
    done
fi

section=start section_began=0 end=$((began + all - spare))
say "# $(date -u +%Y-%m-%d), commit $(cat "$here/COMMIT" 2>/dev/null || echo unknown)"
say
limited 20 nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,clocks.max.mem,power.limit --format=csv,noheader >now 2>&1 ||
    echo 'nvidia-smi does not work' >now
head -n 1 now | tee -a "$out/results.md"
cores=$(nproc)
say "$cores cores, $(memory MemTotal) of memory, $(memory MemAvailable) of it available, $(df -Pk . |
    awk 'END { print int($4 / 1e6) " GB" }') of disk left, Linux $(uname -r)"

# No check, as nothing can be done without: a graph, and a device.
limited 60 gnn-import -q -o tiny sbm:nodes=300,degree=8,features=8 >now 2>&1 || { say "Not possible: gnn-import: $(reason now)"; exit 1; }
limited 30 gnn-sample -q --device cuda -f 1 --count tiny >now 2>&1
rc=$?
if [ $rc -eq 4 ] && grep -q -e 'no CUDA device' -e 'compute capability' now; then
    say "Not possible: $(reason now)"
    exit 1
fi
outcome 'a first batch on the device' $rc

if [ -n "$small" ]; then
    products=products:scale=0.0001 less=$products weighed=$products,weights=1,times=1 ruled=$weighed relations=sbm:nodes=200,types=3,features=8
    hops='-f 3,2,2 -b 8' width=8 rows=700 epochs=2 counted=1 scale=1 rmat=8 nodes=300 fan=4,3 b=16 steps=0:2
    newest=6186 few='96 244 6186' many='24 244 6186' # seeds with times: how many, of how many nodes, and the latest time
else
    products=products: less=products:scale=0.2 weighed=products:weights=1,times=1,features=8 ruled=products:scale=0.02,weights=1,times=1
    relations=igbh:scale=0.0003,features=128,classes=19
    hops='-f 15,10,5 -b 1024' width=256 rows=2449029 epochs=20 counted=5 scale=100 rmat=20 nodes=20000 fan=15,10,5 b=256 steps=0:5
    newest=1237183 few='4096 48981 1237183' many='196608 2449029 61859140'
fi
plain='--keep last --eval none --lr 0.01 --dropout 0 --no-layer-norm' # steps, and nothing else
# made NAME GRAPH: behind the rest; its status is in NAME.rc when it is over
made() {
    kill -0 $$ || return # the script
    timeout -k 5 240 gnn-import -q -o "$1" "$2" >"$1.said" 2>&1 &
    job=$!
    trap 'kill $job; exit' TERM
    wait $job
    echo $? >"$1.rc"
}
{ made products "$products"; made weighed "$weighed"; } 9>&- & # while the first checks run
helpers="$helpers $!"
# awaited NAME GRAPH: whether it could be made
awaited() {
    until [ -e "$1.rc" ] || [ "$(left)" -le 0 ]; do sleep 1; done
    cat "$1.said" >now 2>/dev/null
    came="after $(elapsed) s: gnn-import -o $1 $2"
    outcome "$2 is made" "$(cat "$1.rc" 2>/dev/null || echo 124)"
}

# ---- kernels: each group in a process of its own, so that one that fails hides no other; memcheck looks at those afterwards ----
part kernels 18
# sanitizing: whether compute-sanitizer, in $sanitizer, works here, which is tried at first
sanitizing() {
    if [ -z "${sanitizer+tried}" ]; then
        sanitizer=$(command -v compute-sanitizer || command -v /usr/local/cuda/bin/compute-sanitizer) ||
            missing compute-sanitizer 'it is not on this machine'
        [ -z "$sanitizer" ] || limited 60 "$sanitizer" "$bin/gnn-sample" -q --device cuda -f 1 --count tiny >now 2>&1
        if [ -n "$sanitizer" ] && grep -q -i 'not supported' now; then
            missing compute-sanitizer "$(grep -i -m 1 'not supported' now)"
            sanitizer=
        fi
    fi
    [ -n "$sanitizer" ]
}
# lists PROGRAM --LIST: the words that it lists, in $names; if it does not, "all"
lists() {
    limited 20 "$@" >names 2>>"$out/log"
    names=$(grep -x '[a-z][a-z0-9_-]*' names || echo all)
}
lists check_kernels --groups
bad=
for group in $names; do
    check "kernels, $group, scale $scale" limited 30 check_kernels $scale ${group#all} || [ "$came" = late ] || bad="$bad $group"
done
for group in $bad; do
    sanitizing || break
    limited 60 "$sanitizer" --tool memcheck --report-api-errors no --error-exitcode 9 "$bin/check_kernels" 1 ${group#all} >now 2>&1
    [ "$came" != late ] || { missing "memcheck of the kernels of $group" 'no time left'; continue; }
    stopped=${came#end}
    { echo "--- memcheck of $group"; cat now; } >>"$out/log"
    { echo "- memcheck of the kernels of $group, at scale 1${stopped:+, stopped $stopped}, says:"; grep -e '^not ok' -e '^========= [A-Z]' -e '^=========     at' now | head -n 6 | sed 's/^/  - /'; } >>told
done
check 'all-reduces of one rank on its device' limited 60 check_reduce
[ -n "$small" ] || check 'training beside the CPU, twice, and from checkpoints' limited 90 check_train
sed -n 's/^ok [0-9]* - \(.*\) # SKIP \(.*\)/\1: \2/p' "$out/log" | while read -r line; do missing "${line%%: *}" "${line#*: }"; done

# ---- the same bytes as on the CPU ----
part 'the same batches' 36
check 'a graph with weights and times is made' limited 60 gnn-import -q -o ruled $ruled
check 'and parted' limited 60 gnn-partition -q -k 8 --method random -o parted ruled
draw="gnn-sample -q --no-provenance --device \$dev -b $b --steps $steps"
# timed SEEDS NODES NEWEST: lines of a node and a time
timed() {
    awk -v n="$1" -v nodes="$2" -v newest="$3" 'BEGIN {
        for (i = 0; i < n; i++) print (i * 7919) % nodes, int((i * 104729) % 10007 / 10007 * newest) }'
}
timed $few >dated
dated='--seeds dated --time-rule'
for rule in '' -r '--weight weight' '-r --weight weight' --labor "$dated le" "$dated lt --window $((newest / 4))" "$dated le --latest" \
    --disjoint --induced; do
    for frontier in all new; do same "sampled ${rule:-uniformly}, frontier $frontier" "$draw -f $fan $rule --frontier $frontier ruled"; done
done
same 'clusters' "gnn-sample -q --no-provenance --device \$dev --clusters 2 parted"
same 'walks' "$draw --walk-length 5 --walks-per-seed 2 ruled"
same 'walks, node2vec by weight' "$draw --walk-length 6 --node2vec 0.5,2 --weight weight ruled"
same 'LABOR with dependencies' "$draw -f $fan --labor --layer-dependency --batch-dependency 2 ruled"
same 'times of edges' "$draw -f $fan $dated lt --hop-time edge --edge-ids ruled"
same 'from several parts, by weight' "$draw -f $fan --weight weight --original-ids --edge-ids parted"
check "rmat 2^$rmat is made" limited 60 gnn-import -q -o rmat rmat:scale=$rmat
awk -v n=$((1 << rmat)) 'BEGIN { for (i = 0; i < 8 * (n < 9999 ? 16 : 1024); i++) print (i * 7919) % n }' >seeds
# on_device OPTIONS: for the GPU only
on_device() { echo "\$([ \$dev = cpu ] || echo '$*')"; }
far="gnn-sample -q --no-provenance --device \$dev -f $fan -b $((b * 4)) --seeds seeds --edge-ids"
same "rmat 2^$rmat, sampled" "$far --frontier new rmat"
same "rmat 2^$rmat, sampled from the host's memory" "$far $(on_device --graph-memory uva --graph-cache 1M) rmat"
check 'sbm is made' limited 60 gnn-import -q -o sbm sbm:nodes=$nodes,degree=15,features=32
graphs=sbm
[ -n "$small" ] || for s in "$here"/data/*; do
    [ -e "$s" ] || continue
    g=$(basename "$s" | sed 's/[.].*//')
    check "$g is imported" limited 60 gnn-import -q -o "$g" "$s"
    [ ! -e "$g" ] || graphs="$graphs $g"
done
turn=0
# next WORD...: sets g to one of them, each time the next
next() {
    shift $((turn % $#))
    turn=$((turn + 1))
    g=$1
}
for how in '--cache none' '--cache 0.3' '--cache auto --dtype f16' '--cache 0.3 --cache-order access'; do
    next $graphs
    dtype=
    case $how in *--dtype*) dtype="--dtype ${how##* }" ;; esac
    check "$g, batches to gather for" limited 60 gnn-sample -q --no-provenance -f $fan -b $b --steps $steps -o batches $g
    same "$g, gathered $how" "gnn-gather -q --no-provenance --device \$dev $dtype $(on_device "${how%% --dtype*}") -i batches $g"
done
# Batches that stay on the device between two programs.
limited 60 sh -c 'gnn-sample -q --device cuda --transport cuda -f 2 -b 16 tiny 2>why | gnn-gather -q --device cuda --count tiny' >now 2>&1
rc=$?
cat why >>now 2>/dev/null
if [ $rc -eq 0 ] && [ ! -s why ]; then
    next $graphs
    same "$g, between programs on the device" "$draw $(on_device --transport cuda) -f $fan $g | gnn-gather -q --no-provenance --device \$dev $g"
elif grep -Eq 'device memory: (operation not (supported|permitted)|OS call failed or operation not supported)' now; then
    missing 'from program to program on the device' "$(reason now)" # what the system forbids is not our fault
else
    outcome 'from program to program on the device' $((rc ? rc : 1))
fi

# ---- rates ----
part rates 58
if ! awaited products "$products"; then
    say "Rates are those of $less instead."
    rm -rf products
    check "$less is made" limited 60 gnn-import -q -o products $less
fi
: >rates
lists bench_gpu --parts
for p in $names; do
    limited 60 bench_gpu $rows ${p#all} >printed 2>now
    rc=$?
    [ -s rates ] || { sed -n 's/^# //p' printed | tee -a "$out/results.md"; table; }
    grep '^|' printed | tee -a rates "$out/results.md"
    cat printed >>now
    outcome "rates of kernels, $p" $rc
done
copy=$(sed -n 's/^| copy, device, read + write | \([0-9.]*\) .*/\1/p' rates)
table
# sampled WHAT AIM GRAPH OPTIONS...
sampled() {
    what="sampling, products:, $1" aim=$2
    shift 2
    measured "$what" limited 60 gnn-sample --device cuda $hops --epochs $epochs --count --metrics s.json "$@" &&
        row "$what" "$(calc "1e6 / $(number batches_per_second s.json)") us a batch, $(
            calc "$(number edges_per_second s.json) / 1e9") G edges/s" "$aim"
}
# epoch WHAT OPTIONS...: an epoch of training, the median of all but the first, in $took; the rates' aim is the caller's
epoch() {
    what=$1 took=
    shift
    measured "$what" limited 60 gnn-train -q --store products $hops --hidden $width --epochs $((counted + 1)) --device cuda \
        --metrics t.json -o m.st "$@" || return
    took=$(sed -n 's/.*"event": *"epoch".*"train_s": *\([0-9.e+-]*\).*"wait_s": *\([0-9.e+-]*\).*/\1 \2/p' t.json | tail -n +2 |
        awk '{ print $1 + $2 }' | sort -g | awk '{ v[NR] = $1 } END { printf "%.4g", v[int((NR + 1) / 2)] }')
}
if [ -e products/store.json ]; then
    sampled '--graph-memory device' '100 us' --graph-memory device products
    for precision in f32 tf32 bf16; do
        epoch "epoch, SAGE 3x256, $precision" $plain --precision $precision &&
            row "$what, median of the last $counted" "$took s" "0.3 s$(sed -n 's/.*"event": *"precision", *"note": *"\([^"]*\)".*/; \1/p' t.json)"
    done
    measured 'predict, all nodes' limited 60 gnn-predict -q -n --device cuda --metrics p.json products m.st &&
        row 'predict, all nodes' "$(calc "$(number seconds p.json)") s" "$(calc "$(number edges p.json) / $(number seconds p.json) / 1e9") G edges/s"
    epoch 'epoch, the default model, tf32' --keep last --eval none --lr 0.01 --precision tf32 && row "$what" "$took s" ''
    for memory in uva 'uva --graph-cache 0'; do sampled "--graph-memory $memory" '0.5 G edges/s' --graph-memory $memory products; done
    for rule in --labor --disjoint; do sampled $rule 'its share of uniform' $rule products; done
fi
if awaited weighed "$weighed"; then
    timed $many >dated
    for rule in '' '--weight weight' "$dated le"; do sampled "${rule:-uniformly, sorted by time}" 'its share of uniform' $rule weighed; done
fi

# ---- where a step's time goes: an event after each operation, beside the time that its bytes would take a copy ----
part 'operations of a step' 72
# operations WHAT GRAPH OPTIONS...
operations() {
    what=$1 g=$2
    shift 2
    [ -e "$g/store.json" ] || { missing "operations, $what" "there is no $g"; return; }
    check "operations, $what" limited 40 env GNN_DEBUG_TIME=1 gnn-train -q --store $g --epochs 1 --device cuda --keep last --eval none \
        --lr 0.01 --metrics o.json -o o.st "$@" || return
    say
    say "$what, a step of $(number steps o.json); $(calc "$(number train_s o.json) + $(number wait_s o.json)") s, with an event after each operation:"
    say
    say '| operation | us each | in all | at least | floor at the rate of a copy | of the floor |'
    say '|---|---|---|---|---|---|'
    sed -n 's/.*"event":"operation","name":"\([^"]*\)","calls":\([0-9]*\),"ms":\([0-9.e+-]*\),"bytes":\([0-9]*\).*/\3 \2 \4 \1/p' o.json |
        sort -rg |
        awk -v copy="${copy:-0}" -v steps="$(number steps o.json)" 'function line(name, n, ms, b, floor) {
                floor = copy ? b / copy / 1e6 : 0
                printf "| %s | %.1f, %d times | %.2f ms | %.3g MB | %s |\n", name, 1000 * ms / n, n, ms, b / 1e6 / n,
                    floor ? sprintf("%.1f us | %.0f %%", 1000 * floor / n, 100 * floor / ms) : " | " }
            { name = $0; sub(/^[^ ]* [^ ]* [^ ]* /, "", name); ms += $1; b += $3; if (NR <= 32) line(name, $2, $1, $3) }
            END { if (NR) line("all", steps, ms, b) }' | tee -a "$out/results.md"
}
operations 'SAGE 3x256, tf32' products $hops --hidden $width --precision tf32 --dropout 0 --no-layer-norm
operations 'the default model' products $hops --hidden $width --precision tf32
operations GAT products $hops --hidden $width --precision tf32 -m gat --heads 4
operations GATv2 products $hops --hidden $width --precision tf32 -m gatv2 --heads 4
operations 'SAGE, maximum' products $hops --hidden $width --precision tf32 --aggr max
if [ -e products/store.json ] && check 'a time line of batches' limited 40 env GNN_DEBUG_TIME=timeline gnn-train --store products $hops \
    --hidden $width --epochs 1 $plain --precision tf32 --device cuda -o o.st; then
    say
    sed -n '/time line, in ms/,$s/^gnn-train: //p' now | awk 'NR == 1 || NR > 13' | sed 's/^/    /' | tee -a "$out/results.md"
fi
[ -e relations ] || limited 60 gnn-import -q -o relations $relations >>"$out/log" 2>&1
operations HGT relations -f 10,5 -b 512 --hidden $width -m hgt --heads 4
operations R-GCN relations -f 10,5 -b 512 --hidden $width -m rgcn
operations GIN products $hops --hidden $width --precision tf32 -m gin
operations 'full batches, SAGE' ruled --full-batch --layers 2 --hidden $width

# ---- the same by kernel, where counters may be read ----
part 'kernels by counters' 80
metrics=gpu__time_duration.sum,dram__bytes.sum,lts__t_bytes.sum,sm__warps_active.avg.pct_of_peak_sustained_active
ncu=$(command -v ncu)
for file in /usr/local/cuda/bin/ncu /opt/nvidia/nsight-compute/*/ncu; do [ -n "$ncu" ] || [ ! -x "$file" ] || ncu=$file; done
for how in "$plain" '--keep last --eval none --lr 0.01' "$plain -m gat --heads 4"; do
    [ -n "$ncu" ] || { missing 'kernels by counters' 'ncu is not on this machine'; break; }
    limited 60 "$ncu" --clock-control none --graph-profiling node --metrics $metrics -s 3000 -c 250 --csv --page raw --print-units base \
        gnn-train -q --store products $hops --hidden $width --epochs 1 --device cuda --precision tf32 -o m.st $how \
        >ncu.csv 2>&1
    cat ncu.csv >>"$out/log"
    if awk -v limit="${copy:-0}" -f "$here/gpu-profile.awk" ncu.csv >profile; then
        say
        say "Kernels of some steps of training, sampling and gathering included: $how"
        say
        tee -a "$out/results.md" <profile
    else
        missing 'kernels by counters' "$(grep -m 1 -e ERR -e rror ncu.csv || echo 'nothing was launched')"
        break
    fi
done

# ---- with and without what can be switched off, in turns ----
part 'with and without' 87
say '| epoch, SAGE 3x256, tf32 | with | without | with | without |'
say '|---|---|---|---|---|'
for word in priority gather2; do
    [ -e products/store.json ] || { missing 'with and without' 'there is no products:'; break; }
    times=
    for off in '' $word '' $word; do
        GNN_GPU_OFF=$off
        export GNN_GPU_OFF
        epoch "epoch, ${off:+without }$word" $plain --precision tf32
        times="$times ${took:-?} s |"
    done
    unset GNN_GPU_OFF
    say "| $word |$times"
done

# ---- the same models ----
part 'the same models' 90
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
    paste cpu.probs cuda.probs | awk -v c="${columns:-1}" '{ a = b = 1
        for (i = 2; i <= c; i++) { if ($i > $a) a = i; if ($(c + i) > $(c + b)) b = i }
        if (NF != 2 * c || (a != b && $a - $b > 1e-3)) bad++ }
        END { printf "%d nodes, %d of another class\n", NR, bad; exit bad || !NR }'
}
if [ -n "$small" ]; then train='--epochs 2 -b 16 -f 3,3 --hidden 8'; else train='--epochs 3 -b 512 -f 10,10 --hidden 256'; fi
turn=0
for how in '--dropout 0.5 --layer-norm' '' '--batch-norm'; do
    next $graphs
    rm -f cpu.st
    check "$g, trained $how: losses near the CPU's, the same bits twice" trains --store $g $train $plain --no-provenance $how
    [ ! -s cpu.st ] || check "$g, predicted: the same classes" predicts $g
    [ -z "$small" ] || break
done
for how in '-m gcn --batch-norm' '-m gat --heads 2 --attention-dropout 0.2'; do
    check "sbm, trained on full batches, $how: losses near the CPU's, the same bits twice" \
        trains --full-batch --store sbm --epochs 3 --hidden 8 $plain --no-provenance $how
done

# ---- PyTorch and PyG on the same shapes ----
part peers 93
done=
table
for python in $pythons; do
    limited 90 env LD_LIBRARY_PATH="$path0" $python "$here/peer.py" >peers 2>now && done=1
    [ -n "$done" ] || continue
    grep '^|' peers | tee -a "$out/results.md"
    sed -n 's/^# //p' peers | tee -a "$out/results.md"
    break
done
cat now >>"$out/log"
[ -n "$done" ] || missing peers "$(reason now)"

# ---- the processors of this machine ----
part 'threads of the CPU' 97
say '| threads | sampling, M edges/s | gathering, M rows/s | an epoch of ruled, s |'
say '|---|---|---|---|'
[ ! -e products/store.json ] || check 'batches to gather for on the CPU' limited 30 gnn-sample -q $hops --steps 0:16 -o batches products
for j in 1 2 4 8 16; do
    if [ "$j" -gt "$cores" ] || [ ! -e products/store.json ]; then break; fi
    measured "sampling on $j threads" limited 30 gnn-sample -q -j $j $hops --steps 0:64 --count --metrics s.json products || break
    measured "gathering on $j threads" limited 30 gnn-gather -q -j $j --count --metrics g.json -i batches products || break
    measured "training on $j threads" limited 60 env OMP_NUM_THREADS=$j gnn-train -q --store ruled $hops --hidden $width --epochs 2 $plain \
        --metrics t.json -o m.st || break
    row "$j" "$(calc "$(number edges_per_second s.json) / 1e6") | $(calc "$(number nodes g.json) / $(number seconds g.json) / 1e6")" \
        "$(calc "$(number train_s t.json) + $(number wait_s t.json)")"
done

# ---- compute-sanitizer ----
part compute-sanitizer 100
# sanitized WHAT TOOL COMMAND...
sanitized() {
    what=$1 tool=$2
    shift 2
    check "compute-sanitizer $tool, $what" limited 90 "$sanitizer" --tool $tool --error-exitcode 9 "$@"
}
if sanitizing; then # what the runtime refuses, programs see
    sanitized training 'memcheck --report-api-errors no' "$bin/gnn-train" -q --store tiny --device cuda -f 5,3 -b 64 --epochs 1 $plain -o m.st
    sanitized kernels racecheck "$bin/check_kernels" 1
    sanitized kernels 'memcheck --report-api-errors no' "$bin/check_kernels" 1
    sanitized kernels synccheck "$bin/check_kernels" 1
fi
[ "$failed" -eq 0 ]
