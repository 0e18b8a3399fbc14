// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "smc.h"

#include <cstddef>
#include <stdexcept>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <libmnl/libmnl.h>
#include <linux/inet_diag.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

#include "netlink.h"

namespace sdpbench
{

namespace
{

constexpr std::size_t dump_size = 32768;

/** What the dump is searched for, and what was found. */
struct Search {
	std::uint16_t port;
	bool found = false;
	unsigned mode = SMC_DIAG_MODE_FALLBACK_TCP;
	std::uint32_t reason = 0;
};

int note_reason(const nlattr *attribute, void *data)
{
	if (mnl_attr_get_type(attribute) == SMC_DIAG_FALLBACK) {
		const auto *const fallback =
			static_cast<const smc_diag_fallback *>(mnl_attr_get_payload(attribute));

		static_cast<Search *>(data)->reason = fallback->reason;
	}
	return MNL_CB_OK;
}

int look_at(const nlmsghdr *header, void *data)
{
	auto *const search = static_cast<Search *>(data);
	const auto *const socket = static_cast<const smc_diag_msg *>(mnl_nlmsg_get_payload(header));

	if (ntohs(socket->id.idiag_sport) != search->port || socket->id.idiag_dport == 0)
		return MNL_CB_OK;
	search->found = true;
	search->mode = socket->diag_mode;
	return mnl_attr_parse(header, sizeof(*socket), note_reason, search);
}

void ask(Netlink &netlink)
{
	nlmsghdr *const header = netlink.begin();
	header->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	auto *const request = static_cast<smc_diag_req *>(
		mnl_nlmsg_put_extra_header(header, sizeof(smc_diag_req)));
	request->diag_family = AF_SMC;
	request->diag_ext = 1U << (SMC_DIAG_FALLBACK - 1);
	netlink.send(header, "cannot ask smc_diag");
}

Search search_for(std::uint16_t port)
{
	Netlink netlink(NETLINK_SOCK_DIAG, dump_size);
	Search search{.port = port};

	ask(netlink);
	netlink.receive("smc_diag does not answer; is the module loaded?", look_at, &search);
	return search;
}

} // namespace

void require_smc_r(std::uint16_t local_port)
{
	const Search search = search_for(local_port);

	if (!search.found)
		throw std::runtime_error("smc_diag does not know the connection");
	if (search.mode != SMC_DIAG_MODE_SMCR)
		throw std::runtime_error(fmt::format("SMC does without RDMA: mode {}, reason "
						     "{:#010x}; its figures would be TCP's",
						     search.mode, search.reason));
}

} // namespace sdpbench
