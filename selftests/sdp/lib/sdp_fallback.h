/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of the fallback to TCP share. */
#ifndef SDP_FALLBACK_H
#define SDP_FALLBACK_H

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "sdp_test.h"

#define SOL_SDP			1025
#define SDP_TCP_FALLBACK	1
#define SDP_FALLBACK_REASON	2

/* Values of SDP_TCP_FALLBACK. */
enum { OFF, ON, ONLY };

/* Values of SDP_FALLBACK_REASON. */
enum {
	NONE, NO_DEVICE, UNREACHABLE, REFUSED, TIMEOUT, RESOURCES, ACCEPTED,
	CHOSEN
};

/* A counter of /proc/net/sdpstats. */
static inline long counter(const char *name)
{
	FILE *f = fopen("/proc/net/sdpstats", "r");
	char key[64];
	long value;

	CHECK(f);
	while (fscanf(f, "%63s %ld", key, &value) == 2)
		if (!strcmp(key, name)) {
			fclose(f);
			return value;
		}
	FAIL("no counter %s", name);
}

/*
 * The column "flow" of the socket with these ports, the peer's being 0 for a
 * listener; "" if there is none.
 */
static inline const char *flow_between(uint16_t own, uint16_t peer)
{
	FILE *f = fopen("/proc/net/sdp", "r");
	unsigned int ports[2];
	static char flow[16];
	char line[512];

	CHECK(f);
	*flow = 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line,
			   "%*s %*[0-9A-F]:%x %*[0-9A-F]:%x %*s %*s %*s %*s %*s %15s",
			   &ports[0], &ports[1], flow) == 3 &&
		    ports[0] == own && ports[1] == peer)
			break;
		*flow = 0;
	}
	fclose(f);
	return flow;
}

static inline const char *flow_of(int fd)
{
	struct addr peer = peer_addr(fd);

	return flow_between(local_port(fd), addr_port(&peer));
}

static inline const char *listener_flow(int fd)
{
	return flow_between(local_port(fd), 0);
}

static inline int reason(int fd)
{
	return get_int(fd, SOL_SDP, SDP_FALLBACK_REASON);
}

/* Column "tr" of /proc/net/tcp: 2 says that the keepalive timer runs. */
static inline int tcp_timer(uint16_t port)
{
	FILE *f = fopen("/proc/net/tcp", "r");
	unsigned int got, timer;
	int found = -1;
	char line[512];

	CHECK(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %*[0-9A-F]:%x %*s %*s %*s %x:", &got,
			   &timer) == 2 && got == port)
			found = timer;
	fclose(f);
	return found;
}

static inline int tcp_socket(void)
{
	return CHECK_OK(socket(opts.ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0));
}

static inline int listener_at(int fd, struct addr a, int backlog)
{
	CHECK_OK(bind(fd, &a.sa, a.len));
	CHECK_OK(listen(fd, backlog));
	return fd;
}

static inline int tcp_listener(int backlog)
{
	return listener_at(tcp_socket(), server_addr(0), backlog);
}

static inline int both_socket(int type_flags)
{
	int fd = new_socket(type_flags);

	set_int(fd, SOL_SDP, SDP_TCP_FALLBACK, 1);
	return fd;
}

/*
 * A slow machine must not look like a peer that does not answer. Who may not
 * change the setting has to be quick.
 */
static inline void be_patient(bool on)
{
	const char *ms = on ? "20000" : "30";
	int fd = open("/proc/sys/net/sdp/fallback_timeout", O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, ms, strlen(ms)) < 0)
		ktap_diag("fallback_timeout cannot be set");
	close(fd);
}

static inline int fallback_main(int argc, char **argv,
				const struct sdp_case *cases, size_t count)
{
	int ret;

	be_patient(true);
	ret = sdp_main(argc, argv, cases, count);
	be_patient(false);
	return ret;
}

#endif /* SDP_FALLBACK_H */
