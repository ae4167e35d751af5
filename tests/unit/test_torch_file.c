/* SPDX-License-Identifier: Apache-2.0 */
/* Files of torch.save, made by hand: both containers, whatever can be wrong with them, and tensors
 * that do not fit their storages. With arguments it prints what files hold, for tests/peers:
 * test_torch_file FILE... */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/torch_file.h"
#include "pickle_repr.h"
#include "tap.h"

/* ---- making files ---- */

struct file {
    uint8_t b[8192];
    size_t n;
};

static void put_bytes(struct file *f, const void *bytes, size_t n)
{
    if (n > sizeof f->b - f->n)
        abort();
    if (n)
        memcpy(f->b + f->n, bytes, n);
    f->n += n;
}

static void put_number(struct file *f, uint64_t v, size_t bytes)
{
    put_bytes(f, &v, bytes);
}

/* A member of an archive, and how it is out of order. */
struct member {
    const char *name, *data;
    size_t n;
    unsigned method;
    unsigned gap;  /* bytes before it that belong to nothing */
    unsigned back; /* its header is so many bytes before where it should be, in the directory */
};

#define MEMBER(NAME, DATA)                                                                         \
    {                                                                                              \
        .name = NAME, .data = DATA, .n = sizeof(DATA) - 1                                          \
    }

static void put_sizes(struct file *f, const struct member *m)
{
    put_number(f, m->method, 2);
    put_number(f, 0, 4); /* time, date */
    put_number(f, 0, 4); /* the checksum, which is not looked at */
    put_number(f, m->n, 4);
    put_number(f, m->n, 4);
    put_number(f, strlen(m->name), 2);
}

static void make_zip(struct file *f, const struct member *m, size_t n)
{
    size_t at[16];
    f->n = 0;
    for (size_t i = 0; i < n; i++) {
        put_bytes(f, "gapgapgap", m[i].gap);
        at[i] = f->n - m[i].back;
        put_bytes(f, "PK\3\4\0\0\0\0", 8);
        put_sizes(f, &m[i]);
        put_number(f, 0, 2); /* no extra field */
        put_bytes(f, m[i].name, strlen(m[i].name));
        put_bytes(f, m[i].data, m[i].n);
    }
    const size_t directory = f->n;
    for (size_t i = 0; i < n; i++) {
        put_bytes(f, "PK\1\2\0\0\0\0\0\0", 10);
        put_sizes(f, &m[i]);
        put_bytes(f, "\0\0\0\0\0\0\0\0\0\0\0\0", 12); /* extra field ... attributes */
        put_number(f, at[i], 4);
        put_bytes(f, m[i].name, strlen(m[i].name));
    }
    const size_t bytes = f->n - directory;
    put_bytes(f, "PK\5\6\0\0\0\0", 8);
    put_number(f, n, 2);
    put_number(f, n, 2);
    put_number(f, bytes, 4);
    put_number(f, directory, 4);
    put_number(f, 0, 2);
}

/* A storage's id, and a tensor over it: offset, shape and strides are pickled by the caller. */
#define ID(TYPE, KEY, N, MORE)                                                                     \
    "(U\x07storagectorch\n" TYPE "Storage\nU\x01" KEY "U\x03"                                      \
    "cpu" N MORE "tQ"
#define TENSOR(TYPE, KEY, N, VIEW)                                                                 \
    "ctorch._utils\n_rebuild_tensor_v2\n(" ID(TYPE, KEY, N, "") VIEW                               \
        "\x89"                                                                                     \
        "ccollections\nOrderedDict\n)RtR"
#define PICKLE(WHAT) "\x80\x02" WHAT "."
/* Six floats as 2 x 3, by rows. */
#define ROWS "K\x00K\x02K\x03\x86K\x03K\x01\x86"
#define SIX "K\x06"
#define FLOATS "\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40"
#define FLOATS_TEXT "000000000000803f00000040000040400000804000" /* and "00a040" */

struct result {
    struct gnn_torch_file f;
    int rc;
    char why[256], text[1024];
};

/* Opens a copy of its own size. */
static void open_copy(struct result *r, const uint8_t *bytes, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);
    if (!copy)
        abort();
    memcpy(copy, bytes, n);
    *r = (struct result){0};
    r->rc = gnn_torch_open(&r->f, copy, n, r->why, sizeof r->why);
    if (!r->rc)
        repr_pickle(&r->f, r->text, sizeof r->text);
    gnn_torch_release(&r->f);
    free(copy);
}

