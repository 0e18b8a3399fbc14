// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * What we put on the wire is understood by others: a capture of a connection,
 * made from the code under test, is read by tshark's dissectors of MPA, DDP
 * and RDMAP.
 */
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <unistd.h>

#include <gtest/gtest.h>

#include "iwarp_model.h"

namespace
{

void put_be(Bytes &bytes, u64 value, int length)
{
	while (length-- > 0)
		bytes.push_back(static_cast<u8>(value >> 8 * length));
}

void put_le(Bytes &bytes, u32 value, int length)
{
	for (int i = 0; i < length; i++)
		bytes.push_back(static_cast<u8>(value >> 8 * i));
}

/** One end of the connection. */
struct End {
	u32 address;
	u16 port;
	u32 seq;
};

/** A file of packets, each IPv4 and TCP without a link layer. */
class Capture
{
public:
	Capture()
	{
		for (const u32 value : {0xa1b2c3d4U, 0x00040002U, 0U, 0U, 65535U, 101U})
			put_le(bytes_, value, 4);
	}

	/** Handshake of TCP. */
	void connect()
	{
		packet(client, server, 0x02, {});
		packet(server, client, 0x12, {});
		client.seq++;
		server.seq++;
		packet(client, server, 0x10, {});
	}

	void send(bool from_client, const Bytes &payload)
	{
		End &from = from_client ? client : server;

		packet(from, from_client ? server : client, 0x18, payload);
		from.seq += size(payload);
	}

	void save(const std::filesystem::path &path) const
	{
		std::ofstream file(path, std::ios::binary);

		file.write(reinterpret_cast<const char *>(bytes_.data()),
			   static_cast<std::streamsize>(bytes_.size()));
	}

	End client = {0x0a000001, 40000, 0xfffff000};
	End server = {0x0a000002, 40001, 0x1000};

private:
	void packet(const End &from, const End &to, u8 flags, const Bytes &payload)
	{
		const u32 length = 40 + size(payload);

		put_le(bytes_, ++packets_, 4);
		put_le(bytes_, 0, 4);
		put_le(bytes_, length, 4);
		put_le(bytes_, length, 4);
		put_be(bytes_, 0x45000000 | length, 4);
		put_be(bytes_, 0x0000400040060000, 8);
		put_be(bytes_, from.address, 4);
		put_be(bytes_, to.address, 4);
		put_be(bytes_, from.port, 2);
		put_be(bytes_, to.port, 2);
		put_be(bytes_, from.seq, 4);
		put_be(bytes_, to.seq, 4);
		put_be(bytes_, 0x5000 | flags, 2);
		put_be(bytes_, 0xffff00000000, 6);
		bytes_.insert(bytes_.end(), payload.begin(), payload.end());
	}

	Bytes bytes_;
	u32 packets_ = 0;
};

/** Puts an FPDU together with the code under test. */
class Sender
{
public:
	explicit Sender(u32 interval) : interval_(interval)
	{
	}

	Bytes fpdu(const IwarpSegment &segment)
	{
		Bytes body = encode(segment);
		iwarp_gap gap;

		body.resize(body.size() +
			    iwarp_pad_len(static_cast<u32>(body.size()) - IWARP_ULPDU_LENGTH_LEN));
		iwarp_gap_init(&gap, interval_, pos_);
		Bytes out = gap_copy(gap, body);
		u32 length = size(out);
		out.resize(length + IWARP_MARKER_LEN + IWARP_CRC_LEN);
		length += iwarp_gap_marker(&gap, out.data() + length);
		iwarp_crc_encode(crc32c(IWARP_CRC_SEED, out.data(), length), out.data() + length);
		out.resize(length + IWARP_CRC_LEN);
		pos_ += size(out);
		return out;
	}

private:
	u32 interval_;
	u32 pos_ = 0;
};

Bytes frame(bool reply, bool markers)
{
	Bytes out(IWARP_MPA_FRAME_MAX);
	iwarp_mpa mpa = {};

	mpa.reply = reply;
	mpa.markers = markers;
	mpa.crc = true;
	mpa.rev = IWARP_MPA_REV_1;
	out.resize(iwarp_mpa_encode(&mpa, nullptr, out.data(), size(out)));
	return out;
}

std::vector<IwarpSegment> segments()
{
	const Bytes request = hex("00000100 0000000000002000 00010000 00000200 0000000000003000");
	Bytes quoted(IWARP_TERMINATE_MAX);
	IwarpSegment invalidate = untagged(IWARP_SEND_SE_INV, 0, 2, 0, Bytes(1, 0x88));
	const IwarpSegment bad = tagged(IWARP_WRITE, 0xdeadbeef, 0x1000, {});

	quoted.resize(iwarp_terminate_encode(IWARP_E_TAGGED_BOUNDS, encode(bad).data(),
					     IWARP_TAGGED_LEN, quoted.data()));
	invalidate.hdr.stag = 0x400;
	return {
		untagged(IWARP_SEND, 0, 1, 0, hex("6869")),
		tagged(IWARP_WRITE, 0xdeadbeef, 0x1000, Bytes(1201, 0x55), false),
		tagged(IWARP_WRITE, 0xdeadbeef, 0x14b1, Bytes(600, 0x66)),
		untagged(IWARP_READ_REQ, 1, 1, 0, request),
		tagged(IWARP_READ_RESP, 0x300, 0x4000, Bytes(900, 0x77)),
		invalidate,
		untagged(IWARP_TERMINATE, 2, 1, 0, quoted),
	};
}

/** What tshark says of a capture; nothing if it is not there. */
std::string tshark(const std::string &arguments)
{
	const std::string command = "tshark " + arguments + " 2> /dev/null";
	std::string text;
	std::array<char, 4096> buffer;
	FILE *pipe = popen(command.c_str(), "r");

	if (pipe == nullptr)
		return text;
	while (const size_t length = std::fread(buffer.data(), 1, buffer.size(), pipe))
		text.append(buffer.data(), length);
	pclose(pipe);
	return text;
}

/** What follows a label in each line that has it. */
std::string all_behind(const std::string &text, const std::string &label)
{
	std::istringstream lines(text);
	std::string found;

	for (std::string line; std::getline(lines, line);)
		if (const size_t at = line.find(label); at != std::string::npos)
			found += line.substr(at + label.size()) + '\n';
	return found;
}

/** A capture of all segments, with or without markers. */
class Tshark : public testing::TestWithParam<bool>
{
protected:
	Tshark()
		: path(std::filesystem::temp_directory_path() /
		       ("iwarp-" + std::to_string(getpid()) + ".pcap"))
	{
		Sender sender(GetParam() ? IWARP_MARKER_INTERVAL : IWARP_NO_MARKERS);
		Capture capture;

		capture.connect();
		capture.send(true, frame(false, false));
		capture.send(false, frame(true, GetParam()));
		for (const IwarpSegment &segment : segments())
			capture.send(true, sender.fpdu(segment));
		capture.save(path);
	}

