#include "lib/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

GNN_PRINTF(4, 0)
static int record(struct gnn_err *e, int code, int sys, const char *fmt, va_list ap)
{
    if (e->code)
        return code;
    e->code = code;
    int n = vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    if (sys && n >= 0 && (size_t)n < sizeof e->msg)
        snprintf(e->msg + n, sizeof e->msg - (size_t)n, ": %s", strerror(sys));
    return code;
}

int(gnn_fail)(struct gnn_err *e, enum gnn_status code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(e, code, 0, fmt, ap);
    va_end(ap);
    return code;
}

int(gnn_fail_errno)(struct gnn_err *e, const char *fmt, ...)
{
    int sys = errno, code = sys == ENOMEM ? GNN_E_NOMEM : GNN_E_RUN;
    va_list ap;
    va_start(ap, fmt);
    record(e, code, sys, fmt, ap);
    va_end(ap);
    errno = sys;
    return code;
}

int(gnn_fail_open)(struct gnn_err *e, const char *path)
{
    if (errno == ENOENT || errno == ENOTDIR)
        return gnn_fail(e, GNN_E_INPUT, "%s: cannot open: %s", path, strerror(errno));
    return gnn_fail_errno(e, "%s: cannot open", path);
}

int(gnn_fail_nomem)(struct gnn_err *e, unsigned long long bytes, const char *what)
{
    return gnn_fail(e, GNN_E_NOMEM, "out of memory: %llu bytes for %s", bytes, what);
}
