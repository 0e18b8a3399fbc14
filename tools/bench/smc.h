// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Whether an AF_SMC socket really uses RDMA. One that found no device goes on
 * over TCP without a word, and its figures would be TCP's.
 */
#ifndef SDPBENCH_SMC_H
#define SDPBENCH_SMC_H

#include <cstdint>

namespace sdpbench
{

/**
 * @throw std::runtime_error with the kernel's reason if the connection that
 * has @p local_port at this end does not use RDMA.
 */
void require_smc_r(std::uint16_t local_port);

} // namespace sdpbench

#endif // SDPBENCH_SMC_H
