// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * The tables that the kernel module keeps below /proc/net, read into memory.
 */
#ifndef SDPSTAT_TABLE_H
#define SDPSTAT_TABLE_H

#include "endpoint.h"

#include <cstdint>
#include <istream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace sdpstat
{

/** The states of a socket: the numbers of TCP (include/net/tcp_states.h). */
enum class State : std::uint8_t {
	established = 1,
	syn_sent,
	syn_recv,
	fin_wait1,
	fin_wait2,
	time_wait,
	close,
	close_wait,
	last_ack,
	listen,
	closing,
};

/** "ESTABLISHED" and so on; the bare number for a state unknown here. */
[[nodiscard]] std::string state_name(State state);

/** What has sent on data that had waited, and how often. */
struct Flushes {
	std::uint64_t call = 0;
	std::uint64_t interrupt = 0;
	std::uint64_t timer = 0;
	std::uint64_t pause = 0;
};

/** What flow control has, and what it did. */
struct Flow {
	std::string why; ///< "device" or "peer": who lacks the engine wanted; empty if it is used
	std::uint32_t ring = 0; ///< bytes of the receive ring, 0 without one
	std::uint32_t ring_used = 0;
	std::string ring_why; ///< what has made the receive ring of buffers, empty without one
	std::uint32_t peer_ring = 0;
	std::uint64_t stalls = 0;    ///< times that data found no room at the peer
	std::uint64_t coalesced = 0; ///< writes that joined a waiting message
	Flushes flushes;
};

/** Zero copy: what it has sent and read, and what it could not. Sizes in bytes. */
struct Zcopy {
	std::string mode;	///< "off", "sync" or "async", empty if none yet
	std::uint64_t sent = 0; ///< in all
	std::uint64_t sent_zcopy = 0;
	std::uint64_t sent_async = 0; ///< by calls that did not wait
	std::uint64_t received = 0;   ///< in all
	std::uint64_t received_zcopy = 0;
	std::uint64_t refusals = 0;	  ///< offers of the peer that no read could take
	std::uint64_t cancels = 0;	  ///< offers that the peer did not read
	std::uint64_t guard_refusals = 0; ///< writes of memory without protection
	std::uint64_t guard_faults = 0;	  ///< pages written to before they were sent
};

/** What a socket uses and may use, bytes but for the last; names as ss(8) has them. */
struct Memory {
	std::uint32_t rmem_alloc = 0;
	std::uint32_t rcvbuf = 0;
	std::uint32_t wmem_alloc = 0;
	std::uint32_t sndbuf = 0;
	std::uint32_t fwd_alloc = 0;
	std::uint32_t wmem_queued = 0;
	std::uint32_t optmem = 0;
	std::uint32_t backlog = 0;
	std::uint32_t drops = 0;
};

/** After how long something is done: seconds unless noted. */
struct Timeouts {
	bool keepalive = false; ///< SO_KEEPALIVE is set
	std::uint32_t keepidle = 0;
	std::uint32_t keepintvl = 0;
	std::uint32_t keepcnt = 0;	///< probes
	std::uint32_t user_timeout = 0; ///< milliseconds, 0 for none
	std::int32_t linger2 = 0;	///< -1 for none
};

/** What a second brings: bytes unless noted. */
struct Rate {
	double in = 0;
	double out = 0;
	double zcopy = 0;  ///< of both, without a copy
	double stalls = 0; ///< times that data found no room at the peer
};

/** One row of /proc/net/sdp, or what netlink says of a socket. */
struct Socket {
	Endpoint local;
	Endpoint peer;
	std::uint32_t uid = 0;
	std::uint64_t inode = 0;
	std::uint32_t rx_queue = 0; ///< bytes to read; of a listener: connections to accept
	std::uint32_t tx_queue = 0; ///< bytes to send; of a listener: its backlog
	State state = State::close;
	std::uint32_t tx_credits = 0; ///< messages that the peer has room for
	std::uint32_t rx_credits = 0; ///< messages that there is room for here
	std::string flow;	      ///< flow control engine, empty if none yet
	std::string device;	      ///< RDMA device, empty if none yet
	std::uint32_t queue_pair = 0; ///< its number there, 0 if none
	Flow flow_state;
	Zcopy zcopy;
	// What /proc/net/sdp does not have.
	std::uint64_t cookie = 0; ///< no two sockets have the same
	std::optional<Memory> memory;
	std::optional<Timeouts> timeouts;
	std::optional<Rate> rate; ///< between two looks
};

/** One line of /proc/net/sdpstats. */
struct Counter {
	std::string name;
	std::int64_t value = 0;
};

/** Work that a device's provider does somewhere, or not at all. */
struct Function {
	std::string name;
	std::string where; ///< "absent", "software" or "hardware", empty if not known
};

/** One line of /proc/net/sdp_devices. */
struct Device {
	std::string name;
	std::string transport; ///< "iwarp", "roce" or "infiniband"
	std::string interface; ///< "provider" if that has said the rest, otherwise "verbs"
	std::vector<std::string> flags;
	std::uint32_t segment = 0; ///< bytes of a message that fills a segment of TCP
	std::uint32_t tx_full = 0; ///< bytes at which the transmit queue is full
	std::uint32_t tx_wake = 0; ///< and below which it takes more
	std::vector<Function> functions;
	std::vector<std::string> engines; ///< of flow control that it can carry
	std::vector<std::string> zcopy;	  ///< modes that are possible
	std::vector<std::string> lacks;	  ///< what keeps it from the others
};

/** A table has not the form that is expected; what() names line and column. */
class FormatError : public std::runtime_error
{
public:
	FormatError(std::size_t line, const std::string &problem);
};

/**
 * Read /proc/net/sdp: a line of column names, then a row for each socket.
 * Columns to the right of those known here are ignored.
 *
 * @throws FormatError
 */
[[nodiscard]] std::vector<Socket> parse_sockets(std::istream &input);

/**
 * Read /proc/net/sdpstats: a name and a whole number on each line. Any name is
 * taken as it comes.
 *
 * @throws FormatError
 */
[[nodiscard]] std::vector<Counter> parse_counters(std::istream &input);

/**
 * Read /proc/net/sdp_devices: a line of column names, then a row for each device.
 * Columns are known by their headings, in any order behind the first; those that are not
 * known here are functions of the provider. What only newer modules say may be missing.
 *
 * @throws FormatError
 */
[[nodiscard]] std::vector<Device> parse_devices(std::istream &input);

} // namespace sdpstat

#endif // SDPSTAT_TABLE_H
