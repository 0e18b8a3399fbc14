// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * sdpctl: its checks, on files that stand for the kernel's, and on what other programs
 * write.
 */
#include "../../tools/common/descriptor.h"
#include "check.h"
#include "child.h"
#include "devices.h"
#include "firewall.h"
#include "module.h"
#include "peer.h"
#include "program.h"
#include "resources.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>

namespace
{

namespace fs = std::filesystem;

using nlohmann::json;
using sdpctl::Check;
using sdpctl::Report;
using sdpctl::Status;

class Doctor : public testing::Test
{
protected:
	void file(const std::string &name, const std::string &content) const
	{
		const fs::path path = directory_.path() / name;

		fs::create_directories(path.parent_path());
		std::ofstream(path) << content << '\n';
	}

	// A variable of the firmware: its attributes, 4 bytes, and its value.
	void secure_boot(char value) const
	{
		const fs::path variables = directory_.path() / "sys/firmware/efi/efivars";

		fs::create_directories(variables);
		std::ofstream(variables / "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c")
			<< std::string({6, 0, 0, 0, value});
	}

	// Soft-RoCE on eth0, at 10.0.0.1.
	void device(const std::string &state) const
	{
		const std::string port = "sys/class/infiniband/rxe0/ports/1/";

		file("sys/class/infiniband/rxe0/parent", "eth0");
		file(port + "state", state);
		file(port + "phys_state", state == "4: ACTIVE" ? "5: LinkUp" : "3: Disabled");
		file(port + "link_layer", "Ethernet");
		gid(0, "fe80:0000:0000:0000:0200:00ff:fe00:0001");
		gid(1, "0000:0000:0000:0000:0000:ffff:0a00:0001");
		gid(2, "0000:0000:0000:0000:0000:0000:0000:0000");
		file("sys/class/net/eth0/address", "02:00:00:00:00:01");
		file("sys/class/net/eth0/mtu", "1500");
		file("proc/net/sdpstats", "MemPages 10\nMemPressure 0\nFallbackRefused 3");
		devices_of_sdp({"rxe0 roce verbs"});
	}

	void devices_of_sdp(const std::vector<std::string> &rows) const
	{
		std::string table = "device transport interface flags segment tx_full tx_wake";

		for (const std::string &row : rows)
			table += "\n" + row + " - 0 0 0";
		file("proc/net/sdp_devices", table);
	}

	void gid(unsigned index, const std::string &text) const
	{
		const std::string port = "sys/class/infiniband/rxe0/ports/1/";
		const std::string number = std::to_string(index);

		file(port + "gids/" + number, text);
		file(port + "gid_attrs/ndevs/" + number, "eth0");
		file(port + "gid_attrs/types/" + number, "RoCE v2");
	}

	[[nodiscard]] sdpctl::Places places() const
	{
		return {.proc = directory_.path() / "proc",
			.sys = directory_.path() / "sys",
			.modules = directory_.path() / "modules"};
	}

	[[nodiscard]] Report devices(const std::string &address = "10.0.0.1") const
	{
		return devices_with({{"eth0", *libsdp::parse_address(address)}});
	}

	[[nodiscard]] Report devices_with(const std::vector<libsdp::OwnAddress> &addresses) const
	{
		return sdpctl::check_devices(
			places(), libsdp::read_ports(places().sys / "class/infiniband"), addresses);
	}

