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
    check "$m" gnn-partition --metrics $m.json --method $m -k 6 -o $m whole
    check "$m is proved" gnn-inspect --verify --against whole $m
    check "$m, planted classes: cut $(figure cut_percent $m.json) %, by chance $(figure cut_percent random.json) %" \
        less "$(figure cut $m.json)" "$(awk -v r="$(figure cut random.json)" 'BEGIN { print r / 2 }')"
    check "$m, planted classes: close to METIS's $(figure cut_percent metis.json) %" \
        less "$(figure cut $m.json)" "$(awk -v r="$(figure cut metis.json)" 'BEGIN { print r * 1.6 }')"
    check "$m keeps the balance" less "$(figure nodes $m.json)" 1.0301
    check "$m, one thread" gnn-partition -j 1 --method $m -k 6 -o again-$m whole
    check "$m, same bytes" gnn-inspect --diff --ignore provenance $m again-$m
    check "$m from parts" gnn-partition --method $m -k 6 -o from-$m random
    check "$m from parts, same bytes" gnn-inspect --diff --ignore provenance $m from-$m
    check "$m, typed" gnn-partition --method $m -k 7 -o typed-$m typed
    check "$m, typed, is proved" gnn-inspect --verify --against typed typed-$m
    rm -rf again-$m from-$m typed-$m
done
check "one pass" gnn-partition --passes 1 --metrics pass.json --method fennel -k 6 -o pass whole
check "is one" test "$(figure passes pass.json)" -eq 1
check "more passes cut less" less "$(figure cut fennel.json)" "$(figure cut pass.json)"
check "edges in one direction only" gnn-partition --method ldg -k 5 -o oneway5 oneway
check "is proved" gnn-inspect --verify --against oneway oneway5

# Balance.
for m in fennel ldg access; do
    check "$m, nodes, edges and train" gnn-partition --metrics even.json --method $m --balance nodes,edges,train -k 4 --force -o even whole
    check "$m: all even" perl -ne '/"balance":\{"nodes":([\d.]+),"edges":([\d.]+),"train":([\d.]+)/ && $1 < 1.031 && $2 < 1.035 && $3 < 1.035 and $good = 1;
        END { exit !$good }' even.json
    check "$m, types" gnn-partition --metrics types.json --method $m --balance types -k 4 --force -o even typed
    check "$m: all even" perl -ne '/"t0":([\d.]+),"t1":([\d.]+),"t2":([\d.]+)/ && $1 < 1.031 && $2 < 1.031 && $3 < 1.031 and $good = 1;
        END { exit !$good }' types.json
done

# Access: seeds are shared evenly by default, and fewer rows travel than if what is sampled stayed where it was streamed to.
gnn-import -q sbm:nodes=4000,classes=2,degree=8,homophily=0.6,train=0.1 -o mixed || exit 1
check "access, another batch" gnn-partition --metrics rows.json --method access -f 5,3 -b 64 --split train -k 3 -o rows mixed
check "fewer rows travel" less "$(figure remote rows.json)" "$(figure remote_stream rows.json)"
check "not all travel" less "$(figure remote rows.json)" "$(figure rows rows.json)"
check "seeds are even" less "$(figure train rows.json)" 1.035

# Two levels.
for m in metis fennel access random; do
    check "$m in two levels" gnn-partition --metrics two.json --method $m --two-level 2,3 --force -o two whole
    check "is proved" gnn-inspect --verify --against whole two
    check "has six parts" sh -c 'gnn-inspect two | grep -q "6 parts"'
    check "keeps the balance" less "$(figure nodes two.json)" 1.05
done
check "-k beside it, when it agrees" gnn-partition --two-level 3,2 -k 6 --force -o two whole
# Usage.
for args in "-k 4 --method fennel --seed 3 -o x whole" "-k 4 --method ldg --objective vol -o x whole" "-k 4 --passes 3 -o x whole" \
    "-k 4 --method fennel --passes 0 -o x whole" "-k 4 --method fennel -b 3 -o x whole" "-k 4 --method access --split cats -o x whole" \
    "-k 4 --method access -f 3,cats -o x whole" "--two-level 2 -o x whole" "--two-level 2,2,2 -o x whole" "--two-level 0,2 -o x whole" \
    "-k 5 --two-level 2,2 -o x whole" "--two-level 300,300 -o x whole" "--method fennel -o x whole" "-k 4 --method fennel --balance cats -o x whole" \
    "--from - --two-level 2,2 -o x whole"; do
    # shellcheck disable=SC2086
    status 2 "usage: $args" gnn-partition $args
done
check "nothing is left" test ! -e x
done_testing
