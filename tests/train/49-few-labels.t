# SPDX-License-Identifier: Apache-2.0
# gnn-train says once that classes have few labels in the training set, and names the manual for such data.
. "$GNN_TOP/tests/lib.sh"
page=$GNN_TOP/man/gnn-settings.7
awk 'BEGIN { for (i = 0; i < 300; i++) print i, (i + 3) % 300 }' >e.txt
awk 'BEGIN { for (i = 0; i < 300; i++) print i % 3, i % 2 }' >x.txt
import() { # STORE LABELS OPTIONS...
    _store=$1 _labels=$2
    shift 2
    gnn-import -q --directed --features x.txt --labels "$_labels" "$@" -o "$_store" e.txt || _not_ok "gnn-import makes $_store"
}
once='-f 2,2 --hidden 4 --epochs 1 --eval none -o m'
# hint NAME WANTED COMMAND...: the lines about few labels that it prints
hint() {
    _name=$1 _want=$2
    shift 2
    "$@" 2>err || _not_ok "$_name: trains"
    grep 'gnn-settings(7)' err >got
    [ -z "$_want" ] && : >want || echo "gnn-train: $_want: gnn-settings(7) has settings for few labels" >want
    cmp -s got want && _ok "$_name" || { _not_ok "$_name"; sed 's/^/# /' err; }
}

# Of 300 nodes, class 0 has 60, class 1 has 50 and class 2 has 49 in the list a, and 50 in b; in c, they have 20, 0 and 19.
awk 'BEGIN { for (i = 0; i < 300; i++) print i < 100 ? 0 : i < 200 ? 1 : 2 }' >y.txt
awk '{ split("sparrow cat dog", n, " "); print n[$1 + 1] }' y.txt >names.txt
seq 0 59 >a; seq 100 149 >>a; seq 200 248 >>a
seq 0 59 >b; seq 100 149 >>b; seq 200 249 >>b
seq 0 19 >c; seq 200 218 >>c
import s y.txt --split train=a
import enough y.txt --split train=b
import none y.txt --split some=c
hint 'a class with 49 labels is told' '1 of 3 classes has fewer than 50 labels in set train (fewest: class 2, with 49)' gnn-train --store s $once
hint 'classes with 50 labels are not told' '' gnn-train --store enough $once
hint 'a class without a label is told' '3 of 3 classes have fewer than 50 labels in set some (fewest: class 1, with none)' \
    gnn-train --store none --split some $once
hint 'full batches tell it too' '1 of 3 classes has fewer than 50 labels in set train (fewest: class 2, with 49)' \
    gnn-train --store s --full-batch --hidden 4 --epochs 1 --eval none -o m
hint 'nothing is told with -q' '' gnn-train -q --store s $once
gnn-sample -q -f 2,2 s | gnn-gather -q -o g s
hint 'a stream has no counts' '' gnn-train -i g --hidden 4 -o m
gnn-sample -q -f 2,2 --split some none | gnn-gather -q -o g none
hint 'a stream of few seeds tells it' 'set some has 39 seeds, so at least one of 3 classes has fewer than 50 labels' gnn-train -i g --hidden 4 -o m
import w names.txt --split train=a
hint 'classes are named' '1 of 3 classes has fewer than 50 labels in set train (fewest: class dog, with 49)' gnn-train --store w $once
gnn-partition -q -k 3 -o p w
hint 'labels are counted in all parts' '1 of 3 classes has fewer than 50 labels in set train (fewest: class dog, with 49)' gnn-train --store p $once
awk '{ print ($1 > 0) }' y.txt >two.txt
seq 0 29 >d; seq 100 299 >>d
import two two.txt --split train=d
hint 'a binary task has two classes' '1 of 2 classes has fewer than 50 labels in set train (fewest: class 0, with 30)' gnn-train --store two $once
awk '{ print ($1 == 0), ($1 == 1) }' y.txt >many.txt
import many many.txt --split train=c
hint 'labels of a multilabel task are no classes' '' gnn-train --store many $once
import number y.txt --task regression --split train=c
hint 'numbers to predict are no classes' '' gnn-train --store number $once
check 'gnn-settings(7) says from how many labels on nothing is told' grep -q 'fewer than 50 labels' "$page"
done_testing
