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

// A difference has the lines "case:", "tcp:", "sdp:", and "why:", which may go on in
// indented lines; "kernel:" and "door:" are for differences that not all kernels,
// or doors, show. More lines of the same case follow as further pairs of "tcp:" and
// "sdp:".
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
		if (!take(line))
			throw std::runtime_error(path + ":" + std::to_string(number) +
						 ": what is this?");
	}
	for (const Accepted &entry : entries_) {
		if (entry.tcp.empty() || entry.sdp.empty() || entry.reason.empty())
			throw std::runtime_error(path + ": the entry of " + entry.cases +
						 " is incomplete");
	}
}

bool AcceptedTable::take(const std::string &line)
{
	const std::size_t colon = line.find(':');
	const std::string key = line.substr(0, colon);
	const std::string value = colon == std::string::npos ? "" : strip(line.substr(colon + 1));

	if (key == "case") {
		first_ = entries_.size();
		entries_.push_back({.cases = value, .tcp = "", .sdp = "", .reason = ""});
		return true;
	}
	if (entries_.empty())
		return false;
	if (key == "tcp") {
		if (!entries_.back().sdp.empty()) {
			entries_.push_back(entries_[first_]);
			entries_.back().sdp.clear();
		}
		entries_.back().tcp = value;
	} else if (key == "sdp") {
		entries_.back().sdp = value;
	} else if (key == "door") {
		entries_.back().door = value;
	} else if (key == "kernel") {
		entries_.back().kernel = value;
	} else if (key == "why" || line[0] == ' ' || line[0] == '\t') {
		for (std::size_t i = first_; i < entries_.size(); i++)
			entries_[i].reason += key == "why" ? value : " " + strip(line);
	} else {
		return false;
	}
	return true;
}

namespace
{

bool applies(const Accepted &entry, const std::string &name, const std::string &door)
{
	static const std::string here = release();

	return matches(entry.cases, name) && matches(entry.door, door) &&
	       matches(entry.kernel, here);
}

} // namespace

void AcceptedTable::tried(const std::string &name, const std::string &door) const
{
	for (const Accepted &entry : entries_)
		entry.tried = entry.tried || applies(entry, name, door);
}

const Accepted *AcceptedTable::find(const std::string &name, const std::string &door,
				    const std::string &tcp, const std::string &sdp) const
{
	for (const Accepted &entry : entries_) {
		if (applies(entry, name, door) && matches(entry.tcp, tcp) &&
		    matches(entry.sdp, sdp)) {
			entry.used = true;
			return &entry;
		}
	}
	return nullptr;
}

} // namespace conformance
