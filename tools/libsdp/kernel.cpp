// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "kernel.h"

#include "../common/descriptor.h"

#include <cerrno>

#include <linux/sdp.h>
#include <sys/socket.h>

namespace libsdp
{

KernelAnswer ask_kernel()
{
	const sdp::Descriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SDP));
	int mode = SDP_FALLBACK_OFF;
	socklen_t length = sizeof(mode);

	if (!fd)
		return {.error = errno};
	if (getsockopt(fd.get(), SOL_SDP, SDP_TCP_FALLBACK, &mode, &length) != 0)
		mode = SDP_FALLBACK_OFF;
	return {.error = 0, .tcp_fallback = mode != SDP_FALLBACK_OFF};
}

} // namespace libsdp