	child::Directory directory_;
};

std::string said(const Report &report, const std::string &name)
{
	for (const Check &check : report)
		if (check.name == name)
			return std::string(sdpctl::name_of(check.status)) + ": " + check.what;
	return "nothing";
}

TEST_F(Doctor, FindsADeviceThatIsWell)
{
	device("4: ACTIVE");
	const Report report = devices();

	EXPECT_EQ(said(report, "devices"), "ok: rxe0");
	EXPECT_EQ(said(report, "port rxe0/1"), "ok: ACTIVE");
	EXPECT_EQ(said(report, "gid rxe0/1"), "ok: 10.0.0.1 on eth0 (GID 1)");
	EXPECT_EQ(said(report, "mtu rxe0/1"),
		  "ok: 1500 of eth0: packets of RoCE carry up to 1024 bytes");
}

TEST_F(Doctor, FindsWhatIsWrongWithADevice)
{
	EXPECT_EQ(said(devices(), "devices"), "wrong: this host has no RDMA device");
	device("1: DOWN");
	EXPECT_EQ(said(devices(), "port rxe0/1"),
		  "wrong: DOWN, physically Disabled: nothing comes through");
	EXPECT_EQ(said(devices("10.0.0.9"), "gid rxe0/1"),
		  "wrong: the device has no GID of 10.0.0.9 on eth0");
	EXPECT_EQ(said(devices_with({}), "gid rxe0/1"),
		  "warning: no IP address of this host leads to the device");
	file("sys/class/net/eth0/mtu", "300");
	EXPECT_EQ(said(devices(), "mtu rxe0/1"), "wrong: 300 of eth0 is too small for RoCE");
	devices_of_sdp({});
	EXPECT_EQ(said(devices(), "devices"), "wrong: SDP does not use rxe0");
	file("proc/net/sdp_devices", "device transport\nrxe0 roce");
	EXPECT_EQ(said(devices(), "devices"), "unknown: cannot read /proc/net/sdp_devices");
}

// The GID of a device of iWARP is the interface's address, and names no interface.
TEST_F(Doctor, FindsTheAddressOfIwarp)
{
	const std::string port = "sys/class/infiniband/iwarp0/ports/1/";

	file(port + "state", "4: ACTIVE");
	file(port + "link_layer", "Ethernet");
	file(port + "gids/0", "0200:0000:0001:0000:0000:0000:0000:0000");
	file("sys/class/net/eth0/address", "02:00:00:00:00:01");
	file("sys/class/net/eth0/mtu", "9000");
	devices_of_sdp({"iwarp0 iwarp provider"});
	EXPECT_EQ(said(devices(), "gid iwarp0/1"), "ok: 10.0.0.1 on eth0 (GID 0)");
	EXPECT_EQ(said(devices(), "mtu iwarp0/1"), "ok: 9000 of eth0");
}

// A device of RoCE and one of iWARP on one interface: which of them the kernel takes no file
// tells, and each has what it needs.
TEST_F(Doctor, AsksEachPortByItself)
{
	device("4: ACTIVE");
	file("sys/class/infiniband/iwarp0/ports/1/link_layer", "Ethernet");
	file("sys/class/infiniband/iwarp0/ports/1/gids/0",
	     "0200:0000:0001:0000:0000:0000:0000:0000");
	devices_of_sdp({"iwarp0 iwarp provider", "rxe0 roce verbs"});
	EXPECT_EQ(said(devices(), "gid iwarp0/1"), "ok: 10.0.0.1 on eth0 (GID 0)");
	EXPECT_EQ(said(devices(), "gid rxe0/1"), "ok: 10.0.0.1 on eth0 (GID 1)");
	EXPECT_EQ(said(devices("10.0.0.9"), "gid rxe0/1"),
		  "wrong: the device has no GID of 10.0.0.9 on eth0");

	const auto ports = libsdp::read_ports(places().sys / "class/infiniband");
	const auto carriers = [&](const char *address) {
		std::vector<std::string> names;
		libsdp::Route route;

		route.netdev = "eth0";
		route.source = *libsdp::parse_address(address);
		for (const auto &carrier :
		     libsdp::find_carriers(ports, route, places().sys / "class/net"))
			names.push_back(carrier.port->device);
		return names;
	};

	EXPECT_EQ(carriers("10.0.0.1"), (std::vector<std::string>{"iwarp0", "rxe0"}));
	EXPECT_EQ(carriers("10.0.0.9"), std::vector<std::string>{"iwarp0"});
}

TEST_F(Doctor, ComparesVersions)
{
	file("proc/net/sdpstats", "Sockets 0");
	file("sys/module/sdp/version", SDP_VERSION);
	EXPECT_EQ(said(sdpctl::check_module(places()), "module"), "ok: sdp is loaded");
	EXPECT_EQ(said(sdpctl::check_module(places()), "version"),
		  "ok: module and tools are " SDP_VERSION);
	file("sys/module/sdp/version", "0.0.1");
	EXPECT_EQ(said(sdpctl::check_module(places()), "version"),
		  "wrong: the loaded module is 0.0.1, these tools are " SDP_VERSION);
}

// What modinfo writes of a module; one that is not signed has no signer.
sdpctl::CommandOutcome modinfo(const std::string &signer = "")
{
	return {.status = 0,
		.output = "filename:       /lib/modules/6.1/updates/dkms/sdp.ko\n"
			  "description:    AF_SDP, signer: nobody\n" +
			  (signer.empty() ? "" : "signer:         " + signer + '\n') +
			  "parm:           ulp:ask the providers (bool)\n"};
}

TEST_F(Doctor, MissesTheModule)
{
	EXPECT_EQ(said(sdpctl::check_module(places()), "module"),
		  "wrong: the module sdp is not loaded");
	const Report report = sdpctl::check_absent_module(places(), modinfo());

	EXPECT_EQ(report.at(0).advice, "modprobe sdp");
	EXPECT_EQ(said(report, "module-file"), "ok: /lib/modules/6.1/updates/dkms/sdp.ko");
	EXPECT_EQ(said(report, "signature"), "ok: this kernel loads modules without a signature");
}

// To load it would not help.
TEST_F(Doctor, MissesTheFileOfTheModule)
{
	file("proc/sys/kernel/osrelease", "6.1");
	const Report report = sdpctl::check_absent_module(places(), {.status = 1, .output = ""});

	EXPECT_EQ(
		sdpctl::as_text(report),
		"wrong    module: the module sdp is not loaded\n"
		"wrong    module-file: Linux 6.1 has no module sdp on the disk\n"
		"         -> install sdp-dkms and linux-headers-6.1; dkms status tells whether it "
		"was built\n");
	EXPECT_EQ(said(sdpctl::check_absent_module(places(), {}), "module-file"),
		  "unknown: there is no modinfo to ask for the module");
}

TEST_F(Doctor, KnowsWhoWantsSignatures)
{
	const std::string lockdown = "sys/kernel/security/lockdown";
	const std::string enforce = "sys/module/module/parameters/sig_enforce";
	const auto signature = [&] {
		return said(sdpctl::check_absent_module(places(), modinfo()), "signature");
	};
	const std::string none = "ok: this kernel loads modules without a signature";
	const std::string missing = "wrong: this kernel loads signed modules only (Secure Boot), "
				    "and sdp is not signed";

	file(lockdown, "[none] integrity confidentiality");
	file(enforce, "N");
	secure_boot(0);
	EXPECT_EQ(signature(), none);
	secure_boot(1);
	EXPECT_EQ(signature(), missing);
	secure_boot(0);
	file(lockdown, "none [integrity] confidentiality");
	EXPECT_EQ(signature(), missing);
	file(lockdown, "[none] integrity confidentiality");
	file(enforce, "Y");
	EXPECT_EQ(signature(), missing);
}

TEST_F(Doctor, NamesWhoHasSignedTheModule)
{
	file("sys/kernel/security/lockdown", "none [integrity] confidentiality");
	const Report report = sdpctl::check_absent_module(places(), modinfo("DKMS key: of host"));
	const std::string what = "sdp is signed by 'DKMS key: of host'; whether the kernel knows "
				 "that key, only loading it tells";
	const std::string advice = "if modprobe says 'Key was rejected by service': mokutil "
				   "--import /var/lib/dkms/mok.pub, and boot";

	EXPECT_EQ(sdpctl::as_text({report.back()}),
		  "unknown  signature: " + what + "\n         -> " + advice + '\n');
	EXPECT_EQ(json::parse(sdpctl::as_json(report)).back(), (json{{"check", "signature"},
								     {"status", "unknown"},
								     {"what", what},
								     {"advice", advice}}));
}

TEST_F(Doctor, KnowsLimitsAndSettings)
{
	device("4: ACTIVE");
	for (const auto &[name, value] : {std::pair{"zcopy", "sync"},
					  {"zcopy_threshold", "65536"},
					  {"zcopy_mem", "1"},
					  {"mem", "1 5 20"},
					  {"max_orphans", "1"},
					  {"local", "1"}})
		file(std::string("proc/sys/net/sdp/") + name, value);
	const Report well = sdpctl::check_resources(places(), {.bytes = 65536});

	EXPECT_EQ(said(well, "memlock"), "ok: this user may lock 64 KiB");
	EXPECT_EQ(said(well, "memory"), "ok: 10 of 20 pages are in use");
	EXPECT_EQ(said(well, "fallbacks"), "ok: so far: FallbackRefused 3");
	file("proc/sys/net/sdp/mem", "1 5 9");
	file("proc/sys/net/sdp/local", "0");
	const Report ill = sdpctl::check_resources(places(), {.bytes = 4096});

	EXPECT_EQ(said(ill, "memlock"), "wrong: this user may lock 4 KiB, less than the shortest "
					"transfer without a copy has (65536 bytes)");
	EXPECT_EQ(said(ill, "memory"),
		  "wrong: 10 of 9 pages are in use: new connections are refused");
	EXPECT_EQ(said(ill, "settings"),
		  "warning: net.sdp.local=0 has connections within this host use the device");
}

TEST(DoctorMtu, IsTheLargestThatFits)
{
	EXPECT_EQ(sdpctl::roce_mtu(351), 0U);
	EXPECT_EQ(sdpctl::roce_mtu(352), 256U);
	EXPECT_EQ(sdpctl::roce_mtu(1500), 1024U);
	EXPECT_EQ(sdpctl::roce_mtu(4192), 4096U);
}

constexpr sdpctl::Wanted roce = {.roce = true};
constexpr sdpctl::Wanted iwarp = {.iwarp = true};
constexpr sdpctl::Wanted both = {.roce = true, .iwarp = true};

// A chain of nft, and rules of which each is its expressions.
std::string nft(const std::string &policy, const std::vector<std::string> &rules)
{
	json list = json::array({{{"metainfo", {{"version", "1.0.6"}}}},
				 {{"chain",
				   {{"family", "inet"},
				    {"table", "t"},
				    {"name", "in"},
				    {"type", "filter"},
				    {"hook", "input"},
				    {"policy", policy}}}}});
	unsigned handle = 2;

	for (const std::string &rule : rules)
		list.push_back({{"rule",
				 {{"family", "inet"},
				  {"table", "t"},
				  {"chain", "in"},
				  {"handle", handle++},
				  {"expr", json::parse(rule)}}}});
	return json{{"nftables", list}}.dump();
}

std::string port_rule(const std::string &port, const std::string &verdict)
{
	return R"([{"match":{"op":"==","left":{"payload":{"protocol":"udp","field":"dport"}},"right":)" +
	       port + R"(}},{"counter":{"packets":0,"bytes":0}},{")" + verdict + R"(":null}])";
}

const std::string others =
	R"([{"match":{"op":"==","left":{"meta":{"key":"iifname"}},"right":"eth9"}},{"drop":null}])";
const std::string all = R"([{"drop":null}])";
const std::string all_udp =
	R"([{"match":{"op":"==","left":{"meta":{"key":"l4proto"}},"right":"udp"}},{"reject":null}])";

TEST(DoctorFirewall, FindsWhatDropsRoce)
{
	const auto drops = [](const std::string &rule) {
		return sdpctl::judge_nft(nft("accept", {rule}), roce).drops.size();
	};

	EXPECT_EQ(drops(port_rule("4791", "drop")), 1U);
	EXPECT_EQ(drops(port_rule(R"({"range":[4000,5000]})", "drop")), 1U);
	EXPECT_EQ(drops(port_rule(R"({"set":[53,4791]})", "reject")), 1U);
	EXPECT_EQ(drops(all), 1U);
	EXPECT_EQ(drops(all_udp), 1U);
	EXPECT_EQ(drops(port_rule("4792", "drop")), 0U);
	EXPECT_EQ(drops(port_rule("4791", "accept")), 0U);
	EXPECT_EQ(drops(others), 0U);
	EXPECT_EQ(sdpctl::judge_nft(nft("accept", {others, port_rule("4791", "drop")}), roce).drops,
		  std::set<std::string>{"inet t in, rule 3"});
	EXPECT_EQ(drops(R"([{"match":{"op":"!=","left":{"meta":{"key":"l4proto"}},"right":"tcp"}},
		{"drop":null}])"),
		  0U);
	EXPECT_EQ(drops(port_rule(R"("@ports")", "drop")), 0U);
}