/* ---- archives ---- */

enum { MEMBERS = 5 };
struct archive {
    const char *what;
    struct member m[MEMBERS];
    const char *why; /* NULL: it is read */
};

#define PKL MEMBER("x/data.pkl", PICKLE(TENSOR("Float", "0", SIX, ROWS)))
#define DATA MEMBER("x/data/0", FLOATS)

static const struct archive archives[] = {
    {"an archive", {PKL, DATA}, NULL},
    {"an archive with its byte order", {PKL, MEMBER("x/byteorder", "little"), DATA}, NULL},
    {"an archive with other members", {PKL, DATA, MEMBER("x/version", "3\n")}, NULL},
    {"a big-endian archive", {PKL, MEMBER("x/byteorder", "big"), DATA}, "not little-endian"},
    {"an archive of TorchScript",
     {PKL, DATA, MEMBER("x/code/__torch__.py", "class A:")},
     "an archive of TorchScript"},
    {"an archive with constants of TorchScript",
     {PKL, DATA, MEMBER("x/constants.pkl", "")},
     "take its tensors out"},
    {"an archive of TorchScript, whose code is compressed",
     {PKL, DATA, {.name = "x/code/a.py", .data = "abc", .n = 3, .method = 8}},
     "an archive of TorchScript"},
    {"an archive of something else", {MEMBER("x.npy", "1"), DATA}, "without a member data.pkl"},
    {"an archive whose pickle is not in a folder", {MEMBER("data.pkl", "1")}, "without a member"},
    {"an archive of two pickles", {PKL, DATA, MEMBER("y/data.pkl", "")}, "two members data.pkl"},
    {"an archive without the storage", {PKL}, "storage '0': the archive has no such member"},
    {"an archive with a storage that is too short",
     {PKL, MEMBER("x/data/0", "1234")},
     "storage '0': it has 4 bytes in the archive, and 24 by the pickle"},
    {"an archive with a storage that is too long",
     {PKL, MEMBER("x/data/0", FLOATS "1")},
     "25 bytes"},
    {"an archive with a storage twice", {PKL, DATA, DATA}, "member 'x/data/0': it is there twice"},
    {"an archive with a compressed storage",
     {PKL, {.name = "x/data/0", .data = FLOATS, .n = 24, .method = 8}},
     "member 'x/data/0': it is compressed"},
    {"an archive with a gap",
     {PKL, {.name = "x/data/0", .data = FLOATS, .n = 24, .gap = 3}},
     "the bytes before it belong to no listed member"},
    {"an archive whose members overlap",
     {PKL, DATA, {.name = "x/data/0", .data = FLOATS, .n = 24, .back = 62}},
     "overlaps another"},
    {"an archive with a wrong place",
     {PKL, {.name = "x/data/0", .data = FLOATS, .n = 24, .back = 5}},
     "it is not where the directory says"},
    {"an archive with a bad pickle",
     {MEMBER("x/data.pkl", "\x80\x02"
                           "cos\nsystem\n."),
      DATA},
     "data.pkl: byte 2: global 'os.system' is not one that is read"},
    {"an archive with bytes after its pickle",
     {MEMBER("x/data.pkl", PICKLE("N") "abc"), DATA},
     "3 bytes after the pickle"},
};

static void test_archives(void)
{
    struct file f;
    struct result r;
    for (size_t i = 0; i < sizeof archives / sizeof *archives; i++) {
        const struct archive *a = &archives[i];
        size_t n = 0;
        while (n < MEMBERS && a->m[n].name)
            n++;
        make_zip(&f, a->m, n);
        open_copy(&r, f.b, f.n);
        if (a->why)
            ok(r.rc == GNN_PICKLE_BAD && strstr(r.why, a->why) && !strchr(r.why, '\n'),
               "%s is refused: %s", a->what, r.why);
        else
            ok(!r.rc && !strcmp(r.text, "f32[2, 3]=" FLOATS_TEXT "00a040"), "%s is read: %s%s",
               a->what, r.why, r.text);
    }
}

/* ---- tensors ---- */

struct view {
    const char *what, *pickle;
    size_t n;
    const char *text; /* of the value, or "?" and a part of why the file is refused */
};

