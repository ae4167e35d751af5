/* SPDX-License-Identifier: Apache-2.0 */
/* Little-endian loads and stores at any address. */
#ifndef GNN_FORMATS_LE_H
#define GNN_FORMATS_LE_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "gnn-tools maps files in place and needs a little-endian machine"
#endif

static inline uint16_t load_le16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline uint32_t load_le32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline uint64_t load_le64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void store_le16(uint8_t *p, uint16_t v)
{
    memcpy(p, &v, sizeof v);
}
static inline void store_le32(uint8_t *p, uint32_t v)
{
    memcpy(p, &v, sizeof v);
}
static inline void store_le64(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, sizeof v);
}

#endif