TEST(DoctorFirewall, AsksRulesInTheirOrder)
{
	const std::string accept = port_rule("4791", "accept");

	EXPECT_TRUE(sdpctl::judge_nft(nft("accept", {accept, all}), roce).drops.empty());
	EXPECT_EQ(sdpctl::judge_nft(nft("accept", {all, accept}), roce).drops.size(), 1U);
	EXPECT_EQ(sdpctl::judge_nft(nft("drop", {others}), roce).closed.size(), 1U);
	EXPECT_TRUE(sdpctl::judge_nft(nft("drop", {accept}), roce).closed.empty());
	EXPECT_EQ(sdpctl::judge_nft(nft("drop", {accept}), iwarp).closed.size(), 1U);
	EXPECT_TRUE(sdpctl::judge_nft(nft("accept", {all_udp}), iwarp).drops.empty());
	EXPECT_ANY_THROW((void)sdpctl::judge_nft("no JSON", roce));
}

const std::string established =
	R"([{"match":{"op":"in","left":{"ct":{"key":"state"}},"right":["established","related"]}},
	    {"accept":null}])";
const std::string jump = R"([{"jump":{"target":"filter_INPUT_ZONES"}}])";
const std::string reject = R"([{"reject":{"type":"icmpx","expr":"admin-prohibited"}}])";
const std::string trusted =
	R"([{"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},
	              "right":{"prefix":{"addr":"10.0.0.0","len":24}}}},
	    {"match":{"op":"==","left":{"payload":{"protocol":"udp","field":"dport"}},"right":4791}},
	    {"accept":null}])";

