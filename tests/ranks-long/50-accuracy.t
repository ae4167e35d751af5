# Several ranks train as good models as one: short runs of scripts/accuracy.sh.
. "$GNN_TOP/tests/ranks/setup.sh"
for d in cora amazon-computers; do
    for r in 1 2 4; do
        if [ -n "${GNN_DATA:-}" ]; then
            check "$d, $r ranks" env RANKS=$r sh "$GNN_TOP/scripts/accuracy.sh" --quick $d
        else
            skip "$d, $r ranks" "GNN_DATA is not set"
        fi
    done
done
done_testing
