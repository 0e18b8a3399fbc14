// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The functions that libsdp stands in front of, as the program would have
 * reached them without it.
 */
#ifndef LIBSDP_ORIGINAL_H
#define LIBSDP_ORIGINAL_H

#include "convert.h"

namespace libsdp
{

/**
 * Call the next socket() in the symbol search order: that of libc, or that of
 * another preloaded library behind this one.
 *
 * May be called before this library's constructor has run. Once that has run
 * it is safe in signal handlers and after vfork(): it neither locks nor
 * allocates.
 *
 * @return a descriptor, or -1 with errno set, as socket(2).
 */
int original_socket(const SocketCall &call) noexcept;

} // namespace libsdp

#endif // LIBSDP_ORIGINAL_H