// firewalld's chain; hosts that are trusted; a set with a name.
TEST(DoctorFirewall, IsNotCertainBehindWhatMayAccept)
{
	const std::set<std::string> chain = {"inet t in"};

	for (const std::vector<std::string> &rules : {std::vector{established, jump, reject},
						      {established, reject},
						      {jump, reject},
						      {trusted, all},
						      {port_rule(R"("@ports")", "accept"), all}}) {
		const auto judged = sdpctl::judge_nft(nft("accept", rules), roce);

		EXPECT_TRUE(judged.drops.empty()) << rules.front();
		EXPECT_EQ(judged.closed, chain) << rules.front();
	}
	EXPECT_EQ(sdpctl::judge_nft(nft("accept", {port_rule("53", "accept"), all}), roce).drops,
		  std::set<std::string>{"inet t in, rule 3"});
	EXPECT_TRUE(sdpctl::judge_nft(nft("accept", {established, jump}), roce).closed.empty());
}

TEST(DoctorFirewall, JudgesEachKindOfDeviceByItself)
{
	const std::string accept_tcp =
		R"([{"match":{"op":"==","left":{"meta":{"key":"l4proto"}},"right":"tcp"}},
		    {"accept":null}])";
	const std::vector<std::string> roce_only = {port_rule("4791", "accept"), all};
	const std::vector<std::string> iwarp_only = {accept_tcp, all};
	const std::set<std::string> rule = {"inet t in, rule 3"};

	EXPECT_TRUE(sdpctl::judge_nft(nft("accept", roce_only), roce).drops.empty());
	EXPECT_EQ(sdpctl::judge_nft(nft("accept", roce_only), both).drops, rule);
	EXPECT_TRUE(sdpctl::judge_nft(nft("accept", iwarp_only), iwarp).drops.empty());
	EXPECT_EQ(sdpctl::judge_nft(nft("accept", iwarp_only), both).drops, rule);
	EXPECT_EQ(sdpctl::judge_nft(nft("drop", {accept_tcp}), both).closed.size(), 1U);
}

