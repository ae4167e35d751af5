/* SPDX-License-Identifier: Apache-2.0 */
/* Two blocks by turns: planted races between blocks are found. Linked with tests/emu/watch.cc (in
 * build/HASH/watched), those too that only show where each access is watched. */
#include <cstdlib>
#include <vector>

#include "emu/emu.h"
#include "emu/planted.h"
#include "tap.h"

enum { SEEDS = 5, BLOCKS = 8 };

/* The sum that the last block comes to. */
static unsigned sum_of(bool fenced)
{
    unsigned of_block[BLOCKS] = {}, ticket = 0, sum = 0;
    planted_last_adds_up(fenced, BLOCKS, of_block, &ticket, &sum);
    return sum;
}

/* How many seeds show it? */
template <typename F> static unsigned shown(F wrong)
{
    unsigned n = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        emu::set_seed(seed);
        n += wrong() ? 1 : 0;
    }
    return n;
}

static bool misses_neighbour()
{
    unsigned of_block[BLOCKS] = {}, out[BLOCKS], seen = 0;
    planted_reads_neighbour(BLOCKS, of_block, out);
    for (unsigned v : out)
        seen += v;
    return seen < BLOCKS;
}

static void test_watched()
{
    const unsigned want = BLOCKS * (BLOCKS + 1) / 2;
    ok(!shown([=] { return sum_of(true) != want; }),
       "the last block sees what others wrote before their fence, for %d seeds", SEEDS);
    ok(shown([=] { return sum_of(false) != want; }) == SEEDS,
       "a fence that is missing shows for each of %d seeds", SEEDS);
    ok(shown(misses_neighbour) == SEEDS,
       "what another block has written without a fence is never seen");
    std::vector<unsigned> left;
    (void)shown([&] {
        planted_same_word(false, BLOCKS, &left.emplace_back());
        return false;
    });
    std::sort(left.begin(), left.end());
    ok(left.front() != left.back(), "which of the blocks that write to a word is left, differs");
    unsigned first = 7;
    planted_same_word(true, BLOCKS, &first);
    ok(first == 0, "what a single block writes is there in the end");
}

int main()
{
    unsigned lost = 0, exact = 0;
    setenv("GNN_EMU_BLOCKS", "2", 1);
    planted_lost_update(64, 1, &lost, &exact);
    ok(exact == 64 && lost < exact, "a block loses what another one adds, but by atomics (%u left)",
       lost);
    if (emu::watch_swap)
        test_watched();
    else
        ok(true, "races that only each access shows # SKIP accesses are not watched in this build");
    return tap_done();
}
