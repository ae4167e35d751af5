/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/predict_model.h"

#include "cmd/cli.h"
#include "cmd/state_dict.h"
#include "cmd/type_map.h"
#include "cmd/untrained.h"
#include "lib/data/recipe.h"
#include "lib/model/model_file.h"
#include "lib/train/trainer.h"

/* What the file says of training, which changes what the model computes. */
static void tell_trained(const struct gnn_model *m, const char *path, bool foreign)
{
    const char *left_out = untrained_text(&m->c, m->c.untrained);
    if (*left_out)
        cli_note("%s: leaves out edges of types that training never saw: %s", path, left_out);
    if (!foreign)
        untrained_tell_unknown(m, path);
}

/* A checkpoint holds two models; returns the epoch of the one that is used. */
static uint64_t take_best(struct gnn_st_file *f, const char *path)
{
    struct gnn_err e = {0};
    struct gnn_train_state s;
    if (gnn_checkpoint_best(f, path, &s, &e))
        cli_fail(&e);
    if (s.has_best)
        cli_note("%s: a checkpoint: predicting with the model of epoch %llu, its best", path,
                 (unsigned long long)s.best_epoch);
    else
        cli_note("%s: a checkpoint: predicting with the model of its last step, in epoch %llu, as "
                 "no epoch has been evaluated",
                 path, (unsigned long long)s.epoch);
    return s.has_best ? s.best_epoch : s.epoch;
}

void predict_open_model(struct gnn_model *m, const char *path, const struct opt_list *map,
                        const struct gnn_schema *s, const char *graph)
{
    struct gnn_err e = {0};
    struct gnn_st_file f;
    struct gnn_schema as; /* as the model names its types */
    uint64_t epoch = 0;
    if (gnn_st_read(&f, path, &e))
        cli_fail(&e);
    type_map_schema(map, s, graph, &as);
    const bool checkpoint = gnn_st_checkpoint(&f);
    if (checkpoint)
        epoch = take_best(&f, path);
    if (gnn_model_open(m, &f, path, &as, state_dict_take, &e) ||
        gnn_model_config_match(&m->c, &as, graph, &e))
        cli_fail(&e);
    type_map_rename(&m->c, s);
    gnn_schema_release(&as);
    if (checkpoint && m->recipe && !(m->recipe = gnn_recipe_at(m->recipe, epoch, &e)))
        cli_fail(&e);
    tell_trained(m, path, state_dict_tell(m, path));
    if (!f.st.summed)
        cli_note("%s: no checksum (written by another program): not verified", path);
    gnn_st_release(&f);
}
