/* SPDX-License-Identifier: Apache-2.0 */
/* The defaults of gnn-train. --help is generated from them, and tests/man/50-defaults.t compares
 * them with the manual. scripts/accuracy.sh --defaults measures their accuracy and that of the
 * previous defaults. */
#ifndef GNN_LIB_TRAIN_TRAIN_DEFAULTS_H
#define GNN_LIB_TRAIN_TRAIN_DEFAULTS_H

#define TRAIN_FANOUT "10,10"
#define TRAIN_LAYERS 2 /* of full batches: as many as TRAIN_FANOUT has */
#define TRAIN_PIPELINE_DEPTH 1
#define TRAIN_EPOCHS 100
#define TRAIN_EVAL "valid" /* where the split that is trained on has such a set */
#define TRAIN_PATIENCE 20  /* where a set is evaluated */
#define TRAIN_HIDDEN 256
#define TRAIN_LAYER_NORM true /* unless --batch-norm */
#define TRAIN_DROPOUT 0.5
#define TRAIN_LR 0.003

/* "(default: 100)", for a table of options */
#define TRAIN_SAY_(x) "(default: " #x ")"
#define TRAIN_SAY(x) TRAIN_SAY_(x)

#endif
