# SPDX-License-Identifier: Apache-2.0
# Tables of Parquet, and folders as RelBench writes them, become the same stores as their CSV; what no store has is refused by name.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/python/lib.sh"
cat >without.py <<'EOP'
import sys
sys.modules["pyarrow"] = None
from gnntools.parquet import main
sys.exit(main(["-o", "S", "e.parquet"]))
EOP
status 1 'gnntools.parquet needs pyarrow' "${python-}" without.py
cp err said
check 'it names the package that is not there' grep -qx 'gnntools.parquet: .* package pyarrow, which is not here: pip install pyarrow' said
check 'it says that in one line' sh -c 'test "$(wc -l <said)" = 1'
status 2 'gnntools.parquet without an argument is told how it is used' "${python-}" -m gnntools.parquet
check 'gnntools.parquet --help says how it is used' sh -c '"$1" -m gnntools.parquet --help | grep -q "python3 -m gnntools.parquet .option"' sh "${python-}"
"${python-}" -c 'import pyarrow.parquet' 2>/dev/null || { skip 'tables of Parquet' 'no pyarrow'; done_testing; }

par() { "${python-}" -m gnntools.parquet --force "$@"; }
same() { check "$1" sh -c 'gnn-inspect --json S | grep -o "\"identity\":[^,]*" >s; gnn-inspect --json T | grep -o "\"identity\":[^,]*" >t; test -s s && cmp s t'; }
cat >tables.py <<'EOP'
import datetime, decimal, json, os
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
def ts(days, unit="ns", tz=None):
    return pa.array(np.datetime64("2024-01-01", unit) + np.asarray(days, "m8[D]")).cast(pa.timestamp(unit, tz))
def save(path, pkey=None, at_col=None, keys={}, **columns):  # as RelBench's Table.save
    os.makedirs(os.path.dirname(path), exist_ok=True)
    meta = {"fkey_col_to_pkey_table": keys, "pkey_col": pkey, "time_col": at_col}
    pq.write_table(pa.table(columns).replace_schema_metadata({k: json.dumps(v) for k, v in meta.items()}), path)
day = datetime.date(2024, 1, 2)
users = dict(id=["ann", "bob, jr", 'c"d', "dee"], flag=[True, False, None, True], cents=[decimal.Decimal("1.25"), decimal.Decimal("-3.00"), None, decimal.Decimal("4")],
             big=[2**60 + 1, 2, 3, 4], whole=[1.0, 2, 3, 4], half=pa.array(np.array([1, 2, 3, 4], np.float16)), born=[day, day, day, day], town=["Rome", "Oslo", "Rome", None],
             since=ts([1, 2, 3, 4], "us", "Europe/Rome"), label=["p", None, "q", "p"], split=["train", "val", None, "test"])
pq.write_table(pa.table({**users, "town": pa.array(users["town"]).dictionary_encode()}), "users.parquet", row_group_size=2)
pq.write_table(pa.table(dict(user=["ann", None, "dee", "bob, jr"], item=pa.array([7.0, 9, 11, None]), weight=[1.5, 2, 3, 4], note=["x", "y", "z", "w"])), "buys.parquet")
pq.write_table(pa.table(dict(sku=[7, 9, 11], emb=[[1.0, 2.5], [3, 4], [5, 6]], f=pa.array([[1], [2], [3]], pa.list_(pa.float32(), 1)))), "items.parquet")
os.mkdir("parts")
for i in (0, 1):
    pq.write_table(pa.table(dict(source=[i, 1], target=[2, i])), f"parts/part-{i}.parquet")
one = lambda **kw: pa.table(dict(source=[0, 1], target=[1, 0], **kw))
pq.write_table(one(w=[1.0, 2]), "one.parquet")
pq.write_table(one(tags=[["a"], []]), "nested.parquet")
pq.write_table(one(point=[{"x": 1}, {"x": 2}]), "struct.parquet")
pq.write_table(one(raw=[b"a", b"b"]), "binary.parquet")
pq.write_table(one(ragged=[[1.0], [1, 2]]), "ragged.parquet")
pq.write_table(one(w=[1, 2]), "whole.parquet")
pq.write_table(pa.table(dict(source=["a", "b\nc"], target=["b", "a"])), "control.parquet")
pq.write_table(pa.table(dict(user=["ann", "zoe"], item=[7, 9])), "unknown.parquet")
pq.write_table(pa.table(dict(user=["ann", None, None, "zoe"], item=[7, 9, 7, 9])), "gaps.parquet")
pq.write_table(pa.table(dict(user=["ann", "dee"], item=[7.5, 9])), "fractions.parquet")
pq.write_table(pa.table(dict(user=["ann", "dee"], item=[7, 9], time=pa.array([1500, 2000], pa.timestamp("ms")))), "brief.parquet")
os.mkdir("mixed")
pq.write_table(one(w=[1.0, 2]), "mixed/a.parquet")
pq.write_table(one(w=[1, 2]), "mixed/b.parquet")
save("rb/db/user.parquet", "user_id", "joined", user_id=[0, 1, 2], age=[30, 25, 41], bio=["likes\ncats", "", None], joined=ts([0, 1, 2]))
save("rb/db/item.parquet", "item_id", item_id=[0, 1], price=[1.5, 2.0], **{"class": ["a", "b"], "time": [7, 8]})
save("rb/db/buy.parquet", None, "when", {"user": "user", "item": "item"}, user=pa.array([0, None, 2, 1], pa.int64()), item=[1, 0, 1, 0], amount=[1.0, 2, 3, 4], when=ts([3, 4, 5, 6]))
for name, days, ids in (("train", [4, 5], [0, 2]), ("val", [6], [1]), ("test", [7], [0])):
    save(f"rb/tasks/churn/{name}.parquet", None, "at", {"user_id": "user"}, at=ts(days), user_id=ids, **({} if name == "test" else {"left": [1, 0][:len(ids)]}))
