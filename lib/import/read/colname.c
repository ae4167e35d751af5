/* SPDX-License-Identifier: Apache-2.0 */
/* What columns are called (lib/import/read/colname.h). */
#include "lib/import/read/colname.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* What the ends of an edge are called, and what is between them, in lower case and without anything
 * but letters and digits. The first GNN_COLNAME_MIXED names of both ends may be mixed; others are
 * pairs. */
static const char *const sources[GNN_COLNAME_PAIRS + 1] = {
    "source", "src",      "from",       "head",    "u",       "sourceid", "fromnodeid", "subject",
    "start",  "startid",  "user",       "userid",  "node1",   "id1",      "origin",     "srcid",
    "fromid", "fromnode", "sourcenode", "entity1", "nodeid1", "sender",   "h",          "s",
    "citing", "citer",    "follower",   "parent",  "caller",  "buyer",    "customer",   NULL};
static const char *const targets[GNN_COLNAME_PAIRS + 1] = {
    "target", "dst",    "to",         "tail",    "v",       "targetid", "tonodeid",    "object",
    "end",    "endid",  "item",       "itemid",  "node2",   "id2",      "destination", "dstid",
    "toid",   "tonode", "targetnode", "entity2", "nodeid2", "receiver", "t",           "o",
    "cited",  "citee",  "followee",   "child",   "callee",  "seller",   "product",     NULL};
static const char *const relations[] = {
    "relation",     "rel",      "predicate", "label", "type", "property",
    "relationtype", "edgetype", "link",      "r",     "p",    NULL};

size_t gnn_colname_neo4j(const char *name, size_t len)
{
    static const char *const types[] = {
        "int",    "long",  "float", "double", "boolean",  "byte",          "short",     "char",
        "string", "point", "date",  "time",   "datetime", "localdatetime", "localtime", "duration"};
    const char *colon = memchr(name, ':', len);
    const size_t before = colon ? (size_t)(colon - name) : 0;
    for (size_t i = 0; before && i < sizeof types / sizeof *types; i++) {
        const size_t n = strlen(types[i]);
        if (before + 1 + n == len && !strncasecmp(colon + 1, types[i], n))
            return before;
    }
    return len;
}

size_t gnn_colname_plain(const char *name, size_t len, char plain[GNN_COLNAME_CAPACITY])
{
    static const char *const ends[] = {":START_ID", ":END_ID"};
    size_t n = 0;
    len = gnn_colname_neo4j(name, len);
    for (int k = 0; k < 2; k++) {
        const size_t end = strlen(ends[k]);
        if (len >= end && !memcmp(name, ends[k], end) && (len == end || name[end] == '('))
            len = end;
    }
    for (size_t i = 0; i < len && n < GNN_COLNAME_CAPACITY - 1; i++)
        if (isalnum((unsigned char)name[i]))
            plain[n++] = (char)tolower((unsigned char)name[i]);
    plain[n] = 0;
    return n;
}

static int find_name(const char *name, const char *const *names)
{
    char plain[GNN_COLNAME_CAPACITY];
    gnn_colname_plain(name, strlen(name), plain);
    for (int i = 0; names[i]; i++)
        if (!strcmp(names[i], plain))
            return i;
    return -1;
}

int gnn_colname_end(const char *name, int end)
{
    return find_name(name, end ? targets : sources);
}

void gnn_colname_note(struct gnn_colname_ends *ends, const char *name, int column)
{
    const int source = find_name(name, sources), target = find_name(name, targets);
    if (source >= 0)
        ends->source[source] = column;
    if (target >= 0)
        ends->target[target] = column;
}

bool gnn_colname_choose(const struct gnn_colname_ends *ends, int *source, int *target)
{
    *source = *target = -1;
    for (int k = 0; k < GNN_COLNAME_PAIRS; k++)
        if (ends->source[k] >= 0 && ends->target[k] >= 0) {
            *source = ends->source[k];
            *target = ends->target[k];
            return true;
        }
    for (int k = GNN_COLNAME_MIXED; k--;) {
        *source = ends->source[k] >= 0 ? ends->source[k] : *source;
        *target = ends->target[k] >= 0 ? ends->target[k] : *target;
    }
    return *source >= 0 && *target >= 0;
}

bool gnn_colname_header(const char *line, size_t n)
{
    struct gnn_colname_ends ends;
    char name[GNN_COLNAME_CAPACITY];
    int source, target;
    memset(&ends, -1, sizeof ends);
    for (size_t at = 0, len; at < n; at += len + 1) {
        for (len = 0; at + len < n && !memchr(",; \t\r\"", line[at + len], 6);)
            len++;
        if (len >= sizeof name)
            continue;
        memcpy(name, line + at, len);
        name[len] = 0;
        gnn_colname_note(&ends, name, 0);
    }
    return gnn_colname_choose(&ends, &source, &target);
}

bool gnn_colname_relation(const char *name)
{
    return find_name(name, relations) >= 0;
}

bool gnn_colname_of_type(const char *name, const char *type, size_t len)
{
    char plain[GNN_COLNAME_CAPACITY], of[GNN_COLNAME_CAPACITY];
    const size_t n = gnn_colname_plain(type, len, of);
    gnn_colname_plain(name, strlen(name), plain);
    return n && !strncmp(plain, of, n) && (!plain[n] || !strcmp(plain + n, "id"));
}

bool gnn_colname_none(const char *name)
{
    const size_t n = strncasecmp(name, "unnamed: ", 9) ? 0 : 9;
    return !name[n + strspn(name + n, "0123456789")] && (n || !*name);
}
