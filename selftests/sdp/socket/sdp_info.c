// SPDX-License-Identifier: GPL-2.0
/*
 * What TCP_INFO and SDP_INFO tell of an AF_SDP socket, and the options that
 * their counters show at work.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <assert.h>
#include <linux/sdp.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "sdp_test.h"

#ifndef SOL_TCP
#define SOL_TCP IPPROTO_TCP	/* in a header at odds with <linux/tcp.h> */
#endif

/* A program that was built with the first header must still understand. */
static_assert(offsetof(struct sdp_info, sdpi_fill) == 304, "layout");
static_assert(offsetof(struct sdp_info, sdpi_guard_copies) == 440, "layout");

#define STATE_ESTABLISHED	1
#define STATE_FIN_WAIT2		5
#define STATE_CLOSE		7
#define STATE_CLOSE_WAIT	8
#define STATE_LISTEN		10

static struct tcp_info tcp_info(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	CHECK_OK(getsockopt(fd, SOL_TCP, TCP_INFO, &info, &len));
	return info;
}

static struct sdp_info sdp_info(int fd)
{
	struct sdp_info info = { 0 };
	socklen_t len = sizeof(info);

	CHECK_OK(getsockopt(fd, SOL_SDP, SDP_INFO, &info, &len));
	CHECK_EQ(len, sizeof(info));
	return info;
}

/* Writes without company are messages of their own. */
static struct pair pair_without_delay(void)
{
	struct pair p = new_pair();

	set_int(p.client, SOL_TCP, TCP_NODELAY, 1);
	set_int(p.server, SOL_TCP, TCP_NODELAY, 1);
	return p;
}

/* ---- TCP_INFO ---- */

static void tcp_info_states(void)
{
	struct pair p = new_pair();
	int listener = new_listener(7);

	CHECK_EQ(tcp_info(new_socket(0)).tcpi_state, STATE_CLOSE);
	CHECK_EQ(tcp_info(listener).tcpi_state, STATE_LISTEN);
	CHECK_EQ(tcp_info(p.client).tcpi_state, STATE_ESTABLISHED);
	CHECK_EQ(tcp_info(p.server).tcpi_state, STATE_ESTABLISHED);
	CHECK_OK(shutdown(p.client, SHUT_WR));
	WAIT_FOR(tcp_info(p.client).tcpi_state == STATE_FIN_WAIT2);
	WAIT_FOR(tcp_info(p.server).tcpi_state == STATE_CLOSE_WAIT);
}

static void tcp_info_of_listener(void)
{
	int listener = new_listener(7);
	struct tcp_info info;

	connect_to(listener);
	connect_to(listener);
	WAIT_FOR(tcp_info(listener).tcpi_unacked == 2);
	info = tcp_info(listener);
	CHECK_EQ(info.tcpi_sacked, 7);
	CHECK_OK(accept(listener, NULL, NULL));
	CHECK_EQ(tcp_info(listener).tcpi_unacked, 1);
}

static void tcp_info_counts_exactly(void)
{
	struct pair p = pair_without_delay();
	struct tcp_info c, s;

	send_pattern(p.client, 1, 0, 7000, 1000);
	recv_pattern(p.server, 1, 0, 7000, 7000);
	send_pattern(p.server, 2, 0, 300, 100);
	recv_pattern(p.client, 2, 0, 300, 300);
	WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == 0);
	WAIT_FOR(ioctl_int(p.server, SIOCOUTQ) == 0);
	c = tcp_info(p.client);
	s = tcp_info(p.server);
	CHECK_EQ(c.tcpi_bytes_sent, 7000);
	CHECK_EQ(c.tcpi_bytes_acked, 7000);
	CHECK_EQ(c.tcpi_bytes_received, 300);
	CHECK_EQ(c.tcpi_data_segs_out, 7);
	CHECK_EQ(c.tcpi_data_segs_in, 3);
	CHECK_EQ(s.tcpi_bytes_sent, 300);
	CHECK_EQ(s.tcpi_bytes_acked, 300);
	CHECK_EQ(s.tcpi_bytes_received, 7000);
	CHECK_EQ(s.tcpi_data_segs_out, 3);
	CHECK_EQ(s.tcpi_data_segs_in, 7);
	CHECK(c.tcpi_segs_out >= 7 && c.tcpi_segs_in >= 3);
	CHECK_EQ(c.tcpi_segs_out, s.tcpi_segs_in);
	CHECK_EQ(c.tcpi_notsent_bytes, 0);
	CHECK_EQ(c.tcpi_retransmits, 0);
	CHECK_EQ(c.tcpi_snd_mss, get_int(p.client, SOL_TCP, TCP_MAXSEG));
}

