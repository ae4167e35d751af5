#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trains with each combination of options and each seed, and prints a table: means and deviations over seeds.
# usage: sweep.sh -o RUNS [-s SEEDS] [-j N] [-n] -- gnn-train --store STORE OPTION... [:: CHOICE...]...
#   -o RUNS    directory of the runs; what is finished there is kept, and what is not is run again
#   -s SEEDS   A..B or A,B,... (default: 1..3)
#   -j N       so many runs at a time, each with its share of the processors (default: 1)
#   -n         print the commands, and run nothing
# After each :: stand the choices for one part of the command: '--lr 0.01', '--no-layer-norm', '' for nothing; a choice is one
# argument, and is separated at blanks. All combinations are run.
# RUNS gets NAME.ndjson (--metrics) and NAME.safetensors (the model) of each run once it is finished, and NAME.log; the file
# `command` there has what all runs have in common.
# exit status: 0 all runs are finished; 1 one failed, or the table lacks one; 2 the arguments are wrong, and nothing was run;
# 129, 130, 143 ended by a signal
# environment: GNN_BIN programs to use (default: build/bin)
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
PATH=${GNN_BIN:-$top/build/bin}:$PATH
LC_ALL=C
export PATH LC_ALL
tab=$(printf '\t')
die() { echo "sweep.sh: $1" >&2 && exit 2; }
usage() { die "$1 (usage: sweep.sh -o RUNS [-s SEEDS] [-j N] [-n] -- gnn-train --store STORE OPTION... [:: CHOICE...]...)"; }

# ---- arguments ----
runs='' seeds=1..3 jobs=1 dry=''
while getopts o:s:j:n opt; do
    case $opt in
    o) runs=$OPTARG ;;
    s) seeds=$OPTARG ;;
    j) jobs=$OPTARG ;;
    n) dry=1 ;;
    *) usage 'the arguments are wrong' ;;
    esac
done
shift $((OPTIND - 1))
[ -n "$runs" ] || usage '-o RUNS is missing'
case $runs in -*) runs=./$runs ;; esac
case $jobs in '' | *[!0-9]* | 0*) die "-j $jobs: expected a number > 0" ;; esac
case $seeds in
*[!0-9.,]* | *.*.*.* | *,*.* | *.*,* | .* | ,* | *. | *, | *,,* | '') die "-s $seeds: expected A..B or A,B,..." ;;
*..*) list=$(seq "${seeds%..*}" "${seeds#*..}") ;;
*.*) die "-s $seeds: expected A..B or A,B,..." ;;
*) list=$(echo "$seeds" | tr , ' ') ;;
esac
[ -n "$list" ] || die "-s $seeds: the last seed is before the first one"

work=$(mktemp -d "${TMPDIR:-/tmp}/gnn-sweep.XXXXXX")
part='' workers=''
# shellcheck disable=SC2317 # called by traps
finish() {
    # shellcheck disable=SC2086
    [ -z "$workers" ] || kill $workers 2>/dev/null || :
    wait
    rm -rf "$work" ${part:+"$part"}
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# WORDS...: what the sweep itself gives to each run
check_words() {
    for word; do
        case $word in
        -o* | --output | --output=* | --metrics | --metrics=* | --seed | --seed=*)
            die "$word: sweep.sh chooses outputs and seeds itself (-o, -s)" ;;
        --checkpoint | --checkpoint=* | --resume) die "$word: runs cannot share the directory of a checkpoint" ;;
        esac
    done
}
# "$@" keeps what stands before the first ::, and file set.K gets the choices after number K.
sets=0 n=$#
while [ "$n" -gt 0 ]; do
    case $1 in *"$tab"* | *"
"*) die 'an argument has a tab or more than one line' ;; esac
    if [ "$1" = :: ]; then
        sets=$((sets + 1)) && : >"$work/set.$sets"
    elif [ $sets -eq 0 ]; then
        check_words "$1" && set -- "$@" "$1"
    else
        # shellcheck disable=SC2086
        check_words $1
        printf '%s\n' "$1" >>"$work/set.$sets"
    fi
    shift
    n=$((n - 1))
