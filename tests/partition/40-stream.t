# SPDX-License-Identifier: Apache-2.0
# Streaming methods, access and two levels: sound stores, the same however they are asked for, and far better than chance.
. "$GNN_TOP/tests/lib.sh"

gnn-import -q sbm:nodes=6000,classes=12,degree=20 -o whole || exit 1
gnn-import -q sbm:nodes=1500,classes=6,types=3 -o typed || exit 1
gnn-import -q rmat:scale=11,edges=8 -o oneway || exit 1

figure() { # KEY FILE
    grep -o "\"$1\":[0-9.e+-]*" "$2" | tail -n 1 | cut -d: -f2
}
less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a < b) }'; } # A B
gnn-partition -q --metrics random.json --method random -k 6 -o random whole
gnn-partition -q --metrics metis.json -k 6 -o metis whole
for m in fennel ldg access; do
    check "gnn-partition --method $m makes partitions" gnn-partition --metrics $m.json --method $m -k 6 -o $m whole
    check "gnn-inspect --verify finds partitions by $m to be the graph of the whole" gnn-inspect --verify --against whole $m
    check "gnn-partition --method $m cuts $(figure cut_percent $m.json) % of planted classes, random $(figure cut_percent random.json) %" \
        less "$(figure cut $m.json)" "$(awk -v r="$(figure cut random.json)" 'BEGIN { print r / 2 }')"
    check "gnn-partition --method $m cuts planted classes little more than METIS with $(figure cut_percent metis.json) %" \
        less "$(figure cut $m.json)" "$(awk -v r="$(figure cut metis.json)" 'BEGIN { print r * 1.6 }')"
    check "gnn-partition --method $m keeps the balance" less "$(figure nodes $m.json)" 1.0301
    check "gnn-partition -j 1 --method $m makes partitions" gnn-partition -j 1 --method $m -k 6 -o again-$m whole
    check "gnn-partition --method $m gives the same bytes with one thread" gnn-inspect --diff --ignore provenance $m again-$m
    check "gnn-partition --method $m makes partitions of partitions" gnn-partition --method $m -k 6 -o from-$m random
    check "gnn-partition --method $m gives the same bytes from partitions as from the whole" gnn-inspect --diff --ignore provenance $m from-$m
    check "gnn-partition --method $m makes partitions of a typed graph" gnn-partition --method $m -k 7 -o typed-$m typed
    check "gnn-inspect --verify finds partitions by $m to be the graph of the typed whole" gnn-inspect --verify --against typed typed-$m
    rm -rf again-$m from-$m typed-$m
done
check "gnn-partition --passes 1 makes partitions" gnn-partition --passes 1 --metrics pass.json --method fennel -k 6 -o pass whole
check "gnn-partition --passes 1 makes one pass" test "$(figure passes pass.json)" -eq 1
check "gnn-partition --method fennel cuts less with more passes" less "$(figure cut fennel.json)" "$(figure cut pass.json)"
check "gnn-partition --method ldg makes partitions of edges in one direction" gnn-partition --method ldg -k 5 -o oneway5 oneway
check "gnn-inspect --verify finds partitions of edges in one direction to be the graph of the whole" gnn-inspect --verify --against oneway oneway5

# Balance.
for m in fennel ldg access; do
    check "gnn-partition --method $m --balance nodes,edges,train makes partitions" \
        gnn-partition --metrics even.json --method $m --balance nodes,edges,train -k 4 --force -o even whole
    check "gnn-partition --method $m --balance nodes,edges,train makes all three even" \
        perl -ne '/"balance":\{"nodes":([\d.]+),"edges":([\d.]+),"train":([\d.]+)/ && $1 < 1.031 && $2 < 1.035 && $3 < 1.035 and $good = 1;
        END { exit !$good }' even.json
    check "gnn-partition --method $m --balance types makes partitions" \
        gnn-partition --metrics types.json --method $m --balance types -k 4 --force -o even typed
    check "gnn-partition --method $m --balance types makes all types even" \
        perl -ne '/"t0":([\d.]+),"t1":([\d.]+),"t2":([\d.]+)/ && $1 < 1.031 && $2 < 1.031 && $3 < 1.031 and $good = 1;
        END { exit !$good }' types.json
