/* SPDX-License-Identifier: Apache-2.0 */
/* Text tables of edges and triples, read as they look or as options say, which the first byte
 * chooses. */
#include <sys/mman.h>

#include "fuzz/fuzz.h"
#include "import_drain.h"

unsigned long fuzz_accepted;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const columns[] = {NULL, NULL, "source=1,target=2,weight=3",
                                          "source=1,target=3,relation=2"};
    static const char *const map[] = {"time=when"};
    static char name[64];
    if (!*name) /* a file in memory */
        snprintf(name, sizeof name, "/proc/self/fd/%d", memfd_create("f", 0));
    if (!n)
        return 0;
    struct gnn_err e = {0};
    const unsigned how = data[0];
    const struct gnn_import_opts o = {
        .task = -1,
        .header = (enum gnn_header)(how % 3),
        .ids = (enum gnn_ids_as)(how / 3 % 3),
        .comments = (enum gnn_comments)(how / 9 % 3),
        .columns = columns[how / 27 % 4],
        .map = map,
        .nmap = how / 108 % 2,
    };
    int rc = drain_import(name, data + 1, n - 1, &o, NULL, NULL, &e);
    if ((rc == 0) != (e.code == 0) || (rc && !*e.msg))
        abort(); /* a failure without a reason, or the reverse */
    fuzz_accepted += !rc;
    return 0;
}
