/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of pickles: every opcode once, every refusal once, every truncation, and the bound on
 * memory. Bytes are written by hand: each line is what Python's pickletools.dis would show. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/pickle.h"
#include "pickle_repr.h"
#include "tap.h"

struct line {
    const char *what;
    const char *bytes;
    size_t n;
    const char *text; /* the value, or a part of the message */
};

#define PROTO "\x80\x04"
#define LINE(WHAT, BYTES, TEXT)                                                                    \
    {                                                                                              \
        WHAT, BYTES, sizeof(BYTES) - 1, TEXT                                                       \
    }
/* Most pickles here begin and end alike. */
#define GOOD(WHAT, BYTES, TEXT) LINE(WHAT, PROTO BYTES ".", TEXT)
#define BAD(WHAT, BYTES, TEXT) LINE(WHAT, PROTO BYTES ".", TEXT)
#define TORCH "ctorch._utils\n_rebuild_tensor_v2\n"

/* A copy of its own size, so that a sanitizer sees reads beyond it. */
static int read_copy(struct gnn_torch_file *f, const char *bytes, size_t n, uint8_t **copy,
                     char *why)
{
    *copy = malloc(n ? n : 1);
    if (!*copy)
        abort();
    memcpy(*copy, bytes, n);
    *f = (struct gnn_torch_file){0};
    *why = 0;
    return gnn_pickle_read(&f->pickle, *copy, n, 0, why, 256);
}

