/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether a stream of batches is piped into a program that does not read stdin, as `gnn-
 * sample ... | gnn-partition STORE` does: nobody would notice otherwise. The pipe is looked into
 * without taking anything out of it, first for half a second, then by a thread that waits as long
 * as the program runs. */
#include "cmd/stdin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cli.h"
#include "cmd/ranks.h"
#include "formats/gnb.h"

enum {
    MAGIC = 4,   /* bytes that say what comes */
    FEW = 100,   /* looks at fewer bytes than that */
    FIRST = 500, /* milliseconds for the program before this one to begin */
    PAUSE = 20
};
enum what { NOTHING_YET, STREAM, ANYTHING_ELSE };

static const char *how_else;

/* tee(2) copies what is in the pipe into a second one; the bytes stay in the first. */
static ssize_t look_in_pipe(uint8_t *to)
{
    int copy[2];
    if (pipe2(copy, O_CLOEXEC))
        return 0;
    ssize_t n = tee(0, copy[1], MAGIC, SPLICE_F_NONBLOCK);
    const int why = errno;
    if (n > 0)
        n = read(copy[0], to, MAGIC);
    close(copy[0]);
    close(copy[1]);
    errno = why;
    return n;
}

/* Looks at what comes next, and leaves it there. */
static enum what look_ahead(mode_t mode)
{
    uint8_t head[MAGIC];
    ssize_t n = 0;
    if (S_ISFIFO(mode))
        n = look_in_pipe(head);
    else if (S_ISSOCK(mode))
        n = recv(0, head, sizeof head, MSG_PEEK | MSG_DONTWAIT);
    /* A socket or a file can be looked into directly. */
    else
        n = pread(0, head, sizeof head, lseek(0, 0, SEEK_CUR));
    if (n == MAGIC)
        return gnn_gnb_frame_is(head) ? STREAM : ANYTHING_ELSE;
    /* Fewer bytes than the magic: more may come, unless this is a regular file. */
    return (n < 0 && errno == EAGAIN) || (n > 0 && !S_ISREG(mode)) ? NOTHING_YET : ANYTHING_ELSE;
}

static void refuse_input(void)
{
    cli_usage("stdin: a stream of batches, which is not read: %s", how_else);
}

/* What comes next, once something does, or NOTHING_YET after so many milliseconds; -1: no limit. */
static enum what wait_for(mode_t mode, int ms)
{
    struct pollfd p = {.fd = 0, .events = POLLIN};
    enum what is = look_ahead(mode);
    for (int few = 0; is == NOTHING_YET && few < FEW; few++) {
        const int n = poll(&p, 1, ms);
        if (!n || (n < 0 && errno != EINTR))
            return NOTHING_YET;
        is = look_ahead(mode);
        if (is == NOTHING_YET)
            nanosleep(&(struct timespec){.tv_nsec = PAUSE * 1000000}, NULL);
    }
    return is;
}

static void *watch_input(void *arg)
{
    struct stat st;
    (void)arg;
    if (!fstat(0, &st) && wait_for(st.st_mode, -1) == STREAM)
        refuse_input();
    return NULL;
}

/* A thread for input that comes late. The signals that the program waits for are blocked in it, as
 * in each thread (cmd/sig.c). */
static void watch_on(void)
{
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    (void)!pthread_create(&thread, &small, watch_input,
                          NULL); /* without it, what comes later is not seen */
    pthread_attr_destroy(&small);
}

static bool is_stdin(const char *name, const struct stat *in)
{
    struct stat st;
    return name && (!strcmp(name, "-") ||
                    (!stat(name, &st) && st.st_dev == in->st_dev && st.st_ino == in->st_ino));
}

void stdin_unread(const char *how, const char *const *inputs, unsigned n)
{
    struct stat st;
    if (fstat(0, &st) || !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISREG(st.st_mode)))
        return;
    for (unsigned i = 0; i < n; i++)
        if (is_stdin(inputs[i], &st))
            return;
    how_else = how;
    const enum what is =
        wait_for(st.st_mode, ranks_many() ? 0 : FIRST); /* launchers leave pipes open */
    if (is == STREAM)
        refuse_input();
    if (is == NOTHING_YET)
        watch_on();
}
