#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Do the programs still produce the same bits? A matrix of cases (cases.sh: stores, streams, models, predictions, reports; threads,
# parts, ranks, emulated devices, transports) is run in a fresh directory, each result becomes a hash, and the hashes are compared
# with those in all.txt, which the programs of an earlier commit made (its first lines say which). A refactoring
# changes none of them. A bit that must change is a bug that was fixed: the list is recorded again in the same commit, which
# names the cases.
#
#   run.sh quick|all [PATTERN]     run the cases whose names match, compare; status 1 if any differs, which is named
#   run.sh record quick|all [PATTERN]    put their hashes into the list; `record all` starts it anew
#   run.sh base DIR quick|all [PATTERN]  compare with the programs in DIR, another build's bin, instead of the list
#   run.sh list quick|all [PATTERN]      print the names
#
# Programs are those in GNN_BIN, by default build/bin, the last plain build, and those on emulated devices in ../emu/bin beside
# it (`make all unit`). JOBS is how many cases run at once (default: one per processor). GNN_BITS_SHARE=3 compares one in three of
# them. GNN_DATA (public data sets, only in
# `all`) and mpirun may be missing: cases that need them are skipped, and that is said.
#
# What is hashed is a function of the input: no provenance, no times, of texts for readers only their numbers, of models not
# what they say of their training. Some bits are
# due to libraries all the same. Matrix products come from oneDNN, which chooses its kernels by the processor; it is told to keep
# to AVX2, and each case has its own fixed number of threads, so that most machines agree. Where that is not enough, or a
# library has another version, tests/bits/probe.c, which calls the libraries and nothing of ours, shows it: cases that depend on
# a library whose probe is not the one in the list are skipped, and that is said. There, `run.sh base` compares two builds.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
recorded=${GNN_BITS_LIST:-$here/all.txt}
top=$(cd "$here/../.." && pwd)
die() { echo "run.sh: $*" >&2; exit 2; }