static const struct line good[] = {
    GOOD("NONE", "N", "None"),
    GOOD("NEWTRUE", "\x88", "True"),
    GOOD("NEWFALSE", "\x89", "False"),
    GOOD("BININT1", "K\xff", "255"),
    GOOD("BININT2", "M\x00\x01", "256"),
    GOOD("BININT", "J\xff\xff\xff\xff", "-1"),
    GOOD("LONG1 without bytes", "\x8a\x00", "0"),
    GOOD("LONG1", "\x8a\x02\x00\x80", "-32768"),
    GOOD("LONG1 of 8 bytes", "\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80", "-9223372036854775808"),
    GOOD("LONG4", "\x8b\x03\x00\x00\x00\x00\x00\x01", "65536"),
    GOOD("BINFLOAT", "G\xc0\x04\x00\x00\x00\x00\x00\x00", "-2.5"),
    GOOD("BINUNICODE", "X\x02\x00\x00\x00\xc3\xa4", "'\xc3\xa4'"),
    GOOD("SHORT_BINUNICODE",
         "\x8c\x03"
         "abc",
         "'abc'"),
    GOOD("BINUNICODE8", "\x8d\x01\x00\x00\x00\x00\x00\x00\x00z", "'z'"),
    GOOD("BINBYTES", "B\x01\x00\x00\x00\xff", "b'ff'"),
    GOOD("SHORT_BINBYTES", "C\x02\x00\x01", "b'0001'"),
    GOOD("BINBYTES8", "\x8e\x01\x00\x00\x00\x00\x00\x00\x00z", "b'7a'"),
    GOOD("BYTEARRAY8", "\x96\x01\x00\x00\x00\x00\x00\x00\x00z", "b'7a'"),
    GOOD("BINSTRING", "T\x01\x00\x00\x00y", "'y'"),
    GOOD("SHORT_BINSTRING", "U\x01y", "'y'"),
    GOOD("EMPTY_TUPLE", ")", "()"),
    GOOD("TUPLE1", "N\x85", "(None,)"),
    GOOD("TUPLE2", "K\x01K\x02\x86", "(1, 2)"),
    GOOD("TUPLE3", "K\x01K\x02K\x03\x87", "(1, 2, 3)"),
    GOOD("TUPLE", "(K\x01K\x02K\x03K\x04t", "(1, 2, 3, 4)"),
    GOOD("EMPTY_LIST", "]", "[]"),
    GOOD("APPEND",
         "]K\x01"
         "aK\x02"
         "a",
         "[1, 2]"),
    GOOD("APPENDS",
         "](K\x01K\x02"
         "e(K\x03"
         "e",
         "[1, 2, 3]"),
    GOOD("LIST", "(K\x01K\x02l", "[1, 2]"),
    GOOD("EMPTY_DICT", "}", "{}"),
    GOOD("SETITEM", "}U\x01xK\x01s", "{'x': 1}"),
    GOOD("SETITEMS", "}(U\x01xK\x01U\x01yNu", "{'x': 1, 'y': None}"),
    GOOD("DICT",
         "(U\x01xK\x01"
         "d",
         "{'x': 1}"),
    GOOD("EMPTY_SET and ADDITEMS", "\x8f(K\x01K\x02\x90", "set{1, 2}"),
    GOOD("FROZENSET", "(K\x01\x91", "set{1}"),
    GOOD("POP", "K\x01N0", "1"),
    GOOD("POP of a mark", "K\x01(0", "1"),
    GOOD("POP_MARK", "K\x01(NN1", "1"),
    GOOD("DUP",
         "K\x01"
         "2\x86",
         "(1, 1)"),
    GOOD("BINPUT and BINGET", "K\x07q\x00h\x00\x86", "(7, 7)"),
    GOOD("LONG_BINPUT and LONG_BINGET of a sparse index",
         "K\x07r\xff\xff\xff\xff"
         "0K\x08q\x05j\xff\xff\xff\xffh\x05\x87",
         "(8, 7, 8)"),
    GOOD("MEMOIZE", "K\x07\x94K\x08\x94h\x00h\x01\x86\x86\x86", "(7, (8, (7, 8)))"),
    GOOD("MEMOIZE after BINPUT of 1", "K\x07q\x01K\x08\x94h\x01\x87", "(7, 8, 8)"),
    GOOD("a memo that is written twice", "K\x07q\x03K\x08q\x03h\x03\x87", "(7, 8, 8)"),
    GOOD("FRAME", "\x95\x02\x00\x00\x00\x00\x00\x00\x00N", "None"),
    GOOD("GLOBAL", "cnumpy\nndarray\n", "<numpy.ndarray>"),
    GOOD("GLOBAL of a module that was renamed", "cnumpy._core.multiarray\nscalar\n",
         "<numpy.core.multiarray.scalar>"),
    GOOD("STACK_GLOBAL", "\x8c\x05torch\x8c\x05int64\x93", "<torch.int64>"),
    GOOD("REDUCE",
         "ctorch\ndevice\nU\x03"
         "cpu\x85R",
         "torch.device('cpu',)"),
    GOOD("NEWOBJ and BUILD", "ctorch_geometric.data.data\nData\n)\x81}U\x01xK\x01sb",
         "torch_geometric.data.data.Data()|{'x': 1}"),
    GOOD("an OrderedDict", "ccollections\nOrderedDict\n)RU\x01xK\x01s", "{'x': 1}"),
    GOOD("an empty OrderedDict", "ccollections\nOrderedDict\n)R", "{}"),
    GOOD("a defaultdict", "ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(K\x01K\x02u",
         "{1: 2}"),
    GOOD("a set of protocol 2",
         "c__builtin__\nset\n](K\x01K\x02"
         "e\x85R",
         "set{1, 2}"),
    GOOD("a frozenset without items", "cbuiltins\nfrozenset\n)R", "set{}"),
    GOOD("bytes of protocol 2",
         "c_codecs\nencode\nX\x03\x00\x00\x00"
         "a\xc3\xbf"
         "X\x06\x00\x00\x00latin1\x86R",
         "b'61ff'"),
    GOOD("no bytes of protocol 2", "c__builtin__\nbytes\n)R", "b''"),
    GOOD("a bytearray", "cbuiltins\nbytearray\nC\x01z\x85R", "b'7a'"),
    GOOD("a bytearray of protocol 2",
         "c__builtin__\nbytearray\nX\x02\x00\x00\x00\xc2\x80X\x07\x00\x00\x00latin-1\x86R",
         "b'80'"),
    GOOD("a torch.Size", "ctorch\nSize\nK\x01K\x02\x86\x85R", "(1, 2)"),
    GOOD("an EdgeTypeStr",
         "ctorch_geometric.typing\nEdgeTypeStr\nU\x07"
         "a__b__c\x85\x81",
         "'a__b__c'"),
    GOOD("a list in itself",
         "]q\x00h\x00"
         "a",
         NULL),
    GOOD("a dict with a parent that has it",
         "ctorch_geometric.data.data\nData\n)\x81q\x00}U\x01p"
         "h\x00sb",
         NULL),
    LINE("protocol 2", "\x80\x02N.", "None"),
    LINE("protocol 5", "\x80\x05N.", "None"),
    LINE("what follows a pickle", "\x80\x02N.xyz", "None"),
};