static void tcp_info_measures_silence(void)
{
	struct pair p = new_pair();
	struct stopwatch start = start_watch();
	struct tcp_info info;

	send_pattern(p.client, 3, 0, 100, 100);
	recv_pattern(p.server, 3, 0, 100, 100);
	WAIT_FOR(tcp_info(p.client).tcpi_last_data_sent >= 300);
	info = tcp_info(p.client);
	CHECK(info.tcpi_last_data_sent <= watch_ms(start) + 20);
	WAIT_FOR(tcp_info(p.server).tcpi_last_data_recv >= 300);
	info = tcp_info(p.server);
	CHECK(info.tcpi_last_data_recv <= watch_ms(start) + 20);
	send_pattern(p.client, 3, 100, 100, 100);
	recv_pattern(p.server, 3, 100, 100, 100);
	CHECK(tcp_info(p.server).tcpi_last_data_recv <
	      info.tcpi_last_data_recv);
}

/* What is written while nobody reads is somewhere. */
static void tcp_info_shows_queues(void)
{
	struct pair p = new_pair();
	uint64_t sent = fill_pipe(p.client, 4);
	struct tcp_info c;

	WAIT_FOR(tcp_info(p.server).tcpi_bytes_received ==
		 tcp_info(p.client).tcpi_bytes_sent);
	c = tcp_info(p.client);
	CHECK(c.tcpi_notsent_bytes > 0);
	CHECK_EQ(c.tcpi_bytes_sent + c.tcpi_notsent_bytes, sent);
	recv_pattern(p.server, 4, 0, sent, 64 * KIB);
	CHECK_EQ(tcp_info(p.server).tcpi_bytes_received, sent);
	WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == 0);
	CHECK_EQ(tcp_info(p.client).tcpi_bytes_acked, sent);
}

/* As many bytes as the program has room for, and not one more. */
static void check_prefix(int fd, int level, int opt, const void *whole,
			 size_t size, socklen_t room)
{
	unsigned char got[1024];
	socklen_t len = room;
	size_t i;

	memset(got, 0xa5, sizeof(got));
	CHECK_OK(getsockopt(fd, level, opt, got, &len));
	CHECK_EQ(len, room < size ? room : size);
	CHECK(!memcmp(got, whole, len));
	for (i = len; i < sizeof(got); i++)
		CHECK_EQ(got[i], 0xa5);
}

static void check_lengths(int fd, int level, int opt, const void *whole,
			  size_t size)
{
	socklen_t room, len = -1;

	for (room = 0; room <= size + 8; room++)
		check_prefix(fd, level, opt, whole, size, room);
	CHECK_ERR(getsockopt(fd, level, opt, &room, &len), EINVAL);
	len = 8;
	CHECK_ERR(getsockopt(fd, level, opt, (void *)8, &len), EFAULT);
	CHECK_ERR(getsockopt(fd, level, opt, &room, (void *)8), EFAULT);
}

static void tcp_info_any_length(void)
{
	int fd = new_listener(3);
	unsigned char info[1000];
	socklen_t size = sizeof(info);

	/* The kernel's structure may be longer than the one known here. */
	CHECK_OK(getsockopt(fd, SOL_TCP, TCP_INFO, info, &size));
	CHECK(size >= sizeof(struct tcp_info));
	check_lengths(fd, SOL_TCP, TCP_INFO, info, size);
}

static void tcp_info_is_read_only(void)
{
	struct tcp_info info = { 0 };
	int fd = new_socket(0);

	CHECK_ERR(setsockopt(fd, SOL_TCP, TCP_INFO, &info, sizeof(info)),
		  ENOPROTOOPT);
}

