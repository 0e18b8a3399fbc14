// SPDX-License-Identifier: GPL-2.0
/**
 * @file
 * The list of all cases. A case is a function that is run once with TCP and
 * at each door to SDP; what it does must not depend on which sockets these are.
 */
#ifndef CONFORMANCE_SUITE_H
#define CONFORMANCE_SUITE_H

#include <functional>
#include <string>
#include <vector>

namespace conformance
{

class Run;

struct Case {
	std::string name; ///< area.case
	std::function<void(Run &)> body;
	bool ipv6; ///< with the IPv6 addresses
};

/** All cases in the order of their names' areas. */
std::vector<Case> &suite();

/** Adds to the list when the program starts. */
struct Register {
	Register(std::string name, std::function<void(Run &)> body, bool ipv6 = false);
	/** For families of cases, which a function adds. */
	explicit Register(const std::function<void()> &add);
};

// A case of an area: CASE(poll, in_unbound) { t.socket()... }
#define CASE_WITH(area, name, ipv6)                                                                \
	static void area##_##name(Run &t);                                                         \
	static const Register register_##area##_##name(#area "." #name, area##_##name, ipv6);      \
	static void area##_##name(Run &t)
#define CASE(area, name) CASE_WITH(area, name, false)
#define CASE_IPV6(area, name) CASE_WITH(area, name, true)

} // namespace conformance

#endif