static void test_good(void)
{
    char why[256], text[512];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct gnn_torch_file f;
        uint8_t *copy;
        const int rc = read_copy(&f, good[i].bytes, good[i].n, &copy, why);
        repr_pickle(&f, text, sizeof text);
        ok(!rc && (!good[i].text || !strcmp(text, good[i].text)), "%s is read as %s%s",
           good[i].what, rc ? why : text, strlen(text) > 60 ? " (cyclic)" : "");
        gnn_pickle_release(&f.pickle);
        free(copy);
    }
}

static const struct line bad[] = {
    LINE("nothing", "", "cut short"),
    LINE("protocol 0", "(lp0\nI1\na.", "protocol 0 or 1"),
    LINE("protocol 1",
         "]q\x00K\x01"
         "a.",
         "protocol 0 or 1"),
    LINE("protocol 1 by its number", "\x80\x01N.", "protocol 1; 2 to 5"),
    LINE("protocol 6", "\x80\x06N.", "protocol 6; 2 to 5"),
    LINE("no pickle", "<html>", "no pickle"),
    BAD("os.system by GLOBAL",
        "cos\nsystem\nU\x02"
        "id\x85R",
        "byte 2: global 'os.system' is not one that is read"),
    BAD("posix.system by GLOBAL", "cposix\nsystem\n", "global 'posix.system'"),
    BAD("builtins.eval", "cbuiltins\neval\n", "global 'builtins.eval'"),
    BAD("__builtin__.eval", "c__builtin__\neval\n", "global '__builtin__.eval'"),
    BAD("builtins.exec", "cbuiltins\nexec\n", "global 'builtins.exec'"),
    BAD("builtins.getattr", "cbuiltins\ngetattr\n", "global 'builtins.getattr'"),
    BAD("subprocess.Popen", "csubprocess\nPopen\n", "global 'subprocess.Popen'"),
    BAD("os.system by STACK_GLOBAL", "\x8c\x02os\x8c\x06system\x93", "byte 14: global 'os.system'"),
    BAD("posix.system by STACK_GLOBAL", "\x8c\x05posix\x8c\x06system\x93", "global 'posix.system'"),
    BAD("builtins.eval by STACK_GLOBAL",
        "\x8c\x08"
        "builtins\x8c\x04"
        "eval\x93",
        "global 'builtins.eval'"),
    BAD("a name with dots", "\x8c\x05torch\x8c\x19_utils._rebuild_tensor_v2\x93",
        "global 'torch._utils._rebuild_tensor_v2' is not"),
    BAD("a global without a module", "c\nNone\n", "global '.None'"),
    BAD("a global with a control character", "ca\x1b[1m\nb\n", "'a\\u001b[1m.b'"),
    BAD("a global of no text", "NN\x93", "STACK_GLOBAL of what is no text"),
    BAD("INST", "(ios\nsystem\n", "opcode INST"),
    BAD("OBJ", "(cnumpy\ndtype\no", "opcode OBJ"),
    BAD("EXT1", "\x82\x01", "opcode EXT1"),
    BAD("EXT2", "\x83\x01\x00", "opcode EXT2"),
    BAD("EXT4", "\x84\x01\x00\x00\x00", "opcode EXT4"),
    BAD("PERSID", "Pabc\n", "opcode PERSID"),
    BAD("BINPERSID", "NQ", "BINPERSID: a value outside"),
    BAD("NEWOBJ_EX", "N)}\x92", "opcode NEWOBJ_EX"),
    BAD("NEXT_BUFFER", "\x97", "opcode NEXT_BUFFER"),
    BAD("READONLY_BUFFER", "N\x98", "opcode READONLY_BUFFER"),
    BAD("INT", "I1\n", "opcode INT"),
    BAD("LONG", "L1L\n", "opcode LONG"),
    BAD("FLOAT", "F1\n", "opcode FLOAT"),
    BAD("STRING", "S'a'\n", "opcode STRING"),
    BAD("UNICODE", "Va\n", "opcode UNICODE"),
    BAD("GET", "g0\n", "opcode GET"),
    BAD("PUT", "Np0\n", "opcode PUT"),
    BAD("PROTO inside", "\x80\x04N", "opcode PROTO"),
    BAD("no opcode", "\xff", "0xff is no opcode"),
    BAD("no opcode that is a letter", "z", "0x7a is no opcode"),
    BAD("an int of nine bytes", "\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01", "int of 9 bytes"),
    BAD("an int of 2^40 bytes", "\x8b\xff\xff\xff\xff", "LONG4 has 4294967295 bytes"),
    BAD("text of 2^40 bytes", "\x8d\x00\x00\x00\x00\x00\x01\x00\x00", "has 1099511627776 bytes"),
    BAD("bytes of 2^40 bytes", "\x8e\x00\x00\x00\x00\x00\x01\x00\x00", "of which the file has 1"),
    BAD("a bytearray of 2^64 - 1 bytes", "\x96\xff\xff\xff\xff\xff\xff\xff\xff",
        "BYTEARRAY8 has 18446744073709551615 bytes"),
    BAD("a frame of 2^40 bytes", "\x95\x00\x00\x00\x00\x00\x01\x00\x00N", "FRAME has"),
    BAD("a negative length", "T\xff\xff\xff\xff", "BINSTRING has 4294967295 bytes"),
    BAD("TUPLE1 of nothing", "\x85", "TUPLE1 needs 1 values, and there are 0"),
    BAD("TUPLE2 of one value", "N\x86", "TUPLE2 needs 2 values"),
    BAD("TUPLE3 beyond a mark", "NN(N\x87", "TUPLE3 needs 3 values, and there are 1"),
    BAD("TUPLE without MARK", "Nt", "TUPLE without MARK"),
    BAD("LIST without MARK", "l", "LIST without MARK"),
    BAD("APPENDS without MARK", "]Ne", "APPENDS without MARK"),
    BAD("POP of nothing", "0", "POP needs"),
    BAD("POP_MARK without MARK", "N1", "POP_MARK without"),
    BAD("DUP of nothing", "2", "DUP needs"),
    BAD("APPEND to a tuple", ")Na", "APPEND adds to what is no list"),
    BAD("APPENDS to a dict", "}(Ne", "APPENDS adds to what is no list"),
    BAD("APPENDS to a set", "\x8f(Ne", "no list"),
    BAD("APPENDS to nothing", "(Ne", "APPENDS without what it adds to"),
    BAD("SETITEM of a list", "]NNs", "SETITEM adds to what is no dict"),
    BAD("SETITEM of a Data", "ctorch_geometric.data.data\nData\n)\x81NNs", "no dict"),
    BAD("SETITEMS of an odd number", "}(Nu", "a key without a value"),
    BAD("DICT of an odd number", "(Nd", "a key without a value"),
    BAD("ADDITEMS to a list", "](N\x90", "no set"),
    BAD("BINGET of nothing", "h\x00", "the memo has no value 0"),
    BAD("BINGET of a gap", "Nq\x05h\x04", "the memo has no value 4"),
    BAD("LONG_BINGET of 2^32 - 1", "j\xff\xff\xff\xff", "no value 4294967295"),
    BAD("BINPUT of nothing", "q\x00", "BINPUT needs"),
    BAD("MEMOIZE of nothing", "\x94", "MEMOIZE needs"),
    BAD("STOP with nothing", "", "STOP with 0 values"),
    BAD("STOP with two values", "NN", "STOP with 2 values"),
    BAD("STOP with a mark", "(N", "and 1 marks"),
    LINE("no STOP", "\x80\x04N", "ends without STOP"),
    BAD("REDUCE of no global", "N)R", "REDUCE of what is no global"),
    BAD("REDUCE without a tuple", "ctorch\nSize\nNR", "without a tuple"),
    BAD("REDUCE of a class of which none are made", "ctorch\nFloatStorage\n)R",
        "'torch.FloatStorage' is not one that makes a value"),
    BAD("REDUCE of a class for NEWOBJ", "ctorch_geometric.data.data\nData\n)R",
        "not one that makes"),
    BAD("NEWOBJ of a function", "ctorch\nSize\n)\x81", "not one that makes"),
    BAD("NEWOBJ of an object", "ctorch\ndevice\n)R)\x81", "NEWOBJ of what is no global"),
    BAD("BUILD of a dict", "}}b", "BUILD of what is no object"),
    BAD("BUILD of a global", "cnumpy\ndtype\n}b", "BUILD of what is no object"),
    BAD("BUILD of a device", "ctorch\ndevice\n)R}b", "'torch.device' gets no state"),
    BAD("BUILD twice", "ctorch_geometric.data.data\nData\n)\x81}b}b", "gets no second state"),
    BAD("an OrderedDict of a list", "ccollections\nOrderedDict\n]\x85R", "with arguments is not"),
    BAD("bytes of a list", "cbuiltins\nbytes\n]\x85R", "with arguments is not"),
    BAD("a set of an int", "cbuiltins\nset\nK\x01\x85R",
        "the value: 'builtins.set' with arguments that are not read"),
    BAD("a torch.Size of a list", "]ctorch\nSize\n]\x85R\x86", "[1]: 'torch.Size' with"),
    BAD("an encoding that is not latin1",
        "c_codecs\nencode\nU\x01"
        "aU\x04utf8\x86R",
        "'_codecs.encode' with"),
    BAD("bytes of a text that is not latin1",
        "c_codecs\nencode\nX\x02\x00\x00\x00\xc4\x80X\x06\x00\x00\x00latin1\x86R",
        "of a text that is not latin1"),
    BAD("bytes of a text that is no UTF-8",
        "c_codecs\nencode\nX\x02\x00\x00\x00z\xc3X\x06\x00\x00\x00latin1\x86R",
        "of a text that is not latin1"),
};

