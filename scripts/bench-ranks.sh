# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Several ranks on this machine: sourced by bench.sh, whose helpers and directory it uses. The ranks share the machine's processors, so
# what counts are ratios; rates of rows are those of all ranks together.
if ! command -v mpirun >/dev/null 2>&1 || [ ! -e "$GNN_B/lib/gnn-tools/gnn-mpi.so" ]; then
    say 'ranks: skipped, no MPI'
    return 0
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
steps=20
ranks() { # N COMMAND...
    n=$1
    shift
    mpirun --quiet -n "$n" "$@"
}
total() { cat "$1".m* | grep -o "\"$2\":[0-9]*" | cut -d: -f2 | awk '{ s += $1 } END { printf "%.0f", s }'; } # FILES KEY
drawn() { # STORE N FILE STEPS: batches of N ranks
    ranks "$2" gnn-sample -q -f 15,10,5 -b 1024 --no-verify --steps "0:$4" "$1" -o "$3.%r.gnb"
}

# Two parts whose nodes have in-neighbours in the other part only: nearly all rows of a batch are another rank's.
apart() {
    perl -e 'my $s = 1; for my $i (0 .. 131_071) { for (1 .. 32) { $s = ($s * 1103515245 + 12345) & 0x7fffffff;
        print 2 * ($s >> 12) + 1 - $i % 2, "\t", $i, "\n" } }' >apart.txt
    perl -e '$h = "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (1048576, 100), }"; $h =~ tr/"/\x27/;
        printf "\x93NUMPY\x01%c%c%c%-117s\n", 0, 118, 0, $h; print pack("f100", map { rand } 1 .. 100) x 1024 for 1 .. 1024' >apart.npy
    awk 'BEGIN { for (i = 0; i < 1048576; i++) print i % 2 }' >apart.parts
    awk 'BEGIN { for (i = 0; i < 131072; i++) print i }' >apart.train
    gnn-import -q --force -o whole --nodes 1048576 --features apart.npy --labels apart.parts --split train=apart.train apart.txt
    gnn-partition -q --force -k 2 --from apart.parts -o apart whole
    ranks 2 gnn-sample -q -f 32 -b 8192 --no-verify --epochs 2 apart -o 'apart.%r.gnb'
    rm -rf whole apart.txt apart.npy
}
fetched() { # FILES STORE: appends millions of rows of other ranks a second
    ranks 2 env OMPI_MCA_btl=tcp,self gnn-gather -q -F x --count --no-verify --metrics "$1.m%r" -i "$1.%r.gnb" "$2" >"$1.txt"
    calc "$(total "$1" fetched_rows) / $(sed -n 's/^seconds \([0-9.]*\).*/\1/p' "$1.txt") / 1e6" >>"$1.rates"
    echo >>"$1.rates"
}
say 'rows of other ranks: 2 ranks over TCP: gnn-gather --count, of batches of them alone, and of random parts'
apart
gnn-partition -q --force -k 2 --method random -o split2 products
drawn split2 2 two 60 # the beginning, when pages are touched first, is to weigh little
rm -f bare.txt apart.rates two.rates
for _ in 1 2 3; do # by turns
    fetched apart apart
    fetched two split2
    ranks 2 env OMPI_MCA_btl=tcp,self "$GNN_B/tests/bench/bench_mpi" >>bare.txt
done
most() { awk '$NF + 0 > most + 0 { most = $NF } END { print most }'; }
alone=$(sed -n 's/^alone \([0-9.]*\).*/\1/p' bare.txt | most) between=$(sed -n 's/^between \([0-9.]*\).*/\1/p' bare.txt | most)
least=$((($(total apart fetched_rows) + $(total two fetched_rows)) * 400))
sent=$(calc "($(total apart sent_bytes) + $(total two sent_bytes)) / $least")
echo "all rates of rows of 400 bytes: $(tr '\n' ' ' <apart.rates)M rows/s alone, $(tr '\n' ' ' <two.rates)between as many own ones"
echo "bare MPI: $(sed -n 's/^alone \([0-9.]*\).*/\1/p' bare.txt | tr '\n' ' ')alone, $(sed -n 's/^between \([0-9.]*\).*/\1/p' bare.txt | tr '\n' ' ')between"
row 'rows of other ranks, TCP' '3 M/s' "$(most <apart.rates) M/s" "$(calc "100 * $(most <apart.rates) / $alone") % of bare MPI" \
    "$(awk -v b="$alone" 'BEGIN { if (b < 3) print "which makes " b " M/s here" }')"
row 'the same, between as many own rows' '' "$(most <two.rates) M/s" "$(calc "100 * $(most <two.rates) / $between") % of bare MPI's $between M/s"
row 'bytes sent over rows alone' '<= 1.05 x' "$sent x" 'ids asked for included'
rm -rf split2 apart two.*.gnb apart.*.gnb

