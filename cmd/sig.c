#include "cmd/sig.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "cmd/cli.h"

/* No handler ever runs: the signals are blocked in every thread and one thread waits for them. A handler would
 * borrow the stack of whatever it interrupts, and generated code of oneDNN keeps live data below its stack
 * pointer, beyond what the ABI lets it use. */

static atomic_int pending;
static atomic_bool deferred;
static sigset_t awaited;
static const int sigs[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};

void sig_reraise(int sig)
{
    sigset_t set;
    signal(sig, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, sig);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(sig);
    _exit(128 + sig);
}

static void *wait_for_signals(void *arg)
{
    (void)arg;
    for (;;) {
        int sig;
        if (sigwait(&awaited, &sig))
            continue;
        if (atomic_load(&deferred) && !atomic_load(&pending)) {
            atomic_store(&pending, sig);
            continue;
        }
        cli_abort();
        sig_reraise(sig);
    }
    return NULL;
}

void sig_start(void)
{
    sigemptyset(&awaited);
    for (size_t i = 0; i < sizeof sigs / sizeof *sigs; i++) {
        struct sigaction old;
        /* What the parent ignores (nohup, a background job) stays ignored. */
        if (!sigaction(sigs[i], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaddset(&awaited, sigs[i]);
    }
    pthread_t thread;
    pthread_sigmask(SIG_BLOCK, &awaited, NULL);
    /* Without the thread the signals act as by default, at once. */
    if (pthread_create(&thread, NULL, wait_for_signals, NULL))
        pthread_sigmask(SIG_UNBLOCK, &awaited, NULL);
    else
        pthread_detach(thread);
}

void sig_defer(void)
{
    atomic_store(&deferred, true);
}

int sig_pending(void)
{
    sigset_t sent;
    int sig = atomic_load(&pending);
    /* One may have come that the waiting thread, on a busy machine, has not had the time to take. */
    if (!sig && !sigpending(&sent))
        for (size_t i = 0; !sig && i < sizeof sigs / sizeof *sigs; i++)
            if (sigismember(&awaited, sigs[i]) == 1 && sigismember(&sent, sigs[i]) == 1)
                sig = sigs[i];
    return sig;
}