#define VIEW(WHAT, PKL, TEXT)                                                                      \
    {                                                                                              \
        WHAT, PICKLE(PKL), sizeof(PICKLE(PKL)) - 1, TEXT                                           \
    }
#define LONG40 "\x8a\x06\x00\x00\x00\x00\x00\x01" /* 2^40 */
#define MOST "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"

static const struct view views[] = {
    VIEW("a transposed tensor", TENSOR("Float", "0", SIX, "K\x00K\x03K\x02\x86K\x01K\x03\x86"),
         "f32[3, 2]~=00000000000040400000803f0000804000000040"
         "0000a040"),
    VIEW("a row of a tensor", TENSOR("Float", "0", SIX, "K\x03K\x03\x85K\x01\x85"),
         "f32[3]=00004040000080400000a040"),
    VIEW("a column of a tensor", TENSOR("Float", "0", SIX, "K\x01K\x02\x85K\x03\x85"),
         "f32[2]~=0000803f00008040"),
    VIEW("a scalar", TENSOR("Float", "0", SIX, "K\x05))"), "f32[]=0000a040"),
    VIEW("a tensor without elements",
         TENSOR("Float", "0", SIX, "K\x00K\x00K\x05\x86K\x05K\x01\x86"), "f32[0, 5]="),
    VIEW("a tensor with a stride that is not used",
         TENSOR("Float", "0", SIX, "K\x00K\x01K\x03\x86" MOST "K\x01\x86"),
         "f32[1, 3]=000000000000803f00000040"),
    VIEW("integers", TENSOR("Long", "0", "K\x03", "K\x01K\x01\x85K\x01\x85"),
         "i64[1]=0000004000004040"),
    VIEW("booleans", TENSOR("Bool", "0", "K\x18", "K\x06K\x02\x85K\x01\x85"), "bool[2]=803f"),
    VIEW("bfloat16", TENSOR("BFloat16", "0", "K\x0c", "K\x03K\x01\x85K\x01\x85"), "bf16[1]=803f"),
    VIEW("a type that is given beside an untyped storage",
         "ctorch._utils\n_rebuild_tensor_v3\n(" ID(
             "Untyped", "0", "K\x18", "") "K\x01K\x01\x85K\x01\x85\x89Nctorch\nuint16\n}tR",
         "u16[1]=0000"),
    VIEW("a parameter",
         "ctorch._utils\n_rebuild_parameter\n" TENSOR("Float", "0", SIX,
                                                      "K\x01K\x01\x85K\x01\x85") "\x88N\x87R",
         "f32[1]=0000803f"),
    VIEW("a storage twice",
         TENSOR("Float", "0", SIX,
                "K\x01)"
                ")") TENSOR("Float", "0", SIX,
                            "K\x02)"
                            ")") "\x86",
         "(f32[]=0000803f, f32[]=00000040)"),
    VIEW("an expanded tensor", TENSOR("Float", "0", SIX, "K\x00" LONG40 "\x85K\x00\x85"),
         "!a tensor: it has more elements than its data hold"),
    VIEW("a tensor that is too long", TENSOR("Float", "0", SIX, "K\x00K\x07\x85K\x01\x85"),
         "!a tensor: it has more elements"),
    VIEW("a tensor that begins too late", TENSOR("Float", "0", SIX, "K\x07K\x00\x85K\x01\x85"),
         "!a tensor: it begins beyond"),
    VIEW("a tensor that ends too late", TENSOR("Float", "0", SIX, "K\x04K\x03\x85K\x01\x85"),
         "!a tensor: it has more elements"),
    VIEW("a tensor with strides that lead out",
         TENSOR("Float", "0", SIX, "K\x00K\x03\x85K\x03\x85"), "!a tensor: it reaches beyond"),
    VIEW("a tensor with strides that overflow",
         TENSOR("Float", "0", SIX, "K\x00K\x02K\x03\x86" MOST MOST "\x86"),
         "!a tensor: it reaches beyond"),
    VIEW("a tensor of 2^40 by 2^40",
         TENSOR("Float", "0", SIX, "K\x00" LONG40 LONG40 "\x86" LONG40 "K\x01\x86"),
         "!a tensor: its shape is too large"),
    VIEW("a tensor at 2^63 - 1", TENSOR("Float", "0", SIX, "" MOST "K\x01\x85K\x01\x85"),
         "!a tensor: it begins beyond"),
    VIEW("a negative offset", TENSOR("Float", "0", SIX, "J\xff\xff\xff\xffK\x01\x85K\x01\x85"),
         "!a tensor: its offset is no count"),
    VIEW("a negative size", TENSOR("Float", "0", SIX, "K\x00J\xff\xff\xff\xff\x85K\x01\x85"),
         "!a tensor: a part of its shape is no count"),
    VIEW("a negative stride", TENSOR("Float", "0", SIX, "K\x05K\x02\x85J\xff\xff\xff\xff\x85"),
         "!a tensor: its strides"),
    VIEW("too few strides", TENSOR("Float", "0", SIX, "K\x00K\x02K\x03\x86K\x01\x85"),
         "!a tensor: its strides"),
    VIEW("five dimensions",
         TENSOR("Float", "0", SIX, "K\x00(K\x01K\x01K\x01K\x01K\x01t(K\x01K\x01K\x01K\x01K\x01t"),
         "!a tensor: it has more than 4"),
    VIEW("a tensor of no storage", "ctorch._utils\n_rebuild_tensor_v2\n(NK\x00))tR",
         "!a tensor: it has no storage"),
    VIEW("a tensor that is part of its own arguments",
         "ctorch._utils\n_rebuild_parameter\n]q\x00h\x00"
         "a\x85R",
         "!an object made by 'torch._utils._rebuild_parameter' instead of a tensor"),
    VIEW(
        "a subclass that has a tensor",
        "ctorch._tensor\n_rebuild_from_type_v2\n("
        "ctorch._utils\n_rebuild_wrapper_subclass\nctorch_geometric.index\nIndex\n)}U\x05_data" TENSOR(
            "Float", "0", SIX, "K\x01K\x01\x85K\x01\x85") "stR",
        "f32[1]=0000803f"),
    VIEW("a tensor with attributes",
         "ctorch._tensor\n_rebuild_from_type_v2\n("
         "ctorch._utils\n_rebuild_tensor_v2\nctorch\nTensor\n(" ID(
             "Float", "0", SIX, "") "K\x01K\x01\x85K\x01\x85\x89Nt}tR",
         "f32[1]=0000803f"),
    VIEW("a subclass without a tensor",
         "ctorch._tensor\n_rebuild_from_type_v2\n("
         "ctorch._utils\n_rebuild_wrapper_subclass\nctorch_geometric.index\nIndex\n)}tR",
         "!an object made by 'torch._tensor._rebuild_from_type_v2' instead of a tensor"),
    VIEW("a storage of 2^40 elements", TENSOR("Float", "0", LONG40, ROWS),
         "?storage '0': it has 24 bytes in the archive, and 4398046511104 by the pickle"),
    VIEW("a storage of 2^63 - 1 elements", TENSOR("Float", "0", MOST, ROWS),
         "?storage '0': it is too long"),
    VIEW("a storage of a negative length", TENSOR("Float", "0", "J\xff\xff\xff\xff", ROWS),
         "?a persistent id that is no storage's"),
    VIEW("a storage of complex numbers", TENSOR("ComplexFloat", "0", SIX, ROWS),
         "?global 'torch.ComplexFloatStorage' is not"),
    VIEW("a storage of two types",
         TENSOR("Float", "0", SIX, ROWS) TENSOR("Int", "0", SIX, ROWS) "\x86", "?two types"),
    VIEW("a storage of two lengths",
         TENSOR("Float", "0", SIX, ROWS) TENSOR("Float", "0", "K\x05", ROWS) "\x86",
         "?two lengths"),
    VIEW("a view of a storage", ID("Float", "0", SIX, "(U\x01vK\x00K\x01t"), "?a view of another"),
    VIEW("a storage with another key", TENSOR("Float", "1", SIX, ROWS),
         "?storage '1': the archive"),
    VIEW("an id that is no tuple", "K\x01Q", "?nothing instead of a class of storages"),
    VIEW("an id of another kind",
         "(U\x06modulectorch\nFloatStorage\nU\x01"
         "0NK\x06tQ",
         "?a persistent id that is no storage's"),
};