TEST(DoctorFirewall, SaysWhatItHasNotSeen)
{
	const auto said_of = [](int status, const std::string &output) {
		return said({sdpctl::check_of({.status = status, .output = output}, roce)},
			    "firewall");
	};
	const std::string unseen =
		"unknown: cannot see the rules of packet filters: nft is not there, or fails";

	EXPECT_EQ(said_of(-1, ""), unseen);
	EXPECT_EQ(said_of(1, nft("accept", {})), unseen);
	EXPECT_TRUE(said_of(0, "no JSON").starts_with("unknown: cannot read what nft says: "));
	EXPECT_EQ(said_of(0, nft("accept", {})),
		  "ok: no rule of nft says that it drops UDP to port 4791 (RoCE)");
	EXPECT_EQ(said_of(0, nft("accept", {all})),
		  "wrong: UDP to port 4791 (RoCE) is dropped by: inet t in, rule 2");
	EXPECT_EQ(said_of(0, nft("accept", {trusted, all})),
		  "warning: what they do not accept is dropped by: inet t in; no rule of theirs "
		  "accepts UDP to port 4791 (RoCE) for certain");
}

TEST_F(Doctor, KnowsWhetherThereMayBeFilters)
{
	const std::string builtin = "modules/6.1/modules.builtin";

	device("4: ACTIVE");
	EXPECT_TRUE(sdpctl::may_have_nft(places()));
	file("proc/sys/kernel/osrelease", "6.1");
	file(builtin, "kernel/net/netfilter/nf_tables.ko");
	EXPECT_TRUE(sdpctl::may_have_nft(places()));
	file(builtin, "kernel/net/ipv4/tcp_cubic.ko");
	EXPECT_FALSE(sdpctl::may_have_nft(places()));
	EXPECT_EQ(said(sdpctl::check_firewall(
			       places(), libsdp::read_ports(places().sys / "class/infiniband")),
		       "firewall"),
		  "ok: the kernel has no nf_tables loaded");
	file("sys/module/nf_tables/refcnt", "0");
	EXPECT_TRUE(sdpctl::may_have_nft(places()));
}

