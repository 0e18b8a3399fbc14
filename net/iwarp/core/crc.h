/* SPDX-License-Identifier: GPL-2.0 */
/* Checksums. */
#ifndef _IWP_CRC_H
#define _IWP_CRC_H

#include <linux/types.h>

u32 iwp_crc32c(u32 crc, const void *data, unsigned int len);
const char *iwp_crc_code(void);
int iwp_crc_init(void);
void iwp_crc_exit(void);

#endif /* _IWP_CRC_H */
