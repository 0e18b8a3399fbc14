// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * The differences from TCP that are accepted, each with its reason.
 */
#ifndef CONFORMANCE_ACCEPTED_H
#define CONFORMANCE_ACCEPTED_H

#include <string>
#include <vector>

namespace conformance
{

/** A line of a trace that may differ. */
struct Accepted {
	std::string cases; ///< pattern of the cases' names
	std::string tcp;   ///< pattern of the line with TCP
	std::string sdp;   ///< pattern of the line with AF_SDP
	std::string reason;
	std::string kernel = "*";   ///< pattern of the kernels' releases
	std::string door = "*";	    ///< pattern of the doors' names
	mutable bool used = false;  ///< a difference was accepted by it
	mutable bool tried = false; ///< a case that it is for was run
};

class AcceptedTable
{
public:
	/** @throw std::runtime_error if the file cannot be read or is malformed. */
	explicit AcceptedTable(const std::string &path);

	/** Note that a case was run, so that entries for it should be needed. */
	void tried(const std::string &name, const std::string &door) const;
	/** The entry that accepts a difference, or nullptr. */
	[[nodiscard]] const Accepted *find(const std::string &name, const std::string &door,
					   const std::string &tcp, const std::string &sdp) const;
	[[nodiscard]] const std::vector<Accepted> &entries() const
	{
		return entries_;
	}

private:
	/** Use a line of the file; false if it means nothing. */
	bool take(const std::string &line);

	std::vector<Accepted> entries_;
	std::size_t first_ = 0; ///< of the lines that have one reason
};

} // namespace conformance

#endif
