/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/metis_graph.h"

const char *gnn_metis_parse(struct gnn_metis_head *h, const char *line)
{
    uint64_t v[4] = {0, 0, 0, 1};
    int n = 0;
    const char *p = gnn_text_blanks(line);
    for (; *p != '\n'; p = gnn_text_blanks(p)) {
        if (n == 4)
            return "the header has more than four numbers";
        p = gnn_text_u64(p, &v[n++]);
        if (!p || (*p != ' ' && *p != '\t' && *p != '\r' && *p != '\n'))
            return "the header is not made of numbers";
    }
    if (n < 2)
        return "the header must have the numbers of vertices and edges";
    if (v[0] < 1 || v[0] > UINT32_MAX - 1)
        return "the number of vertices must be from 1 to 4294967294";
    if (v[1] > UINT64_MAX / 4)
        return "too many edges";
    if (v[2] > 111 || v[2] % 10 > 1 || v[2] / 10 % 10 > 1)
        return "the format is not three digits of 0 and 1";
    bool weights = v[2] / 10 % 10;
    if (n == 4 && (!weights || v[3] < 1 || v[3] > 64))
        return "the format must announce vertex weights, from 1 to 64";
    *h = (struct gnn_metis_head){
        .n = v[0], .m = v[1], .sizes = v[2] / 100, .edge_weights = v[2] % 10};
    h->ncon = weights ? (uint32_t)v[3] : 0;
    return NULL;
}
