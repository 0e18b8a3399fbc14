// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The parser of libsdp.conf(5).  It allocates nothing, throws nothing and
 * keeps nothing but views of the text.
 */
#ifndef LIBSDP_PARSER_H
#define LIBSDP_PARSER_H

#include "rules.h"

#include <cstdint>
#include <string_view>

namespace libsdp
{

/** Where messages go, and which: "log" lines. */
struct LogSettings {
	enum class Destination : std::uint8_t {
		standard_error,
		syslog,
		file
	};

	unsigned min_level = 9; ///< messages below this one are dropped
	Destination destination = Destination::standard_error;
	std::string_view file;
};

/** What is wrong, and where; line and column count from 1, columns in bytes. */
struct ParseError {
	unsigned line = 0;
	unsigned column = 0;
	const char *expected = "";
	std::string_view found; ///< empty: nothing, as at the end of the line
};

class Parser
{
public:
	enum class Step : std::uint8_t {
		rule,  ///< rule() is the next one
		error, ///< error() says why a line counts for nothing
		end
	};

	/** Who reads the file, and what it may say to that one. */
	enum class Reader : std::uint8_t {
		library, ///< libsdp.conf
		kernel	 ///< sdp-bpf's: "none" in place of "both", and no "log"
	};

	explicit Parser(std::string_view text, Reader reader = Reader::library) noexcept
		: rest_(text), reader_(reader)
	{
	}

	/** Go on to the next rule, error, or end; after an error with the next line. */
	Step next() noexcept;

	[[nodiscard]] const Rule &rule() const noexcept
	{
		return rule_;
	}
	[[nodiscard]] const ParseError &error() const noexcept
	{
		return error_;
	}
	/** As of all lines up to here. */
	[[nodiscard]] const LogSettings &log() const noexcept
	{
		return log_;
	}

private:
	bool take_line() noexcept;
	std::string_view take_word() noexcept;
	bool expected(const char *what, std::string_view found) noexcept;
	bool end_of_line() noexcept;
	bool parse_use() noexcept;
	bool parse_transport() noexcept;
	bool parse_role() noexcept;
	bool parse_program() noexcept;
	bool parse_target() noexcept;
	bool parse_place(std::string_view place) noexcept;
	bool parse_bracketed(std::string_view place) noexcept;
	bool parse_prefix(std::string_view address, std::string_view bits, bool has_bits) noexcept;
	bool parse_ports(std::string_view ports) noexcept;
	bool parse_log() noexcept;
	bool parse_destination() noexcept;
	bool parse_level() noexcept;

	std::string_view rest_; ///< the lines that follow
	Reader reader_;
	std::string_view line_; ///< what follows in this one
	const char *line_begin_ = nullptr;
	unsigned line_number_ = 0;
	Rule rule_;
	LogSettings log_;
	ParseError error_;
};

} // namespace libsdp

#endif // LIBSDP_PARSER_H
