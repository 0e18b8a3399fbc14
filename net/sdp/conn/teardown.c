// SPDX-License-Identifier: GPL-2.0
/*
 * How a connection ends.  Whatever the reason, it goes through one work item,
 * and a second one if the peer has to be notified first.
 */
#include "rdma/rdma.h"
#include "bind.h"
#include "cm.h"
#include "conn.h"

/*
 * How long an abortive close waits for the connection manager to notify the peer:
 * enough for the disconnect request to be repeated once.
 */
#define SDP_DISCONNECT_TIMEOUT	(10 * HZ)

/*
 * Whoever finds that a connection does not linger any more finds the work item queued
 * that ends it: see sdp_conn_flush().
 */
static DEFINE_SPINLOCK(sdp_conn_linger_lock);

/**
 * sdp_conn_broken() - have a connection taken apart in process context
 * @sk: its socket
 *
 * Context: any, called by sdp_link_end().
 */
void sdp_conn_broken(struct sock *sk)
{
	sdp_conn_hold(sdp_conn(sk), SDP_REF_TEARDOWN);
	queue_work(sdp_wq, &sdp_conn(sk)->teardown);
}

/* After this no handler of the connection manager touches the connection. */
static void sdp_conn_silence(struct sdp_conn *conn)
{
	struct rdma_cm_id *id = READ_ONCE(conn->link.id);

	rdma_lock_handler(id);
	set_bit(SDP_CONN_DYING, &conn->link.flags);
	rdma_unlock_handler(id);
}

/*
 * With some, rdma_disconnect() waits for the answer to a request that is out, for
 * as long as the provider does.  A queue pair in error is an answer.
 */
static void sdp_conn_withdraw(struct sdp_conn *conn)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	if (conn->link.dev->answers_disconnect &&
	    !test_bit(SDP_CONN_SETTLED, &conn->link.flags))
		ib_modify_qp(conn->link.qp, &attr, IB_QP_STATE);
}

/*
 * What was posted to receive vanishes, and is released with the queue pair.  From RESET there
 * is no way to the error state, in which it is drained, but from INIT.
 */
static void sdp_conn_restart(struct sdp_conn *conn)
{
	struct ib_qp_attr reset = { .qp_state = IB_QPS_RESET };
	struct ib_qp_attr init = {
		.qp_state = IB_QPS_INIT,
		.port_num = conn->link.id->port_num,
	};

	if (!(conn->link.dev->quirks & SDP_QUIRK_RQ_STOPS) ||
	    !test_bit(SDP_CONN_UNREADY, &conn->link.flags))
		return;
	if (!ib_modify_qp(conn->link.qp, &reset, IB_QP_STATE))
		ib_modify_qp(conn->link.qp, &init, IB_QP_STATE | IB_QP_PKEY_INDEX |
			     IB_QP_PORT | IB_QP_ACCESS_FLAGS);
}

/*
 * When this returns the device has completed all requests, and no others come: posting
 * checks under the socket lock whether the connection has ended, and so has either
 * happened before the lock was acquired here, or does not happen.
 */
static void sdp_conn_drain(struct sdp_conn *conn)
{
	sdp_conn_withdraw(conn);
	rdma_disconnect(conn->link.id);
	sdp_lock_sock(&conn->sk);
	sdp_release_sock(&conn->sk);
	sdp_conn_restart(conn);
	/* Without the interrupt that an earlier completion has asked for, this waits for ever. */
	sdp_link_poll(&conn->link);
	ib_drain_qp(conn->link.qp);
}

/*
 * This end aborts an established connection, and the peer has to be notified.  If the
 * handshake was not over for the connection manager, it has ignored rdma_disconnect(),
 * and notifies the peer when the id is destroyed.
 */
static bool sdp_conn_must_tell(const struct sdp_conn *conn)
{
	return conn->link.reason == -ECONNABORTED && conn->link.qp &&
	       test_bit(SDP_CONN_SETTLED, &conn->link.flags) &&
	       !sdp_in_state(&conn->sk, SDPF_CONNECTING);
}

