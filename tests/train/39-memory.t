# SPDX-License-Identifier: Apache-2.0
# Full batches within a limit of memory: the same model, less memory; and what can go wrong with the temporary file.
. "$GNN_TOP/tests/lib.sh"
refusing=gnn-train
export OMP_NUM_THREADS=1
# A sanitizer takes memory of its own, and its time: nothing is said about sizes then.
[ -n "${GNN_SAN:-}" ] && scale=0.001 || scale=0.01
gnn-import -q -o big products:scale=$scale && gnn-partition -q -k 6 --method ldg -o parts big || _not_ok 'gnn-import makes a graph'
each='gnn-train -q --full-batch --store parts --no-provenance --layers 3 --hidden 64 --dropout 0.2 --batch-norm'
full="$each --epochs 3"
two="$each --epochs 2"
event() { # FILE NAME EXPRESSION of x, that event, and `peak'
    /usr/bin/python3 -c '
import json, sys
events = [json.loads(l) for l in open(sys.argv[1])]
x = next((e for e in events if e["event"] == sys.argv[2]), None)
peak = next(e["memory_bytes"] for e in events if e["event"] == "full_batch")
assert eval(sys.argv[3]), (x, peak)' "$@"
}
limit=85
[ -z "${GNN_SAN:-}" ] || limit=2000
while read -r opts; do
    turn 4 || continue
    check "gnn-train $opts learns without a limit" $two --metrics free.json -o free.st $opts
    check "gnn-train $opts --memory learns" $two --memory ${limit}M --metrics memory.json -o memory.st $opts
    check "gnn-train $opts --memory makes the same model" cmp free.st memory.st
    [ $limit = 85 ] || continue
    check "gnn-train $opts needs more memory without the limit" event free.json full_batch 'peak > 85 * 2**20'
    check "gnn-train $opts --memory keeps the limit" event memory.json memory "peak <= $limit * 2**20 and x['written_bytes'] > 0 and x['read_bytes'] > 0"
    # Of a limit that is far too large, nothing is in the smallest one.
    check "gnn-train $opts --memory learns within any limit" $(echo "$two" | sed 's/ -q / /') --memory 64G -o memory.st $opts
    least=$(sed -n 's/.*the smallest --memory for this run is about \([0-9]*M\)$/\1/p' err)
    cp err err.kept
    check "gnn-train $opts --memory says that ${least:-nothing} is the smallest limit" test "${least%M}" -lt $limit
    # What is resident at most and what must stay free make the limit: it holds no more than this run takes, and no less.
    check "gnn-train $opts --memory says what it took, what must stay free, and what is enough" perl -e 'local $/; $_ = <>;
        my ($took) = /; resident memory of a rank: at most ([0-9.]+) MB/ or die; my ($free) = /with ([0-9.]+) MB that must stay free, the smallest/ or die;
        my $enough = $ARGV[0] * 1.048576; exit !($free > 6 && $enough > $free && $enough < $took + $free + 8)' err.kept "${least%M}"
    least=$((${least%M} + 4))M # what the process takes at its start is not always the same
    check "gnn-train $opts --memory $least learns" $two --memory "$least" --metrics least.json -o least.st $opts
    check "gnn-train $opts --memory $least makes the same model" cmp free.st least.st
    check "gnn-train $opts --memory $least keeps the limit" event least.json memory "peak <= ${least%M} * 2**20 and x['least_bytes'] <= (${least%M} + 1) * 2**20"