static void test_bad(void)
{
    char why[256];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gnn_torch_file f;
        uint8_t *copy;
        const int rc = read_copy(&f, bad[i].bytes, bad[i].n, &copy, why);
        ok(rc == GNN_PICKLE_BAD && strstr(why, bad[i].text) && !strncmp(why, "byte ", 5) &&
               !strchr(why, '\n') && !f.pickle.value,
           "%s is refused: %s", bad[i].what, why);
        gnn_pickle_release(&f.pickle);
        free(copy);
    }
}

/* Each good pickle without its last bytes. */
static void test_cuts(void)
{
    char why[256];
    size_t refused = 0, cuts = 0;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        for (size_t n = 0; n < good[i].n && good[i].bytes[good[i].n - 1] == '.'; n++) {
            struct gnn_torch_file f;
            uint8_t *copy;
            refused += read_copy(&f, good[i].bytes, n, &copy, why) == GNN_PICKLE_BAD && *why;
            cuts++;
            gnn_pickle_release(&f.pickle);
            free(copy);
        }
    ok(cuts > 1000 && refused == cuts, "a pickle is refused that is cut at any byte (%zu of %zu)",
       refused, cuts);
}

/* Whatever takes most memory for its bytes, again and again. */
static void test_memory(void)
{
    static const struct line unit[] = {
        LINE("empty lists", "]", ""),
        LINE("empty lists in the memo", "]\x94", ""),
        LINE("tuples in tuples", "\x85", ""),
        LINE("pairs in pairs", "2\x86", ""),
        LINE("marks", "(", ""),
        LINE("copies of one value", "2", ""),
        LINE("memoized values", "\x94", ""),
        LINE("text that is dropped",
             "U\x00"
             "0",
             ""),
        LINE("lists that are dropped", "]0", ""),
    };
    enum { BYTES = 400000 };
    char *b = malloc(BYTES + 4);
    for (size_t i = 0; b && i < sizeof unit / sizeof *unit; i++) {
        struct gnn_pickle p;
        char why[256];
        uint64_t n = 0;
        memcpy(b, "\x80\x04N", 3);
        for (n = 3; n + unit[i].n <= BYTES; n += unit[i].n)
            memcpy(b + n, unit[i].bytes, unit[i].n);
        (void)gnn_pickle_read(&p, b, n, 0, why, sizeof why); /* most end with a full stack */
        gnn_pickle_release(&p);
        memcpy(b, "\x80\x04(", 3);
        b[3] = 'N';
        for (n = 4; n + unit[i].n + 2 <= BYTES; n += unit[i].n)
            memcpy(b + n, unit[i].bytes, unit[i].n);
        b[n++] = 'l';
        b[n++] = '.';
        const int rc = gnn_pickle_read(&p, b, n, 0, why, sizeof why);
        ok(*unit[i].bytes == '(' || (!rc && p.memory < n * GNN_PICKLE_MEMORY + 16384),
           "%s take %.1f bytes for each byte", unit[i].what, (double)p.memory / (double)n);
        gnn_pickle_release(&p);
    }
    free(b);
}