say 'rows of other ranks: 4 ranks, parts by METIS and at random, and copies of the most wanted'
printf '%-8s %8s %8s %12s %14s\n' method cut copies 'rows/step' 'fetched/step'
for m in random metis; do
    gnn-partition -q --force -k 4 --method $m --no-edge-ids --metrics cut.$m -o split4 products
    drawn split4 4 four $steps
    for alpha in 0 0.05 0.2 0.5 1; do
        ranks 4 gnn-gather -q -F x --count --no-verify --replicate $alpha --metrics 'four.m%r' -i 'four.%r.gnb' split4 >/dev/null
        total four fetched_rows >fetched.$m.$alpha
        total four rows >rows.$m
        printf '%-8s %6.2f %% %8s %12.0f %14.0f\n' $m "$(field cut_percent cut.$m)" $alpha "$(calc "$(cat rows.$m) / $steps")" \
            "$(calc "$(cat fetched.$m.$alpha) / $steps")"
    done
    # The rows that ranks are expected to fetch, computed from the graph; and counted, by drawing each rank's batches in one process.
    gnn-sample -q -f 15,10,5 -b 1024 --no-verify --steps 0 split4 |
        gnn-gather -q --plan --replicate 0.2 --cache-order access --metrics plan.$m split4 >/dev/null
    grep '"alpha":0.0,' plan.$m | grep -o '"expected_rows":[0-9.]*' | cut -d: -f2 >expected.$m
    grep '"alpha":0.0,' plan.$m | grep -o '"measured_rows":[0-9.]*' | cut -d: -f2 >counted.$m
    [ $m = random ] || most=$(du -b split4/part-*.gnb | sort -n | tail -n 1 | cut -f1)
    rm -rf split4 four.*.gnb
done
reached=$(awk -v r="$(cat fetched.random.0)" '{ printf "%.3f", $1 / r }' fetched.metis.0)
metis_over() { awk -v r="$(cat "$1.random")" '{ printf "%.3f", $1 / r }' "$1.metis"; }
promised=$(calc "$(field halo cut.metis) / $(field halo cut.random)") # other parts' nodes that a part's nodes have as neighbours
row 'METIS over random, rows fetched' "<= $(calc "1.1 * $promised") x" "$reached x" \
    "$promised x promised by volume; --plan: $(metis_over expected) x expected, $(metis_over counted) x counted; cut $(calc "$(field cut_percent cut.metis)") and $(calc "$(field cut_percent cut.random)") %"
row 'copies of 0.2, rows fetched' '' "$(calc "$(cat fetched.metis.0.2) / $(cat fetched.metis.0)") x" 'of those without copies, by access'
halo=$(awk -v h="$(field halo cut.metis)" -v n="$(grep -o '"nodes":[0-9]*' cut.metis | head -n 1 | cut -d: -f2)" 'BEGIN { print 8 * h / 4 }')
whole=$(du -sbD products | cut -f1)
row 'a rank of 4, memory over the whole' "<= $(calc "1.1 * (0.25 + $halo / $whole)") x" "$(calc "$most / $whole") x" 'largest part: topology, features, halo'

say 'a model of more ranks: 1024 seeds for each, rates measured above, links as stated; not measured'
rows=$(calc "$(cat rows.metis) / $steps / 4") far=$(calc "$(cat fetched.metis.0.2) / $(cat rows.metis)")
awk -v rows="$rows" -v far="$far" -v step="${step:-200}" -v nodes="${rate:-10}" 'BEGIN {
    split("10 25 100 400", gbit, " ")
    latency = 5e-6; params = 206000 * 4; hops = 3
    printf "%.0f rows a step and rank, %.0f %% of them fetched by 4 ranks with copies of 0.2; step alone %.0f ms; %.0f us a message\n", rows, 100 * far, step, latency * 1e6
    printf "%6s", "ranks"
    for (g = 1; g in gbit; g++) printf " %9s Gbit/s", gbit[g]
    print "   (ms a step)"
    for (n = 1; n <= 128; n *= 2) {
        printf "%6d", n
        for (g = 1; g in gbit; g++) {
            bw = gbit[g] * 1e9 / 8
            share = n == 1 ? 0 : far * (1 - 1 / n) / 0.75
            fetch = rows * share * 408 / bw + 2 * (hops + 1) * (n - 1) * latency
            sum = n == 1 ? 0 : 2 * params * (1 - 1 / n) / bw + 2 * log(n) / log(2) * latency
            t = step / 1e3
            printf " %16.1f", 1e3 * ((fetch > t ? fetch : t) + sum) # rows of the next batch travel during the step
        }
        print ""
    }
}'
