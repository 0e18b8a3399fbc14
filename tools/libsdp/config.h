// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What libsdp.conf and the environment say to this process.
 */
#ifndef LIBSDP_CONFIG_H
#define LIBSDP_CONFIG_H

#include "parser.h"
#include "rules.h"

#include <optional>
#include <span>

namespace libsdp
{

struct Config {
	/** Whether rules decide; if not, the kernel's settings do. */
	bool has_rules = false;
	/** The rules for this program. */
	std::span<const Rule> rules;
	LogSettings log;
	/** Whether sdp-run has said, or was told not to say, that there is no SDP here. */
	bool told = false;
	/** What all sockets use, if that is the same for all. */
	std::optional<Transport> always;
};

/**
 * The configuration of this process, read on the first call.
 *
 * It never changes once it is read. The library's constructor sees to that, so
 * that later calls, from signal handlers or after vfork(), neither read files
 * nor allocate memory.
 */
const Config &configuration() noexcept;

/** Where the file is if the environment does not say. */
extern const char *const default_config_file;

} // namespace libsdp

#endif // LIBSDP_CONFIG_H
