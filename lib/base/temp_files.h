/* SPDX-License-Identifier: Apache-2.0 */
/* The files of results that are directories: stores, and partitions in the layout of DGL. Only such
 * files are ever removed from a directory: what somebody else put there stays. Nothing here needs
 * memory: it may have run out. */
#ifndef GNN_LIB_BASE_TEMP_FILES_H
#define GNN_LIB_BASE_TEMP_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Whether a partition in the layout of DGL has such a file or folder, such a folder, and such a
 * file in a folder of its own; graph: what its JSON is called, the first n bytes of it. */
bool gnn_temp_in_dgl(const char *name, const char *graph, size_t n);
bool gnn_temp_is_dgl_part(const char *name);
bool gnn_temp_in_dgl_part(const char *name);

/* Calls fn with the name of each entry of the directory until it returns false. */
void gnn_temp_each(int fd, bool (*fn)(int fd, const char *name, void *arg), void *arg);
/* Removes the files of a result from the directory `name` of the directory `parent`, and the
 * directory if it is empty then. */
void gnn_temp_remove_dir(int parent, const char *name);
/* Gives all files of a result that mode, and folders the same with a search bit for each who may
 * read. */
void gnn_temp_set_modes(int fd, mode_t mode);

#endif
