// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "grid.h"

#include "../common/printable.h"

#include <algorithm>

#include <fmt/format.h>

namespace sdpstat
{

std::string Grid::text() const
{
	std::vector<std::string> titles;

	for (const Column &column : columns_)
		titles.emplace_back(column.title);
	std::string result = line(titles);

	for (const auto &cells : rows_)
		result += line(cells);
	return result;
}

std::size_t Grid::width(std::size_t index) const
{
	std::size_t widest = columns_[index].title.size();

	for (const auto &cells : rows_)
		widest = std::max(widest, cells[index].size());
	return widest;
}

std::string Grid::line(const std::vector<std::string> &cells) const
{
	std::string result;

	for (std::size_t i = 0; i < cells.size(); i++)
		result += columns_[i].right ? fmt::format("{:>{}}  ", cells[i], width(i))
					    : fmt::format("{:<{}}  ", cells[i], width(i));
	result.erase(result.find_last_not_of(' ') + 1);
	return result + "\n";
}

std::string or_dash(const std::string &name)
{
	return name.empty() ? "-" : name;
}

std::string holders_text(const std::vector<Holder> &holders)
{
	std::string result;

	for (const Holder &holder : holders)
		result += fmt::format("{}{}(pid={},fd={})", result.empty() ? "" : ",",
				      sdp::printable(holder.name), holder.pid, holder.fd);
	return result;
}

} // namespace sdpstat
