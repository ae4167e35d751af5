/* SPDX-License-Identifier: Apache-2.0 */
/* The names that pickles may have (formats/pickle.h). Nothing on this list is ever called: it says
 * what a reader of values knows the meaning of. Classes whose instances carry no data of a graph
 * are there if files of PyG and OGB have them. */
#include "formats/pickle_impl.h"

#include <string.h>

enum {
    CALL = PICKLE_CALL,
    NEW = PICKLE_NEW,
    NEW_STATE = PICKLE_NEW | PICKLE_STATE,
    CALL_STATE = PICKLE_CALL | PICKLE_STATE,
    MAPPING = PICKLE_CALL | PICKLE_STATE | PICKLE_PAIRS,
};

#define PLAIN(NAME, USES)                                                                          \
    {                                                                                              \
        NAME, NAME, USES, PICKLE_PLAIN, 0, false                                                   \
    }
#define WITH(NAME, USES, ROLE)                                                                     \
    {                                                                                              \
        NAME, NAME, USES, ROLE, 0, false                                                           \
    }
#define BUILTIN(NAME, USES, ROLE)                                                                  \
    {"builtins." NAME, "builtins." NAME, USES, ROLE, 0, false},                                    \
    {                                                                                              \
        "__builtin__." NAME, "builtins." NAME, USES, ROLE, 0, false                                \
    }
#define NUMPY(NAME, USES, ROLE)                                                                    \
    {"numpy.core." NAME, "numpy.core." NAME, USES, ROLE, 0, false},                                \
    {                                                                                              \
        "numpy._core." NAME, "numpy.core." NAME, USES, ROLE, 0, false                              \
    }
#define TYPED(NAME, ROLE, DTYPE, BOOL)                                                             \
    {                                                                                              \
        NAME, NAME, 0, ROLE, DTYPE, BOOL                                                           \
    }
#define PYG(NAME, USES) PLAIN("torch_geometric." NAME, USES)