# --- one case: number, in the directory $GNN_BITS_TMP; called by make ---
# Each program with what all cases have in common. What a case leaves in its directory is its result; its output is the file o.
imp() { gnn-import -q --no-provenance -o o "$@"; }
# narrow TYPE ARGUMENTS...: features as that type; data without any, for which it is refused, as they are
narrow() {
    _t=$1
    shift
    _said=$(imp --dtype "$_t" "$@" 2>&1) && return
    case $_said in
    *' have no features x') imp "$@" ;;
    *) echo "$_said" >&2 && return 1 ;;
    esac
}
prt() { gnn-partition -q --no-provenance -o o "$@"; }
smp() { gnn-sample -q --no-provenance "$@"; }
gat() { gnn-gather -q --no-provenance "$@"; }
trn() { gnn-train -q --no-provenance "$@"; }
prd() { gnn-predict -q "$@"; }
ins() { gnn-inspect "$@"; }
# On emulated devices: on N PROGRAM ARGUMENTS...
on() {
    _n=$1 _p=$2
    shift 2
    [ "$_p" = gnn-predict ] || set -- --no-provenance "$@"
    GNN_FAKE_DEVICES=$_n "$emu/$_p" -q "$@"
}
# ranks N PROGRAM ARGUMENTS...; ranks_on N DEVICES PROGRAM ARGUMENTS...
ranks() {
    _n=$1 _p=$2
    shift 2
    mpirun --quiet -n "$_n" "$_p" -q --no-provenance "$@"
}
ranks_on() {
    _n=$1 _d=$2 _p=$3
    shift 3
    # shellcheck disable=SC2016
    GNN_FAKE_DEVICES=$_d mpirun --quiet -n "$_n" sh -c 'GNN_FAKE_SEED=$((1 + OMPI_COMM_WORLD_RANK)); export GNN_FAKE_SEED; exec "$@"' sh \
        "$emu/$_p" -q --no-provenance --timeout 120 "$@"
}
# Text without what may change: paths, the version; or its numbers only, however it is worded.
masked() { sed -e "s#\($GNN_BITS_TMP\|$GNN_BITS_TOP\)/[A-Za-z0-9./-]*#PATH#g" -e 's/\(gnn-[a-z]* \)[0-9]*\.[0-9]*\.[0-9]*/\1VERSION/g'; }
numbers() { masked | grep -oE '[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?'; }
# figures FILE.. : of metrics, what is no time or rate; fetched_rows was called far_rows when the hashes were recorded
figures() {
    _keys='loss|accuracy|rmse|mae|r2|roc-auc|f1-micro|f1-macro|lr|best|best_epoch|edges|seeds|nodes|new_nodes|rows|replicated|sharded|cliques|far_rows'
    for _f in "$@"; do sed "/\"event\":\"start\"/d; s/fetched_rows/far_rows/" "$_f" | grep -oE "\"($_keys)\":[-0-9.a-z+]+" | sed -e 's/^"//' -e 's/":/ /'; done
    rm -f "$@"
}
# Three communities, which features and edges tell apart; one of three columns of labels has holes.
columns() {
    awk 'function draw() { return x = x * 16807 % 2147483647 }
        BEGIN {
            x = 4; n = 500
            for (i = 0; i < n; i++) {
                c = i % 3; line = ""
                for (k = 0; k < 4; k++) print i, (draw() % 10 < 2 ? draw() % n : draw() % int(n / 3) * 3 + c) % n >"e.txt"
                for (k = 0; k < 6; k++) line = line (draw() % 2000 / 2000 - 0.5 + (k == c ? 0.4 : 0)) " "
                print line >"x.txt"
                print (c == 0), (draw() % 10 < 1 ? "nan" : c >= 1), (c == 2) >"y.txt"
            }
        }'
}
# The hashes of this directory's files; of models without the record of their training (tests/bits/bare.c).
sum_files() {
    find . -type f | sort | while read -r _f; do
        if grep -qa '"training":"{' "$_f"; then
            _s=$("$bare" "$_f" | sha256sum)
            echo "${_s%-}$_f"
        else
            sha256sum "$_f"
        fi
    done
}
run_one() {
    mkdir "out/$1" && cd "out/$1" || exit
    # shellcheck source=/dev/null
    if (. "$GNN_BITS_TMP/cmd/$1") </dev/null >stdout 2>"$GNN_BITS_TMP/err/$1"; then
        [ -e o ] && [ ! -s stdout ] && rm stdout
        [ -e o ] || [ ! -e stdout ] || mv stdout o
        sum_files | sha256sum | cut -c 1-32 >"$GNN_BITS_TMP/sum/$1"
    else
        echo "failed: status $?: $(head -n 1 "$GNN_BITS_TMP/err/$1")" >"$GNN_BITS_TMP/sum/$1"
    fi
}
use_programs() { # BIN
    bin=$(cd "$1" && pwd -P) || die "no programs: $1"
    emu=$bin/../emu/bin
    mpi=$bin/../lib/gnn-tools/gnn-mpi.so
    probe=$bin/../tests/bits/probe
    bare=$bin/../tests/bits/bare
    [ -x "$bin/gnn-train" ] && [ -x "$emu/gnn-train" ] || die "no programs in $bin or beside it in emu/bin: make all unit"
}
if [ "${1-}" = one ]; then
    use_programs "$GNN_BIN"
    PATH=$bin:$PATH
    cd "$GNN_BITS_TMP" && run_one "$2"
    exit 0
fi

