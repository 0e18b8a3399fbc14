// SPDX-License-Identifier: GPL-2.0
#include "trace.h"

#include <algorithm>
#include <cstring>
#include <system_error>

#include <sys/mman.h>

namespace conformance
{

namespace
{

template <std::size_t size> void store(char (&to)[size], std::string_view from)
{
	const std::size_t length = std::min(from.size(), size - 1);

	std::memcpy(to, from.data(), length);
	to[length] = 0;
}

} // namespace

Trace::Trace()
{
	void *memory = mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		throw std::system_error(errno, std::generic_category(), "mmap");
	memory_ = static_cast<Memory *>(memory);
}

Trace::~Trace()
{
	munmap(memory_, sizeof(Memory));
}

void Trace::note(std::string_view line)
{
	const std::size_t at = memory_->length;

	if (at + line.size() + 1 > sizeof(memory_->text)) {
		fail("the trace is too long");
		return;
	}
	std::memcpy(memory_->text + at, line.data(), line.size());
	memory_->text[at + line.size()] = '\n';
	memory_->length = at + line.size() + 1;
}

void Trace::enter(std::string_view call)
{
	store(memory_->current, call);
}

std::string Trace::current() const
{
	return memory_->current;
}

void Trace::fail(std::string_view why)
{
	if (!memory_->failure[0])
		store(memory_->failure, why);
}

std::string Trace::failure() const
{
	return memory_->failure;
}

std::vector<std::string> Trace::lines() const
{
	const std::string_view text(memory_->text, memory_->length);
	std::vector<std::string> lines;
	std::size_t begin = 0;

	while (begin < text.size()) {
		const std::size_t end = text.find('\n', begin);
		lines.emplace_back(text.substr(begin, end - begin));
		begin = end + 1;
	}
	return lines;
}

} // namespace conformance
