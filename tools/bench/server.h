// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The end that receives, echoes and judges.
 */
#ifndef SDPBENCH_SERVER_H
#define SDPBENCH_SERVER_H

#include "socket.h"

namespace sdpbench
{

/**
 * Serve one client, who may have several connections, until it has no more
 * requests. @throw std::exception if it fails.
 */
void serve_client(Listener &listener);

/** Serve one client after the other, for ever; a client's failure is reported on stderr. */
[[noreturn]] void serve(Listener &listener);

} // namespace sdpbench

#endif // SDPBENCH_SERVER_H
