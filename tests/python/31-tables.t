# SPDX-License-Identifier: Apache-2.0
# from_tables makes the same store of tables of every kind, joins them by ids, and refuses what cannot be joined.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/python/lib.sh"
cat >tables.py <<'EOP'
import os, warnings
from helpers import *
USERS = {"id": ["ann", "bob ", "c,d", 'e"f'], "age": [3, 4, 5, 6], "f1": [1, 2, 3, 4], "f0": [.1, .2, .3, .4], "town": ["a", "b", "c", "d"],
         "label": ["x", None, "y", "x"], "split": ["train", "val", None, "test"]}
ITEMS = {"item_id": [30, 10, 20], "price": [1.5, 2.5, float("nan")], "since": np.array([3, 2, 1], "M8[ms]")}
BUYS = {"user": ["bob ", "ann", 'e"f', "ann"], "item": [10, 30, 30, 20], "weight": [1., 2, 3, 4], "time": [5, 5, 7, 1]}

def make(of=lambda t: {k: np.array(v, object) if isinstance(v, list) and isinstance(v[0], str) else v for k, v in t.items()}):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        s = g.from_tables("s", {"user": of(USERS), "item": of(ITEMS)}, {("user", "buys", "item"): of(BUYS)}, force=True)
    said = [str(w.message) for w in seen]
    assert said == ["from_tables: left out: column 'town' of nodes 'user'"], said
    return s
EOP
says() {
    printf '%s\n' 'from tables import *' >head
    cat >>head
    PYTHONPATH=$PYTHONPATH:. py "$1" <head
    : >head
}
says "ids, features, labels, sets, times and fields of typed tables" <<'EOP'
s = make()
assert s.names("user") == USERS["id"] and s.parts[0].arrays["node/item/key"].tolist() == [30, 10, 20]
assert np.allclose(s.x[[0, 1, 2, 3]], [[.1, 1], [.2, 2], [.3, 3], [.4, 4]]) and s.y[[0, 1, 2, 3]].tolist() == [0, -1, 1, 0]
assert s.schema["class_names"] == ["x", "y"] and [s.set(n).tolist() for n in ("train", "valid", "test")] == [[0], [1], [3]]
assert np.asarray(s.rows("since", "item")).tolist() == [3, 2, 1] and np.isnan(np.asarray(s.rows("price", "item"))).tolist() == [False, False, True]
a = s.parts[0].arrays
assert a["edge/user/buys/item/indices"].tolist() == [0, 3, 1, 0] and a["edge/user/buys/item/time"].tolist() == [5, 7, 5, 1]
assert s.schema["edge_types"][0]["order"] == "time"
EOP
for of in 'pandas.DataFrame(t)' 'pandas.DataFrame(t).convert_dtypes()' 'pandas.DataFrame(t).astype({c: "category" for c in t if c in ("user", "id", "town")})' \
    'pyarrow.table(t)' 'parquet(t)' 'polars.DataFrame(t)' 'polars.DataFrame(t).lazy()'; do
    module=${of%%[.(]*}
    [ "$module" != parquet ] || module=pyarrow.parquet
    "${python-}" -c "import $module" 2>/dev/null || { skip "tables as $of" "no $module"; continue; }
    says "tables as $of" <<EOP
import ${module%.parquet}
def parquet(t):
    import pyarrow.parquet
    pyarrow.parquet.write_table(pyarrow.table(t), f"{len(t)}.parquet")
    return f"{len(t)}.parquet"
assert make(lambda t: $of).identity == make().identity
EOP
done
says "nodes that only edges name, and names of columns" <<'EOP'
t = lambda **kw: {k: np.array(v, object if isinstance(v[0], str) else None) for k, v in kw.items()}
make = lambda *a, **kw: g.from_tables("s", *a, force=True, **kw)
assert make(None, t(source=["b", "a"], target=["c", "b"])).names() == ["b", "a", "c"]
assert make(None, t(src=[9, 10**12], dst=[5, 9])).parts[0].arrays["node/node/key"].tolist() == [5, 9, 10**12]
assert make(None, t(a=[0, 1], b=[1, 2]), ends=("a", "b")).names() is None
assert make(t(x0=[1., 2], **{"class": [0, 1]}), t(u=[0], v=[1])).schema["task"] == "binary"
s = make(t(k=["p", "q"], a=[1., 2], b=[3., 4], part=["train", "test"], mark=[0., np.nan]), t(u=["p"], v=["q"]), key="k", x=["b", "a"], y="mark", split="part",
         task="multiclass")
assert s.x[[0, 1]].tolist() == [[3, 1], [4, 2]] and s.y[[0, 1]].tolist() == [0, -1] and s.set("test").tolist() == [1]
assert make(t(id=[1, 2], x=[[1., 2], [3, 4]]), t(u=[1], v=[2])).x[[1]].tolist() == [[3, 4]]
EOP
says "bad tables are one exception with the place and the remedy" <<'EOP'
t = lambda **kw: {k: np.array(v, object if any(isinstance(w, str) for w in v) else None) for k, v in kw.items()}
def bad(text, nodes, edges, **kw):
    raises(ValueError, text, g.from_tables, "n", nodes, edges, **kw)
    assert not os.path.exists("n")
ends = t(u=["a"], v=["b"])
bad("edges ('node', 'to', 'node'), column 'v': row 0: 'b' is no id of 'node': add it to the nodes, or leave the row out", t(id=["a", "c"]), ends)
bad("ids of 'node': 'a' is there twice", t(id=["a", "b", "a"]), ends)
bad("ids of 'node': [1] is missing", t(id=["a", None]), ends)
bad("column 'u': text, but the ids of 'node' are integers", t(id=[1, 2]), ends)
bad("column 'u': int64, but the ids of 'node' are words", t(id=["a", "b"]), t(u=[1], v=[2]))
bad("column 'v': float64, but the ids of 'node' are integers: make them alike, with none missing", t(id=[1, 2]), t(u=[1, 1], v=[2, np.nan]))
bad("ids of 'node': float64, expected integers or words, none of them missing", t(id=[1, np.nan]), t(u=[1], v=[1]))
bad("columns p, q: say which two are the ends, as ends", None, t(p=[1], q=[2]))
bad("columns src and from: say which is the source", None, t(src=[1], **{"from": [2]}, dst=[1]))
bad("no column 'z' (the labels); there are: id", t(id=[1]), t(u=[1], v=[1]), y="z")
bad("column 'split': 'holdout', expected train, valid, test or nothing", t(id=[1], split=["holdout"]), t(u=[1], v=[1]))
bad("column 'time': a date is missing", t(id=[1], time=np.array(["NaT"], "M8[s]")), t(u=[1], v=[1]))
bad("field of 'node' 'unit price'", t(id=[1], **{"unit price": [2]}), t(u=[1], v=[1]))
bad("nodes 'm': None, and no edges name any: give a table", {"n": None, "m": None}, {("n", "a", "n"): t(u=[1], v=[1])})
bad("some edges have words as ids and others numbers", {"n": None}, {("n", "a", "n"): t(u=[1], v=[1]), ("n", "b", "n"): t(u=["x"], v=["x"])})
EOP
done_testing
