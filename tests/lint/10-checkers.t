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
mkdir -p cmd lib/base lib/store kernels/cpu formats man scripts tests
echo all: >Makefile
echo x >README.md
reset() { rm -f cmd/* lib/*/* kernels/cpu/* formats/* scripts/* man/*; }
layers() { perl "$GNN_TOP/scripts/check-layers.pl" .; }
headers() { sh "$GNN_TOP/scripts/check-headers.sh" .; }
format() { sh "$GNN_TOP/scripts/check-format.sh" .; }
text() { sh "$GNN_TOP/scripts/check-text.sh" .; }
plant() { printf '%b' "$2" >"$1"; }

plant lib/base/a.c '/* printf( */ static const char *s = "exit(1)"; // strcpy(\n#include "formats/x.h"\n'
check 'comments and strings are not code' layers
plant lib/base/a.c '#include "cmd/cli.h"\n'
finds 'lib does not know cmd' 'lib/base/a.c:1: lib may not include' layers
plant lib/base/a.c '\nint f(void) { printf("x"); }\n'
finds 'lib does not print' 'lib/base/a.c:2: only cmd prints' layers
plant lib/base/a.c 'void *f(void) { return malloc(3); }\n'
finds 'lib allocates in one place' 'malloc outside lib/base/mem.c' layers
plant lib/base/a.c 'void f(void) { fputs("a", stderr); }\n'
finds 'lib does not know stderr' 'stderr' layers
plant lib/base/a.c '#include "lib/store/s.h"\n'
finds 'a module does not know those after it' 'base may not include "lib/store/s.h": store comes after it' layers
plant lib/base/a.c ''
plant lib/store/s.c '#include "lib/base/err.h"\n'
check 'but those before it' layers
plant lib/a.c ''
finds 'no file lies flat in lib' 'lib/a.c: no module' layers
rm lib/a.c
plant lib/base/a.c 'void f(void) { _exit(1); }\n'
check 'a child of lib may end itself' layers
reset
plant kernels/cpu/k.c '#include "lib/base/err.h"\n'
finds 'kernels do not know lib' 'kernels may not include' layers
plant kernels/cpu/k.c '#include "formats/tensor.h"\n'
finds 'kernels do not know formats' 'kernels may not include' layers
plant kernels/cpu/k.c '#include "k.h"\n'
finds 'includes go from the root' 'by its path from the root' layers
plant kernels/cpu/k.c 'void *f(void) { return calloc(1, 2); }\n'
finds 'kernels do not allocate' 'kernels do not allocate' layers
reset
plant formats/f.c '#include "kernels/rng.h"\n'
finds 'formats do not know kernels' 'formats may not include' layers
reset
for f in strcpy sprintf atoi strtok gets rand; do
    plant cmd/c.c "int g(void) { $f (a); }\n"
    finds "$f is not to be used" "$f is not" layers
done
reset

if clang-format-14 --version >/dev/null 2>&1 || clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
    cp "$GNN_TOP/.clang-format" .
    plant lib/base/a.c 'int f(int a)\n{\n  return a;\n}\n'
    finds 'code in another format' 'lib/base/a.c:2.*should be clang-formatted' format
    plant lib/base/a.c 'int f(int a)\n{\n    return a;\n}\n'
    check 'code as clang-format writes it' format
else
    skip 'the format of code' 'no clang-format 14'
fi
reset

plant lib/base/h.h '#include <stdint.h>\nstruct h { uint32_t a; };\n'
finds 'a header without a guard' 'as C11' headers
plant lib/base/h.h '#ifndef H\n#define H\nstruct h { uint32_t a; };\n#endif\n'
finds 'a header that needs another' 'as C11' headers
plant lib/base/h.h '#ifndef H\n#define H\nstatic inline int *f(void *p) { return p; }\n#endif\n'
finds 'a header that is not C++' 'as C++17' headers
plant lib/base/h.h '#ifndef H\n#define H\nstruct h;\n#endif\n'
check 'a good header' headers
reset

plant lib/base/t.c 'int a; \n'
finds 'trailing blanks' 'lib/base/t.c:1: trailing blanks' text
plant lib/base/t.c '\tint a;\n'
finds 'a tab in C' 'a tab in C' text
plant lib/base/t.c 'int a;'
finds 'no last newline' 'no newline' text
plant lib/base/t.c '/* Who is'' is known. */\n'
finds 'a word twice' 'a word twice' text
plant lib/base/t.c '// TO''DO: later\n'
finds 'a promise' 'a promise' text
yes 'int a;' | head -n 701 >lib/base/t.c
finds 'a long file' 'over 700' text
reset
if command -v shellcheck >/dev/null; then
    plant scripts/s.sh '#!/bin/sh\nrm $1\n'
    finds 'a careless script' SC2086 text
    reset
else skip 'a careless script' 'no shellcheck'; fi
if command -v mandoc >/dev/null; then
    plant man/x.1 '.Dd November 20, 2026\n.Dt X 1\n.Os\n.Sh NAME\n.Nm x\n.Nd x\n.Bogus\n'
    finds 'a careless page' 'unknown macro' text
    reset
else skip 'a careless page' 'no mandoc'; fi
check 'a clean tree' text

cd "$GNN_TOP" || exit 1
n_=$(perl scripts/check-layers.pl . | head -n 5)
[ -z "$n_" ] && _ok 'this tree keeps its layers' || { _not_ok 'this tree keeps its layers'; echo "$n_" | sed 's/^/# /'; }
done_testing
