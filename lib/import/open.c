/* Which reader an input is for: by the members of an archive, else by the first lines. */
#include <string.h>

#include "lib/import.h"
#include "lib/import/array.h"
#include "lib/import/formats.h"
#include "lib/import/gen.h"

enum { COLUMNS = 1, NODES = 2, ATTACH = 4, MAP = 8 };

static const struct format {
    const char *name;
    gnn_open_fn *open;
    unsigned takes; /* options */
} formats[] = {
    {"ogb", gnn_ogb_open, ATTACH | MAP},
    {"npz", gnn_npz_open, NODES | ATTACH | MAP},
    {"generator", NULL, 0},
};

static const struct format *by_name(const char *name)
{
    for (unsigned i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(name, formats[i].name))
            return &formats[i];
    return NULL;
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);
    return n >= k && !strcmp(s + n - k, end);
}

/* By names: OGB's raw/ directory; nothing but arrays. */
static const char *by_members(const struct gnn_input *in)
{
    bool npy = true;
    for (uint32_t i = 0; i < gnn_input_members(in); i++) {
        const char *name = gnn_input_member(in, i), *raw = strstr(name, "raw/");
        if (raw && (raw == name || raw[-1] == '/'))
            return "ogb";
        npy = npy && ends_with(name, ".npy");
    }
    return npy ? "npz" : NULL;
}

static int detect(struct gnn_input *in, const char **format, struct gnn_err *e)
{
    *format = by_members(in);
    if (!*format)
        return gnn_fail(e, GNN_E_INPUT, "%s: not a format that is known (see --format)", gnn_input_name(in));
    return GNN_OK;
}

static int check_options(const struct format *f, const struct gnn_import_opts *o, struct gnn_err *e)
{
    const char *wrong = NULL;
    if (o->columns && !(f->takes & COLUMNS))
        wrong = "columns";
    if (o->nodes && !(f->takes & NODES))
        wrong = "nodes";
    if ((o->features || o->labels) && !(f->takes & ATTACH))
        wrong = o->features ? "features" : "labels";
    if (o->nmap && !(f->takes & MAP))
        wrong = "map (or --time, --weight)";
    return wrong ? gnn_fail(e, GNN_E_USAGE, "--%s does not fit the format %s", wrong, f->name) : GNN_OK;
}

int gnn_import_open_input(struct gnn_dataset **out, struct gnn_input *in,
                          const struct gnn_import_opts *o, struct gnn_err *e)
{
    const char *name = o->format;
    int rc = name ? GNN_OK : detect(in, &name, e);
    const struct format *f = rc ? NULL : by_name(name);
    *out = NULL;
    if (!rc && !f)
        rc = gnn_fail(e, GNN_E_USAGE, "no format '%s'", name);
    if (!rc)
        rc = check_options(f, o, e);
    if (!rc)
        return f->open(out, in, o, e);
    gnn_input_free(in);
    return rc;
}

int gnn_import_open(struct gnn_dataset **out, const char *const *input, uint32_t n,
                    const struct gnn_import_opts *o, struct gnn_err *e)
{
    struct gnn_input *in;
    *out = NULL;
    if (n == 1 && gnn_gen_is(input[0])) {
        if (o->format)
            return gnn_fail(e, GNN_E_USAGE, "--format does not fit a generator");
        if (o->task >= 0)
            return gnn_fail(e, GNN_E_USAGE, "--task does not fit a generator");
        int rc = check_options(by_name("generator"), o, e);
        return rc ? rc : gnn_gen_open(out, input[0], o->seed, o->threads, e);
    }
    int rc = gnn_input_open(&in, input, n, e);
    return rc ? rc : gnn_import_open_input(out, in, o, e);
}
