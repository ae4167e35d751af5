/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of DGL's files, which are read and written (formats/dgl_*.c). */
#ifndef GNN_FORMATS_DGL_NUMBERS_H
#define GNN_FORMATS_DGL_NUMBERS_H

/* Magic numbers, of what begins with them. */
#define GNN_DGL_MAGIC_GRAPHS UINT64_C(0xdd2e4ff046b4a13f)
#define GNN_DGL_MAGIC_TENSORS UINT64_C(0xdd5a9fbe3fa2443f)
#define GNN_DGL_MAGIC_ARRAY UINT64_C(0xdd5e40f096b4a13f)
#define GNN_DGL_MAGIC_HETERO UINT64_C(0xdd589fbe35224abf)
#define GNN_DGL_MAGIC_TYPES UINT64_C(0xdd3c5ffe20046abf)
#define GNN_DGL_MAGIC_UNIT UINT64_C(0xdd2e60f0f6b4a127)
#define GNN_DGL_MAGIC_COO UINT64_C(0xdd61ffd305dff127)
#define GNN_DGL_MAGIC_CSR UINT64_C(0xdd6cd31205dff127)

enum {
    GNN_DGL_HEAD = 4096, /* bytes before the first graph's */
    GNN_DGL_VERSION = 2,
    GNN_DGL_TYPE_HETERO = 2,
    GNN_DGL_ARRAY_HEAD = 24, /* bytes of an array between magic number and shape */
    GNN_DGL_CPU = 1
};

/* Kinds of elements, which are DLPack's. */
enum {
    GNN_DGL_INT = 0,
    GNN_DGL_UINT = 1,
    GNN_DGL_FLOAT = 2,
    GNN_DGL_BFLOAT = 4,
    GNN_DGL_BOOLEAN = 6
};

#endif
