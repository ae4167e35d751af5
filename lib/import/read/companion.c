/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/read/companion.h"

#include <string.h>
#include <strings.h>

#include "lib/base/path.h"

/* Whether it is one of the words, each of which a blank follows. */
static bool is_among(const char *s, size_t n, const char *words)
{
    for (const char *p = words; *p; p += strcspn(p, " ") + 1)
        if (strcspn(p, " ") == n && !strncasecmp(p, s, n))
            return true;
    return false;
}

/* Any part of its path begins with a point, or is what macOS puts into zip archives. */
static bool is_hidden(const char *path)
{
    for (const char *p = path; *p; p += strcspn(p, "/"), p += *p == '/')
        if ((*p == '.' && p[1] && p[1] != '/') || !strncmp(p, "__MACOSX/", 9))
            return true;
    return false;
}

/* Negatives of the Temporal Graph Benchmark: NAME_val_ns.pkl, NAME_test_ns_v2.pkl. */
static bool is_negatives(const char *name)
{
    const char *at = strstr(name, "_ns");
    return at && (!strcmp(at, "_ns.pkl") || (!strncmp(at, "_ns_v", 5) && strstr(at, ".pkl")));
}

bool gnn_companion_is(const char *member)
{
    const char *name = gnn_base_name(member);
    const char *end = strrchr(name, '.');
    const size_t stem = strcspn(name, "._-"), n = strlen(name);
    const bool data = end && is_among(end, strlen(end),
                                      ".csv .tsv .npy .npz .mtx .graph .edges .dat .data .json "
                                      ".gz .zst .xz .parquet ");
    if (is_hidden(member))
        return true;
    if (!data && is_among(name, stem,
                          "readme license licence copying copyright citation disclaimer notice "
                          "authors changelog changes "))
        return true;
    if (!data && !strncasecmp(name, "meta.", 5) && strcasecmp(end, ".txt") != 0)
        return true;
    if (is_negatives(name))
        return true;
    if (!strncmp(name, "_committed_", 11) || !strncmp(name, "_started_", 9))
        return true;
    return is_among(name, n,
                    "_SUCCESS _metadata _common_metadata Thumbs.db desktop.ini MD5SUMS SHA1SUMS "
                    "SHA256SUMS SHA512SUMS Makefile ") ||
           (end &&
            is_among(end, strlen(end),
                     ".md .rst .pdf .ps .rtf .doc .docx .tex .bib .html .htm .css .js .png "
                     ".jpg .jpeg .gif .svg .py .ipynb .sh .bat .md5 .sha1 .sha256 .sha512 "
                     ".crc .crc32 .sig .asc .torrent .url .lnk .yaml .yml .toml .ini .cfg "));
}
