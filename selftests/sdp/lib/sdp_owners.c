// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that stand still in a call because half of their memory is not there
 * (userfaultfd), for the AF_SDP selftests.
 */
#define _GNU_SOURCE
#include <linux/userfaultfd.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "sdp_memory.h"
#include "sdp_owners.h"

size_t owner_half(void)
{
	return sysconf(_SC_PAGESIZE);
}

size_t owner_len(void)
{
	return 2 * owner_half();
}

char *owner_hole(const struct owner *o)
{
	return o->memory + owner_half();
}

/* connect() copies the address before it locks anything; the others may not. */
static enum call call_of(unsigned int i)
{
	static const enum call calls[] = { CALL_OPTION, CALL_SEND, CALL_RECV };

	return i % 10 == 9 ? CALL_CONNECT : calls[i % ARRAY_SIZE(calls)];
}

void *owner_thread(void *arg)
{
	struct owner *o = arg;
	struct addr to = peer_addr(o->p.client);
	char *value = owner_hole(o) - sizeof(int);

	switch (o->call) {
	case CALL_OPTION:
		o->ret = setsockopt(o->p.client, SOL_SOCKET, SO_LINGER, value,
				    sizeof(struct linger));
		break;
	case CALL_SEND:
		o->ret = send(o->p.client, o->memory, owner_len(), 0);
		break;
	case CALL_RECV:
		o->ret = recv(o->p.client, o->memory, owner_len(), MSG_WAITALL);
		break;
	default:
		memcpy(value, &to, sizeof(int));
		o->ret = connect(o->p.client, (void *)value, to.len);
	}
	o->err = errno;
	return NULL;
}

/* Everybody's second page is missing. */
static void make_memory(struct owners *all)
{
	size_t len = all->count * owner_len();
	unsigned int i;

	all->memory = mmap(NULL, len, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(all->memory != MAP_FAILED);
	without_huge_pages(all->memory, len);
	for (i = 0; i < all->count; i++) {
		all->list[i].memory = all->memory + i * owner_len();
		pattern_fill(all->list[i].memory, owner_half(), i, 0);
	}
	all->uffd = watch_missing(all->memory, len);
}

struct owners owners_of(struct owner *o)
{
	struct owners all = { .list = o, .count = 1 };

	make_memory(&all);
	return all;
}

struct owners owners_open(unsigned int count)
{
	struct owners all = { .count = count };
	struct owner *o;
	unsigned int i;

	raise_file_limit(2 * count + 64);
	all.list = calloc(count, sizeof(*all.list));
	CHECK(all.list);
	make_memory(&all);
	for (i = 0; i < count; i++) {
		o = &all.list[i];
		o->p = new_pair();
		o->call = call_of(i);
		set_int(o->p.client, IPPROTO_TCP, TCP_KEEPIDLE, 1);
		set_int(o->p.client, SOL_SOCKET, SO_KEEPALIVE, 1);
		if (o->call == CALL_RECV)
			send_pattern(o->p.server, i, 0, owner_len(),
				     owner_half());
	}
	return all;
}

/* Each thread reports its missing page; then it sleeps until that comes. */
void owners_freeze(struct owners *all)
{
	pthread_attr_t attr;
	struct uffd_msg msg;
	unsigned int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * KIB);
	for (i = 0; i < all->count; i++)
		CHECK(!pthread_create(&all->list[i].thread, &attr, owner_thread,
				      &all->list[i]));
	for (i = 0; i < all->count; i++) {
		wait_poll(all->uffd, POLLIN);
		CHECK_EQ(read(all->uffd, &msg, sizeof(msg)), sizeof(msg));
		CHECK_EQ(msg.event, UFFD_EVENT_PAGEFAULT);
	}
}

void owners_thaw(struct owners *all)
{
	char *fill = malloc(owner_half());
	struct uffdio_copy copy;
	unsigned int i;

	CHECK(fill);
	for (i = 0; i < all->count; i++) {
		pattern_fill(fill, owner_half(), i, owner_half());
		if (all->list[i].call == CALL_OPTION)
			memset(fill, 0, owner_half());
		copy = (struct uffdio_copy){
			.dst = (uintptr_t)owner_hole(&all->list[i]),
			.src = (uintptr_t)fill,
			.len = owner_half(),
		};
		CHECK_OK(ioctl(all->uffd, UFFDIO_COPY, &copy));
	}
	for (i = 0; i < all->count; i++)
		thread_join(all->list[i].thread);
	free(fill);
}

static void check_option(const struct owner *o)
{
	struct linger linger;
	socklen_t len = sizeof(linger);

	CHECK_OK(getsockopt(o->p.client, SOL_SOCKET, SO_LINGER, &linger, &len));
	CHECK_EQ(linger.l_linger, 0);
}

void owners_check(const struct owners *all)
{
	const struct owner *o;
	unsigned int i;

	for (i = 0; i < all->count; i++) {
		o = &all->list[i];
		if (o->call == CALL_CONNECT) {
			CHECK_EQ(o->ret, -1);
			continue;
		}
		if (o->ret < 0)
			FAIL("call %d of socket %u: %s", o->call, i,
			     strerror(o->err));
		if (o->call == CALL_OPTION) {
			check_option(o);
			continue;
		}
		CHECK_EQ(o->ret, owner_len());
		if (o->call == CALL_SEND)
			recv_pattern(o->p.server, i, 0, owner_len(), 1000);
		else
			pattern_verify(o->memory, owner_len(), i, 0);
	}
}

void owners_close(struct owners *all)
{
	unsigned int i;

	for (i = 0; i < all->count; i++) {
		exchange(all->list[i].p.client, all->list[i].p.server, 100);
		close_pair(all->list[i].p);
	}
	CHECK_OK(munmap(all->memory, all->count * owner_len()));
	CHECK_OK(close(all->uffd));
	free(all->list);
}
