/* SPDX-License-Identifier: Apache-2.0 */
/* The emulation itself: what it computes, and that it shows planted faults. */
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "emu/emu.h"
#include "emu/planted.h"
#include "tap.h"

/* Does it end the process? */
static bool aborts(void (*f)(unsigned *), unsigned *arg)
{
    fflush(stdout);
    const pid_t p = fork();
    if (p == 0) {
        fclose(stderr);
        f(arg);
        _exit(0);
    }
    int status = 0;
    waitpid(p, &status, 0);
    return !WIFEXITED(status) || WEXITSTATUS(status);
}

static unsigned wrong_neighbours(bool guarded, unsigned threads)
{
    const unsigned blocks = 3, n = blocks * threads;
    std::vector<unsigned> in(n), out(n, 0);
    for (unsigned i = 0; i < n; i++)
        in[i] = i * i + 7;
    planted_neighbours(guarded, blocks, threads, in.data(), out.data());
    unsigned wrong = 0;
    for (unsigned i = 0; i < n; i++)
        wrong += out[i] != in[i] + in[i / threads * threads + (i + 1) % threads];
    return wrong;
}

static void test_values()
{
    std::vector<unsigned> in(256), out(8, 0), sums(8, 0), same(32), who(32, 0);
    unsigned want = 0, right = 0;
    for (unsigned i = 0; i < 256; i++)
        in[i] = i * 2654435761u;
    planted_warp_sums(2, 128, in.data(), out.data());
    planted_warp_reductions(2, 128, in.data(), sums.data());
    for (unsigned w = 0; w < 8; w++) {
        want = 0;
        for (unsigned l = 0; l < 32; l++)
            want += in[w * 32 + l];
        right += out[w] == want;
    }
    ok(right == 8, "the emulation adds up eight warps by shuffles");
    ok(out == sums, "the emulation adds up eight warps by reductions");
    for (unsigned l = 0; l < 32; l++)
        same[l] = l % 5;
    planted_matches(same.data(), who.data());
    right = 0;
    for (unsigned l = 0; l < 32; l++) {
        unsigned m = 0;
        for (unsigned k = 0; k < 32; k++)
            m |= (unsigned)(k % 5 == l % 5) << k;
        right += who[l] == m;
    }
    ok(right == 32, "the emulation lets lanes find their equals");
}

int main()
{
    unsigned seen_bad = 0, seen_good = 0, lost = 0, exact = 0, out[32];
    for (uint64_t seed = 1; seed <= 5; seed++) {
        emu::set_seed(seed);
        seen_good += wrong_neighbours(true, 96);
        seen_bad += wrong_neighbours(false, 96) != 0;
        planted_lost_update(64, &lost, &exact);
    }
    ok(seen_good == 0, "the emulation runs a kernel with its barrier rightly for 5 seeds");
    ok(seen_bad == 5, "the emulation shows a missing barrier for each of 5 seeds");
    ok(exact == 5 * 64 && lost < exact,
       "the emulation adds up by atomics and loses updates without them (%u of %u left)", lost,
       exact);
    test_values();
    ok(aborts(planted_divergent, out),
       "the emulation ends threads that wait at different barriers");
    return tap_done();
}
