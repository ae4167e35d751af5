/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/data/class_names.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/data/schema.h"
#include "lib/data/text_check.h"

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int check_names(const char *const *name, uint32_t n, struct gnn_err *e)
{
    const char **sorted = gnn_alloc(n, sizeof *sorted, "names of classes", e);
    int rc = sorted ? GNN_OK : GNN_E_NOMEM;
    for (uint32_t i = 0; !rc && i < n; i++) {
        sorted[i] = name[i];
        rc = gnn_text_check(name[i], "class", GNN_TYPE_NAME_MAX, e);
    }
    if (!rc)
        qsort(sorted, n, sizeof *sorted, compare_names);
    for (uint32_t i = 1; !rc && i < n; i++)
        if (!strcmp(sorted[i - 1], sorted[i]))
            rc = gnn_fail(e, GNN_E_INPUT, "two classes are called '%.70s'", sorted[i]);
    gnn_free(sorted);
    return rc;
}

char **gnn_class_names_copy(const char *const *name, uint32_t n, struct gnn_err *e)
{
    if (check_names(name, n, e))
        return NULL;
    char **copy = gnn_alloc_zero(n, sizeof *copy, "names of classes", e);
    for (uint32_t i = 0; copy && i < n; i++)
        if (!(copy[i] = gnn_strdup(name[i], e))) {
            gnn_class_names_free(copy, n);
            return NULL;
        }
    return copy;
}

void gnn_class_names_free(char **name, uint32_t n)
{
    for (uint32_t i = 0; name && i < n; i++)
        gnn_free(name[i]);
    gnn_free(name);
}

json_t *gnn_class_names_to_json(char *const *name, uint32_t n)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list && i < n; i++)
        if (json_array_append_new(list, json_string(name[i]))) {
            json_decref(list);
            list = NULL;
        }
    return list;
}

char **gnn_class_names_from_json(const json_t *j, uint32_t n, struct gnn_err *e)
{
    const char **name = NULL;
    if (!json_is_array(j) || json_array_size(j) != n) {
        gnn_fail(e, GNN_E_INPUT, "'class_names' is not a list of %u names", n);
        return NULL;
    }
    int rc = (name = gnn_alloc(n, sizeof *name, "names of classes", e)) ? GNN_OK : GNN_E_NOMEM;
    for (uint32_t i = 0; !rc && i < n; i++)
        if (!(name[i] = json_string_value(json_array_get(j, i))))
            rc = gnn_fail(e, GNN_E_INPUT, "'class_names' is not a list of %u names", n);
    char **copy = rc ? NULL : gnn_class_names_copy(name, n, e);
    gnn_free(name);
    return copy;
}