/* ---- SDP_INFO ---- */

static void sdp_info_any_length(void)
{
	struct pair p = new_pair();
	struct sdp_info info;

	send_pattern(p.client, 5, 0, 100, 100);
	recv_pattern(p.server, 5, 0, 100, 100);
	/* Its clocks stand still once it has ended. */
	CHECK_OK(close(p.client));
	CHECK_OK(close(p.server));
	p.server = new_listener(2);
	info = sdp_info(p.server);
	CHECK_EQ(info.sdpi_state, STATE_LISTEN);
	check_lengths(p.server, SOL_SDP, SDP_INFO, &info, sizeof(info));
	CHECK_ERR(setsockopt(p.server, SOL_SDP, SDP_INFO, &info, sizeof(info)),
		  ENOPROTOOPT);
}

static void sdp_info_unconnected(void)
{
	struct sdp_info info = sdp_info(new_socket(0));

	CHECK_EQ(info.sdpi_state, STATE_CLOSE);
	CHECK_EQ(info.sdpi_flow, SDP_FLOW_NONE);
	CHECK_EQ(info.sdpi_device[0], 0);
	CHECK_EQ(info.sdpi_qp_num, 0);
	CHECK_EQ(info.sdpi_msgs_out, 0);
}

static void sdp_info_of_listener(void)
{
	int listener = new_listener(7);

	CHECK_EQ(sdp_info(listener).sdpi_backlog, 0);
	connect_to(listener);
	connect_to(listener);
	WAIT_FOR(sdp_info(listener).sdpi_backlog == 2);
}

static bool device_exists(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s", name);
	return !access(path, F_OK);
}

static void sdp_info_of_connection(void)
{
	struct pair p = new_pair();
	struct sdp_info c = sdp_info(p.client), s = sdp_info(p.server);

	CHECK_EQ(c.sdpi_state, STATE_ESTABLISHED);
	CHECK(c.sdpi_flow >= SDP_FLOW_CREDIT && c.sdpi_flow <= SDP_FLOW_NIC);
	CHECK_EQ(c.sdpi_flow, s.sdpi_flow);
	CHECK_EQ(c.sdpi_features & 1, 1);
	CHECK_EQ(c.sdpi_features, s.sdpi_features);
	CHECK(device_exists(c.sdpi_device));
	CHECK(device_exists(s.sdpi_device));
	CHECK_EQ(c.sdpi_port, 1);
	CHECK(c.sdpi_qp_num > 0 && s.sdpi_qp_num > 0);
	/* Two ends of one wire, once the first message has come to its end. */
	WAIT_FOR(sdp_info(p.server).sdpi_rx_credits == c.sdpi_tx_credits);
	CHECK_EQ(s.sdpi_tx_credits, c.sdpi_rx_credits);
	CHECK(c.sdpi_tx_credits <= s.sdpi_rx_buffers);
	CHECK(c.sdpi_tx_credits > 0);
	CHECK(c.sdpi_max_payload <= s.sdpi_rx_buffer_size);
	CHECK_EQ(c.sdpi_max_payload, get_int(p.client, SOL_TCP, TCP_MAXSEG));
	CHECK(c.sdpi_tx_ring >= c.sdpi_max_payload);
}

