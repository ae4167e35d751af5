/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/mtx.h"

#include <string.h>
#include <strings.h>

/* The next word of a line, in lower case; false if it is absent or too long. */
static bool next_word(const char **line, char *out, size_t capacity)
{
    const char *p = gnn_text_blanks(*line);
    size_t n = 0;
    while (*p != ' ' && *p != '\t' && *p != '\n' && *p != '\r') {
        if (n + 1 == capacity)
            return false;
        out[n++] = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
        p++;
    }
    out[n] = 0;
    *line = p;
    return n > 0;
}

const char *gnn_mtx_banner(struct gnn_mtx *m, const char *line)
{
    char w[32];
    *m = (struct gnn_mtx){0};
    if (!next_word(&line, w, sizeof w) || strcmp(w, "%%matrixmarket"))
        return "no Matrix Market banner";
    if (!next_word(&line, w, sizeof w) || strcmp(w, "matrix"))
        return "only matrices are supported";
    if (!next_word(&line, w, sizeof w) || (strcmp(w, "coordinate") && strcmp(w, "array")))
        return "the matrix is neither coordinate nor array";
    m->array = !strcmp(w, "array");
    if (!next_word(&line, w, sizeof w))
        return "the banner lacks the type of the entries";
    m->pattern = !strcmp(w, "pattern");
    m->integer =
        !strcmp(w, "integer") || !strcmp(w, "unsigned-integer"); /* the latter is SciPy's */
    if (!strcmp(w, "complex"))
        return "complex entries are not supported, only real, integer and pattern";
    if (!m->pattern && !m->integer && strcmp(w, "real") && strcmp(w, "double"))
        return "entries of this kind are not supported, only real, integer and pattern";
    if (m->array && m->pattern)
        return "an array has values, so it cannot be a pattern";
    if (!next_word(&line, w, sizeof w))
        return "the banner lacks the symmetry";
    m->symmetric = !strcmp(w, "symmetric");
    m->skew = !strcmp(w, "skew-symmetric");
    if (!strcmp(w, "hermitian"))
        return "hermitian matrices, which are complex, are not supported";
    if (m->skew && m->pattern)
        return "a skew-symmetric matrix has values, so it cannot be a pattern";
    if (!m->symmetric && !m->skew && strcmp(w, "general"))
        return "the matrix is neither general nor symmetric nor skew-symmetric";
    return *gnn_text_blanks(line) == '\n' ? NULL : "the banner has too many words";
}

/* Entries that the file of a dense matrix lists: all, or those on and below the diagonal. */
static uint64_t listed_entries(const struct gnn_mtx *m)
{
    uint64_t n = m->rows;
    return m->symmetric ? n * (n + 1) / 2 : m->skew ? n * (n - 1) / 2 : n * m->cols;
}

const char *gnn_mtx_size(struct gnn_mtx *m, const char *line)
{
    uint64_t *v[] = {&m->rows, &m->cols, &m->entries};
    const char *want = m->array ? "the size line must have two numbers: rows, columns"
                                : "the size line must have three numbers: rows, columns, entries";
    for (int i = 0; i < (m->array ? 2 : 3); i++) {
        line = gnn_text_u64(gnn_text_blanks(line), v[i]);
        if (!line || (*line != ' ' && *line != '\t' && *line != '\r' && *line != '\n'))
            return want;
    }
    if (*gnn_text_blanks(line) != '\n')
        return want;
    if (m->rows < 1 || m->rows > UINT32_MAX - 1 || m->cols < 1 || m->cols > UINT32_MAX - 1)
        return "rows and columns must be from 1 to 4294967294";
    if ((m->symmetric || m->skew) && m->rows != m->cols)
        return "a symmetric matrix that is not square";
    if (m->array)
        m->entries = listed_entries(m);
    return m->entries > UINT64_MAX / 4 ? "too many entries" : NULL;
}
