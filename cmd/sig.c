#include "cmd/sig.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "cmd/cli.h"

static volatile sig_atomic_t pending;
static volatile sig_atomic_t deferred;

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

static void handler(int sig)
{
    if (deferred && !pending) {
        pending = sig;
        return;
    }
    cli_abort();
    sig_reraise(sig);
}

static void install(int sig)
{
    struct sigaction old, act = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&act.sa_mask);
    /* What the parent ignores (nohup, a background job) stays ignored. */
    if (!sigaction(sig, NULL, &old) && old.sa_handler != SIG_IGN)
        sigaction(sig, &act, NULL);
}

void sig_start(void)
{
    install(SIGINT);
    install(SIGTERM);
    install(SIGHUP);
}

void sig_defer(bool usr1)
{
    deferred = 1;
    if (usr1)
        install(SIGUSR1);
}

int sig_pending(void)
{
    return pending;
}
