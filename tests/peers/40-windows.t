# SPDX-License-Identifier: Apache-2.0
# What the other systems do not have (windows) or were not given (real times): gnn-sample beside a look at each in-edge.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/peers/setup.sh"
stores plain plain+edges plain+nodes plain+both plain+real typed+both
sed 's/$/.25/' times >reals
is() { draw same none "$@"; }
for rule in le lt; do
    for frontier in all new; do
        for how in "" --disjoint; do
            for w in 0 1 4 30; do
                [ $rule$w != lt0 ] || continue # which is refused, as nothing is in it
                for k in edges nodes both; do
                    is plain+$k times "gnn-sample picks by times of $k: $rule --window $w --frontier $frontier $how" \
                        -f -1,-1 --time-rule $rule --window $w --frontier $frontier $how
                done
            done
            is plain+edges times "gnn-sample picks the latest in a window: $rule --frontier $frontier $how" \
                -f 3,2 --time-rule $rule --window 6 --latest --frontier $frontier $how
            is typed+both atimes "gnn-sample picks in a window of several types: $rule --frontier $frontier $how" \
                -f -1,-1 --time-rule $rule --window 6 --frontier $frontier --seed-type a $how
            is plain+real reals "gnn-sample picks by real times: $rule --frontier $frontier $how" \
                -f -1,-1 --time-rule $rule --window 2.5 --frontier $frontier $how
        done
    done
done
compare
done_testing
