# SPDX-License-Identifier: Apache-2.0
# train and predict run the programs: what they return, show and raise.
. "$GNN_TOP/tests/lib.sh"
. "$GNN_TOP/tests/python/lib.sh"
gnn-import -q sbm:nodes=600 -o graph || exit 1
py "metrics of each epoch, as gnn-train gives them, and the model" <<'EOP'
h = g.train("graph", "m.safetensors", fanout=[5, 5], batch=64, hidden=16, epochs=range(0, 3), layer_norm=False, eval=["valid", "test"], provenance=False)
assert [e["epoch"] for e in h] == [0, 1, 2] and {"loss", "train", "valid", "test", "best", "lr"} <= {*h[0]}
subprocess.run("gnn-train -q --no-provenance --store graph -f 5,5 -b 64 --hidden 16 --epochs 3 --no-layer-norm --eval valid --eval test -o n".split(), check=True)
assert open("m.safetensors", "rb").read() == open("n", "rb").read()
EOP
py "rows and metrics of a prediction, as gnn-predict gives them" <<'EOP'
out = g.predict(g.Store("graph"), "m.safetensors", split=["test", "valid"], output_kind="probs")
subprocess.run("gnn-predict -q --output-kind probs -o p.npy graph m.safetensors".split(), check=True)
assert np.array_equal(out.rows, np.load("p.npy")) and [m["set"] for m in out.metrics] == ["test", "valid"] and 0 <= out.metrics[0]["accuracy"] <= 1
assert g.predict("graph", "m.safetensors", "p.csv") == (None, []) and open("p.csv").readline() == "id,class,probability,set\n"
EOP
py "options as words" <<'EOP'
from gnntools.run import option_list
assert option_list({"fanout": [10, -1], "eval": ["a", "b"], "epochs": range(2, 5), "layer_norm": False, "ffn": True, "lr": 1e-3, "jk": None}) == \
    ["--fanout=10,-1", "--eval=a", "--eval=b", "--epochs=2:5", "--no-layer-norm", "--ffn", "--lr=0.001"]
assert option_list({"fanout": {"a/r/b": [2, 3], "b/s/a": [0, 1]}, "hidden": 8}) == ["--fanout=a/r/b=2,3", "--fanout=b/s/a=0,1", "--hidden=8"]
EOP
py "a program that fails is one exception with its last line" <<'EOP'
why = raises(g.ProgramError, "gnn-train: unknown option '--hiden'; did you mean '--hidden'?", g.train, "graph", "x", hiden=3)
assert why.status == 2 and not os.path.exists("x")
for shown in True, False:
    why = raises(g.ProgramError, "gnn-predict: nope: cannot open: No such file or directory", g.predict, "graph", "nope", progress=shown)
    assert str(why).startswith("gnn-predict: ") and why.status == 3 and not children()
EOP
py "progress rewrites one line, with blanks where a notebook knows no control sequence" <<'EOP'
import io
sys.stderr, was = io.StringIO(), sys.stderr
g.train("graph", "x", fanout=[5, 5], hidden=16, epochs=2, progress=True)
sys.stderr, text = was, sys.stderr.getvalue()
assert "\rgnn-train: epoch 1: loss" in text and "\033" not in text and "\repoch [" in text, text
screen, at = [""], 0
for c in text:  # what is seen at the end
    if c == "\n":
        screen.append("")
    elif c != "\r":
        screen[-1] = screen[-1][:at] + c + screen[-1][at + 1:]
    at = 0 if c in "\n\r" else at + 1
assert all(not line.strip() or line.startswith("gnn-train: ") and "[#" not in line for line in screen), screen
sys.stderr = io.StringIO()
g.train("graph", "x", fanout=[5, 5], hidden=16, epochs=1, progress=False)
assert sys.stderr.getvalue() == ""
EOP
py "an interrupt leaves the best model so far, and raises" <<'EOP'
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
class Seen(list):
    def write(self, text):
        self.append(text)
        if "epoch 2: loss" in text and not self.sent:
            self.sent = True
            os.kill(os.getpid(), signal.SIGINT)
    def flush(self): pass
    def isatty(self): return True
sys.stderr, was = Seen(), sys.stderr
sys.stderr.sent = False
try:
    g.train("graph", "stopped.safetensors", fanout=[5, 5], batch=64, hidden=64, epochs=100000, patience=0)
    raise AssertionError("no KeyboardInterrupt")
except KeyboardInterrupt:
    sys.stderr = was
assert len(g.predict("graph", "stopped.safetensors").rows) == 600 and not children()
EOP
done_testing
