. "$GNN_TOP/tests/lib.sh"
same() { cmp -s "$1/part-00000.gnb" "$2/part-00000.gnb"; }
differ() { ! same "$1" "$2"; }
counts() { # METRICS-FILE NODES EDGES
    grep -q "\"nodes\":$2,\"edges\":$3," "$1"
}
imp() { gnn-import --no-provenance "$@"; }

for g in sbm:nodes=3000,degree=8 sbm:nodes=700,types=3,weights=1,times=1 rmat:scale=11 \
    rmat:scale=9,features=5,classes=3 products:scale=0.004; do
    rm -rf a b c
    check "$g imports" imp "$g" -o a
    check "$g with 3 threads" imp "$g" -o b -j 3
    check "$g: threads do not change a byte" same a b
    check "$g with another seed" imp "$g" -o c --seed 2
    check "$g: the seed does" differ a c
done

check "sbm counts" imp sbm:nodes=3000,degree=8 -o s --metrics m
check "mirrored edges" counts m 3000 24000
check "rmat counts" imp rmat:scale=10,edges=4 -o r --metrics m
check "directed edges" counts m 1024 4096
check "seed= in the text wins" imp sbm:seed=7 -o s1 --seed 1
check "seed= again" imp sbm:seed=7 -o s2 --seed 2
check "same bytes" same s1 s2

rm -rf s
check "self-loops are added" imp sbm:nodes=100,degree=4 -o s --self-loops add --metrics m
check "one a node" counts m 100 500
check "duplicates go" imp rmat:scale=8,edges=100 -o d --dedup --self-loops remove --metrics m
check "duplicates counted" grep -q '"duplicates":[1-9]' m

for bad in sbm:nodes=0 sbm:nodes=3,classes=4 sbm:colour=3 rmat:scale=32 rmat:a=0.9,b=0.9 sbm:nodes= sbm:nodes=5x sbm:classes=0 \
    products:scale=0 sbm:nodes=9, sbm:train=0.8,valid=0.4; do
    status 2 "$bad is refused" imp "$bad" -o bad
    check "$bad: one line" test "$(wc -l <err)" -eq 1
done
status 2 "shares over 1" imp sbm: -o bad --split random:0.6,0.6,0.2
status 2 "two shares" imp sbm: -o bad --split random:0.6,0.2
check "nothing is left behind" test -z "$(ls -A | grep -v -e '^[a-z0-9]*$' -e '^s[12]$'; ls -d bad 2>/dev/null)"
status 2 "a store is not overwritten" imp sbm: -o a
check "unless by force" imp sbm: -o a --force

# Memory: well below the store's size, for features and edges stream by.
check "a larger graph" imp products:scale=0.1 -o big --metrics m
size=$(($(wc -c <big/part-00000.gnb) * 13 / 10))
check "takes at most 1.3 times the store's size" sh -c \
    'p=$(sed "s/.*peak_bytes\":\([0-9]*\).*/\1/" m); echo "$p of $1"; [ -n "${GNN_SAN-}" ] || [ "$p" -gt 0 ] && [ "$p" -le "$1" ]' - "$size"
done_testing