const struct gnn_pickle_global gnn_pickle_globals[] = {
    PLAIN("", 0), /* of values that are neither a global nor an object */
    WITH("collections.OrderedDict", MAPPING, PICKLE_MAP),
    WITH("collections.defaultdict", MAPPING, PICKLE_DEFAULT_MAP),
    BUILTIN("set", CALL, PICKLE_A_SET),
    BUILTIN("frozenset", CALL, PICKLE_A_SET),
    BUILTIN("bytes", CALL, PICKLE_A_BYTES),
    BUILTIN("bytearray", CALL, PICKLE_A_BYTEARRAY),
    BUILTIN("list", 0, PICKLE_PLAIN),
    BUILTIN("dict", 0, PICKLE_PLAIN),
    BUILTIN("tuple", 0, PICKLE_PLAIN),
    BUILTIN("int", 0, PICKLE_PLAIN),
    BUILTIN("float", 0, PICKLE_PLAIN),
    BUILTIN("str", 0, PICKLE_PLAIN),
    BUILTIN("bool", 0, PICKLE_PLAIN),
    WITH("_codecs.encode", CALL, PICKLE_ENCODE),
    NUMPY("multiarray._reconstruct", CALL_STATE, PICKLE_RECONSTRUCT),
    NUMPY("multiarray.scalar", CALL, PICKLE_SCALAR),
    NUMPY("numeric._frombuffer", CALL, PICKLE_FROMBUFFER),
    PLAIN("numpy.ndarray", 0),
    WITH("numpy.dtype", CALL_STATE, PICKLE_DTYPE),
    WITH("torch._utils._rebuild_tensor", CALL, PICKLE_TENSOR),
    WITH("torch._utils._rebuild_tensor_v2", CALL, PICKLE_TENSOR),
    WITH("torch._utils._rebuild_tensor_v3", CALL, PICKLE_TENSOR_V3),
    WITH("torch._utils._rebuild_parameter", CALL, PICKLE_PARAMETER),
    WITH("torch._tensor._rebuild_from_type_v2", CALL, PICKLE_FROM_TYPE),
    PLAIN("torch._utils._rebuild_wrapper_subclass", CALL),
    PLAIN("torch._utils._rebuild_sparse_tensor", CALL),
    PLAIN("torch.serialization._get_layout", CALL),
    WITH("torch.storage._load_from_bytes", CALL, PICKLE_SAVED),
    PLAIN("torch.Tensor", 0),
    PLAIN("torch.nn.parameter.Parameter", 0),
    WITH("torch.Size", CALL, PICKLE_A_SIZE),
    PLAIN("torch.device", CALL),
    TYPED("torch.FloatStorage", PICKLE_STORAGE, GNN_F32, false),
    TYPED("torch.DoubleStorage", PICKLE_STORAGE, GNN_F64, false),
    TYPED("torch.HalfStorage", PICKLE_STORAGE, GNN_F16, false),
    TYPED("torch.BFloat16Storage", PICKLE_STORAGE, GNN_BF16, false),
    TYPED("torch.LongStorage", PICKLE_STORAGE, GNN_I64, false),
    TYPED("torch.IntStorage", PICKLE_STORAGE, GNN_I32, false),
    TYPED("torch.ShortStorage", PICKLE_STORAGE, GNN_I16, false),
    TYPED("torch.CharStorage", PICKLE_STORAGE, GNN_I8, false),
    TYPED("torch.ByteStorage", PICKLE_STORAGE, GNN_U8, false),
    TYPED("torch.BoolStorage", PICKLE_STORAGE, GNN_U8, true),
    TYPED("torch.UntypedStorage", PICKLE_STORAGE, GNN_U8, false),
    TYPED("torch.storage.UntypedStorage", PICKLE_STORAGE, GNN_U8, false),
    TYPED("torch.float32", PICKLE_TORCH_DTYPE, GNN_F32, false),
    TYPED("torch.float64", PICKLE_TORCH_DTYPE, GNN_F64, false),
    TYPED("torch.float16", PICKLE_TORCH_DTYPE, GNN_F16, false),
    TYPED("torch.bfloat16", PICKLE_TORCH_DTYPE, GNN_BF16, false),
    TYPED("torch.int64", PICKLE_TORCH_DTYPE, GNN_I64, false),
    TYPED("torch.int32", PICKLE_TORCH_DTYPE, GNN_I32, false),
    TYPED("torch.int16", PICKLE_TORCH_DTYPE, GNN_I16, false),
    TYPED("torch.int8", PICKLE_TORCH_DTYPE, GNN_I8, false),
    TYPED("torch.uint8", PICKLE_TORCH_DTYPE, GNN_U8, false),
    TYPED("torch.uint16", PICKLE_TORCH_DTYPE, GNN_U16, false),
    TYPED("torch.uint32", PICKLE_TORCH_DTYPE, GNN_U32, false),
    TYPED("torch.uint64", PICKLE_TORCH_DTYPE, GNN_U64, false),
    TYPED("torch.bool", PICKLE_TORCH_DTYPE, GNN_U8, true),
    PYG("data.data.Data", NEW_STATE),
    PYG("data.data.DataEdgeAttr", NEW_STATE),
    PYG("data.data.DataTensorAttr", NEW_STATE),
    PYG("data.hetero_data.HeteroData", NEW_STATE),
    PYG("data.temporal.TemporalData", NEW_STATE),
    PYG("data.storage.BaseStorage", NEW_STATE),
    PYG("data.storage.GlobalStorage", NEW_STATE),
    PYG("data.storage.NodeStorage", NEW_STATE),
    PYG("data.storage.EdgeStorage", NEW_STATE),
    PYG("data.storage.AttrType", CALL), /* of what a Data remembers of its attributes */
    PYG("data.graph_store.EdgeAttr", NEW_STATE),
    PYG("data.graph_store.EdgeLayout", CALL),
    PYG("data.feature_store.TensorAttr", NEW_STATE),
    PYG("data.feature_store._FieldStatus", CALL),
    WITH("torch_geometric.typing.EdgeTypeStr", NEW, PICKLE_AN_EDGE_TYPE),
    WITH("torch_geometric.edge_index.EdgeIndex", 0, PICKLE_SUBCLASS),
    PYG("edge_index.SortOrder", CALL),
    PYG("edge_index.CatMetadata", NEW),
    WITH("torch_geometric.index.Index", 0, PICKLE_SUBCLASS),
    PYG("index.CatMetadata", NEW),
    PYG("hash_tensor.HashTensor", 0),
    PLAIN("scipy.sparse.csr.csr_matrix", NEW_STATE),
    PLAIN("scipy.sparse._csr.csr_matrix", NEW_STATE),
    PLAIN("torch_sparse.tensor.SparseTensor", NEW_STATE),
    PLAIN("torch_sparse.storage.SparseStorage", NEW_STATE),
};

/* Whether the name is the module's, which keeps apart what differs only in where the dot is. */
static bool is_named(const char *full, const struct gnn_word *module, const struct gnn_word *name)
{
    return !memcmp(full, module->p, module->n) && full[module->n] == '.' &&
           !memcmp(full + module->n + 1, name->p, name->n);
}

int gnn_pickle_find_global(const struct gnn_word *module, const struct gnn_word *name)
{
    if (!module->n || !name->n || memchr(name->p, '.', name->n))
        return -1;
    for (size_t i = 1; i < sizeof gnn_pickle_globals / sizeof *gnn_pickle_globals; i++) {
        const char *full = gnn_pickle_globals[i].name;
        if (strlen(full) == module->n + 1 + name->n && is_named(full, module, name))
            return (int)i;
    }
    return -1;
}

const struct gnn_pickle_global *gnn_pickle_global_of(const struct gnn_pickle_value *v)
{
    const bool named = v && (v->kind == GNN_PICKLE_GLOBAL || v->kind == GNN_PICKLE_OBJECT);
    return &gnn_pickle_globals[named ? v->high : 0];
}
