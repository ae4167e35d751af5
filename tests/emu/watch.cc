/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what a block writes from the blocks that run beside it, until it calls __threadfence() or
 * its kernel ends, as a device may: so a missing fence, or two blocks that write to the same place,
 * shows in the result. The kernels are compiled with -fsanitize=thread, whose calls before each
 * access come here instead of to its run-time. Memory holds what the running block sees; what the
 * others see of the bytes it has written is kept beside. Atomics are at once everybody's. */
#include "emu/emu.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace
{

/* Of an aligned word those bytes that are written: what is not in memory at the moment. */
struct Word {
    unsigned char byte[8];
    unsigned written; /* bits */
};
using Writes = std::unordered_map<uintptr_t, Word>;

std::vector<Writes> of_block(16);
std::vector<Writes> of_ended; /* of the same kernel */

/* f(word, first byte, behind the last) for each aligned word that p..p+n has a part in. */
template <typename F> void for_words(const void *p, size_t n, F f)
{
    const uintptr_t a = (uintptr_t)p, end = a + n;
    for (uintptr_t w = a & ~(uintptr_t)7; w < end; w += 8)
        f(w, w < a ? (unsigned)(a - w) : 0, end - w < 8 ? (unsigned)(end - w) : 8);
}

void swap_word(uintptr_t at, Word *w)
{
    for (unsigned i = 0; i < 8; i++)
        if (w->written >> i & 1)
            std::swap(w->byte[i], *(unsigned char *)(at + i));
}

void reads(const void *p)
{
    if (emu::toucher(p) >= 0)
        emu::touch();
}

void writes(void *p, size_t n)
{
    const int block = emu::toucher(p);
    if (block < 0)
        return;
    emu::touch();
    for_words(p, n, [=](uintptr_t at, unsigned from, unsigned to) {
        Word &w = of_block[(size_t)block][at];
        for (unsigned i = from; i < to; i++)
            if (!(w.written >> i & 1)) {
                w.written |= 1u << i;
                w.byte[i] = *(const unsigned char *)(at + i);
            }
    });
}

} // namespace

void emu::watch_swap(unsigned block)
{
    for (auto &w : of_block[block])
        swap_word(w.first, &w.second);
}

size_t emu::watch_swapped(unsigned block)
{
    return of_block[block].size();
}

void emu::watch_publish(unsigned block)
{
    of_block[block].clear();
}

void emu::watch_publish_at(unsigned block, const void *p, size_t n)
{
    for_words(p, n, [=](uintptr_t at, unsigned from, unsigned to) {
        const auto w = of_block[block].find(at);
        for (unsigned i = from; i < to && w != of_block[block].end(); i++)
            w->second.written &= ~(1u << i);
    });
}

void emu::watch_block_end(unsigned block)
{
    watch_swap(block);
    of_ended.emplace_back();
    of_ended.back().swap(of_block[block]);
}

void emu::watch_kernel_end()
{
    for (Writes &all : of_ended)
        for (auto &w : all)
            swap_word(w.first, &w.second);
    of_ended.clear();
}

#define ACCESS(n)                                                                                  \
    void __tsan_read##n(void *p)                                                                   \
    {                                                                                              \
        reads(p);                                                                                  \
    }                                                                                              \
    void __tsan_write##n(void *p)                                                                  \
    {                                                                                              \
        writes(p, n);                                                                              \
    }                                                                                              \
    void __tsan_unaligned_read##n(void *p)                                                         \
    {                                                                                              \
        reads(p);                                                                                  \
    }                                                                                              \
    void __tsan_unaligned_write##n(void *p)                                                        \
    {                                                                                              \
        writes(p, n);                                                                              \
    }
extern "C" {
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
void __tsan_read_range(void *p, size_t)
{
    reads(p);
}
void __tsan_write_range(void *p, size_t n)
{
    writes(p, n);
}
void __tsan_vptr_update(void **, void *)
{
}
void __tsan_func_entry(void *)
{
}
void __tsan_func_exit()
{
}
void __tsan_init()
{
}
}
