/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 through libxxhash's dispatch at runtime: AVX-512 or AVX2 where the machine has it, without
 * being built for it. */
#ifndef GNN_FORMATS_XXH_H
#define GNN_FORMATS_XXH_H

#define XXH_STATIC_LINKING_ONLY /* the state's size, so that it can live on the stack */
#include <xxhash.h>
#ifdef __x86_64__
#include <xxh_x86dispatch.h>
#endif

#endif
