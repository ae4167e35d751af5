/* SPDX-License-Identifier: Apache-2.0 */
/* How the two ends of a pipe find each other, and their messages: gnb(5), TRANSPORT. */
#ifndef GNN_LIB_STREAM_HANDSHAKE_H
#define GNN_LIB_STREAM_HANDSHAKE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /* "GNBh", CONNECT: a reader, of the stream whose HEADER has the sum `value`; `slots` DEVICEs
     * follow */
    GNN_HANDSHAKE_CONNECT = 0x68424e47,
    /* "GNBd": it works on the device `value`, and takes what lies there */
    GNN_HANDSHAKE_DEVICE = 0x64424e47,
    /* "GNBo": `slots`, `value` bytes to map, and the descriptor */
    GNN_HANDSHAKE_OFFER = 0x6f424e47,
    /* "GNBt", ACCEPT: mapped; from here on references may come, if `value` is 1 also to rows in
     * files */
    GNN_HANDSHAKE_ACCEPT = 0x74424e47,
    /* "GNBf", FILE: number `value` and the descriptor of a file, of which one tensor is referred
     * to, from the next frame on */
    GNN_HANDSHAKE_FILE = 0x66424e47,
    GNN_HANDSHAKE_RELEASE = 0x62424e47 /* "GNBb", RELEASE: slot number `slots` is given back */
};

enum { GNN_HANDSHAKE_DEVICES = 64, GNN_HANDSHAKE_FILES = 64 }; /* at most */

struct gnn_handshake {
    uint32_t what, slots;
    uint64_t value;
};

/* A socket that listens under the name of the pipe fd, or is connected to the one that does;
 * neither blocks. -1 and errno if that cannot be. */
int gnn_handshake_listen(int fd);
int gnn_handshake_connect(int fd);
/* The reader that came, of our own user; -1 if none did. */
int gnn_handshake_accept(int listener);
/* Sends, with a descriptor unless it is -1. */
bool gnn_handshake_send(int sock, const struct gnn_handshake *m, int descriptor);
/* 1 and a message, and its descriptor or -1 if asked for; 0 if none has come; -1 at the end, or if
 * it is not a message. */
int gnn_handshake_recv(int sock, struct gnn_handshake *m, int *descriptor);
/* Has the other side closed, and nothing is left to receive? Waits for that at most so many
 * milliseconds. */
bool gnn_handshake_gone(int sock, int patience);

#endif