/* Releases the id, which is all that is left, and notifies the socket. */
static void sdp_conn_finish(struct sdp_conn *conn)
{
	struct sock *sk = &conn->sk;

	sdp_bind_end_other(conn);
	sdp_cm_destroy_id(conn->link.id);

	sdp_lock_sock(sk);
	conn->link.id = NULL;
	conn->stream.rx_closed = false;
	WRITE_ONCE(conn->link.flags, 0);
	sdp_conn_put(conn, SDP_REF_CM);
	/* Once it sees the end, user space may connect again, and end that one. */
	sdp_conn_unname(conn, SDP_REF_TEARDOWN);
	conn->ops->ended(conn, conn->link.reason);
	sdp_release_sock(sk);
	sock_put(sk);
}

/**
 * sdp_conn_release_id() - the end of a teardown that had to linger
 * @work: the connection's second work item
 */
void sdp_conn_release_id(struct work_struct *work)
{
	sdp_conn_finish(container_of(work, struct sdp_conn, release_id));
}

/**
 * sdp_conn_linger_end() - stop waiting for the peer to acknowledge the end
 * @conn: connection; nothing happens if it does not linger
 *
 * Context: any, with or without the socket lock.
 */
void sdp_conn_linger_end(struct sdp_conn *conn)
{
	unsigned long irq;

	spin_lock_irqsave(&sdp_conn_linger_lock, irq);
	if (test_and_clear_bit(SDP_CONN_LINGER, &conn->link.flags))
		queue_work(sdp_wq, &conn->release_id);
	spin_unlock_irqrestore(&sdp_conn_linger_lock, irq);
}

/**
 * sdp_conn_disconnected() - the peer knows the end, or the connection manager has
 *	given up
 * @conn: connection
 */
void sdp_conn_disconnected(struct sdp_conn *conn)
{
	set_bit(SDP_CONN_DISCONNECTED, &conn->link.flags);
	/* Pairs with the barrier in sdp_conn_teardown(). */
	smp_mb__after_atomic();
	sdp_conn_linger_end(conn);
}

/**
 * sdp_conn_lost() - the device of a connection, or of a port, is about to go
 * @conn: connection, or port, with a cm_id
 *
 * The connection manager reports that once, and waits for the id: a caller of
 * sdp_conn_rollback(), which keeps it, has to know, and no answer comes over it any
 * more.
 *
 * Context: handler of the id.
 */
void sdp_conn_lost(struct sdp_conn *conn)
{
	set_bit(SDP_CONN_GONE, &conn->link.flags);
	/* Pairs with those in sdp_conn_rollback() and sdp_conn_teardown(). */
	smp_mb__after_atomic();
	sdp_link_end(&conn->link, -ENETDOWN);
	sdp_conn_linger_end(conn);
}

/**
 * sdp_conn_flush() - wait until a connection that ends has gone
 * @conn: connection of a socket that is not locked, which the caller holds
 *
 * A peer that has not answered by now is not waited for.
 *
 * Context: process context.
 */
void sdp_conn_flush(struct sdp_conn *conn)
{
	sdp_link_sync_end();
	flush_work(&conn->teardown);
	sdp_conn_linger_end(conn);
	flush_work(&conn->release_id);
}

/**
 * sdp_conn_teardown() - take a connection apart
 * @work: the connection's work item
 *
 * It does not wait for the peer, which may be of the same machine and need a
 * work item for its answer: there may be thousands of both.
 */
