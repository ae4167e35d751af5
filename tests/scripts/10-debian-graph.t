# SPDX-License-Identifier: Apache-2.0
# The package graph from small lists of known contents.
. "$GNN_TOP/tests/lib.sh"
dg="perl $GNN_TOP/scripts/debian-graph.pl"
mkdir lists
cat >lists/x_dists_y_main_binary-amd64_Packages <<'P'
Package: alpha
Section: libs
Pre-Depends: beta (>= 1) | nowhere
Depends: gamma,
 delta:any (= 2), alpha, beta
Description: Beta beta soup
Filename: this/makes/the/list/the/largest/one

Package: beta
Section: contrib/web
Suggests: alpha | gamma
Description: ---

Package: gamma
Section: libs
Recommends: beta
Description: Soup

Package: delta
Section: doc
Description: alpha
P
cat >lists/x_dists_y-security_main_binary-amd64_Packages <<'P'
Package: alpha
Section: games

Package: omega
Section: libs
Depends: alpha
P
check 'debian-graph.pl makes a graph from package lists' $dg -l lists out.d
grep -q '^5 packages, 7 edges, 3 sections$' out && _ok 'debian-graph.pl counts packages, edges and sections' ||
    { _not_ok 'debian-graph.pl counts packages, edges and sections'; sed 's/^/# /' out; }
check 'debian-graph.pl writes the names of packages in order' sh -c 'test "$(tr "\n" " " <out.d-packages.txt)" = "alpha beta gamma delta omega "'
check 'debian-graph.pl writes sections sorted and without their area' sh -c 'test "$(tr "\n" " " <out.d-sections.txt)" = "doc libs web "'
cat >look.py <<'P'
import numpy as np
e, x, y = (np.load("out.d/" + f + ".npy") for f in ("edge_index", "node_feat", "node_label"))
assert e.dtype == np.int64 and e.T.tolist() == [[0, 2], [0, 3], [0, 1], [1, 0], [1, 2], [2, 1], [4, 0]], e.T
assert y.dtype == np.int64 and y.tolist() == [1, 2, 1, 0, 1], y
assert x.dtype == np.float32 and x.shape == (5, 512)
n = np.linalg.norm(x, axis=1)
assert np.allclose(n, [1, 0, 1, 1, 0]), n
assert (x[0] > 0).sum() == 2 and np.isclose(sorted(x[0])[-1] / sorted(x[0])[-2], 2)
assert np.isclose(x[0] @ x[2], 1 / 5 ** .5) and x[3] @ x[0] == 0
P
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    check 'debian-graph.pl writes the arrays that the package lists say' /usr/bin/python3 look.py
else skip 'debian-graph.pl writes the arrays that the package lists say' 'no numpy'; fi
mkdir none
status 3 'debian-graph.pl fails when there are no package lists' $dg -l none out2.d
status 2 'debian-graph.pl refuses a command line without a directory' $dg
status 1 'debian-graph.pl fails when it cannot make its directory' $dg -l lists /nonexistent/x
cp err line; check 'debian-graph.pl says in one line that it cannot make its directory' sh -c 'test "$(wc -l <line)" -eq 1'
done_testing
