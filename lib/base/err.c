/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A message that is too long, with long names, keeps its beginning and its end, where the reason
 * stands. */
static void shorten_message(char *msg, size_t capacity, const char *text, size_t n)
{
    static const char gap[] = " ... ";
    const size_t tail = capacity / 3;
    size_t head = capacity - tail - sizeof gap, from = n - tail;
    while (head && ((unsigned char)text[head] & 0xc0) == 0x80) /* not within a character */
        head--;
    while (((unsigned char)text[from] & 0xc0) == 0x80)
        from++;
    snprintf(msg, capacity, "%.*s%s%s", (int)head, text, gap, text + from);
}

GNN_PRINTF(4, 0)
static int record_error(struct gnn_err *e, int code, int sys, const char *fmt, va_list ap)
{
    if (e->code) /* the first cause wins */
        return e->code;
    e->code = code;
    char text[8192];
    int n = vsnprintf(text, sizeof text, fmt, ap);
    if (sys && n >= 0 && (size_t)n < sizeof text)
        snprintf(text + n, sizeof text - (size_t)n, ": %s", strerror(sys));
    const size_t len = n < 0 ? 0 : strlen(text);
    if (len < sizeof e->msg)
        memcpy(e->msg, text, len + 1);
    else
        shorten_message(e->msg, sizeof e->msg, text, len);
    return code;
}

int(gnn_fail)(struct gnn_err *e, enum gnn_status code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record_error(e, code, 0, fmt, ap);
    va_end(ap);
    return code;
}

int(gnn_fail_errno)(struct gnn_err *e, const char *fmt, ...)
{
    int sys = errno, code = sys == ENOMEM ? GNN_E_NOMEM : GNN_E_RUN;
    va_list ap;
    va_start(ap, fmt);
    record_error(e, code, sys, fmt, ap);
    va_end(ap);
    errno = sys;
    return code;
}

int(gnn_fail_open)(struct gnn_err *e, const char *path)
{
    const int sys = errno;
    if (sys == ENOENT || sys == ENOTDIR || sys == ELOOP || sys == ENAMETOOLONG || sys == EISDIR ||
        sys == ENXIO || sys == ENODEV)
        return gnn_fail(e, GNN_E_INPUT, "%s: cannot open: %s", path, strerror(errno));
    return gnn_fail_errno(e, "%s: cannot open", path);
}

int(gnn_fail_as)(struct gnn_err *e, const struct gnn_err *from)
{
    if (!e->code)
        *e = *from;
    return from->code;
}

int(gnn_fail_nomem)(struct gnn_err *e, unsigned long long bytes, const char *what)
{
    return gnn_fail(e, GNN_E_NOMEM, "out of memory: %llu bytes for %s", bytes, what);
}