save("rb/likes/train.parquet", None, "at", {"user_id": "user", "items": "item"}, at=ts([4]), user_id=[0], items=[[1, 0, 1]])
EOP
check 'tables are written' "${python-}" tables.py
printf '%s\n' 'id,flag,cents,big,whole,half,born,town,since,label,split' 'ann,1,1.25,1152921504606846977,1.0,1.0,1704153600,Rome,1704153600,p,train' \
    '"bob, jr",0,-3.00,2,2.0,2.0,1704153600,Oslo,1704240000,,val' '"c""d",,,3,3.0,3.0,1704153600,Rome,1704326400,q,' 'dee,1,4.00,4,4.0,4.0,1704153600,,1704412800,p,test' >users.csv
printf 'user,item,weight\nann,7,1.5\ndee,11,3\n' >buys.csv
printf 'sku,x0,x1,f_0\n7,1,2.5,1.0\n9,3,4,2\n11,5,6,3\n' >items.csv
check 'gnntools.parquet reads tables that are joined' par --directed --map x=emb --nodes user=users.parquet:id --nodes item=items.parquet:sku --edges user/buys/item=buys.parquet:user,item -o S
cp err said
check 'it counts rows that are no edges' grep -qx 'gnntools.parquet: buys.parquet: 2 rows without user or item are no edges' said
check 'it says what it leaves out' grep -q "users.parquet: left out, as they hold text: 'town'" said
check 'it says how Parquet was read, by its name' grep -q '^gnn-import: users.parquet: read as ids: ' said
check 'its messages have no names of CSV' sh -c '! grep -q csv said'
check 'nothing is left beside the store' sh -c '! ls -d S.*'
check 'gnn-import reads the same from CSV' gnn-import --force --directed --map x=x0..x1,=town --nodes user=users.csv:id --nodes item=items.csv:sku --edges user/buys/item=buys.csv:user,item -o T
same 'both are one store'
printf '{"nodes": {"user": "../users.parquet:id", "item": "../items.parquet:sku"}, "edges": {"user/buys/item": "../buys.parquet:user,item"}, "map": {"x": "emb"}}' >l.json
mkdir lists && mv l.json lists
check 'gnntools.parquet reads a list of tables' par --directed --tables lists/l.json -o S
same 'it is the same store from a list'
check 'gnntools.parquet encodes text' par --directed --encode town=one-hot --nodes user=users.parquet:id --edges user/buys/item=buys.parquet:1,2 -o S
check 'it has features of text' sh -c 'gnn-inspect S | grep -q "user .*x f32.2."'
check 'columns by numbers are all that is read' sh -c '! gnn-inspect S | grep -q "weight"'
check 'gnntools.parquet reads an input of several files' par --directed parts -o S
printf '0 2\n1 0\n1 2\n1 1\n' >e.txt
check 'gnn-import reads the same from text' gnn-import --force --directed e.txt -o T
same 'both are one store of several files'
check 'real numbers that are whole stay real' sh -c '"$1" -m gnntools.parquet -q --directed --force -o S one.parquet && gnn-inspect S | grep -q "w f32"' sh "${python-}"
check 'integers stay integers' sh -c '"$1" -m gnntools.parquet -q --directed --force -o S whole.parquet && gnn-inspect S | grep -q "w i64"' sh "${python-}"
check 'gnntools.parquet -q says nothing' sh -c 'test "$("$1" -m gnntools.parquet -q --directed --force -o S one.parquet 2>&1 | wc -c)" = 0' sh "${python-}"
check 'times of milliseconds are read exactly' par --directed --nodes item=items.parquet:sku --edges user/buys/item=brief.parquet:user,item -o S
cp err said
check 'it says their unit' grep -q 'times are integers, ms since 1970' said
perl "$GNN_TOP/tests/import/dump.pl" S/part-00000.gnb user/buys/item time >got
check 'times are milliseconds' sh -c 'cut -d" " -f3 got | tr "\n" " " | grep -qx "1500 2000 "'