TEST(DoctorPeer, IsAHostAndAPort)
{
	EXPECT_EQ(sdpctl::Peer("[fd00::1]:80").host, "fd00::1");
	EXPECT_EQ(sdpctl::Peer("host:80").port, "80");
	for (const char *text : {"host", ":80", "host:", ""})
		EXPECT_THROW(sdpctl::Peer{text}, std::runtime_error) << text;
}

/** A TCP socket of this host's: nobody connects to its port unless it listens. */
class OwnPort
{
public:
	explicit OwnPort(bool listens) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
	{
		socklen_t length = sizeof(address_);

		address_.sin_family = AF_INET;
		address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		EXPECT_EQ(bind(fd_.get(), get(), length), 0);
		EXPECT_EQ(getsockname(fd_.get(), get(), &length), 0);
		EXPECT_EQ(listens ? listen(fd_.get(), 4) : 0, 0);
		found_.ai_family = AF_INET;
		found_.ai_addr = get();
		found_.ai_addrlen = length;
	}

	addrinfo &found()
	{
		return found_;
	}

	[[nodiscard]] std::string text() const
	{
		return "ok: 127.0.0.1:" + std::to_string(ntohs(address_.sin_port));
	}

private:
	sockaddr *get()
	{
		return reinterpret_cast<sockaddr *>(&address_);
	}

