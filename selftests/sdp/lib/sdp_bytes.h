/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers in the order of the network, at any address. */
#ifndef SDP_BYTES_H
#define SDP_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void put16(unsigned char *to, uint16_t value)
{
	value = htobe16(value);
	memcpy(to, &value, sizeof(value));
}

static inline void put32(unsigned char *to, uint32_t value)
{
	value = htobe32(value);
	memcpy(to, &value, sizeof(value));
}

static inline void put64(unsigned char *to, uint64_t value)
{
	value = htobe64(value);
	memcpy(to, &value, sizeof(value));
}

static inline uint16_t get16(const unsigned char *from)
{
	uint16_t value;

	memcpy(&value, from, sizeof(value));
	return be16toh(value);
}

static inline uint32_t get32(const unsigned char *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return be32toh(value);
}

static inline uint64_t get64(const unsigned char *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return be64toh(value);
}

#endif /* SDP_BYTES_H */