# RelBench
check 'gnntools.parquet reads a database and a task of RelBench' par --map x=amount rb/db rb/tasks/churn -o S
gnn-inspect S >got.txt
for line in 'nodes  user *3: age i64, time i64' 'nodes  item *2: price f32, item_time i64' 'nodes  buy *4: x f32.1., time i64' 'nodes  churn *4: y i32, time i64' \
    'edges  buy/f2p_user/user *3: time i64; in-edges ordered by time' 'user/rev_f2p_user/buy *3:' 'buy/f2p_item/item *4:' 'item/rev_f2p_item/buy *4:' 'user/rev_f2p_user_id/churn *4:' \
    'split  file/train *2  of churn' 'split  file/valid *1  of churn' 'split  file/test *1  of churn' 'task   binary of churn'; do
    check "the store has $line" grep -q "$line" got.txt
done
dump() { perl "$GNN_TOP/tests/import/dump.pl" S/part-00000.gnb "$@"; }
gives() { # WHAT KEY FIELD VALUES
    perl "$GNN_TOP/tests/import/dump.pl" S/part-00000.gnb "$2" "$3" >got
    printf '%s\n' "$4" >want
    check "$1" cmp want got
}
gives 'edges have the time of the row with the key' item/rev_f2p_item/buy time '0 1 1704326400
1 0 1704412800
2 1 1704499200
3 0 1704585600'
gives 'a key that is missing is no edge' buy/f2p_user/user time '0 0 1704326400
1 3 1704585600
2 2 1704499200'
gives 'entities come into being before their tasks' user/rev_f2p_user_id/churn time '0 0 1704067200
1 2 1704067200
2 1 1704067200
3 0 1704067200'
gives 'labels of test that are not there are missing' node/churn y '1
0
1
-1'
check 'gnn-train learns the task from what was before' gnn-train -q --store S -f 3,3 --time-rule le --epochs 1 -o m.safetensors

# What no store has
bad() { # STATUS TEXT WHAT ARGUMENT...
    st=$1 text=$2 what=$3
    shift 3
    rm -rf X
    status "$st" "gnntools.parquet refuses $what" "${python-}" -m gnntools.parquet -o X "$@"
    tail -n 1 err >said
    check "it says in the last line: $text" grep -q -- "$text" said
    check "it leaves nothing of $what" sh -c '! ls -d X* 2>/dev/null'
}
bad 3 "nested.parquet: column 'tags': list<.*string>, which no store has: --map =tags leaves it out" 'lists of words' nested.parquet
bad 3 "struct.parquet: column 'point': struct<.*which no store has" 'a struct' struct.parquet
bad 3 "binary.parquet: column 'raw': binary, which no store has" 'bytes' binary.parquet
bad 3 "ragged.parquet: column 'ragged': empty lists, or lists of different lengths" 'lists of different lengths' ragged.parquet
check 'a column that --map leaves out is not looked at' par --directed --map =ragged ragged.parquet -o S
bad 3 'column .source.: an id has a control character' 'an id of two lines' control.parquet
edges='--nodes user=users.parquet:id --nodes item=items.parquet:sku --edges user/buys/item'
# shellcheck disable=SC2086
bad 3 "unknown.parquet: row 2: users.parquet has no row for the source 'zoe'" 'an id that is in no table' $edges=unknown.parquet:user,item
# shellcheck disable=SC2086
bad 3 "gaps.parquet: row 4: users.parquet has no row for the source 'zoe'" 'an id behind rows that are left out' $edges=gaps.parquet:user,item
# shellcheck disable=SC2086
bad 3 "fractions.parquet: column 'item': .*7.5" 'ids with fractions' $edges=fractions.parquet:user,item
# shellcheck disable=SC2086
bad 2 "there is no column 'usr'; there are: user, item" 'a column that is not there' $edges=unknown.parquet:usr,item
bad 3 "mixed/b.parquet: column 'w' is not as in the other files" 'parts that differ' mixed
bad 3 'absent.parquet: No such file' 'a file that is not there' absent.parquet
head -c 200 one.parquet >cut.parquet
bad 3 'cut.parquet: ' 'a file that is cut' cut.parquet
bad 2 "its rows are about the table 'user', which is in none of the inputs" 'a task without its tables' rb/tasks/churn
bad 3 "rb/likes: column 'items': list<.*>, expected ids: integers or words" 'a task of recommendations' rb/db rb/likes
bad 1 'no/X' 'a folder that is not there' -o no/X one.parquet
refuses 3 'this is Parquet .*; python3 -m gnntools.parquet imports it' 'Parquet' gnn-import -o X one.parquet
done_testing