static void test_views(void)
{
    struct file f;
    struct result r;
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        const struct view *v = &views[i];
        const struct member m[2] = {{.name = "x/data.pkl", .data = v->pickle, .n = v->n}, DATA};
        make_zip(&f, m, 2);
        open_copy(&r, f.b, f.n);
        if (*v->text == '?')
            ok(r.rc == GNN_PICKLE_BAD && strstr(r.why, v->text + 1), "%s is refused: %s", v->what,
               r.why);
        else
            ok(!r.rc && !strncmp(r.text, v->text, strlen(v->text)), "%s is %s%s", v->what, r.why,
               r.text);
    }
}

/* Rows, and tensors in place. */
static void test_rows(void)
{
    static const int16_t elements[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    struct gnn_strided s = {
        .dtype = GNN_I16, .ndim = 3, .shape = {2, 3, 2}, .data = (const uint8_t *)elements};
    struct gnn_tensor t;
    int16_t out[12];
    ok(gnn_strided_set_order(&s, false) && !gnn_strided_fits(&s, sizeof elements) && s.dense &&
           gnn_strided_tensor(&s, "a", &t) && t.data == elements && t.shape[1] == 3,
       "an array in row-major order is a tensor where it lies");
    gnn_strided_copy(&s, 1, 1, out);
    ok(gnn_strided_row_bytes(&s) == 12 && !memcmp(out, elements + 6, 12), "its last row is copied");
    ok(gnn_strided_set_order(&s, true) && !gnn_strided_fits(&s, sizeof elements) && !s.dense &&
           !gnn_strided_tensor(&s, "a", &t),
       "one in Fortran's order is not");
    gnn_strided_copy(&s, 0, 2, out);
    bool same = true;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 2; k++)
                same = same && out[(i * 3 + j) * 2 + k] == i + 2 * j + 6 * k;
    ok(same, "its rows are copied in row-major order");
    s.shape[1] = UINT64_MAX;
    ok(gnn_strided_fits(&s, sizeof elements) != NULL && !gnn_strided_set_order(&s, true),
       "one that is too large to count does not fit");
}

