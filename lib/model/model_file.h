/* SPDX-License-Identifier: Apache-2.0 */
/* Models and checkpoints as safetensors files, which PyTorch reads and writes too.
 *
 * A struct gnn_st_file owns the bytes of a file; a model made from it has its own copy. */
#ifndef GNN_LIB_MODEL_MODEL_FILE_H
#define GNN_LIB_MODEL_MODEL_FILE_H

#include <jansson.h>

#include "formats/safetensors.h"
#include "lib/model/model.h"

/* A safetensors file in memory. Zeroed object = empty. */
struct gnn_st_file {
    struct gnn_safetensors st;
    void *bytes;
    uint64_t nbytes;
};
/* GNN_E_INPUT "PATH: ..." for a file that breaks a rule of the format. */
int gnn_st_read(struct gnn_st_file *f, const char *path, struct gnn_err *e) GNN_MUST_USE;
/* As gnn_st_read, of bytes from gnn_alloc, which f takes over (also on failure). A file of ours has
 * a description, a checksum, and f->st.summed set: one without the other is refused. A file without
 * both is from elsewhere, and nothing vouches for its bytes. */
int gnn_st_parse(struct gnn_st_file *f, void *bytes, uint64_t n, const char *path,
                 struct gnn_err *e) GNN_MUST_USE;
void gnn_st_release(struct gnn_st_file *f);
/* Whether it is a checkpoint (lib/train/trainer.h). */
static inline bool gnn_st_checkpoint(const struct gnn_st_file *f)
{
    return json_object_get(f->st.metadata, "run") != NULL;
}
/* Writes the tensors in the order given, syncs and closes fd (also on failure). */
int gnn_st_write(int fd, const char *name, const struct gnn_tensor *const *t, size_t n,
                 json_t *metadata, struct gnn_err *e) GNN_MUST_USE;
/* As gnn_st_write, to `path`, whole or not at all: a temporary file beside it, fsync, rename, fsync
 * of the directory. */
int gnn_st_replace(const char *path, const struct gnn_tensor *const *t, size_t n, json_t *metadata,
                   struct gnn_err *e) GNN_MUST_USE;

/* Fills t[m->nparams] with the parameters in slab, and returns the metadata: {"format": "pt",
 * "gnn": configuration as JSON text, "gnn_checksum": space for it, "training": m->recipe,
 * "provenance": line (either may be NULL)}. NULL and GNN_E_NOMEM on failure. */
json_t *gnn_model_describe(const struct gnn_model *m, const float *slab, const char *provenance,
                           struct gnn_tensor *t, struct gnn_err *e) GNN_MUST_USE;
/* p[n]: the tensors t in an order in which each begins at a multiple of its numbers' size. */
void gnn_model_order(const struct gnn_tensor *t, size_t n, const struct gnn_tensor **p);
/* The model file: parameters under PyG's names. */
int gnn_model_write(const struct gnn_model *m, const float *slab, const char *provenance, int fd,
                    const char *name, struct gnn_err *e) GNN_MUST_USE;

/* Makes the model that the file holds. A file of our own says what it is, and its types are put
 * into the order of the schema's types of the same names (NULL: not). For any other (a PyG state
 * dict), kind, layers and widths are read off the names and shapes, types and task are those of the
 * schema (else not used), and `unrecorded` sets the options of layers that it does not record
 * (NULL: their defaults). */
int gnn_model_open(struct gnn_model *m, const struct gnn_st_file *f, const char *path,
                   const struct gnn_schema *s, void (*unrecorded)(struct gnn_model_config *c),
                   struct gnn_err *e) GNN_MUST_USE;
/* GNN_E_INPUT, naming tensor and layer, if the file has parameters of a layer that is known but not
 * supported. */
int gnn_model_refuse_foreign(const struct gnn_st_file *f, const char *path, struct gnn_err *e);
/* Reads kind, layers, widths and norms off a state dict's names and shapes. GNN_E_INPUT: they are
 * those of no known model. */
int gnn_model_guess(struct gnn_model_config *c, const struct gnn_st_file *f, const char *path,
                    struct gnn_err *e) GNN_MUST_USE;
/* Copies the file's parameters to m's slab. All that m's output depends on must be there, with the
 * right shapes and f32, f16 or bf16 (i64 where m has that); nothing else may be, unless `others`.
 */
int gnn_model_copy_params(struct gnn_model *m, const struct gnn_st_file *f, const char *path,
                          bool others, struct gnn_err *e) GNN_MUST_USE;

/* Adds those of the layers' options that are not the defaults to a description. */
void gnn_model_put_options(json_t *j, const struct gnn_model_config *c);
/* Configuration as JSON text, freed with gnn_free, and back. */
char *gnn_model_config_text(const struct gnn_model_config *c, struct gnn_err *e) GNN_MUST_USE;
int gnn_model_config_parse(struct gnn_model_config *c, const char *text, const char *path,
                           struct gnn_err *e) GNN_MUST_USE;

#endif
