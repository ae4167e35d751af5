/* SPDX-License-Identifier: Apache-2.0 */
/* Signals (cmd/sig.h): one thread waits for SIGINT, SIGTERM, SIGHUP and SIGUSR1 and removes
 * incomplete outputs before the process dies of them, or remembers them for programs that stop at
 * the next step. SIGBUS, from a mapped file that was cut, goes to the same thread. */
#include "cmd/sig.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/mapped.h"
#include "lib/base/temp.h"

/* The signals that users send are blocked in every thread, and one thread waits for them. There is
 * no handler, because a handler would use the stack of the thread that it interrupts, and generated
 * code of oneDNN keeps live data below its stack pointer, further than the ABI's red zone allows.
 * The handler of SIGBUS never returns to what it interrupts, so it harms nothing. */

static atomic_int pending; /* the first that was deferred */
static atomic_bool deferred;
static atomic_int told = -1; /* the descriptor of sig_fd */
static sigset_t awaited;
static pthread_t waiting; /* the thread, if `started` */
static bool started;
static sem_t answer; /* to ASK, which only sig_settled sends, and only to that thread */
#define ASK SIGRTMIN
#define FAULT (SIGRTMIN + 1) /* from on_fault, to the same */
static void *_Atomic fault;  /* the address */
static pid_t process;        /* whose thread that is: a child has none */
static void (*die)(int exit_status, const char *fmt, ...) GNN_PRINTF(2, 3);
static void (*_Atomic late)(void); /* tells that a signal was deferred */
static const int sigs[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};

void sig_reraise(int sig)
{
    /* The default action, so that the parent sees a death by signal and not an exit status. */
    sigset_t set;
    signal(sig, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, sig);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(sig);
    _exit(128 + sig);
}

/* A mapped file was cut short or cannot be read. The thread that waits for signals reports it and
 * ends the process; this thread cannot continue, whatever library it is in. If nobody waits, the
 * signal acts as usual. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
    void *none = NULL;
    (void)context;
    const bool ours =
        info->si_code > 0 && getpid() == process; /* not sent by kill(2), nor to a child */
    if (ours)
        atomic_compare_exchange_strong(&fault, &none, info->si_addr);
    if (!ours ||
        pthread_kill(waiting,
                     FAULT)) { /* which fails where no more signals may be pending (ulimit -i) */
        signal(sig, SIG_DFL);
        raise(sig);
        return;
    }
    for (;;)
        pause();
}

static void end_by_fault(void)
{
    struct gnn_err e = {0};
    if (gnn_mapped_fault(atomic_load(&fault), &e))
        die(1, "%s", e.msg);
    gnn_temp_abort();
    sig_reraise(SIGBUS);
}

/* Whether a signal only asks the program to stop. The second that somebody sends to end it does
 * not. What another process sends within a second of the first is the same request by another way:
 * timeout(1) signals its child and then the group of its child, and passes Ctrl-C on to a child
 * that the terminal has told already. SIGUSR1 says that the time is nearly over, may come by
 * several ways, and is followed by SIGTERM when the time is over. */
static bool only_asks(const siginfo_t *si)
{
    static double first = -1; /* when the first came */
    if (!atomic_load(&deferred))
        return false;
    if (si->si_signo == SIGUSR1)
        return true;
    const double now = gnn_clock();
    if (first < 0)
        first = now;
    else
        return si->si_code <= 0 && si->si_pid != process && now - first < 1;
    return true;
}

static void tell_deferred(void)
{
    const int fd = atomic_load(&told);
    if (fd >= 0)
        (void)eventfd_write(fd, 1);
}

/* The next signal. If none comes for a second, calls *tell, if there is one, and then no more. */
static void next_signal(const sigset_t *set, void (**tell)(void), siginfo_t *si)
{
    if (*tell) {
        if (sigtimedwait(set, si, &(struct timespec){.tv_sec = 1}) > 0)
            return;
        (*tell)();
    }
    *tell = NULL;
    while (sigwaitinfo(set, si) <= 0)
        ;
}

/* Deals with one of the awaited signals. Does not return if that ends the process. *tell is called
 * when the program is late to stop. */
