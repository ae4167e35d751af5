# SPDX-License-Identifier: Apache-2.0
# What make check-big runs, with a small graph.
. "$GNN_TOP/tests/lib.sh"
big() { env SCALE=12 GNN_BIN="$GNN_BIN" "$@" sh "$GNN_TOP/scripts/big.sh" .; }
check 'big.sh runs with a small graph' big METHODS='random ldg' OPTIONS=--no-edge-ids
mv out table
for row in import 'prove the whole' 'partition, random' 'partition, ldg' 'sample the parts'; do
    check "big.sh reports the memory of the step '$row'" grep -q "^$row .* MiB allocated" table
done
check 'big.sh reports the sizes and rates of the import' grep -q '^import .* M edges/s  *[1-9][0-9]* MiB on disk' table
status 1 'big.sh fails when a step takes more memory than its limit' big LIMIT=-1
mv out table
check 'big.sh says which step takes more memory than its limit' grep -q '^import: more than -1 MiB' table
status 1 'big.sh fails when one of its steps fails' big OPTIONS='--balance cats' METHODS=ldg
mv out table
check 'big.sh passes on the message of a step that fails' grep -q 'is not nodes, edges, types or a set' table
check 'big.sh leaves no directory behind' test -z "$(find . -name 'big.*')"
done_testing
