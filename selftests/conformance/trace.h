// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * What one run of a case did, line by line. It is kept in memory that the
 * runner shares, so that the trace of a run that hangs or dies is there too.
 */
#ifndef CONFORMANCE_TRACE_H
#define CONFORMANCE_TRACE_H

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace conformance
{

/** The calls of a run and their results; one thread writes at a time. */
class Trace
{
public:
	Trace();
	~Trace();
	Trace(const Trace &) = delete;
	Trace &operator=(const Trace &) = delete;

	/** Add a line. */
	void note(std::string_view line);
	/** Say which call is about to be made; empty if none is. */
	void enter(std::string_view call);
	/** The call that was made last and has not come back; or empty. */
	[[nodiscard]] std::string current() const;
	/** Say why the run cannot go on. */
	void fail(std::string_view why);
	/** Why the run could not go on; empty if it could. */
	[[nodiscard]] std::string failure() const;
	[[nodiscard]] std::vector<std::string> lines() const;

private:
	struct Memory {
		std::atomic<std::size_t> length;
		char current[256];
		char failure[512];
		char text[256 * 1024];
	};
	Memory *memory_;
};

} // namespace conformance

#endif