static void sdp_info_counts_exactly(void)
{
	struct pair p = pair_without_delay();
	struct sdp_info c, s;

	send_pattern(p.client, 6, 0, 5000, 1000);
	wait_inq(p.server, 5000);
	s = sdp_info(p.server);
	CHECK_EQ(s.sdpi_unread, 5000);
	CHECK_EQ(s.sdpi_bytes_received, 5000);
	CHECK_EQ(s.sdpi_data_msgs_in, 5);
	recv_pattern(p.server, 6, 0, 5000, 5000);
	WAIT_FOR(ioctl_int(p.client, SIOCOUTQ) == 0);
	c = sdp_info(p.client);
	s = sdp_info(p.server);
	CHECK_EQ(s.sdpi_unread, 0);
	CHECK_EQ(c.sdpi_bytes_sent, 5000);
	CHECK_EQ(c.sdpi_bytes_acked, 5000);
	CHECK_EQ(c.sdpi_data_msgs_out, 5);
	/* The active side's first message is empty and goes out by itself. */
	if (!over_iwarp()) {
		/* There a peer is asked what has arrived, and answers. */
		CHECK_EQ(c.sdpi_msgs_out, 1 + 5 + c.sdpi_credit_updates);
		CHECK_EQ(s.sdpi_msgs_out, s.sdpi_credit_updates);
		CHECK_EQ(c.sdpi_msgs_out, s.sdpi_msgs_in);
	}
	CHECK_EQ(c.sdpi_unacked, 0);
	CHECK_EQ(c.sdpi_unsent, 0);
	CHECK_EQ(c.sdpi_credit_stalls, 0);
	CHECK_EQ(c.sdpi_send_waits, 0);
}

/* A peer that does not read grants no credits, and the writer waits. */
static void sdp_info_shows_stalls(void)
{
	struct pair p = new_pair();
	struct blocked b;
	struct sdp_info c;

	fill_pipe(p.client, 7);
	c = sdp_info(p.client);
	CHECK(c.sdpi_credit_stalls > 0);
	CHECK(c.sdpi_tx_credits < 3);
	CHECK(c.sdpi_unsent > 0 && c.sdpi_unsent <= c.sdpi_unacked);
	CHECK(c.sdpi_unacked <= c.sdpi_tx_ring);
	CHECK_EQ(c.sdpi_send_waits, 0);
	block_start(&b, op_send, p.client);
	WAIT_FOR(sdp_info(p.client).sdpi_send_waits == 1);
	CHECK_OK(shutdown(p.client, SHUT_RDWR));
	block_join(&b);
}

/* A program may still ask when it is over, but not for the device. */
static void sdp_info_after_the_end(void)
{
	struct pair p = new_pair();
	struct sdp_info c;

	send_pattern(p.client, 8, 0, 1000, 1000);
	recv_pattern(p.server, 8, 0, 1000, 1000);
	CHECK_OK(close(p.server));
	CHECK_OK(shutdown(p.client, SHUT_WR));
	WAIT_FOR(sdp_info(p.client).sdpi_state == STATE_CLOSE);
	c = sdp_info(p.client);
	CHECK_EQ(c.sdpi_bytes_sent, 1000);
	CHECK_EQ(c.sdpi_flow, SDP_FLOW_NONE);
	CHECK_EQ(c.sdpi_qp_num, 0);
}

static void sdp_level_has_nothing_else(void)
{
	int fd = new_socket(0), v = 1;
	socklen_t len = sizeof(v);

	CHECK_ERR(setsockopt(fd, SOL_SDP, 9999, &v, len), ENOPROTOOPT);
	CHECK_ERR(getsockopt(fd, SOL_SDP, 9999, &v, &len), ENOPROTOOPT);
}

/* ---- TCP_NOTSENT_LOWAT ---- */

static void notsent_lowat_limits_queue(void)
{
	struct pair p = new_pair();
	uint64_t sent, more;
	struct tcp_info info;

	set_int(p.client, SOL_TCP, TCP_NOTSENT_LOWAT, 5000);
	sent = fill_pipe(p.client, 9);
	info = tcp_info(p.client);
	CHECK(info.tcpi_notsent_bytes < 5000 + 256 * KIB);
	CHECK_EQ(poll_now(p.client) & POLLOUT, 0);
	set_int(p.client, SOL_TCP, TCP_NOTSENT_LOWAT, 0);
	wait_poll(p.client, POLLOUT);
	more = fill_pipe(p.client, 10);
	CHECK(tcp_info(p.client).tcpi_notsent_bytes > info.tcpi_notsent_bytes);
	recv_pattern(p.server, 9, 0, sent, 64 * KIB);
	recv_pattern(p.server, 10, 0, more, 64 * KIB);
}