	~Tshark() override
	{
		std::filesystem::remove(path);
	}

	void SetUp() override
	{
		if (tshark("--version").empty())
			GTEST_SKIP() << "tshark is not installed";
	}

	/** Some fields of each packet that is of interest. */
	[[nodiscard]] std::string fields(const std::string &filter,
					 std::initializer_list<const char *> names) const
	{
		std::string arguments =
			"-r " + path.string() + " -Y " + filter + " -T fields -E separator=,";

		for (const char *name : names)
			arguments += std::string(" -e ") + name;
		return tshark(arguments);
	}

	const std::filesystem::path path;
};

INSTANTIATE_TEST_SUITE_P(Markers, Tshark, testing::Bool(),
			 [](const auto &info) { return info.param ? "With" : "Without"; });

TEST_P(Tshark, ReadsHowItIsSetUp)
{
	EXPECT_EQ(fields("iwarp_mpa.rev", {"iwarp_mpa.marker_flag", "iwarp_mpa.crc_flag",
					   "iwarp_mpa.rev", "iwarp_mpa.pdlength"}),
		  GetParam() ? "0,1,1,0\n1,1,1,0\n" : "0,1,1,0\n0,1,1,0\n");
}

TEST_P(Tshark, ReadsEverySegment)
{
	EXPECT_EQ(fields("iwarp_mpa.fpdu",
			 {"iwarp_mpa.ulpdulength", "iwarp_rdma.opcode", "iwarp_ddp.last_flag",
			  "iwarp_ddp.stag", "iwarp_ddp.tagged_offset", "iwarp_ddp.qn",
			  "iwarp_ddp.msn", "iwarp_rdma.inval_stag"}),
		  "20,0x03,1,,,0,1,\n"
		  "1215,0x00,0,0xdeadbeef,0x0000000000001000,,,\n"
		  "614,0x00,1,0xdeadbeef,0x00000000000014b1,,,\n"
		  "46,0x01,1,,,1,1,\n"
		  "914,0x02,1,0x00000300,0x0000000000004000,,,\n"
		  "19,0x06,1,,,0,2,1024\n"
		  "38,0x07,1,,,2,1,\n");
}

TEST_P(Tshark, ReadsARequestToRead)
{
	EXPECT_EQ(fields("iwarp_rdma.rr",
			 {"iwarp_rdma.sinkstag", "iwarp_rdma.sinkto", "iwarp_rdma.rdmardsz",
			  "iwarp_rdma.srcstag", "iwarp_rdma.srcto"}),
		  "0x00000100,0x0000000000002000,65536,0x00000200,0x0000000000003000\n");
}

TEST_P(Tshark, ReadsTerminate)
{
	EXPECT_EQ(fields("iwarp_rdma.terminate",
			 {"iwarp_rdma.term_layer", "iwarp_rdma.term_etype_ddp",
			  "iwarp_rdma.term_errcode_ddp_tagged", "iwarp_rdma.term_ddp_seg_len"}),
		  "0x01,0x01,0x01,000e\n");
}

TEST_P(Tshark, FindsChecksumsAndMarkersRight)
{
	const std::string text = tshark("-r " + path.string() + " -Y iwarp_mpa.fpdu -O iwarp_mpa");
	const std::string checks = all_behind(text, "CRC check: ");

	EXPECT_EQ(all_behind(checks, "(Good CRC32"), ")\n)\n)\n)\n)\n)\n)\n");
	EXPECT_EQ(all_behind(text, "FPDU back pointer: "),
		  GetParam() ? "0 bytes\n480 bytes\n992 bytes\n272 bytes\n108 bytes\n620 bytes\n"
			     : "");
}

} // namespace