void sdp_conn_teardown(struct work_struct *work)
{
	struct sdp_conn *conn = container_of(work, struct sdp_conn, teardown);
	struct sock *sk = &conn->sk;
	bool tell;

	if (WARN_ON_ONCE(!conn->link.id)) {
		sdp_conn_put(conn, SDP_REF_TEARDOWN);
		return;
	}
	sdp_conn_silence(conn);
	if (cancel_work_sync(&conn->hello))
		__sock_put(sk);
	if (conn->link.qp)
		sdp_conn_drain(conn);
	sdp_pair_leave(&conn->stream);

	/* What arrived before the end still counts. */
	sdp_lock_sock(sk);
	sdp_conn_process(conn, SDP_FLUSH_CALL);
	if (conn->link.qp)
		sdp_zrecv_unmap_all(&conn->zcopy);
	tell = sdp_conn_must_tell(conn);
	if (!sdp_in_state(sk, SDPF_CONNECTING | TCPF_LISTEN)) {
		conn->ops->failed(conn, sdp_zasync_read_end(&conn->zcopy, conn->link.reason));
		sdp_set_state(sk, SDP_TIME_WAIT);
	}
	WRITE_ONCE(conn->link.qp, NULL);
	sdp_release_sock(sk);

	sdp_conn_destroy_qp(conn, conn->link.id);
	sdp_lock_sock(sk);
	sdp_conn_free(conn);
	if (tell)
		sdp_timer_arm(&conn->sk, SDP_TIMER_LINGER_END,
			      SDP_DISCONNECT_TIMEOUT);
	sdp_release_sock(sk);
	if (!tell) {
		sdp_conn_finish(conn);
		return;
	}

	/* Destroying the id would end the repetition of a lost request. */
	sock_hold(sk);
	set_bit(SDP_CONN_LINGER, &conn->link.flags);
	/* Either this sees that no answer is to be waited for, or that sees the bit. */
	smp_mb__after_atomic();
	if (test_bit(SDP_CONN_DISCONNECTED, &conn->link.flags) ||
	    test_bit(SDP_CONN_GONE, &conn->link.flags))
		sdp_conn_linger_end(conn);
	sock_put(sk);
}

/*
 * Whether the id is the caller's to end.  Its device may be about to be removed, and
 * the id with it; then that is over when this returns.
 */
static bool sdp_conn_seize_id(struct sdp_conn *conn)
{
	bool present, ending;

	sdp_lock_sock(&conn->sk);
	present = conn->link.id;
	ending = present && test_and_set_bit(SDP_CONN_BROKEN, &conn->link.flags);
	sdp_release_sock(&conn->sk);
	if (ending)
		sdp_conn_flush(conn);
	return present && !ending;
}

/**
 * sdp_conn_destroy_id() - end the cm_id of a socket that only listens or is
 *	bound
 * @conn: connection of a socket that is not locked; nothing happens if it has none
 *
 * Returns when the port is free and no handler runs any more.
 *
 * Context: process context; nothing else can begin to use the id, because the socket
 * is in state CLOSING or has no file any more.
 */
void sdp_conn_destroy_id(struct sdp_conn *conn)
{
	if (!sdp_conn_seize_id(conn))
		return;
	sdp_bind_end_other(conn);
	sdp_cm_destroy_id(conn->link.id);

	/* With the lock held, and the id set, sdp_sock_stop() may end it. */
	sdp_lock_sock(&conn->sk);
	conn->link.id = NULL;
	clear_bit(SDP_CONN_GONE, &conn->link.flags);
	clear_bit(SDP_CONN_BROKEN, &conn->link.flags);
	sdp_conn_put(conn, SDP_REF_CM);
	sdp_release_sock(&conn->sk);
}

/**
 * sdp_conn_rollback() - end what only a listener or a connection has, and keep the
 *	port
 * @conn: connection of a socket in state CLOSING, not locked
 *
 * Context: process context.
 */
void sdp_conn_rollback(struct sdp_conn *conn)
{
	if (!sdp_conn_seize_id(conn))
		return;
	sdp_bind_join(conn);
	sdp_lock_sock(&conn->sk);
	clear_bit(SDP_CONN_BROKEN, &conn->link.flags);
	/* Pairs with the barrier in sdp_conn_lost(), which may end it as well. */
	smp_mb__after_atomic();
	if (conn->link.id && test_bit(SDP_CONN_GONE, &conn->link.flags))
		sdp_link_end(&conn->link, -ENETDOWN);
	sdp_release_sock(&conn->sk);
}
