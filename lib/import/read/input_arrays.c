/* SPDX-License-Identifier: Apache-2.0 */
/* What an input tells of its arrays (lib/import/read/input.h). */
#include "lib/import/read/input_impl.h"
#include "lib/base/path.h"

bool gnn_input_is_arrays(const struct gnn_input *in, bool *typed)
{
    *typed = in->arrays && in->arrays->typed;
    return in->arrays != NULL;
}

const char *gnn_input_note(const struct gnn_input *in, uint32_t k)
{
    return in->arrays && k < in->arrays->nnotes ? in->arrays->note[k] : NULL;
}

uint32_t gnn_input_given(const struct gnn_input *in, uint32_t i)
{
    return in->arrays || gnn_ends_with(in->name, ".npz") ? in->m[i].given : i;
}