# --- the plan: which cases, what they need, in what order ---
# Lines of cases.sh: `quick` or `all`, name, command; @{NAME} in a command is the result of another case.
q() { printf 'quick\t%s\t%s\n' "$1" "$2"; }
a() { printf 'all\t%s\t%s\n' "$1" "$2"; }
# make_plan LIST PATTERN: $T/plan has a line for each case: number, name, 1 if it is to be compared (2: left out by
# GNN_BITS_SHARE), what it needs, numbers of the
# cases that it is made of, command, whether it is to be run, whether it is of the list quick
make_plan() {
    # shellcheck source=/dev/null
    (. "$here/cases.sh") | awk -F '\t' -v list="$1" -v pattern="$2" -v dir="$T" -v share="${GNN_BITS_SHARE:-1}" '
        function fail(text) { print "run.sh: cases.sh: " text >"/dev/stderr"; bad = 1; exit 2 }
        function want(i,    k, d) { # it, and what it is made of
            if (wanted[i]++)
                return
            k = split(deps[i], d, " ")
            while (k) want(d[k--])
        }
        NF != 3 { fail("not three fields: " $0) }
        {
            sub(/ +$/, "", $2)
            if ($2 in number)
                fail("twice: " $2)
            number[$2] = ++n; name[n] = $2; quick[n] = $1 == "quick"
            cmd = $3; need = ""
            if (cmd ~ /(^|[ ;|])ranks(_on)? /) need = need " mpi"
            if (cmd ~ /GNN_DATA/) need = need " data"
            if (cmd ~ /(^|[ ;|])(trn|prd) |gnn-(train|predict) /) need = need " float"
            if (cmd ~ /prt / && cmd !~ /--method (random|fennel|ldg|access)|--from|-k 1 /) need = need " metis"
            if (cmd ~ / -z [1-9]/) need = need " zstd"
            while (match(cmd, /@\{[^}]*\}/)) {
                other = substr(cmd, RSTART + 2, RLENGTH - 3)
                sub(/ +$/, "", other)
                if (!(other in number))
                    fail($2 ": no case before it is called " other)
                from = number[other]
                deps[n] = deps[n] " " from
                need = need needs[from]
                cmd = substr(cmd, 1, RSTART - 1) dir "/out/" from "/o" substr(cmd, RSTART + RLENGTH)
            }
            k = split(need, word, " "); needs[n] = ""
            for (j = 1; j <= k; j++)
                if ((needs[n] " ") !~ (" " word[j] " ")) needs[n] = needs[n] " " word[j]
            command[n] = cmd
        }
        END {
            if (bad) exit 2
            for (i = n; i; i--) # what quick cases are made of is quick
                if (quick[i]) { k = split(deps[i], word, " "); while (k) quick[word[k--]] = 1 }
            for (i = 1; i <= n; i++) {
                compared[i] = (list == "all" || quick[i]) && name[i] ~ pattern
                if (compared[i] && asked++ % share) compared[i] = 2
                if (compared[i] == 1) want(i)
            }
            for (i = 1; i <= n; i++)
                print i "\t" name[i] "\t" compared[i] "\t" needs[i] "\t" deps[i] "\t" command[i] "\t" !!wanted[i] "\t" !!quick[i]
        }' >"$T/plan" || exit 2
}
# Runs the plan but for the cases that need one of the words "$1", with the programs in $bin: $T/sums has lines "name TAB hash"
run_plan() {
    rm -rf "$T/out" "$T/sum" "$T/err" "$T/cmd" && mkdir "$T/out" "$T/sum" "$T/err" "$T/cmd"
    awk -F '\t' -v missing="$1" -v dir="$T" -v one="sh $here/run.sh one" '
        BEGIN { split(missing, w, " "); for (i in w) no[w[i]] = 1; print ".PHONY: all\nall:" >(dir "/Makefile") }
        $7 == 1 {
            k = split($4, w, " ")
            for (i = 1; i <= k; i++) if (w[i] in no) next
            k = split($5, w, " "); line = dir "/sum/" $1 ":"
            for (i = 1; i <= k; i++) line = line " " dir "/sum/" w[i]
            print "all: " dir "/sum/" $1 "\n" line "\n\t@" one " " $1 >(dir "/Makefile")
            print $6 >(dir "/cmd/" $1)
            close(dir "/cmd/" $1)
        }' "$T/plan"
    GNN_BIN=$bin GNN_BITS_TMP=$T make -s -f "$T/Makefile" -j "${JOBS:-$(env -u OMP_NUM_THREADS nproc)}" || die 'cannot run the cases'
    awk -F '\t' -v dir="$T" '$3 == 1 { f = dir "/sum/" $1; if ((getline line <f) > 0) print $2 "\t" line; close(f) }' "$T/plan" | sort >"$T/sums"
}
# What is not there, of mpi and data.
missing_here() {
    { command -v mpirun >/dev/null 2>&1 && [ -e "$mpi" ]; } || printf ' mpi'
    [ -n "${GNN_DATA-}" ] || printf ' data'
}
# Libraries whose probes are not those in the list $1.
missing_probes() {
    [ -x "$probe" ] && [ -x "$bare" ] || die "no $probe or $bare: make all unit"
    "$probe" >"$T/probes" || die "$probe failed"
    while read -r what sum; do
        grep -qx "# probe $what $sum" "$1" || printf ' %s' "$what"
    done <"$T/probes"
}
# skipped: GROUP: how many cases: why
tell_skipped() { # MISSING
    awk -F '\t' -v missing="$1" '
        BEGIN {
            split(missing, m, " ")
            why["mpi"] = "no MPI"; why["data"] = "GNN_DATA is not set"
            why["float"] = "matrix products or functions have other bits here than where the list was recorded"
            why["metis"] = "this METIS is another one than where the list was recorded"
            why["zstd"] = "this libzstd is another one than where the list was recorded"
        }
        $3 == 1 {
            for (i = 1; i in m; i++)
                if (($4 " ") ~ (" " m[i] " ")) { split($2, w, " "); count[w[1] ": " why[m[i]]]++; next }
        }
        END {
            for (k in count) { i = index(k, ":"); print "skipped: " substr(k, 1, i - 1) ": " count[k] " cases" substr(k, i) }
        }' "$T/plan" | sort
}
# compare RECORDED: prints each case of $T/sums that is not as recorded there
compare() {
    awk -F '\t' -v pattern="$pattern" '
        FILENAME ~ /plan$/ { known[$2] = 1; some += $3 > 0; next }
        FILENAME ~ /sums$/ { is[$1] = $2; next }
        !/^#/ && $1 ~ pattern { was[$1] = $2 }
        END {
            for (k in is)
                if (is[k] ~ /^failed/) print k ": " is[k]
                else if (!(k in was)) print k ": not in the list"
                else if (was[k] != is[k]) print k ": differs"
            for (k in was) if (!(k in known)) print k ": in the list, but no case"
            if (!some) print "no case is called so"
        }' "$T/plan" "$T/sums" "$1" | sort
}
# needed WORDS: those of them that cases of the plan need
needed() {
    for _w in $1; do
        ! awk -F '\t' -v w="$_w" '$7 == 1 && ($4 " ") ~ (" " w " ") { found = 1 } END { exit !found }' "$T/plan" || printf ' %s' "$_w"
    done | grep .
}
# Puts what was recorded into the list, and takes out what is no case any more.
write_list() {
    [ -e "$recorded" ] || : >"$recorded"
    if [ "$list" = all ] && [ -z "$pattern" ]; then
        echo "# programs of commit $(git -C "$bin" rev-parse --short=7 HEAD), recorded on $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)"
        "$probe" | sed 's/^/# probe /'
    else
        [ -z "$(missing_probes "$recorded")" ] || die 'the libraries are others than where the list was recorded: record all of it'
        grep '^#' "$recorded"
    fi >"$T/list"
    awk -F '\t' '
        FILENAME ~ /plan$/ { is[$2] = 1; next }
        FILENAME ~ /sums$/ { new[$1] = $2; next }
        !/^#/ { old[$1] = $2 }
        END { for (k in is) if (k in new) print k "\t" new[k]; else if (k in old) print k "\t" old[k] }' \
        "$T/plan" "$T/sums" "$recorded" | sort >>"$T/list"
    cp "$T/list" "$recorded"
}

