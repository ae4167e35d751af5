/* SPDX-License-Identifier: Apache-2.0 */
/* What columns of tables of edges are called (lib/import/read/colname.h). */
#include "lib/import/read/colname.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { ROOM = 128 };

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

/* The letters and digits of a name, in lower case; how many. */
static size_t plain_name(const char *name, size_t len, char plain[ROOM])
{
    size_t n = 0;
    for (size_t i = 0; i < len && n < ROOM - 1; i++)
        if (isalnum((unsigned char)name[i]))
            plain[n++] = (char)tolower((unsigned char)name[i]);
    plain[n] = 0;
    return n;
}

static int find_name(const char *name, const char *const *names)
{
    char plain[ROOM];
    plain_name(name, strlen(name), plain);
    for (int i = 0; names[i]; i++)
        if (!strcmp(names[i], plain))
            return i;
    return -1;
}

int gnn_colname_end(const char *name, int end)
{
    return find_name(name, end ? targets : sources);
}

bool gnn_colname_relation(const char *name)
{
    return find_name(name, relations) >= 0;
}

bool gnn_colname_of_type(const char *name, const char *type, size_t len)
{
    char plain[ROOM], of[ROOM];
    const size_t n = plain_name(type, len, of);
    plain_name(name, strlen(name), plain);
    return n && !strncmp(plain, of, n) && (!plain[n] || !strcmp(plain + n, "id"));
}

bool gnn_colname_none(const char *name)
{
    const size_t n = strncasecmp(name, "unnamed: ", 9) ? 0 : 9;
    return !name[n + strspn(name + n, "0123456789")] && (n || !*name);
}