	sdp::Descriptor fd_;
	sockaddr_in address_{};
	addrinfo found_{};
};

TEST(DoctorPeer, TriesAllAddresses)
{
	OwnPort first(false);
	OwnPort second(true);
	OwnPort last(false);

	first.found().ai_next = &second.found();
	second.found().ai_next = &last.found();
	const Report report = sdpctl::check_addresses({}, {}, first.found());

	EXPECT_EQ(said(report, "peer"), second.text());
	EXPECT_TRUE(said(report, "tcp").starts_with("ok: connected in ")) << said(report, "tcp");
	first.found().ai_next = &last.found();
	EXPECT_EQ(said(sdpctl::check_addresses({}, {}, first.found()), "peer"), last.text());
}

TEST(DoctorPeer, LeavesOpenWhichDeviceIsLinkLocal)
{
	const Report report = sdpctl::check_peer({}, {}, sdpctl::Peer("[fe80::1%lo]:9"));

	EXPECT_EQ(said(report, "route"),
		  "unknown: which device leads to a link-local address is not looked into");
}

// What becomes of a socket of SDP depends on the kernel; what the rules say does not.
libsdp::WhyQuestion question(const std::string &text, const std::string &address)
{
	libsdp::WhyQuestion question;

	question.file = {.path = "/etc/libsdp.conf", .exists = true, .text = text};
	question.program = "sshd";
	question.endpoints = {{.address = *libsdp::parse_address(address), .port = 22}};
	return question;
}

TEST(DoctorProgramsRules, DecideForEachRole)
{
	const Report report = sdpctl::check_decisions(
		question("use tcp server sshd *:22\nuse sdp client ssh* *:22\n", "127.0.0.1"));

	ASSERT_EQ(report.size(), 3U);
	EXPECT_EQ(said(report, "rules"), "ok: /etc/libsdp.conf, 2 rules");
	EXPECT_EQ(said(report, "listen 127.0.0.1:22"),
		  "ok: sshd: tcp, by line 1: use tcp server sshd *:22; result: tcp, the rule says "
		  "so");
	EXPECT_TRUE(report[2].what.starts_with(
		"sshd: sdp, by line 2: use sdp client ssh* *:22; result: "))
		<< report[2].what;
	EXPECT_EQ(report[2].name, "connect 127.0.0.1:22");
	EXPECT_NE(report[2].status, Status::wrong);
}

TEST(DoctorProgramsRules, AreThereForPrograms)
{
	const Report report =
		sdpctl::check_decisions(question("use tcp server sshd *:22\n", "0.0.0.0"));
	const json got = json::parse(sdpctl::as_json(report));

	ASSERT_EQ(got.size(), 2U);
	EXPECT_FALSE(got[0].contains("decision"));
	EXPECT_EQ(got[1]["check"], "listen 0.0.0.0:22");
	EXPECT_EQ(got[1]["status"], "ok");
	EXPECT_EQ(got[1]["advice"], nullptr);
	json decision = got[1]["decision"];

	decision.erase("route");
	EXPECT_EQ(decision, (json{{"role", "server"},
				  {"rule", "use tcp server sshd *:22"},
				  {"line", 1},
				  {"use", "tcp"},
				  {"by", "rule"},
				  {"outcome", "tcp"},
				  {"reason", "the rule says so"}}));
}

