// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Checks of the kernel module.
 */
#ifndef SDPCTL_MODULE_H
#define SDPCTL_MODULE_H

#include "check.h"
#include "command.h"

#include <string>

namespace sdpctl
{

/** The release of the running kernel, as uname(2) has it. */
[[nodiscard]] std::string kernel_release(const Places &places);

/** Whether the module is in the kernel. */
[[nodiscard]] bool is_loaded(const Places &places);

/** "module", "version", and where it is not loaded "module-file", "signature". */
[[nodiscard]] Report check_module(const Places &places);

/** The same of a module that is not loaded, by what "modinfo sdp" has written. */
[[nodiscard]] Report check_absent_module(const Places &places, const CommandOutcome &modinfo);

} // namespace sdpctl

#endif // SDPCTL_MODULE_H
