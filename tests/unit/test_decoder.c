/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders of links: gradients of whole nets against finite differences. */
#include "unit/net_case.h"

/* Decoders of links within one type, and from nodes of the other. */
static void test_decoders(void)
{
    static const char *const name[] = {"dot", "cosine", "mlp", "concat"}, *const loss[] = {
                                                                              "bce", "bpr",
                                                                              "softmax"};
    enum { DECODERS = sizeof name / sizeof *name };
    char text[64];
    for (int k = 0; k < 2 * DECODERS * 3; k++) {
        const bool typed = k & 1;
        const int by = k / (2 * DECODERS);
        snprintf(text, sizeof text, "links, %s%s, %s", name[k / 2 % DECODERS],
                 typed ? ", typed" : "", loss[by]);
        counts[1][0] = typed ? HEADS : 0;
        check_gradients(&(struct variant){text, .typed = typed, .wa = 5, .wb = 6, .all = k & 2},
                        (struct gnn_model_config){
                            .layer = &gnn_layer_sage,
                            .nlayers = HOPS,
                            .width = {8, 8},
                            .layer_norm = true,
                            .decoder = (enum gnn_decoder)((int)GNN_DECODER_DOT + k / 2 % DECODERS),
                            .heads = typed,
                            .task = GNN_TASK_LINKS,
                            .scores = 1,
                            .loss = (enum gnn_link_loss)by,
                            .outputs = 6},
                        (uint64_t)k + 3);
    }
    counts[1][0] = 0;
}

int main(void)
{
    test_decoders();
    return tap_done();
}
