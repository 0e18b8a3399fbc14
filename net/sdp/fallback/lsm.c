// SPDX-License-Identifier: GPL-2.0
/*
 * Security modules' hooks for a TCP socket that user space uses through ours.
 *
 * The socket layer calls them at bind(), listen() or connect(), for the socket that
 * user space has.  That is not a TCP socket, and modules that restrict TCP pass it
 * over.  So they are called for the one beside it, too, as if user space had made
 * the call there.
 *
 * The kernel does not export these three hooks, and nothing that it exports calls
 * them for its caller.  They are looked up by name, by means of a probe that is
 * never armed.  Where that does not work there is no fallback to TCP at all: a way
 * round a security policy is worse than an error.  In a kernel tree they would be
 * exported, and the search be gone.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/net.h>
#include <linux/security.h>
#include <linux/static_call.h>

#include "lsm.h"

#ifdef CONFIG_SECURITY_NETWORK

/*
 * Direct calls, once their targets are known: the kernel calls these functions from
 * nowhere indirectly, and seals them against that where processors can (IBT).
 */
DEFINE_STATIC_CALL_NULL(sdp_lsm_bind_hook, security_socket_bind);
DEFINE_STATIC_CALL_NULL(sdp_lsm_connect_hook, security_socket_connect);
DEFINE_STATIC_CALL_NULL(sdp_lsm_listen_hook, security_socket_listen);

static bool sdp_lsm_found __ro_after_init;

/* Probes begin behind the instruction that marks targets of indirect calls. */
static void *__init sdp_lsm_entry(void *addr)
{
	char where[KSYM_SYMBOL_LEN];
	unsigned long offset;
	const char *plus;

	sprint_symbol(where, (unsigned long)addr);
	plus = strchr(where, '+');
	if (!plus || sscanf(plus, "+0x%lx/", &offset) != 1)
		return NULL;
	return addr - offset;
}

static void *__init sdp_lsm_find(const char *name)
{
	struct kprobe probe = {
		.symbol_name = name,
		.flags = KPROBE_FLAG_DISABLED,
	};

	if (register_kprobe(&probe))
		return NULL;
	unregister_kprobe(&probe);
	return sdp_lsm_entry(probe.addr);
}

/**
 * sdp_lsm_init_module() - find the hooks
 */
void __init sdp_lsm_init_module(void)
{
	void *bind = sdp_lsm_find("security_socket_bind");
	void *connect = sdp_lsm_find("security_socket_connect");
	void *listen = sdp_lsm_find("security_socket_listen");

	sdp_lsm_found = bind && connect && listen;
	if (!sdp_lsm_found) {
		pr_warn("sdp: no fallback to TCP: security modules cannot be asked\n");
		return;
	}
	static_call_update(sdp_lsm_bind_hook, bind);
	static_call_update(sdp_lsm_connect_hook, connect);
	static_call_update(sdp_lsm_listen_hook, listen);
}

/**
 * sdp_lsm_known() - whether the hooks can be called
 *
 * Return: if not, TCP must not be used.
 */
bool sdp_lsm_known(void)
{
	return sdp_lsm_found;
}

/**
 * sdp_lsm_bind() - whether the caller may bind a TCP socket
 * @tcp: TCP socket
 * @addr: address
 * @len: its length
 *
 * Context: process context, TCP's socket lock not held; may sleep.
 * Return: 0 or a negative errno, of a module.
 */
int sdp_lsm_bind(struct socket *tcp, struct sockaddr_storage *addr, int len)
{
	return static_call(sdp_lsm_bind_hook)(tcp, (void *)addr, len);
}

/**
 * sdp_lsm_connect() - whether the caller may connect a TCP socket
 * @tcp: TCP socket
 * @addr: address
 * @len: its length
 *
 * Context: as sdp_lsm_bind().
 * Return: likewise.
 */
int sdp_lsm_connect(struct socket *tcp, struct sockaddr_storage *addr, int len)
{
	return static_call(sdp_lsm_connect_hook)(tcp, (void *)addr, len);
}

/**
 * sdp_lsm_listen() - whether the caller may listen on a TCP socket
 * @tcp: TCP socket
 * @backlog: connections that may wait
 *
 * Context: as sdp_lsm_bind().
 * Return: likewise.
 */
int sdp_lsm_listen(struct socket *tcp, int backlog)
{
	return static_call(sdp_lsm_listen_hook)(tcp, backlog);
}

#else /* CONFIG_SECURITY_NETWORK */

void __init sdp_lsm_init_module(void)
{
}

bool sdp_lsm_known(void)
{
	return true;
}

int sdp_lsm_bind(struct socket *tcp, struct sockaddr_storage *addr, int len)
{
	return 0;
}

int sdp_lsm_connect(struct socket *tcp, struct sockaddr_storage *addr, int len)
{
	return 0;
}

int sdp_lsm_listen(struct socket *tcp, int backlog)
{
	return 0;
}

#endif /* CONFIG_SECURITY_NETWORK */
