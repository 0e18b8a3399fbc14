// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What the kernel says to a program that asks it for an SDP socket.
 */
#ifndef LIBSDP_KERNEL_H
#define LIBSDP_KERNEL_H

namespace libsdp
{

struct KernelAnswer {
	int error = 0;		   ///< errno, if there are no SDP sockets
	bool tcp_fallback = false; ///< net.sdp.tcp_fallback of this namespace
};

/** Ask, which loads the module if that can be. */
[[nodiscard]] KernelAnswer ask_kernel();

} // namespace libsdp

#endif // LIBSDP_KERNEL_H
