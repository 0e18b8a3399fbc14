// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * smc-setup: give SMC what it needs for RDMA over a device that has RoCEv2
 * addresses only: which network interface belongs to which RDMA device, and
 * an identifier that both ends share. Debian has no smc-tools.
 *
 *	smc-setup EID {PNETID INTERFACE DEVICE}...
 */
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/smc.h>

#include "netlink.h"

namespace
{

constexpr std::uint8_t device_port = 1;

int note_family(const nlattr *attribute, void *data)
{
	if (mnl_attr_get_type(attribute) == CTRL_ATTR_FAMILY_ID)
		*static_cast<std::uint16_t *>(data) = mnl_attr_get_u16(attribute);
	return MNL_CB_OK;
}

int read_family(const nlmsghdr *header, void *data)
{
	return mnl_attr_parse(header, sizeof(genlmsghdr), note_family, data);
}

/** Generic netlink: requests of families that have names. */
class Generic
{
public:
	nlmsghdr *request(std::uint16_t family, std::uint8_t command)
	{
		nlmsghdr *const header = netlink_.begin();

		header->nlmsg_type = family;
		header->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
		auto *const generic = static_cast<genlmsghdr *>(
			mnl_nlmsg_put_extra_header(header, sizeof(genlmsghdr)));
		generic->cmd = command;
		generic->version = 1;
		return header;
	}

	/** Send the request, give its answers to @p read, wait until it is acknowledged. */
	void run(const nlmsghdr *header, const std::string &what, mnl_cb_t read = nullptr,
		 void *data = nullptr)
	{
		netlink_.send(header, what);
		netlink_.receive(what, read, data);
	}

	std::uint16_t family(const char *name)
	{
		std::uint16_t id = 0;
		nlmsghdr *const header = request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY);

		mnl_attr_put_strz(header, CTRL_ATTR_FAMILY_NAME, name);
		run(header, fmt::format("no netlink family '{}'; is the module smc loaded?", name),
		    read_family, &id);
		return id;
	}

private:
	static constexpr std::size_t size = 8192;

	sdpbench::Netlink netlink_{NETLINK_GENERIC, size};
};

void add_pnet(Generic &netlink, const std::string &name, const std::string &interface,
	      const std::string &device)
{
	const std::uint16_t family = netlink.family(SMCR_GENL_FAMILY_NAME);
	nlmsghdr *const header = netlink.request(family, SMC_PNETID_ADD);

	mnl_attr_put_strz(header, SMC_PNETID_NAME, name.c_str());
	mnl_attr_put_strz(header, SMC_PNETID_ETHNAME, interface.c_str());
	mnl_attr_put_strz(header, SMC_PNETID_IBNAME, device.c_str());
	mnl_attr_put_u8(header, SMC_PNETID_IBPORT, device_port);
	netlink.run(header,
		    fmt::format("cannot tell SMC that {} belongs to {}", device, interface));
}

void add_eid(Generic &netlink, std::string_view eid)
{
	const std::uint16_t family = netlink.family(SMC_GENL_FAMILY_NAME);
	nlmsghdr *const header = netlink.request(family, SMC_NETLINK_ADD_UEID);
	std::string padded(eid.substr(0, SMC_MAX_EID_LEN));

	padded.resize(SMC_MAX_EID_LEN, ' ');
	mnl_attr_put_strz(header, SMC_NLA_EID_TABLE_ENTRY, padded.c_str());
	netlink.run(header, fmt::format("cannot add the identifier '{}'", eid));
}

void run(const std::vector<std::string> &words)
{
	if (words.empty() || words.size() % 3 != 1)
		throw std::invalid_argument("usage: smc-setup EID {PNETID INTERFACE DEVICE}...");
	Generic netlink;
	add_eid(netlink, words[0]);
	for (std::size_t i = 1; i < words.size(); i += 3)
		add_pnet(netlink, words[i], words[i + 1], words[i + 2]);
}

} // namespace

int main(int argc, char **argv)
{
	try {
		run({argv + 1, argv + argc});
		return EXIT_SUCCESS;
	} catch (const std::exception &error) {
		fmt::print(stderr, "smc-setup: {}\n", error.what());
		return EXIT_FAILURE;
	}
}