# Nothing of the caller's make, OpenMP or devices.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES GNN_DEBUG_SYNC GNN_DEBUG_TIME GNN_NCCL GNN_MPI OMP_THREAD_LIMIT OMP_WAIT_POLICY OMP_SCHEDULE OMP_DYNAMIC
export OMP_NUM_THREADS=1 GOMP_SPINCOUNT=1000 ONEDNN_MAX_CPU_ISA=AVX2 DNNL_MAX_CPU_ISA=AVX2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp

verb=${1-}
case $verb in
quick | all) list=$verb pattern=${2-} ;;
record | list) list=${2-} pattern=${3-} ;;
base) other=${2-} list=${3-} pattern=${4-} ;;
*) die "run.sh quick|all [PATTERN], record quick|all [PATTERN], base DIR quick|all [PATTERN], list quick|all [PATTERN]" ;;
esac
case $list in quick | all) ;; *) die "quick or all, not '$list'" ;; esac
[ -z "${GNN_DATA-}" ] || GNN_DATA=$(cd "$GNN_DATA" && pwd) || exit 2
T=$(mktemp -d "${TMPDIR:-/tmp}/gnn-bits.XXXXXX") || exit 2
T=$(cd "$T" && pwd -P)
trap 'rm -rf "$T"' EXIT
trap 'exit 130' INT TERM HUP
export TMPDIR="$T" OMPI_MCA_btl_vader_backing_directory="$T" GNN_DATA="${GNN_DATA-}" GNN_BITS_TOP="$top"
make_plan "$list" "$pattern"
if [ "$verb" = list ]; then
    awk -F '\t' '$3 == 1 { print $2 }' "$T/plan" | sort
    exit 0
fi
use_programs "${GNN_BIN:-$top/build/bin}"
export GNN_MPI="$mpi"
miss=$(missing_here)
case $verb in
record)
    ! miss=$(needed "$miss") || die "cannot record without:$miss"
    run_plan ''
    ! grep "$(printf '\t')failed" "$T/sums" || die 'nothing is recorded'
    write_list
    echo "$(wc -l <"$T/sums") cases recorded"
    exit 0
    ;;
base)
    mine=$bin
    use_programs "$other"
    export GNN_MPI="$mpi"
    run_plan "$miss"
    mv "$T/sums" "$T/recorded"
    use_programs "$mine"
    export GNN_MPI="$mpi"
    ;;
*)
    cp "$recorded" "$T/recorded" || exit 2
    miss="$miss$(missing_probes "$T/recorded")"
    ;;
esac
run_plan "$miss"
tell_skipped "$miss"
compare "$T/recorded" >"$T/differ"
cat "$T/differ"
echo "$list: $(wc -l <"$T/sums") cases run, $(wc -l <"$T/differ") differ"
[ ! -s "$T/differ" ]
