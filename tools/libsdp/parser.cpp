// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "parser.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>

namespace libsdp
{
namespace
{

constexpr std::size_t longest_program = 255;
constexpr unsigned highest_level = 9;
constexpr unsigned highest_port = std::numeric_limits<std::uint16_t>::max();

bool is_blank(char c) noexcept
{
	return c == ' ' || c == '\t' || c == '\r';
}

// Unlike substr() these cannot throw.
std::string_view head(std::string_view text, std::size_t length) noexcept
{
	return {text.data(), length};
}

std::string_view tail(std::string_view text, std::size_t begin) noexcept
{
	return {text.data() + begin, text.size() - begin};
}

std::optional<unsigned> parse_number(std::string_view text, unsigned highest) noexcept
{
	unsigned value = 0;

	if (text.empty() || text.size() > 5)
		return std::nullopt;
	for (const char c : text) {
		if (c < '0' || c > '9')
			return std::nullopt;
		value = value * 10 + static_cast<unsigned>(c - '0');
	}
	return value <= highest ? std::optional(value) : std::nullopt;
}

} // namespace

bool Parser::take_line() noexcept
{
	if (rest_.empty())
		return false;
	const std::size_t end = std::min(rest_.find('\n'), rest_.size());

	line_ = head(rest_, end);
	line_begin_ = rest_.data();
	line_number_++;
	rest_.remove_prefix(std::min(end + 1, rest_.size()));
	return true;
}

// Empty at the end of the line, and where a comment begins.
std::string_view Parser::take_word() noexcept
{
	while (!line_.empty() && is_blank(line_.front()))
		line_.remove_prefix(1);
	if (!line_.empty() && line_.front() == '#')
		return head(line_, 0);
	const auto *end = std::find_if(line_.begin(), line_.end(), is_blank);
	const std::string_view word = head(line_, static_cast<std::size_t>(end - line_.begin()));

	line_.remove_prefix(word.size());
	return word;
}

// Always false, for the caller to return.
bool Parser::expected(const char *what, std::string_view found) noexcept
{
	error_ = {.line = line_number_,
		  .column = static_cast<unsigned>(found.data() - line_begin_) + 1,
		  .expected = what,
		  .found = found};
	return false;
}

bool Parser::end_of_line() noexcept
{
	const std::string_view word = take_word();

	return word.empty() || expected("the end of the line", word);
}

bool Parser::parse_transport() noexcept
{
	const std::string_view word = take_word();
	const bool library = reader_ == Reader::library;

	if (word == "tcp")
		rule_.transport = Transport::tcp;
	else if (word == "sdp")
		rule_.transport = Transport::sdp;
	else if (word == "both" && library)
		rule_.transport = Transport::both;
	else if (word == "none" && !library)
		rule_.transport = Transport::none;
	else
		return expected(library ? "'tcp', 'sdp' or 'both'" : "'tcp', 'sdp' or 'none'",
				word);
	return true;
}

bool Parser::parse_role() noexcept
{
	const std::string_view word = take_word();

	rule_.server = word == "server" || word == "listen" || word == "*";
	rule_.client = word == "client" || word == "connect" || word == "*";
	return rule_.server || rule_.client ||
	       expected("'server', 'listen', 'client', 'connect' or '*'", word);
}

bool Parser::parse_program() noexcept
{
	rule_.program = take_word();
	if (rule_.program.empty())
		return expected("the name of a program, or a pattern", rule_.program);
	return rule_.program.size() <= longest_program ||
	       expected("a name of no more than 255 characters", rule_.program);
}

bool Parser::parse_prefix(std::string_view address, std::string_view bits, bool has_bits) noexcept
{
	const std::optional<Address> parsed = parse_address(address);

	if (!parsed)
		return expected("an IPv4 address, an IPv6 address or '*'", address);
	// An IPv4 address in its mapped form is written as one of IPv6.
	const bool v4 = address.find(':') == std::string_view::npos;
	const unsigned longest = v4 ? 32 : 128;
	const std::optional<unsigned> length = has_bits ? parse_number(bits, longest) : longest;

	if (!length)
		return expected(v4 ? "a prefix length from 0 to 32"
				   : "a prefix length from 0 to 128",
				bits);
	rule_.prefix = {.address = *parsed,
			.bits = static_cast<std::uint8_t>(*length + (v4 ? sdp::mapped_bits : 0))};
	return true;
}

// "[ADDRESS]", "[ADDRESS]/BITS" or "[ADDRESS/BITS]"
bool Parser::parse_bracketed(std::string_view place) noexcept
{
	const std::size_t close = place.find(']');

	if (close == std::string_view::npos)
		return expected("']' after the address", tail(place, place.size()));
	const std::string_view inside = head(tail(place, 1), close - 1);
	const std::string_view after = tail(place, close + 1);
	const std::size_t slash = inside.find('/');

	if (inside.find(':') == std::string_view::npos)
		return expected("an IPv6 address", inside);
	if (slash != std::string_view::npos && after.empty())
		return parse_prefix(head(inside, slash), tail(inside, slash + 1), true);
	if (after.empty())
		return parse_prefix(inside, after, false);
	if (after.front() != '/' || slash != std::string_view::npos)
		return expected("':' and a port", after);
	return parse_prefix(inside, tail(after, 1), true);
}

bool Parser::parse_place(std::string_view place) noexcept
{
	rule_.any_address = place == "*";
	if (rule_.any_address)
		return true;
	if (!place.empty() && place.front() == '[')
		return parse_bracketed(place);
	const std::size_t slash = place.find('/');

	if (slash == std::string_view::npos)
		return parse_prefix(place, place, false);
	return parse_prefix(head(place, slash), tail(place, slash + 1), true);
}

bool Parser::parse_ports(std::string_view ports) noexcept
{
	const std::size_t dash = std::min(ports.find('-'), ports.size());
	const std::string_view from = head(ports, dash);
	const std::string_view to = dash == ports.size() ? from : tail(ports, dash + 1);
	const std::optional<unsigned> first = parse_number(from, highest_port);
	const std::optional<unsigned> last = parse_number(to, highest_port);

	rule_.first_port = 0;
	rule_.last_port = highest_port;
	if (ports == "*")
		return true;
	if (!first)
		return expected("a port from 0 to 65535 or '*'", from);
	if (!last)
		return expected("a port from 0 to 65535", to);
	if (*last < *first)
		return expected("a last port that is not below the first", to);
	rule_.first_port = static_cast<std::uint16_t>(*first);
	rule_.last_port = static_cast<std::uint16_t>(*last);
	return true;
}

// The port is behind the last colon: addresses of IPv6 need no brackets.
bool Parser::parse_target() noexcept
{
	const std::string_view word = take_word();
	const std::size_t colon = word.rfind(':');

	if (colon == std::string_view::npos || (word.back() == ']' && word.front() == '['))
		return expected("ADDRESS[/PREFIX]:PORT", word);
	return parse_place(head(word, colon)) && parse_ports(tail(word, colon + 1));
}

bool Parser::parse_use() noexcept
{
	rule_ = {};
	rule_.line = line_number_;
	return parse_transport() && parse_role() && parse_program() && parse_target() &&
	       end_of_line();
}

bool Parser::parse_destination() noexcept
{
	const std::string_view word = take_word();

	if (word == "stderr")
		log_.destination = LogSettings::Destination::standard_error;
	else if (word == "syslog")
		log_.destination = LogSettings::Destination::syslog;
	else if (word != "file")
		return expected("'stderr', 'syslog' or 'file'", word);
	if (word != "file")
		return true;
	const std::string_view file = take_word();

	if (file.empty())
		return expected("the name of a file", file);
	log_.destination = LogSettings::Destination::file;
	log_.file = file;
	return true;
}

bool Parser::parse_level() noexcept
{
	const std::string_view word = take_word();
	const std::optional<unsigned> level = parse_number(word, highest_level);

	if (!level)
		return expected("a level from 0 to 9", word);
	log_.min_level = *level;
	return true;
}

bool Parser::parse_log() noexcept
{
	std::string_view word = take_word();

	do {
		if (word == "destination") {
			if (!parse_destination())
				return false;
		} else if (word == "min-level") {
			if (!parse_level())
				return false;
		} else {
			return expected("'destination' or 'min-level'", word);
		}
		word = take_word();
	} while (!word.empty());
	return true;
}

Parser::Step Parser::next() noexcept
{
	const bool may_log = reader_ == Reader::library;

	while (take_line()) {
		const std::string_view word = take_word();
		const bool log = may_log && word == "log";

		if (word == "use")
			return parse_use() ? Step::rule : Step::error;
		if (log ? parse_log() : word.empty())
			continue;
		if (!log)
			expected(may_log ? "'use' or 'log'" : "'use'", word);
		return Step::error;
	}
	return Step::end;
}

} // namespace libsdp