done <<'END'
-m sage
-m gat --heads 2
-m sage --message-dtype bf16 --boundary 0.5
-m gatv2 --heads 2 --message-dtype bf16
END
# Most of this store is features: what verification reads of them, and what other parts' turns have read, does not stay.
[ -n "${GNN_SAN:-}" ] && nodes=2400 || nodes=24000
gnn-import -q -o wide sbm:nodes=$nodes,degree=8,features=1024 && gnn-partition -q -k 6 --method ldg -o wides wide || _not_ok 'gnn-import makes wide features'
wide='gnn-train -q --full-batch --store wides --no-provenance -m sage --hidden 16 --epochs 2 --metrics wide.json'
check 'gnn-train learns from wide features' $wide -o free.st
[ -n "${GNN_SAN:-}" ] || check 'gnn-train needs more memory than 80 MiB for them' event wide.json full_batch 'peak > 80 * 2**20'
limit_wide=$((limit == 2000 ? 2000 : 80))
check 'gnn-train --memory learns from wide features' $wide --memory ${limit_wide}M -o memory.st
check 'gnn-train --memory makes the same model of wide features' cmp free.st memory.st
[ -n "${GNN_SAN:-}" ] || check 'gnn-train --memory keeps the limit with wide features' event wide.json full_batch 'peak <= 80 * 2**20'
# Buffers of hundreds of partitions are small, and stay in memory: that is noticed.
many='gnn-train --full-batch --store many --no-provenance -m gat --hidden 8 --heads 2 --epochs 1'
gnn-import -q -o few sbm:nodes=3000,degree=8,features=16 && gnn-partition -q -k 256 --method random -o many few || _not_ok 'gnn-import makes a small graph'
check 'gnn-train --memory learns from 256 partitions' $many --memory 64G -o free.st
least=$(sed -n 's/.*the smallest --memory for this run is about \([0-9]*M\)$/\1/p' err)
[ -n "${GNN_SAN:-}" ] || {
    refuses 1 "^gnn-train: --memory $((${least%M} * 2 / 3))M is too small: at least [0-9]*M are needed$" '256 partitions that need more memory' $many --memory $((${least%M} * 2 / 3))M -o never.st
    said=$(sed -n 's/.* at least \([0-9]*\)M are needed$/\1/p' said)
    check "gnn-train names about the limit that a run would" test "${said:-0}" -ge $((${least%M} - 6)) -a "${said:-0}" -le $((${least%M} + 14))
    least=$((${least%M} + 10))M # where malloc finds space for so many small buffers is not always the same
    check "gnn-train --memory $least learns from 256 partitions" $many --memory $least --metrics many.json -o memory.st
    check "gnn-train --memory $least makes the same model of 256 partitions" cmp free.st memory.st
    check "gnn-train --memory $least keeps the limit with 256 partitions" event many.json full_batch "peak <= ${least%M} * 2**20"
}
# Partitions of a million edges: what making their blocks takes, and products, are within the limit, too.
if wide && [ -z "${GNN_SAN:-}" ]; then
    gnn-import -q -o large sbm:nodes=40000,degree=100,features=8 && gnn-partition -q -k 4 --method ldg -o large4 large || _not_ok 'gnn-import makes a dense graph'
    large='gnn-train -q --full-batch --store large4 --hidden 16 --layers 2 --epochs 1 --eval none -o large.st'
    $large --memory 20M 2>said
    least=$(sed -n 's/^gnn-train: --memory 20M is too small: at least \([0-9]*\)M are needed$/\1/p' said)
    check 'gnn-train names the smallest limit for large partitions' logged said test "${least:-0}" -gt 20
    least=$((${least:-0} + 6)) # what the process takes at its start is not always the same
    check "gnn-train --memory ${least}M learns from large partitions" $large --memory ${least}M --metrics large.json
    check 'gnn-train --memory keeps the limit with large partitions' event large.json memory "peak <= $least * 2**20"
    check 'gnn-train learns from large partitions without a limit' $large --metrics large.json
    check 'gnn-train takes more for large partitions without a limit' event large.json full_batch "peak > $least * 2**20"
fi
check 'gnn-train --memory keeps a checkpoint' $each --epochs 2 -m gcn --memory ${limit}M --checkpoint C --checkpoint-every 1 -o part
check 'gnn-train --memory resumes' $full -m gcn --memory ${limit}M --checkpoint C --resume -o resumed.st
check 'gnn-train learns in one go' $full -m gcn -o whole.st
check 'gnn-train --memory makes the same model after resuming' cmp whole.st resumed.st
mkdir tmp
check 'gnn-train --memory writes to stdout, with the temporary file in TMPDIR' sh -c "TMPDIR=\$PWD/tmp $full -m gcn --memory ${limit}M >out.st && cmp whole.st out.st"
check 'gnn-train --memory leaves nothing behind' test -z "$(ls tmp)"

