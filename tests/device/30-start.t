# What a build with CUDA costs where there is none of it: nothing at the start, one line when a GPU is asked for.
. "$GNN_TOP/tests/lib.sh"
gnn-import -q sbm:nodes=100,degree=4 -o s
if [ -e /dev/nvidiactl ]; then
    skip "no device" "there is one"
else
    status 4 "no device" gnn-sample -q -f 3 s --device cuda -o o
    [ "$(wc -l <err)" -eq 1 ] && grep -q '^gnn-sample: no CUDA device' err && [ ! -e o ] && _ok "one line" || _not_ok "one line: $(cat err)"
    status 0 "auto goes on" gnn-sample --no-provenance -f 3 s --device auto -o o
    cp err said
    check "and says so" grep -q 'working on cpu: no CUDA device' said
    gnn-sample --no-provenance -f 3 s -o cpu
    check "the same bytes" cmp o cpu
fi
gnn-sample --completion >words
check "devices are offered by completion" grep -q '^--device choice cpu|cuda|auto' words
if [ "${GNN_SAN:-}" ]; then
    skip "the start" "sanitizers take their time"
    done_testing
fi
# Of many starts, one that few others held up.
ms() {
    perl -MTime::HiRes=time -e 'my @t; for (1 .. 31) { my $t = time; my $pid = fork;
        if (!$pid) { open STDOUT, ">", "/dev/null"; exec @ARGV or exit 1 } waitpid $pid, 0; exit 1 if $?; push @t, time - $t }
        printf "%.2f\n", 1000 * (sort { $a <=> $b } @t)[7]' "$@"
}
none=$(ms true)
start=$(ms gnn-sample --version)
check "$start ms to start, $none for a program that does nothing: at most 5, or 4 times as long" \
    awk "BEGIN { exit !($start <= 5 || $start <= 4 * $none) }"
done_testing
