/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/precision.h"

#include "cmd/cli.h"
#include "cmd/device.h"
#include "cmd/feed.h"

void precision_check(int precision)
{
    if (precision == GNN_PRECISION_TF32 && device_is_cpu(feed.device))
        cli_usage("--precision tf32 requires --device: the CPU has f32 and bf16");
}

const struct gnn_ops *precision_ops(int precision)
{
    struct gnn_err e = {0};
    const struct gnn_ops *o = gnn_ops_new(feed.gpu, (enum gnn_precision)precision, &e);
    if (!o)
        cli_fail(&e);
    return o;
}

bool precision_tell(const struct gnn_ops *o)
{
    const char *note = o->note(o);
    if (!*note)
        return false;
    cli_progress_end();
    cli_note("%s", note);
    cli_metrics(json_pack("{s:s, s:s}", "event", "precision", "note", note));
    return true;
}
