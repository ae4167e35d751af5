# What make check-big runs, with a small graph.
. "$GNN_TOP/tests/lib.sh"
big() { env SCALE=12 GNN_BIN="$GNN_BIN" "$@" sh "$GNN_TOP/scripts/big.sh" .; }
check 'a small graph' big METHODS='random ldg' OPTIONS=--no-edge-ids
mv out table
for row in import 'prove the whole' 'partition, random' 'partition, ldg' 'sample the parts'; do
    check "$row" grep -q "^$row .* MiB allocated" table
done
check 'sizes and rates' grep -q '^import .* M edges/s  *[1-9][0-9]* MiB on disk' table
status 1 'too much memory' big LIMIT=-1
mv out table
check 'says so' grep -q '^import: more than -1 MiB' table
status 1 'a run that fails' big OPTIONS='--balance cats' METHODS=ldg
mv out table
check 'says so, and why' grep -q 'is not nodes, edges, types or a set' table
check 'nothing is left' test -z "$(find . -name 'big.*')"
done_testing
