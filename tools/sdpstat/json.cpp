// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "json.h"

namespace sdpstat
{

Json name_json(const std::string &name)
{
	return name.empty() ? Json(nullptr) : Json(name);
}

Json end_json(const Endpoint &end)
{
	return {{"address", end.address_text()}, {"port", end.port}};
}

Json holders_json(const std::vector<Holder> &holders)
{
	Json result = Json::array();

	for (const Holder &holder : holders)
		result.push_back({{"name", holder.name}, {"pid", holder.pid}, {"fd", holder.fd}});
	return result;
}

std::string dump(const Json &json, int indent)
{
	return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace sdpstat
