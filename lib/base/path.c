/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/path.h"

#include <unistd.h>

int gnn_program_folder(char *out, size_t capacity, struct gnn_err *e)
{
    const ssize_t n = readlink("/proc/self/exe", out, capacity);
    if (n < 0)
        return gnn_fail_errno(e, "/proc/self/exe: cannot read");
    const char *slash = memrchr(out, '/', (size_t)n);
    if ((size_t)n == capacity || !slash)
        return gnn_fail(e, GNN_E_RUN, "the program's path is too long");
    out[slash - out] = 0;
    return 0;
}