/* ---- files without a container ---- */

#define MAGIC "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
#define VERSION "\x80\x02M\xe9\x03."
#define SYSTEM "\x80\x02}U\x0dlittle_endian\x88s."
#define OBJECT PICKLE(TENSOR("Float", "0", SIX, ROWS))
#define KEYS                                                                                       \
    "\x80\x02]U\x01"                                                                               \
    "0a."
#define COUNT "\x06\0\0\0\0\0\0\0"
#define LEGACY MAGIC VERSION SYSTEM OBJECT KEYS COUNT FLOATS

struct legacy {
    const char *what, *bytes;
    size_t n;
    const char *why; /* NULL: it is read */
};

#define FILE_OF(WHAT, BYTES, WHY)                                                                  \
    {                                                                                              \
        WHAT, BYTES, sizeof(BYTES) - 1, WHY                                                        \
    }

static const struct legacy legacy[] = {
    FILE_OF("a legacy file", LEGACY, NULL),
    FILE_OF(
        "a legacy file of protocol 4",
        "\x80\x04\x95\x0d\0\0\0\0\0\0\0"
        "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19." VERSION SYSTEM OBJECT KEYS COUNT FLOATS,
        NULL),
    FILE_OF("bytes after a legacy file", LEGACY "12", "2 bytes after the last storage"),
    FILE_OF("a legacy file of another version",
            MAGIC "\x80\x02K\x07." SYSTEM OBJECT KEYS COUNT FLOATS, "version 7 of torch.save"),
    FILE_OF("a big-endian legacy file",
            MAGIC VERSION "\x80\x02}U\x0dlittle_endian\x89s." OBJECT KEYS COUNT FLOATS,
            "not little-endian"),
    FILE_OF("a legacy file that does not know its byte order",
            MAGIC VERSION "\x80\x02}." OBJECT KEYS COUNT FLOATS, "not little-endian"),
    FILE_OF("a legacy file with another count",
            MAGIC VERSION SYSTEM OBJECT KEYS "\x05\0\0\0\0\0\0\0" FLOATS,
            "storage '0': its length is another"),
    FILE_OF("a legacy file with a count of 2^40",
            MAGIC VERSION SYSTEM OBJECT KEYS "\0\0\0\0\0\1\0\0" FLOATS, "its length is another"),
    FILE_OF("a legacy file with a storage of 2^40",
            MAGIC VERSION SYSTEM PICKLE(TENSOR("Float", "0", LONG40, ROWS)) KEYS
            "\0\0\0\0\0\1\0\0" FLOATS,
            "storage '0': the file ends in it"),
    FILE_OF("a legacy file with a key that nobody has",
            MAGIC VERSION SYSTEM OBJECT "\x80\x02]U\x01"
                                        "1a." COUNT FLOATS,
            "storage '1': the object does not have it"),
    FILE_OF("a legacy file with a key twice",
            MAGIC VERSION SYSTEM OBJECT "\x80\x02]U\x01"
                                        "0aU\x01"
                                        "0a." COUNT FLOATS COUNT FLOATS,
            "storage '0': it is there twice"),
    FILE_OF("a legacy file without keys", MAGIC VERSION SYSTEM OBJECT "\x80\x02].",
            "storage '0': the file does not have it"),
    FILE_OF("a legacy file whose keys are a dict", MAGIC VERSION SYSTEM OBJECT "\x80\x02}.",
            "are no list"),
    FILE_OF("a legacy file with a key that is no text",
            MAGIC VERSION SYSTEM OBJECT "\x80\x02]K\x01"
                                        "a." COUNT FLOATS,
            "key 0 of its storages is no text"),
    FILE_OF("a legacy file with a bad object",
            MAGIC VERSION SYSTEM "\x80\x02"
                                 "cos\nsystem\n.",
            "the pickle of the object, from byte 42 on: byte 2: global 'os.system'"),
    FILE_OF("another pickle", "\x80\x02N.", "not a file of torch.save"),
    FILE_OF("nothing", "", "not a file of torch.save"),
};