refuses 1 '^gnn-train: --memory 1M is too small: at least [0-9]*M are needed$' 'a limit that is too small' $full -m sage --memory 1M -o never.st
# Which limit is enough is said once, before the first step: it is the same whatever was given, it is enough, and not too much.
turns=0
[ $limit = 2000 ] || while read -r opts; do
    turn 4 || continue
    status 1 "gnn-train $opts refuses a limit of 1M" $two --memory 1M -o never.st $opts
    said=$(sed -n 's/.* at least \([0-9]*\)M are needed$/\1/p' err)
    for small in 12 $((${said:-0} * 2 / 3)) $((${said:-0} * 4 / 5)); do
        status 1 "gnn-train $opts refuses a limit of ${small}M" $two --memory ${small}M --metrics small.json -o never.st $opts
        mv err named
        check "gnn-train $opts says for ${small}M what it said for 1M" sh -c 'd=$(($(sed -n "s/.* at least \([0-9]*\)M are needed$/\1/p" named) - $1)); [ $d -ge -3 ] && [ $d -le 3 ]' - "$said"
        check "gnn-train $opts says so before the first epoch" sh -c '! grep -q "\"event\": *\"epoch\"" small.json'
    done
    said=$((${said:-0} + 3)) # it is not always the same, as above
    check "gnn-train $opts --memory ${said}M learns" $(echo "$two" | sed 's/ -q / /') --memory ${said}M --metrics least.json -o least.st $opts
    least=$(sed -n 's/.*the smallest --memory for this run is about \([0-9]*\)M$/\1/p' err)
    check "gnn-train $opts has said about what it says after the run: ${least:-nothing}M" test "${least:-0}" -ge $((said * 9 / 10 - 4)) -a "${least:-0}" -le "$said"
    check "gnn-train $opts keeps that limit" event least.json full_batch "peak <= $said * 2**20"
    check "gnn-train $opts learns without a limit" $two -o free.st $opts
    check "gnn-train $opts makes the same model in ${said}M" cmp free.st least.st
done <<'END'
-m sage
-m gat --heads 2
-m gcn --hidden 256
-m gin --dropout-input 0.1
-m sage --aggr max --layers 2
-m gatv2 --heads 2
-m rgcn --bases 2
END
[ $limit = 2000 ] || {
    # Blocks of 1 KiB; SIGXFSZ is what a shell's limit sends.
    status 1 'gnn-train ends if the temporary file cannot grow' sh -c "trap '' XFSZ; ulimit -f 20000; exec $full -m sage --memory ${limit}M -o never.st"
    mv err said
    check 'gnn-train says that it cannot grow' grep -q '^gnn-train: never.st: cannot enlarge the temporary file of --memory: File too large$' said
}
check 'no model is left' test ! -e never.st
status 1 'gnn-train ends if there is no directory for the temporary file' env TMPDIR=/nonexistent $full -m sage --memory 1G
while IFS='|' read -r message opts; do
    refuses 2 "$message" "$opts" gnn-train -q --store parts -o never.st $opts
done <<'END'
--memory requires --full-batch|--memory 1G
--remote-rows has no effect with --memory|--full-batch --memory 1G --remote-rows keep
--pipeline-depth has no effect with --memory|--full-batch --memory 1G --pipeline-depth 2
--needed-only cannot be used with --memory|--full-batch --memory 1G --needed-only
END
# The file is cut while it is in use: by whoever can open it through /proc.
if [ $limit = 2000 ]; then
    skip 'the temporary file of --memory is cut' 'with sanitizers, nothing needs one'
else
    $each --epochs 100000 --patience 0 -m sage --memory ${limit}M -o cut.st 2>said &
    pid=$!
    file=
    for _ in $(seq 600); do
        for fd in /proc/$pid/fd/*; do
            case $(readlink "$fd" 2>/dev/null) in
            *'(deleted)') [ "$(stat -Lc %s "$fd" 2>/dev/null || echo 0)" -gt 5000000 ] && file=$fd ;;
            esac
        done
        [ -n "$file" ] || ! kill -0 $pid 2>/dev/null && break
        sleep 0.1
    done
    check 'the temporary file is in use' test -n "$file"
    [ -z "$file" ] || : >"$file"
    wait $pid
    check 'gnn-train ends with status 1 when its temporary file is cut' test $? = 1
    check 'gnn-train says that the file was cut' grep -q '^gnn-train: cut.st: the temporary file of --memory was cut' said
    check 'no model is left of it' test ! -e cut.st
fi
done_testing
