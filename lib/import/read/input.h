/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs: a file, a directory, an archive (zip, tar; itself compressed or not) or the arrays of a
 * file of torch.save, all seen as a list of members that can be opened again and again as byte
 * streams. Nothing is unpacked to disk,
 * and no buffer's size comes from a length that the input declares. */
#ifndef GNN_LIB_IMPORT_INPUT_H
#define GNN_LIB_IMPORT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

struct gnn_input;
struct gnn_reader;
struct gnn_array_list;
struct gnn_torch_file;

/* One path, which may be a FIFO or "-", or several plain files that become the members. A path
 * ARCHIVE:MEMBER, where no file has that name, is a member of an archive, or those below it;
 * ARCHIVE:MEMBER:KEY an array in a member that is a file of torch.save. Refuses (GNN_E_INPUT)
 * encrypted members, names that lead out of the archive, the same name twice, and more than 100,000
 * members. Files that cannot be data (lib/import/read/companion.h) are left out, unless they are
 * named. */
int gnn_input_open(struct gnn_input **in, const char *const *path, uint32_t n,
                   struct gnn_err *e) GNN_MUST_USE;
/* An archive that is a member of another (an .npz in a .zip). `outer` must outlive it. */
int gnn_input_open_inner(struct gnn_input **in, struct gnn_input *outer, uint32_t member,
                         struct gnn_err *e) GNN_MUST_USE;
/* The arrays of a list, which it takes over, on failure too, as an input of that name, of files of
 * so many bytes. */
int gnn_input_of_arrays(struct gnn_input **in, struct gnn_array_list *l, const char *name,
                        uint64_t bytes, struct gnn_err *e) GNN_MUST_USE;
/* As both, of all arrays in a file of torch.save or a pickle, named by their keys
 * (lib/import/read/keyed_arrays.h); other files are opened as without. */
int gnn_input_open_keyed(struct gnn_input **in, const char *path, struct gnn_err *e) GNN_MUST_USE;
int gnn_input_open_inner_keyed(struct gnn_input **in, struct gnn_input *outer, uint32_t member,
                               struct gnn_err *e) GNN_MUST_USE;
/* Takes NULL. */
void gnn_input_free(struct gnn_input *in);
/* Another holder, who frees it as well. */
struct gnn_input *gnn_input_hold(struct gnn_input *in);
/* Whether several paths were given; whether it is an archive. */
bool gnn_input_several(const struct gnn_input *in);
bool gnn_input_is_archive(const struct gnn_input *in);
/* Whether the members are arrays of another program's file (lib/import/read/array_list.h), and
 * whether their names begin with types. */
bool gnn_input_is_arrays(const struct gnn_input *in, bool *typed);
/* Note k on how the files of arrays were read, for users; NULL: there are no more. */
const char *gnn_input_note(const struct gnn_input *in, uint32_t k);
/* Whether there is no file of that path, but one that is a part of it before a colon. */
bool gnn_input_is_member(const char *path);

const char *gnn_input_name(const struct gnn_input *in);
/* Bytes of the files it lies in, packed as they are. */
uint64_t gnn_input_bytes(const struct gnn_input *in);
/* Bytes that came from a pipe, and were copied (lib/import/read/spool.h); 0: it was none. */
uint64_t gnn_input_spooled(const struct gnn_input *in);
uint32_t gnn_input_members(const struct gnn_input *in);
/* Whether it has one member only; else GNN_E_INPUT: `what` is in one file. */
int gnn_input_lone(const struct gnn_input *in, const char *what, struct gnn_err *e) GNN_MUST_USE;
/* Name of member i: for a lone plain file its base name. Sorted by name. */
const char *gnn_input_member(const struct gnn_input *in, uint32_t i);
/* The place of member i in an .npz or a list of arrays, whose order somebody chose; elsewhere i. */
uint32_t gnn_input_given(const struct gnn_input *in, uint32_t i);
/* Where member i is, for messages: "INPUT: MEMBER", and of a lone plain file, which is both, INPUT.
 * Lives until this thread's next call. */
const char *gnn_input_where(const struct gnn_input *in, uint32_t i);
/* Index of the member called name, or name with ".gz", ".zst" or ".xz"; -1 if there is none. */
int gnn_input_find(const struct gnn_input *in, const char *name);

/* Takes member i out of those that are read. */
int gnn_input_leave(struct gnn_input *in, uint32_t i, struct gnn_err *e) GNN_MUST_USE;
/* As gnn_input_leave, of a table of nodes, which gnn_input_table then names: by its path, or
 * ARCHIVE:MEMBER; NULL for those that are not there. */
int gnn_input_set_aside(struct gnn_input *in, uint32_t i, struct gnn_err *e) GNN_MUST_USE;
const char *gnn_input_table(const struct gnn_input *in, uint32_t k);
/* The names of the files that are not read, as many as fit. False: there are none. */
bool gnn_input_left(const struct gnn_input *in, char *text, size_t capacity);
/* Puts several inputs, whose members are in the order of their names, in the order in which they
 * were given. */
void gnn_input_as_given(struct gnn_input *in);
/* _join makes one text of the members, which is read from the first to the last; from then on there
 * is one member. In what was member i, bytes `from` to `to` appear as blanks: a header that is
 * there again. */
void gnn_input_blank(struct gnn_input *in, uint32_t i, uint64_t from, uint64_t to);
void gnn_input_join(struct gnn_input *in);
/* How many members were made one text, and the names of the first and the last; 0: none. */
uint32_t gnn_input_parts(const struct gnn_input *in, const char **first, const char **last);
/* In which of the joined members a line of the whole text is, and as which of it. */
int gnn_input_line(struct gnn_input *in, uint64_t line, const char **member, uint64_t *at,
                   struct gnn_err *e) GNN_MUST_USE;

/* Opens a member as a stream of its bytes, decompressed if they are gzip, zstd or xz. Independent
 * of other readers of the input. */
int gnn_reader_open(struct gnn_reader **r, struct gnn_input *in, uint32_t member,
                    struct gnn_err *e) GNN_MUST_USE;
/* Reads n bytes; fewer only at the end. GNN_E_INPUT for damage, a cut, a checksum that does not
 * fit, or content that expands more than 1,100-fold. */
int gnn_reader_read(struct gnn_reader *r, void *buf, uint64_t n, uint64_t *got,
                    struct gnn_err *e) GNN_MUST_USE;
/* The first bytes, up to 4,096, before anything has been read. */
int gnn_reader_peek(struct gnn_reader *r, const uint8_t **p, size_t *n,
                    struct gnn_err *e) GNN_MUST_USE;
/* Reads and drops n bytes. */
int gnn_reader_skip(struct gnn_reader *r, uint64_t n, struct gnn_err *e) GNN_MUST_USE;
/* "INPUT: MEMBER", for messages. */
const char *gnn_reader_name(const struct gnn_reader *r);
/* Takes NULL. */
void gnn_reader_free(struct gnn_reader *r);

/* The values of the only member, if it is a pickle that is not in a file of torch.save, else NULL.
 * They live as long as the list; the input may be freed before. */
int gnn_input_values(struct gnn_input *in, struct gnn_array_list *l,
                     const struct gnn_torch_file **f, struct gnn_err *e) GNN_MUST_USE;

#endif