/* Sparse indices, as many as one likes: the last value of each is found again. */
static void test_memo(void)
{
    enum { N = 20000 };
    uint8_t *b = malloc(N * 20 + 16), *q = b;
    char why[256];
    struct gnn_pickle p;
    if (!b)
        abort();
    memcpy(q, "\x80\x04(", 3);
    q += 3;
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t index = i * 214013u + (i % 2 ? 0x80000000u : 0);
        *q++ = 'J';
        memcpy(q, &i, 4);
        q[4] = 'r';
        memcpy(q + 5, &index, 4);
        q[9] = '0';
        q += 10;
    }
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t index = i * 214013u + (i % 2 ? 0x80000000u : 0);
        *q++ = 'j';
        memcpy(q, &index, 4);
        q += 4;
    }
    *q++ = 'l';
    *q++ = '.';
    const int rc = gnn_pickle_read(&p, b, (uint64_t)(q - b), 0, why, sizeof why);
    uint64_t same = 0;
    for (uint64_t i = 0; !rc && i < N; i++) {
        int64_t v = -1;
        same += gnn_pickle_int(gnn_pickle_item(&p, p.root, i), &v) && v == (int64_t)i;
    }
    ok(!rc && same == N, "the memo keeps %llu of %d values under sparse indices",
       (unsigned long long)same, N);
    gnn_pickle_release(&p);
    free(b);
}

