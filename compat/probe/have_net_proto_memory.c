// SPDX-License-Identifier: GPL-2.0
/*
 * Accounting of a protocol's memory is in <net/proto_memory.h>, since
 * commit f3d93817fba3 (Linux 6.10).
 */
#include <net/sock.h>
#include <net/proto_memory.h>

bool probe(const struct sock *sk);

bool probe(const struct sock *sk)
{
	return sk_under_memory_pressure(sk);
}