static void deal_with(const siginfo_t *si, void (**tell)(void))
{
    if (only_asks(si)) {
        if (!atomic_load(&pending)) {
            atomic_store(&pending, si->si_signo);
            *tell = atomic_load(&late);
        }
        tell_deferred();
        return;
    }
    /* The next one ends the process, whatever gnn_temp_abort waits for. */
    pthread_sigmask(SIG_UNBLOCK, &awaited, NULL);
    gnn_temp_abort();
    sig_reraise(si->si_signo);
}

static void *wait_for_signals(void *arg)
{
    sigset_t all = awaited;
    void (*tell)(void) = NULL;
    (void)arg;
    sigaddset(&all, ASK);
    sigaddset(&all, FAULT);
    for (;;) {
        siginfo_t si;
        next_signal(&all, &tell, &si);
        if (si.si_signo == FAULT)
            end_by_fault();
        if (si.si_signo == ASK) {
            /* The system gives a signal to one thread, as ASK is, before earlier ones to the
             * process. */
            while (sigtimedwait(&awaited, &si, &(struct timespec){0}) > 0)
                deal_with(&si, &tell);
            sem_post(&answer);
        } else {
            deal_with(&si, &tell);
        }
    }
    return NULL;
}

void sig_tell_late(void (*tell)(void))
{
    atomic_store(&late, tell);
}

const char *sig_name(int sig)
{
    return sig == SIGINT    ? "SIGINT"
           : sig == SIGHUP  ? "SIGHUP"
           : sig == SIGUSR1 ? "SIGUSR1"
                            : "SIGTERM";
}

void sig_start(void (*end)(int exit_status, const char *fmt, ...))
{
    die = end;
    sigemptyset(&awaited);
    for (size_t i = 0; i < sizeof sigs / sizeof *sigs; i++) {
        struct sigaction old;
        /* What the parent ignores (nohup, a background job) stays ignored. */
        if (!sigaction(sigs[i], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaddset(&awaited, sigs[i]);
    }
    sigset_t ask;
    sigemptyset(&ask);
    sigaddset(&ask, ASK);
    sigaddset(&ask, FAULT);
    sem_init(&answer, 0, 0);
    /* Blocked here, before any other thread exists, and inherited by all of them. */
    pthread_sigmask(SIG_BLOCK, &ask, NULL);
    pthread_sigmask(SIG_BLOCK, &awaited, NULL);
    /* Without the thread the signals act as by default, at once. */
    started = !pthread_create(&waiting, NULL, wait_for_signals, NULL);
    process = getpid();
    if (started) {
        pthread_detach(waiting);
        sigaction(SIGBUS, &(struct sigaction){.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO},
                  NULL);
    } else {
        pthread_sigmask(SIG_UNBLOCK, &awaited, NULL);
    }
}

void sig_defer(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof sigs / sizeof *sigs; i++)
        sigaddset(&set, sigs[i]);
    pthread_sigmask(SIG_BLOCK, &set, NULL); /* execv, too, leaves them blocked and pending */
    atomic_store(&deferred, true);
}

/* The first that the system holds for us, or 0. */
static int pending_signal(void)
{
    sigset_t set;
    if (sigpending(&set))
        return 0;
    for (size_t i = 0; i < sizeof sigs / sizeof *sigs; i++)
        if (sigismember(&awaited, sigs[i]) == 1 && sigismember(&set, sigs[i]) == 1)
            return sigs[i];
    return 0;
}

int sig_pending(void)
{
    const int sig = atomic_load(&pending);
    return sig ? sig
               : pending_signal(); /* the waiting thread may not have had the time to take it */
}

int sig_settled(void)
{
    /* The thread answers when it has dealt with all that came earlier: what the system still held
     * would be one with a second signal of its kind. */
    if (!started || pthread_kill(waiting, ASK))
        return sig_pending();
    while (sem_wait(&answer))
        ;
    return atomic_load(&pending);
}

void sig_act(void)
{
    atomic_store(&deferred, false);
    const int sig = sig_settled();
    if (!sig)
        return;
    gnn_temp_abort();
    sig_reraise(sig);
}

bool sig_let(void)
{
    const bool was = atomic_load(&deferred);
    if (was)
        sig_act();
    return was;
}

void sig_hold(bool let)
{
    if (let)
        sig_defer();
}

int sig_fd(void)
{
    atomic_store(&told, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (sig_settled())
        tell_deferred();
    return atomic_load(&told);
}

void sig_finish(void)
{
    const int sig = atomic_load(&deferred) ? 0 : pending_signal();
    if (sig)
        sig_reraise(sig);
}
