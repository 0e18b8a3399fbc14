// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdp-run becomes the program that it was asked to run.
 */
#ifndef LIBSDP_PROGRAM_H
#define LIBSDP_PROGRAM_H

#include <string>
#include <vector>

namespace libsdp
{

/** Put the library at the head of LD_PRELOAD. @return what is wrong; empty: nothing. */
[[nodiscard]] std::string preload();

/**
 * Run a program, looked for in PATH.
 *
 * @return only if that fails: the exit code of env(1), where @p message says why.
 */
int become(const std::vector<std::string> &command, std::string &message);

/** The exit codes of env(1), nohup(1) and their kin. */
constexpr int exit_own_failure = 125;
constexpr int exit_not_executable = 126;
constexpr int exit_not_found = 127;

} // namespace libsdp

#endif // LIBSDP_PROGRAM_H
