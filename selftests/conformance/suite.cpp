// SPDX-License-Identifier: GPL-2.0
#include "suite.h"

#include <utility>

namespace conformance
{

std::vector<Case> &suite()
{
	static std::vector<Case> cases;

	return cases;
}

Register::Register(std::string name, std::function<void(Run &)> body, bool ipv6)
{
	suite().push_back({std::move(name), std::move(body), ipv6});
}

Register::Register(const std::function<void()> &add)
{
	add();
}

} // namespace conformance