#define ARRAY                                                                                      \
    "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01"                        \
    "b\x87R"
#define DTYPE(T, ORDER)                                                                            \
    "cnumpy\ndtype\nU\x02" T "\x89\x88\x87R(K\x03U\x01" ORDER                                      \
    "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
static const struct line arrays[] = {
    GOOD("an array",
         ARRAY "(K\x01K\x02K\x01\x86" DTYPE("i2", "<") "\x89"
                                                       "C\x04\x01\x00\x02\x00tb",
         "i16[2, 1]=01000200"),
    GOOD("an array in Fortran's order",
         ARRAY "(K\x01K\x02K\x03\x86" DTYPE("u1", "|") "\x88"
                                                       "C\x06"
                                                       "abcdeftb",
         "u8[2, 3]~=616365626466"),
    GOOD("an array of booleans",
         ARRAY "(K\x01K\x02\x85" DTYPE("b1", "|") "\x89"
                                                  "C\x02\x00\x01tb",
         "bool[2]=0001"),
    GOOD("an array of Python 2",
         ARRAY "(K\x01K\x02\x85" DTYPE("u1", "|") "\x89U\x02"
                                                  "abtb",
         "u8[2]=6162"),
    GOOD("an array without elements",
         ARRAY "(K\x01K\x00K\x05\x86" DTYPE("f8", "<") "\x89"
                                                       "C\x00tb",
         "f64[0, 5]="),
    GOOD("an array of protocol 5",
         "cnumpy.core.numeric\n_frombuffer\n(\x96\x04\x00\x00\x00\x00\x00\x00\x00"
         "abcd" DTYPE("u2", "<") "K\x02\x85U\x01"
                                 "CtR",
         "u16[2]=61626364"),
    GOOD("a scalar", "cnumpy.core.multiarray\nscalar\n" DTYPE("u1", "|") "C\x01z\x86R", "u8[]=7a"),
    GOOD("an array without a state", ARRAY, "!an array in a form that is not read"),
    GOOD("an array of big-endian numbers",
         ARRAY "(K\x01K\x01\x85" DTYPE("i2", ">") "\x89"
                                                  "C\x02\x00\x01tb",
         "!an array of big-endian numbers: write a.astype('<i2')"),
    GOOD("an array of text",
         ARRAY "(K\x01K\x01\x85" DTYPE("U1", "<") "\x89"
                                                  "C\x04\x00\x00\x00\x00tb",
         "!an array of type 'U1', which is not numbers that are read"),
    GOOD("an array of objects", ARRAY "(K\x01K\x01\x85" DTYPE("O8", "|") "\x89]tb",
         "!an array of type 'O8', which is not numbers that are read"),
    GOOD("an array whose type is none",
         ARRAY "(K\x01K\x01\x85N\x89"
               "C\x00tb",
         "!an array whose type is None"),
    GOOD("an array of five dimensions",
         ARRAY "(K\x01(K\x01K\x01K\x01K\x01K\x01t" DTYPE("u1", "|") "\x89"
                                                                    "C\x01ztb",
         "!an array: it has more than 4 dimensions"),
    GOOD("an array of a negative size",
         ARRAY "(K\x01J\xff\xff\xff\xff\x85" DTYPE("u1", "|") "\x89"
                                                              "C\x01ztb",
         "!an array: a part of its shape is no count"),
    GOOD("an array that is too long for its bytes",
         ARRAY "(K\x01K\x02\x85" DTYPE("u1", "|") "\x89"
                                                  "C\x01ztb",
         "!an array: its shape and the length of its data disagree"),
    GOOD("an array that is too short for its bytes",
         ARRAY "(K\x01K\x01\x85" DTYPE("u1", "|") "\x89"
                                                  "C\x02zztb",
         "!an array: its shape and the length of its data disagree"),
    GOOD("an array of 2^60 by 2^60",
         ARRAY "(K\x01\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x10"
               "2\x86" DTYPE("u1", "|") "\x89"
                                        "C\x01ztb",
         "!an array: its shape is too large"),
    GOOD("an array without bytes", ARRAY "(K\x01K\x01\x85" DTYPE("u1", "|") "\x89Ntb",
         "!an array whose data are None instead of bytes"),
    GOOD("a tensor", TORCH ")R", "!a tensor: it has no storage"),
};