static void test_legacy(void)
{
    struct result r;
    for (size_t i = 0; i < sizeof legacy / sizeof *legacy; i++) {
        open_copy(&r, (const uint8_t *)legacy[i].bytes, legacy[i].n);
        if (legacy[i].why)
            ok(r.rc == GNN_PICKLE_BAD && strstr(r.why, legacy[i].why), "%s is refused: %s",
               legacy[i].what, r.why);
        else
            ok(!r.rc && !strcmp(r.text, "f32[2, 3]=" FLOATS_TEXT "00a040"), "%s is read: %s%s",
               legacy[i].what, r.why, r.text);
    }
}

static void test_cuts(void)
{
    const struct member m[2] = {PKL, DATA};
    static const char whole[] = LEGACY;
    struct file f;
    struct result r;
    size_t refused = 0;
    make_zip(&f, m, 2);
    for (size_t n = 0; n < f.n; n++) {
        open_copy(&r, f.b, n);
        refused += r.rc == GNN_PICKLE_BAD && *r.why;
    }
    ok(refused == f.n, "an archive is refused that is cut at any of %zu bytes", f.n);
    refused = 0;
    for (size_t n = 0; n < sizeof whole - 1; n++) {
        open_copy(&r, (const uint8_t *)whole, n);
        refused += r.rc == GNN_PICKLE_BAD && *r.why;
    }
    ok(refused == sizeof whole - 1, "a legacy file is refused that is cut at any of %zu bytes",
       sizeof whole - 1);
}

/* ---- files that were given ---- */

static int show_file(const char *path)
{
    enum { CAPACITY = 1 << 20 };
    struct gnn_torch_file f = {0};
    struct stat st;
    char why[512] = "cannot be read", *text = malloc(CAPACITY);
    const int fd = open(path, O_RDONLY);
    void *bytes = MAP_FAILED;
    if (fd >= 0 && !fstat(fd, &st) && st.st_size)
        bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (!text || bytes == MAP_FAILED) {
        free(text);
        return 1;
    }
    const uint64_t n = (uint64_t)st.st_size;
    int rc = gnn_torch_is_zip(bytes, n) || gnn_torch_is_legacy(bytes, n)
                 ? gnn_torch_open(&f, bytes, n, why, sizeof why)
                 : gnn_pickle_read(&f.pickle, bytes, n, 0, why, sizeof why);
    printf("%s\n", rc ? why : repr_pickle(&f, text, CAPACITY));
    gnn_torch_release(&f);
    munmap(bytes, (size_t)n);
    free(text);
    return rc != 0;
}

int main(int argc, char **argv)
{
    int rc = 0;
    for (int i = 1; i < argc; i++)
        rc |= show_file(argv[i]);
    if (argc > 1)
        return rc;
    test_archives();
    test_views();
    test_rows();
    test_legacy();
    test_cuts();
    return tap_done();
}
