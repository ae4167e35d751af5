#include "lib/source.h"

void gnn_source_free(struct gnn_source *s)
{
    if (s)
        s->free(s);
}