/* Blocking writers wait for it, and all arrives. */
static void notsent_lowat_and_blocking_writers(void)
{
	struct pair p = new_pair();

	set_int(p.client, SOL_TCP, TCP_NOTSENT_LOWAT, 1);
	set_int(p.server, SOL_TCP, TCP_NOTSENT_LOWAT, 1);
	exchange(p.client, p.server, MIB);
}

/* ---- SO_RCVLOWAT ---- */

/* Lowering the mark tells those who wait that there is enough. */
static void rcvlowat_lowered_wakes(void)
{
	struct pair p = new_pair();
	struct blocked b;

	set_int(p.server, SOL_SOCKET, SO_RCVLOWAT, 1000);
	send_pattern(p.client, 11, 0, 100, 100);
	wait_inq(p.server, 100);
	block_start(&b, op_poll, p.server);
	CHECK_EQ(poll_now(p.server) & POLLIN, 0);
	set_int(p.server, SOL_SOCKET, SO_RCVLOWAT, 50);
	CHECK(block_join(&b) > 0);
	CHECK(poll_now(p.server) & POLLIN);
}

/* ---- /proc/net/sdp ---- */

#define LISTED		200
#define LIST_ROOM	(2 * LISTED * 400)

static unsigned int times_listed(const char *text, int fd)
{
	unsigned int times = 0;
	unsigned long inode;
	struct stat st;

	CHECK_OK(fstat(fd, &st));
	for (; (text = strchr(text, '\n')); text++)
		if (sscanf(text, "%*s %*s %*s %*u %lu", &inode) == 1 &&
		    inode == st.st_ino)
			times++;
	return times;
}

/* A reader takes many calls; who is there all the time is shown once. */
static void proc_lists_each_socket_once(void)
{
	static char text[LIST_ROOM];
	int kept[LISTED], passing[LISTED], i, gone = 0;
	int fd = CHECK_OK(open("/proc/net/sdp", O_RDONLY));
	size_t len = 0;
	long got;

	for (i = 0; i < LISTED; i++) {
		passing[i] = new_socket(0);
		kept[i] = new_socket(0);
	}
	while ((got = CHECK_OK(read(fd, text + len, 1024))) > 0) {
		len += got;
		CHECK(len + 1024 < sizeof(text));
		/* What was shown first goes, from both ends of the list. */
		if (gone < LISTED / 2) {
			CHECK_OK(close(passing[gone]));
			CHECK_OK(close(passing[LISTED - 1 - gone++]));
			new_socket(0);
		}
	}
	CHECK_OK(close(fd));
	CHECK(gone > 10);
	for (i = 0; i < LISTED; i++)
		CHECK_EQ(times_listed(text, kept[i]), 1);
}

static const struct sdp_case cases[] = {
	CASE(tcp_info_states, 0),
	CASE(tcp_info_of_listener, 0),
	CASE(tcp_info_counts_exactly, CASE_SDP_ONLY),
	CASE(tcp_info_measures_silence, 0),
	CASE(tcp_info_shows_queues, CASE_SDP_ONLY),
	CASE(tcp_info_any_length, 0),
	CASE(tcp_info_is_read_only, 0),
	CASE(sdp_info_any_length, CASE_SDP_ONLY),
	CASE(sdp_info_unconnected, CASE_SDP_ONLY),
	CASE(sdp_info_of_listener, CASE_SDP_ONLY),
	CASE(sdp_info_of_connection, CASE_SDP_ONLY),
	CASE(sdp_info_counts_exactly, CASE_SDP_ONLY),
	CASE(sdp_info_shows_stalls, CASE_SDP_ONLY),
	CASE(sdp_info_after_the_end, CASE_SDP_ONLY),
	CASE(sdp_level_has_nothing_else, CASE_SDP_ONLY),
	CASE(notsent_lowat_limits_queue, CASE_LONG),
	CASE(notsent_lowat_and_blocking_writers, 0),
	CASE(rcvlowat_lowered_wakes, 0),
	CASE(proc_lists_each_socket_once, CASE_SDP_ONLY),
};

int main(int argc, char **argv)
{
	return sdp_main(argc, argv, cases, ARRAY_SIZE(cases));
}