static void test_arrays(void)
{
    char why[256], text[512];
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        struct gnn_torch_file f;
        uint8_t *copy;
        const int rc = read_copy(&f, arrays[i].bytes, arrays[i].n, &copy, why);
        repr_pickle(&f, text, sizeof text);
        ok(!rc && !strncmp(text, arrays[i].text, strlen(arrays[i].text)), "%s is %s",
           arrays[i].what, rc ? why : text);
        gnn_pickle_release(&f.pickle);
        free(copy);
    }
}

static void test_lookup(void)
{
    static const char bytes[] = "\x80\x04}(U\x01xK\x01U\x01y](NU\x01zeU\x01xK\x02u.";
    struct gnn_pickle p;
    char text[128];
    double f;
    ok(!gnn_pickle_read(&p, bytes, sizeof bytes - 1, 0, text, sizeof text), "a dict is read");
    const struct gnn_pickle_value *x = gnn_pickle_get(&p, p.root, "x"),
                                  *y = gnn_pickle_get(&p, p.root, "y"),
                                  *none = gnn_pickle_get(&p, p.root, "w");
    ok(gnn_pickle_float(x, &f) && f == 2, "of two values of a key the last counts");
    ok(!none && gnn_pickle_kind(none) == GNN_PICKLE_NOTHING && !gnn_pickle_item(&p, none, 0) &&
           !gnn_pickle_get(&p, gnn_pickle_get(&p, none, "a"), "b") && !gnn_pickle_state(&p, none),
       "what is not there has no parts");
    ok(gnn_pickle_is_none(gnn_pickle_item(&p, y, 0)) && !gnn_pickle_item(&p, y, 2),
       "a list has as many items as it has");
    ok(!strcmp(gnn_pickle_path(&p, gnn_pickle_item(&p, y, 1), text, sizeof text), "['y'][1]"),
       "the path of a value is %s", text);
    ok(!strcmp(gnn_pickle_path(&p, p.root, text, sizeof text), "the value") &&
           !strcmp(gnn_pickle_path(&p, NULL, text, sizeof text), "?"),
       "the root has a path, and nothing has none");
    ok(!strcmp(gnn_pickle_path(&p, gnn_pickle_item(&p, y, 1), text, 8), "..."),
       "a path that is too long is cut: %s", text);
    ok(!strcmp(gnn_pickle_describe(&p, y, text, sizeof text), "a list of 2"), "a list is %s", text);
    gnn_pickle_release(&p);
}

int main(void)
{
    test_good();
    test_bad();
    test_cuts();
    test_memory();
    test_memo();
    test_arrays();
    test_lookup();
    return tap_done();
}
