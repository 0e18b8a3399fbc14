// SPDX-License-Identifier: GPL-2.0
#include "accepted.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include <fnmatch.h>
#include <sys/utsname.h>

namespace conformance
{

namespace
{

// Whether TEXT matches PATTERN, in which only '*' is special.
bool matches(const std::string &pattern, const std::string &text)
{
	std::string quoted;

	for (const char c : pattern) {
		if (c == '[' || c == '?' || c == '\\')
			quoted += '\\';
		quoted += c;
	}
	return fnmatch(quoted.c_str(), text.c_str(), 0) == 0;
}

std::string strip(const std::string &text)
{
	const std::size_t begin = text.find_first_not_of(" \t");
	const std::size_t end = text.find_last_not_of(" \t");

	return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// Which release of the kernel this is.
std::string release()
{
	utsname name{};

	uname(&name);
	return name.release;
}

} // namespace

// An entry has the lines "case:", "tcp:", "sdp:", and "why:", which may go on in
// indented lines; "kernel:" is for differences that not all kernels show.
AcceptedTable::AcceptedTable(const std::string &path)
{
	std::ifstream file(path);
	std::string line;
	int number = 0;

	if (!file)
		throw std::runtime_error(path + ": cannot be read");
	while (std::getline(file, line)) {
		number++;
		if (line.empty() || line[0] == '#')
			continue;
		const std::string value = strip(line.substr(std::min(line.size(), std::size_t{5})));
		if (line.starts_with("case:"))
			entries_.push_back({.cases = value, .tcp = "", .sdp = "", .reason = ""});
		else if (entries_.empty())
			throw std::runtime_error(path + ": the first line must be a case");
		else if (line.starts_with("tcp:"))
			entries_.back().tcp = strip(line.substr(4));
		else if (line.starts_with("sdp:"))
			entries_.back().sdp = strip(line.substr(4));
		else if (line.starts_with("kernel:"))
			entries_.back().kernel = strip(line.substr(7));
		else if (line.starts_with("why:"))
			entries_.back().reason = strip(line.substr(4));
		else if (line[0] == ' ' || line[0] == '\t')
			entries_.back().reason += " " + strip(line);
		else
			throw std::runtime_error(path + ":" + std::to_string(number) +
						 ": what is this?");
	}
	for (const Accepted &entry : entries_) {
		if (entry.tcp.empty() || entry.sdp.empty() || entry.reason.empty())
			throw std::runtime_error(path + ": the entry of " + entry.cases +
						 " is incomplete");
	}
}

void AcceptedTable::tried(const std::string &name) const
{
	for (const Accepted &entry : entries_)
		entry.tried = entry.tried ||
			      (matches(entry.cases, name) && matches(entry.kernel, release()));
}

const Accepted *AcceptedTable::find(const std::string &name, const std::string &tcp,
				    const std::string &sdp) const
{
	for (const Accepted &entry : entries_) {
		if (matches(entry.cases, name) && matches(entry.tcp, tcp) &&
		    matches(entry.sdp, sdp)) {
			entry.used = true;
			return &entry;
		}
	}
	return nullptr;
}

} // namespace conformance