TEST(DoctorProgramsRules, MayBeMissingOrWrong)
{
	libsdp::WhyQuestion none = question("", "fe80::1");

	none.file.exists = false;
	const Report report = sdpctl::check_decisions(none);

	EXPECT_EQ(said(report, "rules"), "ok: none, there is no /etc/libsdp.conf");
	EXPECT_EQ(said(report, "connect [fe80::1]:22"),
		  "unknown: sshd: there are no rules, net.sdp.tcp_fallback decides; which device "
		  "leads to a link-local address is not looked into");
	EXPECT_FALSE(json::parse(sdpctl::as_json(report))[1].contains("decision"));
	EXPECT_EQ(said(sdpctl::check_decisions(question("use\n", "0.0.0.0")), "rules"),
		  "warning: line 1 of /etc/libsdp.conf is wrong: it and what follows do not count");
}

TEST(DoctorReport, HasAStableForm)
{
	const Report report = {{"a", Status::ok, "all is well", ""},
			       {"b", Status::unknown, "not seen \xff", "look"}};

	EXPECT_EQ(sdpctl::as_text(report), "ok       a: all is well\n"
					   "unknown  b: not seen \xff\n"
					   "         -> look\n");
	EXPECT_EQ(json::parse(sdpctl::as_json(report)),
		  json::parse(R"([{"check":"a","status":"ok","what":"all is well","advice":null},
		  {"check":"b","status":"unknown","what":"not seen \ufffd","advice":"look"}])"));
}

TEST(DoctorProgram, HasItsExitCodes)
{
	const auto nowhere = child::run({SDPCTL, "doctor", "nowhere"});

	EXPECT_EQ(nowhere.status, 2);
	EXPECT_NE(nowhere.errors.find("not HOST:PORT: 'nowhere' (see sdpctl --help)\n"),
		  std::string::npos)
		<< nowhere.errors;
	EXPECT_EQ(child::run({SDPCTL}).status, 2);
	EXPECT_EQ(child::run({SDPCTL, "--help"}).status, 0);
	EXPECT_EQ(child::run({SDPCTL, "--version"}).output, "sdpctl " SDP_VERSION "\n");
	EXPECT_NE(child::run({SDPCTL, "doctor", "--program", "ssh"})
			  .errors.find("--program: needs HOST:PORT"),
		  std::string::npos);
	if (fs::exists("/proc/net/sdpstats"))
		GTEST_SKIP() << "this kernel has SDP";
	const auto absent = child::run({SDPCTL, "doctor", "--json"});

	EXPECT_EQ(absent.status, 3);
	EXPECT_EQ(json::parse(absent.output)[0]["what"], "the module sdp is not loaded");
}

// The file is the one that sdp-run would use; what cannot be read changes no exit code.
TEST_F(Doctor, TellsOfAProgram)
{
	const OwnPort port(true);
	const std::string server = port.text().substr(sizeof("ok: ") - 1);
	const std::string rules = directory_.path() / "libsdp.conf";
	const auto doctor = [&](const std::vector<std::string> &options) {
		std::vector<std::string> command = {SDPCTL, "doctor", server};

		command.insert(command.end(), options.begin(), options.end());
		return child::run(command, {{"LIBSDP_CONFIG_FILE", rules}});
	};
	const auto without = doctor({});
	const auto unread = doctor({"--program", "ssh"});

	EXPECT_EQ(unread.status, without.status);
	EXPECT_NE(unread.output.find("unknown  rules: " + rules + ": No such file or directory\n"),
		  std::string::npos)
		<< unread.output;
	file("libsdp.conf", "use tcp client ssh *:*");
	const auto told = doctor({"--program", "/usr/bin/ssh"});

	EXPECT_EQ(told.status, without.status);
	EXPECT_NE(told.output.find("ok       rules: " + rules + ", 1 rules\n"), std::string::npos);
	EXPECT_NE(told.output.find("ok       connect " + server +
				   ": ssh: tcp, by line 1: use tcp client ssh *:*; result: tcp, "
				   "the rule says so\n"),
		  std::string::npos)
		<< told.output;
}

} // namespace