done

# Access: seeds are shared evenly by default, and fewer rows travel than if what is sampled stayed where it was streamed to.
gnn-import -q sbm:nodes=4000,classes=2,degree=8,homophily=0.6,train=0.1 -o mixed || exit 1
check "gnn-partition --method access -f -b --split makes partitions" \
    gnn-partition --metrics rows.json --method access -f 5,3 -b 64 --split train -k 3 -o rows mixed
check "gnn-partition --method access leaves fewer remote rows than its stream" less "$(figure remote rows.json)" "$(figure remote_stream rows.json)"
check "gnn-partition --method access leaves no more remote rows than METIS" sh -c 'awk -v a="$1" -v b="$2" "BEGIN { exit !(a != \"\" && b > 0 && a <= b) }"' - \
    "$(figure remote rows.json)" "$(figure remote_metis rows.json)"
check "gnn-partition --method access leaves fewer remote rows than there are rows" less "$(figure remote rows.json)" "$(figure rows rows.json)"
check "gnn-partition --method access makes the seeds even" less "$(figure train rows.json)" 1.035

# What batches fetch, of access and of the methods that it starts from.
gnn-import -q -o products products:scale=0.002
fetched() { # STORE: remote rows of two epochs, as measured
    gnn-sample -q -f 5,5 -b 64 --epochs 0:2 "$1" | gnn-gather --plan --replicate 0.1 --cache-order degree -F x "$1" | awk '$1 == "degree" && $2 == 0 { print $5 }'
}
for m in access metis fennel; do gnn-partition -q --force --method $m $([ $m = access ] && echo -f 5,5 -b 64 || echo --balance nodes,train) -k 6 -o by-$m products; done
check "gnn-partition --method access: $(fetched by-access) remote rows are fetched, with METIS $(fetched by-metis)" \
    test "$(fetched by-access)" -le "$(fetched by-metis)"
check "gnn-partition --method access: $(fetched by-access) remote rows are fetched, with fennel $(fetched by-fennel)" \
    test "$(fetched by-access)" -lt "$(fetched by-fennel)"
gnn-partition --force --method access --start fennel -f 5,5 -b 64 -k 6 --metrics m -o by-start products >table
check "gnn-partition --start fennel does without METIS" sh -c 'grep -q "access from fennel" table && ! grep -q METIS table && ! grep -q remote_metis m'

# Two levels.
for m in metis fennel access random; do
    check "gnn-partition --method $m --two-level 2,3 makes partitions" \
        gnn-partition --metrics two.json --method $m --two-level 2,3 --force -o two whole
    check "gnn-inspect --verify finds partitions by $m in two levels to be the graph of the whole" gnn-inspect --verify --against whole two
    check "gnn-partition --method $m --two-level 2,3 makes six partitions" sh -c 'gnn-inspect two | grep -q "6 partitions"'
    check "gnn-partition --method $m --two-level 2,3 keeps the balance" less "$(figure nodes two.json)" 1.05
done
check "gnn-partition --two-level 3,2 accepts -k 6" gnn-partition --two-level 3,2 -k 6 --force -o two whole
# Usage.
for args in "-k 4 --method fennel --seed 3 -o x whole" "-k 4 --method ldg --objective vol -o x whole" "-k 4 --passes 3 -o x whole" \
    "-k 4 --method fennel --passes 0 -o x whole" "-k 4 --method fennel -b 3 -o x whole" "-k 4 --method access --split cats -o x whole" \
    "-k 4 --method access -f 3,cats -o x whole" "--two-level 2 -o x whole" "--two-level 2,2,2 -o x whole" "--two-level 0,2 -o x whole" \
    "-k 5 --two-level 2,2 -o x whole" "--two-level 300,300 -o x whole" "--method fennel -o x whole" "-k 4 --method fennel --balance cats -o x whole" \
    "--from - --two-level 2,2 -o x whole" "-k 4 --start fennel -o x whole" "-k 4 --method access --start metis -o x whole"; do
    # shellcheck disable=SC2086
    status 2 "gnn-partition refuses $args" gnn-partition $args
done
check "gnn-partition leaves no store where it refuses its options" test ! -e x
done_testing
