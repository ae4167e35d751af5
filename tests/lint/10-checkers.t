# SPDX-License-Identifier: Apache-2.0
# The checkers of make lint find what is planted, and nothing in a clean tree.
. "$GNN_TOP/tests/lib.sh"
finds() { # NAME WANTED-TEXT COMMAND...
    _n=$1 _w=$2
    shift 2
    if "$@" >out 2>&1; then _not_ok "$_n: not found"; elif grep -q "$_w" out; then _ok "$_n"; else
        _not_ok "$_n"
        sed 's/^/# /' out
    fi
}
mkdir -p cmd lib/base lib/store lib/import/read lib/import/build kernels/cpu formats man mk scripts tests
printf '%s\n' '# SPDX-License-Identifier: Apache-2.0' all: >Makefile
echo x >README.md
reset() { find cmd lib -type f -delete; rm -f kernels/cpu/* formats/* scripts/* man/* mk/*; }
layers() { perl "$GNN_TOP/scripts/check-layers.pl" .; }
headers() { sh "$GNN_TOP/scripts/check-headers.sh" .; }
format() { sh "$GNN_TOP/scripts/check-format.sh" .; }
shape() { perl "$GNN_TOP/scripts/tree-stats.pl" -c .; }
text() { sh "$GNN_TOP/scripts/check-text.sh" .; }
plant() { printf '%b' "$2" >"$1"; }

plant lib/base/a.c '/* printf( */ static const char *s = "exit(1)"; // strcpy(\n#include "formats/x.h"\n'
check 'check-layers.pl ignores comments and strings' layers
plant lib/base/a.c '#include "cmd/cli.h"\n'
finds 'check-layers.pl finds a lib that includes cmd' 'lib/base/a.c:1: lib may not include' layers
plant lib/base/a.c '\nint f(void) { printf("x"); }\n'
finds 'check-layers.pl finds a lib that prints' 'lib/base/a.c:2: only cmd prints' layers
plant lib/base/a.c 'void *f(void) { return malloc(3); }\n'
finds 'check-layers.pl finds a lib that allocates outside mem.h' 'malloc outside lib/base/mem.c' layers
plant lib/base/a.c 'void f(void) { fputs("a", stderr); }\n'
finds 'check-layers.pl finds a lib that uses stderr' 'stderr' layers
plant lib/base/a.c '#include "lib/store/s.h"\n'
finds 'check-layers.pl finds a module that includes one after it' 'base may not include "lib/store/s.h": store comes after it' layers
plant lib/base/a.c ''
plant lib/store/s.c '#include "lib/base/err.h"\n'
check 'check-layers.pl accepts a module that includes one before it' layers
plant lib/import/read/r.c '#include "lib/import/import.h"\n#include "lib/import/read/r.h"\n'
check 'check-layers.pl accepts a directory of a module that includes its own and what the module shares' layers
plant lib/import/read/r.c '#include "lib/import/build/b.h"\n'
finds 'check-layers.pl finds one that includes a directory beside it' 'lib/import/read may not include "lib/import/build/b.h": lib/import/build is beside it' layers
rm lib/import/read/r.c
plant lib/a.c ''
finds 'check-layers.pl finds a file of no module in lib' 'lib/a.c: no module' layers
rm lib/a.c
plant lib/base/a.c 'void f(void) { _exit(1); }\n'
check 'check-layers.pl accepts _exit in lib' layers
reset
plant kernels/cpu/k.c 'GNN_SIMD static void twice(int x) {}\n'
plant kernels/cpu/l.c 'GNN_SIMD static void once(int x) {}\n'
check 'check-layers.pl accepts functions for several instruction sets' layers
plant kernels/cpu/l.c 'GNN_SIMD static void twice(int x) {}\n'
finds 'check-layers.pl finds two of one name' 'kernels/cpu/l.c: twice is the name of a GNN_SIMD function of kernels/cpu/k.c, too' layers
rm kernels/cpu/l.c
plant kernels/cpu/k.c '#include "lib/base/err.h"\n'
finds 'check-layers.pl finds kernels that include lib' 'kernels may not include' layers
plant kernels/cpu/k.c '#include "formats/tensor.h"\n'
finds 'check-layers.pl finds kernels that include formats' 'kernels may not include' layers
plant kernels/cpu/k.c '#include "k.h"\n'
finds 'check-layers.pl finds an include that is not from the root' 'by its path from the root' layers
plant kernels/cpu/k.c ''
plant lib/base/k.h ''
check 'check-layers.pl accepts a source and a header of one stem' layers
plant lib/store/k.c ''
finds 'check-layers.pl finds two files of one name' '^k.c: a name for one file: kernels/cpu/k.c lib/store/k.c$' layers
rm lib/store/k.c
plant tests/k.h ''
finds 'check-layers.pl finds a header of tests that is named like another' '^k.h: a name for one file: lib/base/k.h tests/k.h$' layers
rm tests/k.h
mkdir -p tests/a/b/c/d && cp lib/base/k.h tests/a/b/c/d
finds 'check-layers.pl finds one deep down' '^k.h: a name for one file: lib/base/k.h tests/a/b/c/d/k.h$' layers
rm -r tests/a lib/base/k.h
plant kernels/cpu/k.c 'void *f(void) { return calloc(1, 2); }\n'
finds 'check-layers.pl finds kernels that allocate' 'kernels do not allocate' layers
reset
plant formats/f.c '#include "kernels/rng.h"\n'
finds 'check-layers.pl finds formats that include kernels' 'formats may not include' layers
reset
for f in strcpy sprintf atoi strtok gets rand; do
    plant cmd/c.c "int g(void) { $f (a); }\n"
    finds "check-layers.pl finds a call of $f" "$f is not" layers
done
reset

plant lib/base/a.c 'int gnn_a(void)\n{\n    return gnn_b();\n}\n'
plant lib/base/b.c 'int gnn_b(void)\n{\n    return 1;\n}\n'
check 'a file that calls another' shape
plant lib/base/b.c 'int gnn_b(void)\n{\n    return gnn_a();\n}\n'
finds 'files that call each other' 'lib/base/a lib/base/b: these files call each other' shape
plant lib/base/b.c 'const struct ops *const gnn_b = {gnn_a};\n'
finds 'a table counts as a call' 'lib/base/a lib/base/b: these files call each other' shape
plant lib/base/a.c 'const int *x[] = {LIST(&gnn_##name)};\nint gnn_a(void)\n{\n    return 1;\n}\n'
finds 'and so does a name that a macro makes' 'lib/base/a lib/base/b: these files call each other' shape
reset
plant lib/base/a.h 'int gnn_a(int x);\nstatic inline int gnn_one(int x)\n{\n    return gnn_b(x);\n}\n'
plant lib/base/b.c 'int gnn_b(int x)\n{\n    return x;\n}\nint gnn_c(int x)\n{\n    return gnn_a(x);\n}\n'
check 'an inline function that calls another file' shape
plant lib/base/a.c 'int gnn_a(int x)\n{\n    return x;\n}\n'
finds 'a circle through the body of a function in a header' 'lib/base/a lib/base/b: these files call each other' shape
reset
plant lib/base/a.c 'static int find(int a)\n{\n    return a;\n}\n'
finds 'a static function named by one word' 'lib/base/a.c: find: a static function' shape
plant lib/base/a.c 'static int find_it(int a)\n{\n    return a;\n}\nstatic void (*end)(int);\n'
check 'one named by two, and a pointer' shape
reset

if clang-format-14 --version >/dev/null 2>&1 || clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
    cp "$GNN_TOP/.clang-format" .
    plant lib/base/a.c 'int f(int a)\n{\n  return a;\n}\n'
    finds 'check-format.sh finds code in another format' 'lib/base/a.c:2.*should be clang-formatted' format
    plant lib/base/a.c 'int f(int a)\n{\n    return a;\n}\n'
    check 'check-format.sh accepts code as clang-format writes it' format
else
    skip 'check-format.sh finds code in another format' 'no clang-format 14'
fi
reset

plant lib/base/h.h '#include <stdint.h>\nstruct h { uint32_t a; };\n'
finds 'check-headers.sh finds a header without a guard' 'as C11' headers
plant lib/base/h.h '#ifndef H\n#define H\nstruct h { uint32_t a; };\n#endif\n'
finds 'check-headers.sh finds a header that needs another' 'as C11' headers
plant lib/base/h.h '#ifndef H\n#define H\nstatic inline int *f(void *p) { return p; }\n#endif\n'
finds 'check-headers.sh finds a header that is not C++' 'as C++17' headers
plant lib/base/h.h '#ifndef H\n#define H\nstruct h;\n#endif\n'
check 'check-headers.sh accepts a good header' headers
reset

plant lib/base/t.c 'int a; \n'
finds 'check-text.sh finds trailing blanks' 'lib/base/t.c:1: trailing blanks' text
plant lib/base/t.c '\tint a;\n'
finds 'check-text.sh finds a tab in C' 'a tab in C' text
plant lib/base/t.c 'int a;'
finds 'check-text.sh finds a file without a last newline' 'no newline' text
finds 'check-text.sh finds a file without an SPDX line' 'lib/base/t.c: no SPDX line' text
plant lib/base/t.c '/* Who is'' is known. */\n'
finds 'check-text.sh finds a word twice' 'a word twice' text
reset
plant lib/base/t.h '/* SPDX-License-Identifier: Apache-2.0 */\n/*- T:\n * a u32 (n)  nodes\n * b u64 (e)  edges */\nstruct s {\n    int a; /* of it */\n};\n'
check 'check-text.sh accepts a table with a line for each tensor' text
plant lib/base/t.h '/* SPDX-License-Identifier: Apache-2.0 */\n/* T:\n * a u32 (n)  nodes b u64 (e)  edges */\n'
finds 'check-text.sh finds a table whose lines have run together' 'lib/base/t.h:3: two tensors in a line of a table' text
plant lib/base/t.h '/* SPDX-License-Identifier: Apache-2.0 */\n/* T:\n * a/T u32 (n)  nodes of the set b/SPLIT/SET u64\n * (m) their sets */\n'
finds 'check-text.sh finds a table in which a name stands behind text' 'lib/base/t.h:3: two tensors in a line of a table' text
plant lib/base/t.h '/* SPDX-License-Identifier: Apache-2.0 */\nstruct s {\n    uint32_t\n        a; /* of it */\n};\n'
finds 'check-text.sh finds a declaration that a comment has cut in two' 'lib/base/t.h:3: a declaration cut in two' text
plant lib/base/t.h '/* SPDX-License-Identifier: Apache-2.0 */\n/* What a and b share. */\nint a, b;\n'
finds 'check-text.sh finds a sentence that does not begin with the thing declared' 'lib/base/t.h:2: a sentence that does not' text
rm lib/base/t.h
plant lib/base/t.c '<<<<''<<< HEAD\na\n====''===\nb\n>>>>''>>> c0ffee (Add b)\n'
finds 'check-text.sh finds marks of a merge' 'lib/base/t.c:3: a mark of a merge' text
plant lib/base/t.c '// TO''DO: later\n'
finds 'check-text.sh finds a promise left in the text' 'a promise' text
yes 'int a;' | head -n 701 >lib/base/t.c
finds 'check-text.sh finds a file of over 700 lines' 'over 700' text
reset
printf '# SPDX-License-Identifier: Apache-2.0\nx = "%s"\n' "$(printf '%0120d' 0)" >formats/x.py
finds 'check-text.sh finds a line of Python over 120 columns' 'formats/x.py:2: over 120 columns' text
reset
printf '# SPDX-License-Identifier: Apache-2.0\nX = %s\n' "$(printf '%0150d' 0)" >mk/x.mk
finds 'check-text.sh finds a line of a makefile over 150 columns' 'mk/x.mk:2: over 150 columns' text
reset
if command -v shellcheck >/dev/null; then
    plant scripts/s.sh '#!/bin/sh\nrm $1\n'
    finds 'check-text.sh finds a careless script' SC2086 text
    reset
else skip 'check-text.sh finds a careless script' 'no shellcheck'; fi
if command -v mandoc >/dev/null; then
    plant man/x.1 '.Dd November 20, 2026\n.Dt X 1\n.Os\n.Sh NAME\n.Nm x\n.Nd x\n.Bogus\n'
    finds 'check-text.sh finds a careless manual page' 'unknown macro' text
    plant man/x.1 '.\\" SPDX-License-Identifier: Apache-2.0\n.Dd November 20, 2026\n.Dt X 1\n.Os\n.Sh NAME\n.Nm x\n.Nd x\n.Sh DESCRIPTION\n.Pq with Fl -all , No the same\n.Cm a , b\n'
    check 'check-text.sh accepts a macro that No ends' text
    echo '.Pq with Fl -all , same file' >>man/x.1
    finds 'check-text.sh finds words that are shown as options' 'man/x.1: -same: a macro that goes on' text
    sed -i '$d' man/x.1
    echo '.Cm a or b' >>man/x.1
    finds 'check-text.sh finds words that are shown in bold' 'man/x.1: a or b: a macro that goes on' text
    reset
else skip 'check-text.sh finds a careless manual page' 'no mandoc'; fi
check 'check-text.sh accepts a clean tree' text

cd "$GNN_TOP" || exit 1
n_=$(perl scripts/check-layers.pl . | head -n 5)
[ -z "$n_" ] && _ok 'check-layers.pl finds nothing in this tree' ||
    { _not_ok 'check-layers.pl finds nothing in this tree'; echo "$n_" | sed 's/^/# /'; }
done_testing
