#include "formats/mtx.h"

#include <string.h>
#include <strings.h>

/* The next word of a line, in lower case; false if it is absent or too long. */
static bool word(const char **line, char *out, size_t room)
{
    const char *p = gnn_text_blanks(*line);
    size_t n = 0;
    while (*p != ' ' && *p != '\t' && *p != '\n' && *p != '\r') {
        if (n + 1 == room)
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
    if (!word(&line, w, sizeof w) || strcmp(w, "%%matrixmarket"))
        return "no Matrix Market banner";
    if (!word(&line, w, sizeof w) || strcmp(w, "matrix"))
        return "only matrices are supported";
    if (!word(&line, w, sizeof w) || strcmp(w, "coordinate"))
        return "only coordinate matrices are supported";
    if (!word(&line, w, sizeof w) || (strcmp(w, "real") && strcmp(w, "integer") && strcmp(w, "pattern")))
        return "only real, integer and pattern matrices are supported";
    m->pattern = !strcmp(w, "pattern");
    if (!word(&line, w, sizeof w) || (strcmp(w, "general") && strcmp(w, "symmetric")))
        return "only general and symmetric matrices are supported";
    m->symmetric = !strcmp(w, "symmetric");
    return *gnn_text_blanks(line) == '\n' ? NULL : "the banner has too many words";
}

const char *gnn_mtx_size(struct gnn_mtx *m, const char *line)
{
    uint64_t *v[] = {&m->rows, &m->cols, &m->entries};
    for (int i = 0; i < 3; i++) {
        line = gnn_text_u64(gnn_text_blanks(line), v[i]);
        if (!line || (*line != ' ' && *line != '\t' && *line != '\r' && *line != '\n'))
            return "the size line wants three numbers: rows, columns, entries";
    }
    if (*gnn_text_blanks(line) != '\n')
        return "the size line wants three numbers: rows, columns, entries";
    if (m->rows < 1 || m->rows > UINT32_MAX - 1 || m->cols < 1 || m->cols > UINT32_MAX - 1)
        return "rows and columns must be from 1 to 4294967294";
    if (m->entries > UINT64_MAX / 4)
        return "too many entries";
    if (m->symmetric && m->rows != m->cols)
        return "a symmetric matrix that is not square";
    return NULL;
}
