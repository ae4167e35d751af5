# SPDX-License-Identifier: Apache-2.0
# Metrics of links are those of scikit-learn, of OGB's and TGB's evaluators, and of their definitions in NumPy, with ties and without.
. "$GNN_TOP/tests/lib.sh"
py=${GNN_PEERS:-python3}
program=$GNN_B/tests/unit/test_link_metrics
"$py" -B -c 'import numpy' 2>err || { skip "metrics of links" "NumPy is not installed"; done_testing; }
[ -x "$program" ] || { skip "metrics of links" "test_link_metrics is not built (make unit)"; done_testing; }
# agree CASE WHY: what link_metrics.py compares
agree() {
    "$py" -B "$GNN_TOP/tests/peers/link_metrics.py" "$program" "$1" 2>said
    case $? in
    77) skip "$2" "$(tail -n 1 said)" ;;
    *) check "$2" logged said test $? -eq 0 ;;
    esac
}
agree definition "all metrics, by their definitions"
agree sklearn "AUC and AP are scikit-learn's"
agree ogb "AUC, hits@K and MRR are OGB's"
agree ogb_few "hits@50 of 20 negatives is 1 for OGB, and refused here; OGB is wrong: nothing was told apart"
agree tgb "MRR and hits@10 are TGB's"
done_testing
