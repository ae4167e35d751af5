/* SPDX-License-Identifier: Apache-2.0 */
/* The options of gnn-predict. */
#ifndef GNN_CMD_PREDICT_OPTS_H
#define GNN_CMD_PREDICT_OPTS_H

#include "cmd/opt.h"

struct predict_opts {
    const char *output, *metric, *seeds, *seed_type;
    struct opt_list sets, map;
    const char *split; /* that the sets are of, unless they say otherwise; found later */
    int what;          /* enum gnn_predict_output, or -1 */
    bool original, none, layer_wise;
    bool heads; /* --seed-type is that of heads; found later */
    double timeout;
    int precision; /* number of the word */
    uint64_t memory;
    uint32_t threads;
};
extern struct predict_opts predict;

/* Reads the command line, and ends the program unless its parts fit each other. Returns whether
 * batches are predicted on: (*args)[0] is the model then, else (*args)[1] of a store. */
bool predict_opts_read(int argc, char **argv, char ***args, int *n);
/* Ends the program if an option that chooses links was given, "--NAME WHY". */
void predict_opts_refuse_links(const char *why);
/* Whether a table in text was asked for. */
bool predict_opts_csv(void);

#endif
