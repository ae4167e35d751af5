/* SPDX-License-Identifier: Apache-2.0 */
/* The emulation itself: what it computes, and that it shows planted faults. */
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "emu/emu.h"
#include "emu/planted.h"
#include "tap.h"

/* Does it end the process, with these words? */
template <typename F> static bool ends(const char *words, F f)
{
    char said[512] = "";
    int status = 0, at[2];
    fflush(stdout);
    if (pipe(at))
        return false;
    const pid_t p = fork();
    if (p == 0) {
        dup2(at[1], STDERR_FILENO);
        f();
        _exit(0);
    }
    close(at[1]);
    for (ssize_t n = 0, all = 0; (n = read(at[0], said + all, sizeof said - 1 - (size_t)all)) > 0;)
        all += n;
    close(at[0]);
    waitpid(p, &status, 0);
    const bool right = (!WIFEXITED(status) || WEXITSTATUS(status)) && strstr(said, words);
    if (!right)
        printf("# status %d: %s\n", status, said);
    return right;
}

static void test_launches()
{
    static const struct {
        unsigned grid[3], block[3];
        const char *words; /* NULL: it is launched */
    } shapes[] = {{{0, 1, 1}, {32, 1, 1}, "refuses 0 blocks or threads"},
                  {{1, 1, 1}, {32, 0, 1}, "refuses 0 blocks or threads"},
                  {{2, 1, 1}, {1024, 1, 1}, nullptr},
                  {{1, 1, 1}, {1025, 1, 1}, "refuses 1025 threads"},
                  {{1, 1, 1}, {64, 32, 1}, "refuses 2048 threads"},
                  {{1, 1, 1}, {1, 1, 64}, nullptr},
                  {{1, 1, 1}, {1, 1, 65}, "refuses 65 threads in a block, or more than 64"},
                  {{1, 65535, 1}, {1, 1, 1}, nullptr},
                  {{1, 65536, 1}, {1, 1, 1}, "refuses 65536 blocks in one dimension"},
                  {{1, 1, 70000}, {1, 1, 1}, "refuses 70000 blocks in one dimension"},
                  {{0x80000000, 1, 1}, {1, 1, 1}, "refuses 2147483648 blocks"}};
    for (const auto &s : shapes) {
        const auto go = [&] { planted_shape(s.grid, s.block); };
        if (!s.words)
            go();
        ok(!s.words || ends(s.words, go), "a grid of %u, %u, %u blocks of %u, %u, %u threads is %s",
           s.grid[0], s.grid[1], s.grid[2], s.block[0], s.block[1], s.block[2],
           s.words ? "refused" : "launched");
    }
    ok(ends("kernel nothing, launched at ",
            [] {
                const unsigned none[3] = {0, 1, 1};
                planted_shape(none, none);
            }) &&
           ends("planted.cu:",
                [] {
                    const unsigned none[3] = {0, 1, 1};
                    planted_shape(none, none);
                }),
       "what is refused is named, with its place");
}

static void test_shared()
{
    unsigned out[32];
    const auto with = [&](size_t bytes) {
        return [&out, bytes] { planted_much_shared(bytes, out); };
    };
    with(46 << 10)();
    ok(out[31] == 31, "46 KB of dynamic and 2 KB of static shared memory are granted");
    ok(ends("kernel much_shared, launched at ", with((46 << 10) + 1)) &&
           ends("refuses 49153 bytes of shared memory", with((46 << 10) + 1)),
       "a byte more is refused");
    ok(ends("refuses 49153 bytes of shared memory", with((48 << 10) + 1)),
       "more than 48 KB of dynamic shared memory are refused");
    ok(planted_opt_in(100 << 10), "a kernel may opt in to 100 KB");
    with(100 << 10)();
    ok(out[31] == 31, "then they are granted");
    ok(ends("refuses 102401 bytes of shared memory", with((100 << 10) + 1)), "and not a byte more");
    ok(!planted_opt_in((227 << 10) + 1) && planted_opt_in(227 << 10) &&
           ends("refuses 234496 bytes of shared memory", with(227 << 10)),
       "no kernel has more than a device, static shared memory among it");
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
        planted_lost_update(1, 64, &lost, &exact);
    }
    ok(seen_good == 0, "the emulation runs a kernel with its barrier rightly for 5 seeds");
    ok(seen_bad == 5, "the emulation shows a missing barrier for each of 5 seeds");
    ok(exact == 5 * 64 && lost < exact,
       "the emulation adds up by atomics and loses updates without them (%u of %u left)", lost,
       exact);
    test_values();
    test_launches();
    test_shared();
    ok(ends("threads wait at another __syncthreads", [&] { planted_divergent(out); }),
       "the emulation ends threads that wait at different barriers");
    return tap_done();
}