done
[ $# -gt 0 ] || usage 'the command is missing'

# OPTION...: ends the sweep if the program does not know them. --help comes last and does no work.
try() {
    "$@" --help >/dev/null 2>"$work/said" || {
        head -n 1 "$work/said" >&2
        exit 2
    }
}
try "$@"
echo >"$work/grid"
k=1
while [ $k -le $sets ]; do
    [ -s "$work/set.$k" ] || die 'no choice after ::'
    while IFS= read -r choice; do
        # shellcheck disable=SC2086
        try "$@" $choice </dev/null
    done <"$work/set.$k"
    while IFS= read -r row; do
        while IFS= read -r choice; do printf '%s\n' "$row $choice"; done <"$work/set.$k"
    done <"$work/grid" >"$work/next"
    mv "$work/next" "$work/grid"
    k=$((k + 1))
done

# name ROW: lr_0.01_dropout_0.5; a long one ends with a checksum
name() {
    _name=$(printf '%s' "$1" | sed 's/^ *//; s/ *$//; s/  */ /g; s/^--*//; s/ --/ /g; s/ -\([A-Za-z]\)/ \1/g' | tr -c 'A-Za-z0-9.,=+-' _)
    [ ${#_name} -le 150 ] || _name=$(printf '%.130s' "$_name").$(printf '%s' "$1" | cksum | cut -d' ' -f1)
    echo "${_name:-run}"
}
# NAME TAB SEED TAB OPTIONS
while IFS= read -r row; do
    for seed in $list; do printf '%s\t%s\t%s\n' "$(name "$row")-$seed" "$seed" "$row"; done
done <"$work/grid" >"$work/list"
twice=$(cut -f1 "$work/list" | sort | uniq -d | head -n 1)
[ -z "$twice" ] || die "two runs have the name $twice: is a choice or a seed there twice?"
all=$(wc -l <"$work/list")

# ---- runs ----
if [ -n "$dry" ]; then
    while IFS=$tab read -r run seed row; do
        # shellcheck disable=SC2086
        echo "$@" $row --seed "$seed" --metrics "$runs/$run.ndjson" -o "$runs/$run.safetensors"
    done <"$work/list"
    exit
fi
mkdir -p "$runs"
printf '%s\n' "$@" >"$work/command"
if [ -e "$runs/command" ]; then
    cmp -s "$work/command" "$runs/command" ||
        die "$runs has runs of another command: $(tr '\n' ' ' <"$runs/command")"
fi
# Of a sweep that was killed
for dir in "$runs/.part.$(uname -n)".*; do
    [ ! -d "$dir" ] || kill -0 "${dir##*.}" 2>/dev/null || rm -rf "$dir"
done
part=$runs/.part.$(uname -n).$$
mkdir "$part"
cp "$work/command" "$part/command" && mv "$part/command" "$runs/command"
processors=$(nproc)
threads=$((processors / jobs))
[ "$jobs" -eq 1 ] || : "${OMP_NUM_THREADS:=$((threads > 0 ? threads : 1))}"
[ -z "${OMP_NUM_THREADS:-}" ] || export OMP_NUM_THREADS

say() { echo "sweep.sh: $*" >&2; }
# NAME STATUS: a message that several runs have is shown once
failed() {
    : >"$work/failed.$1"
    message=$(tail -n 1 "$part/$1.log")
    mv "$part/$1.log" "$runs/$1.log"
    say "$1: status $2, see $runs/$1.log"
    ! mkdir "$work/said.$(echo "$message" | cksum | tr ' ' .)" 2>/dev/null || echo "$message" >&2
}
# COMMAND...: takes runs from the list that no other worker has taken
work_off() {
    child=''
    # shellcheck disable=SC2064
    trap '[ -z "$child" ] || kill "$child" 2>/dev/null; wait; exit 143' TERM
    trap - EXIT HUP INT
    while IFS=$tab read -r run seed row; do
        [ ! -e "$runs/$run.ndjson" ] || continue
        mkdir "$work/taken.$run" 2>/dev/null || continue
        rc=0
        # shellcheck disable=SC2086
        "$@" $row --seed "$seed" --metrics "$part/$run.ndjson" -o "$part/$run.safetensors" </dev/null >"$part/$run.log" 2>&1 &
        child=$!
        wait "$child" || rc=$?
        child=''
        if [ "$rc" -eq 0 ] && [ -s "$part/$run.ndjson" ]; then
            mv "$part/$run.log" "$part/$run.safetensors" "$runs"
            mv "$part/$run.ndjson" "$runs"
            say "$run: finished"
        else
            failed "$run" "$rc"
        fi
    done <"$work/list"
}
kept=$(cut -f1 "$work/list" | while IFS= read -r run; do [ ! -e "$runs/$run.ndjson" ] || echo; done | wc -l)
say "$all run$([ "$all" -eq 1 ] || echo s), $kept of them finished before"
while [ "$jobs" -gt 0 ] && [ "$kept" -lt "$all" ]; do
    work_off "$@" &
    workers="$workers $!"
    jobs=$((jobs - 1))
done
for worker in $workers; do wait "$worker" || :; done
workers=''

set --
while IFS=$tab read -r run seed row; do
    [ ! -e "$runs/$run.ndjson" ] || set -- "$@" "$runs/$run.ndjson"
done <"$work/list"
rc=0
[ $# -eq "$all" ] || { say "$((all - $#)) of $all runs failed" && rc=1; }
[ $# -eq 0 ] || gnn-inspect --table "$@" || rc=1
exit $rc
