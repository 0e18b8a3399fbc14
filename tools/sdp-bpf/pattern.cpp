// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "pattern.h"
#include "match.h"

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <fnmatch.h>
#include <fmt/format.h>

namespace sdpbpf
{
namespace
{

constexpr unsigned longest_name = SDP_BPF_NAME_SIZE - 1;

// How long the brackets are that begin here. The first byte inside may be "]".
std::size_t length_of_brackets(std::string_view text)
{
	const bool negated = text.size() > 1 && (text[1] == '!' || text[1] == '^');
	const std::size_t end = text.find(']', negated ? 3 : 2);

	if (end == std::string_view::npos)
		throw std::runtime_error("']' is missing behind '['");
	if (text.substr(1, end).find_first_of("[\\") != std::string_view::npos)
		throw std::runtime_error("'[' and '\\' have no place within brackets here");
	return end + 1;
}

// One place of a pattern, and how much of the text it takes.
std::size_t length_of_place(std::string_view text)
{
	if (text[0] == '\\')
		return std::min<std::size_t>(2, text.size());
	return text[0] == '[' ? length_of_brackets(text) : 1;
}

// What fits a place fnmatch() itself knows best.
void add_place(Pattern &pattern, std::string_view place)
{
	const std::string text(place);
	const auto bit = static_cast<std::uint16_t>(1U << pattern.length);

	for (unsigned byte = 1; byte < pattern.step.size(); byte++) {
		const char name[] = {static_cast<char>(byte), '\0'};

		if (fnmatch(text.c_str(), name, 0) == 0)
			pattern.step[byte] |= bit;
	}
	pattern.length++;
}

bool share_a_byte(const Pattern &one, unsigned place, const Pattern &other, unsigned there)
{
	for (std::size_t byte = 1; byte < one.step.size(); byte++)
		if (((one.step[byte] >> place) & 1U) != 0 &&
		    ((other.step[byte] >> there) & 1U) != 0)
			return true;
	return false;
}

bool stays(const Pattern &pattern, unsigned place)
{
	return ((pattern.stay >> place) & 1U) != 0;
}

} // namespace

Pattern pattern_of(std::string_view text)
{
	Pattern pattern;

	while (!text.empty()) {
		const std::size_t taken = length_of_place(text);

		if (text[0] == '*')
			pattern.stay |= pattern.end();
		else if (pattern.length == longest_name)
			throw std::runtime_error(fmt::format(
				"the kernel keeps {} bytes of a program's name, and no more "
				"(try: the first ones and '*')",
				longest_name));
		else
			add_place(pattern, text.substr(0, taken));
		text.remove_prefix(taken);
	}
	return pattern;
}

// Both go through one name at once: where either can stay, the other may go on alone.
bool may_both_fit(const Pattern &one, const Pattern &other)
{
	std::array<std::bitset<SDP_BPF_NAME_SIZE + 1>, SDP_BPF_NAME_SIZE + 1> reached;

	reached[0].set(0);
	for (unsigned i = 0; i <= one.length; i++) {
		for (unsigned j = 0; j <= other.length; j++) {
			if (!reached[i][j])
				continue;
			if (i < one.length && stays(other, j))
				reached[i + 1].set(j);
			if (j < other.length && stays(one, i))
				reached[i].set(j + 1);
			if (i < one.length && j < other.length && share_a_byte(one, i, other, j))
				reached[i + 1].set(j + 1);
		}
	}
	return reached[one.length][other.length];
}

} // namespace sdpbpf
