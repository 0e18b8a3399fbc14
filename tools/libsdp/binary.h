// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The file of a program, as far as it decides whether a library can be preloaded.
 */
#ifndef LIBSDP_BINARY_H
#define LIBSDP_BINARY_H

#include <optional>
#include <string>

namespace libsdp
{

/** The file that execvp(3) executes; nothing if it finds none. */
[[nodiscard]] std::optional<std::string> find_program(const std::string &name);

/**
 * Why the process that execve(2) makes of a file will ignore LD_PRELOAD: it is static, or
 * has rights that its user has not. Of a script the interpreter is looked at.
 *
 * @return for people, with the name of the file; empty: nothing speaks against it, or the
 * file cannot be read, or is of another kind.
 */
[[nodiscard]] std::string preload_obstacle(const std::string &file);

} // namespace libsdp

#endif // LIBSDP_BINARY_H
