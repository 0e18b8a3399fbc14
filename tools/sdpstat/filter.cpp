// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "filter.h"

namespace sdpstat
{
namespace
{

bool selects(Selection selection, State state)
{
	switch (selection) {
	case Selection::connections:
		return state != State::listen && state != State::close;
	case Selection::listening:
		return state == State::listen;
	case Selection::all:
		break;
	}
	return true;
}

} // namespace

bool Filter::accepts(const Socket &socket) const
{
	if (!selects(selection, socket.state))
		return false;
	if (port && socket.local.port != *port && socket.peer.port != *port)
		return false;
	return !address || address->contains(socket.local.address) ||
	       address->contains(socket.peer.address);
}

} // namespace sdpstat
