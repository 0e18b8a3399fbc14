// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Settings for a kind of work, proposed and made.
 */
#ifndef SDPCTL_TUNE_H
#define SDPCTL_TUNE_H

#include "workload.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sdpctl
{

/** What is asked for. */
struct TuneOptions {
	std::string workload; ///< empty: say which there are
	std::uint64_t connections = 0;
	bool dry_run = false;
	bool json = false;
};

/** A line for each workload: its name and what it is. */
[[nodiscard]] std::string workloads_as_text();

/** {"workloads": [{"name", "meaning"}...]} */
[[nodiscard]] std::string workloads_as_json();

/** What was asked, and what has come of it. */
struct Tuning {
	std::string workload;
	Machine machine;
	Judgements judgements;
	bool is_set = false; ///< what is proposed holds by now
};

/** The changes among the judgements. */
[[nodiscard]] std::vector<Change> changes_of(const Judgements &judgements);

/**
 * A file for /etc/sysctl.d: what was judged in lines, and all else behind a '#'. What stays is
 * among them, so that the file is the same once it is set.
 */
[[nodiscard]] std::string tuning_as_text(const Tuning &tuning);

/**
 * {"workload", "machine": {...}, "settings": [...], "set"}. A setting whose "proposed" is its
 * "present" is not touched.
 */
[[nodiscard]] std::string tuning_as_json(const Tuning &tuning);

/** A workload by its name. @throws std::runtime_error if there is none. */
[[nodiscard]] const Workload &workload_of(const std::string &name);

/**
 * Judge the settings of this machine, and unless it is a dry run change them.
 *
 * @throws ChangeError
 * @throws std::runtime_error
 */
[[nodiscard]] Tuning tune(const Places &places, const Machine &machine, const TuneOptions &options);

/**
 * Report it to whom it is for, and undo what was set if they do not take the report.
 *
 * @throws ChangeError
 * @throws std::exception what write does, if nothing was set
 */
void report(const Places &places, const Tuning &tuning, const std::function<void()> &write);

} // namespace sdpctl

#endif // SDPCTL_TUNE_H
