/* SPDX-License-Identifier: Apache-2.0 */
/* The handshake of the zero-copy transport (lib/stream/handshake.h): messages on a socket whose
 * abstract name is made of the pipe's inode, so that exactly the two programs at the ends of one
 * pipe find each other, and nothing is left in the file system. */
#include "lib/stream/handshake.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* An abstract address vanishes with its socket. Network namespaces keep hosts and containers
 * apart. */
static bool pipe_address(int fd, struct sockaddr_un *a, socklen_t *len)
{
    struct stat st;
    if (fstat(fd, &st) || !S_ISFIFO(st.st_mode)) {
        errno = ENOTSUP;
        return false;
    }
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    const int n = snprintf(a->sun_path + 1, sizeof a->sun_path - 1, "gnn-handoff/%llx/%llx",
                           (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
    *len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    return true;
}

static int close_failed(int sock)
{
    const int saved = errno;
    if (sock >= 0)
        close(sock);
    errno = saved;
    return -1;
}

/* A socket that has been given the name of the pipe by `use`. */
static int named_socket(int fd, int (*use)(int, const struct sockaddr *, socklen_t))
{
    struct sockaddr_un a;
    socklen_t len;
    if (!pipe_address(fd, &a, &len))
        return -1;
    const int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return sock >= 0 && !use(sock, (const struct sockaddr *)&a, len) ? sock : close_failed(sock);
}

/* The name is not secret: a program of another user must not get the batches. */
static bool same_user(int sock)
{
    struct ucred c;
    socklen_t len = sizeof c;
    return !getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &c, &len) && c.uid == geteuid();
}

int gnn_handshake_listen(int fd)
{
    const int sock = named_socket(fd, bind);
    return sock >= 0 && !listen(sock, 1) ? sock : close_failed(sock);
}

int gnn_handshake_connect(int fd)
{
    const int sock = named_socket(fd, connect);
    return sock >= 0 && same_user(sock) ? sock : close_failed(sock);
}

int gnn_handshake_accept(int listener)
{
    const int sock = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return sock >= 0 && same_user(sock) ? sock : close_failed(sock);
}

bool gnn_handshake_gone(int sock, int patience)
{
    char c;
    struct pollfd p = {.fd = sock, .events = POLLIN | POLLRDHUP};
    (void)poll(&p, 1, patience);
    const ssize_t n = recv(sock, &c, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN &&
                      errno != EINTR); /* reset: it had not read all that we sent */
}

/* Ancillary data: the descriptor of the shared memory, or of a file. */
bool gnn_handshake_send(int sock, const struct gnn_handshake *m, int descriptor)
{
    union {
        struct cmsghdr head;
        char capacity[CMSG_SPACE(sizeof(int))];
    } c = {0};
    struct iovec v = {(void *)(uintptr_t)m, sizeof *m};
    struct msghdr h = {.msg_iov = &v, .msg_iovlen = 1};
    if (descriptor >= 0) {
        h.msg_control = &c;
        h.msg_controllen = sizeof c;
        c.head.cmsg_level = SOL_SOCKET;
        c.head.cmsg_type = SCM_RIGHTS;
        c.head.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&c.head), &descriptor, sizeof descriptor);
    }
    return sendmsg(sock, &h, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof *m;
}

int gnn_handshake_recv(int sock, struct gnn_handshake *m, int *descriptor)
{
    union {
        struct cmsghdr head;
        char capacity[CMSG_SPACE(sizeof(int))];
    } c = {0};
    struct iovec v = {m, sizeof *m};
    /* Space for one descriptor, not for the two that its padding would hold: what comes too many is
     * closed by the kernel. */
    struct msghdr h = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = CMSG_LEN(sizeof(int))};
    int got = -1;
    const ssize_t n = recvmsg(sock, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (h.msg_controllen >= CMSG_LEN(sizeof(int)) && c.head.cmsg_level == SOL_SOCKET &&
        c.head.cmsg_type == SCM_RIGHTS && c.head.cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(&got, CMSG_DATA(&c.head), sizeof got);
    if (n != (ssize_t)sizeof *m || (got >= 0 && !descriptor)) {
        if (got >= 0)
            close(got);
        return -1;
    }
    if (descriptor)
        *descriptor = got;
    return 1;
}
