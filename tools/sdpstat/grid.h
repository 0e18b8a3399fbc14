// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Tables for people, and what their cells have in common.
 */
#ifndef SDPSTAT_GRID_H
#define SDPSTAT_GRID_H

#include "processes.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sdpstat
{

/** Rows of cells, each column as wide as its widest cell. */
class Grid
{
public:
	/** Append a column; its cells, if they are numbers, stand at its right. */
	void column(std::string_view title, bool right = false)
	{
		columns_.push_back({title, right});
	}

	/** Append a row, which has a cell for each column. */
	void row(std::vector<std::string> cells)
	{
		rows_.push_back(std::move(cells));
	}

	/** The titles, and below them the rows, each on a line. */
	[[nodiscard]] std::string text() const;

private:
	struct Column {
		std::string_view title;
		bool right = false;
	};

	[[nodiscard]] std::size_t width(std::size_t index) const;
	[[nodiscard]] std::string line(const std::vector<std::string> &cells) const;

	std::vector<Column> columns_;
	std::vector<std::vector<std::string>> rows_;
};

/** "-" for what has no name. */
[[nodiscard]] std::string or_dash(const std::string &name);

/** "NAME(pid=PID,fd=FD),...", of which a terminal shows each byte. */
[[nodiscard]] std::string holders_text(const std::vector<Holder> &holders);

} // namespace sdpstat

#endif // SDPSTAT_GRID_H
