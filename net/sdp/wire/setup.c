// SPDX-License-Identifier: GPL-2.0
/*
 * Encode and decode of what is said while a connection is set up: Hello,
 * HelloAck and the reason of a rejection, the connection manager's private data.
 */
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "wire.h"

/* Offsets in Hello and HelloAck, and lengths of what the standard defines. */
#define HELLO_BUFS		2
#define HELLO_VERSION		16
#define HELLO_CAP		17
#define HELLO_MAX_ADVERTS	19
#define HELLO_DES_REM_RCV_SIZE	20
#define HELLO_LOCAL_RCV_SIZE	24
#define HELLO_SRC_PORT		28
#define HELLO_BASE_LEN		32
#define HELLO_FULL_LEN		92
#define HELLO_ACK_ACT_RCV_SIZE	20
#define HELLO_ACK_BASE_LEN	24

/* Our extension block: magic "SDPX", version, length, a 16-bit value. */
#define EXT_MAGIC		0x53445058
#define EXT_VERSION		1
#define EXT_OFF_VERSION		4
#define EXT_OFF_LENGTH		5
#define EXT_OFF_VALUE		6
#define EXT_LEN			8
/* In Hello a token may follow. */
#define EXT_OFF_TOKEN		8
#define EXT_TOKEN_LEN		16

static void sdp_ext_encode(u16 value, u8 *buf)
{
	put_unaligned_be32(EXT_MAGIC, buf);
	buf[EXT_OFF_VERSION] = EXT_VERSION;
	buf[EXT_OFF_LENGTH] = EXT_LEN;
	put_unaligned_be16(value, buf + EXT_OFF_VALUE);
}

/*
 * Looks for our extension block.  Anything without the magic is none of ours.
 * Later versions may only append, so that they are understood as well.
 * Returns 1 if it is there, 0 if not, -EPROTO if it is malformed.
 */
static int sdp_ext_parse(const u8 *buf, u32 len, u16 *value)
{
	*value = 0;
	if (len < EXT_LEN || get_unaligned_be32(buf) != EXT_MAGIC)
		return 0;
	if (buf[EXT_OFF_VERSION] < EXT_VERSION ||
	    buf[EXT_OFF_LENGTH] < EXT_LEN || buf[EXT_OFF_LENGTH] > len)
		return -EPROTO;
	*value = get_unaligned_be16(buf + EXT_OFF_VALUE);
	return 1;
}

/* Checks what Hello and HelloAck have in common. */
static int sdp_setup_check(const struct sdp_bsdh *bsdh, enum sdp_mid mid,
			   u8 version)
{
	if (bsdh->mid != mid || bsdh->flags || bsdh->mseq || bsdh->mseq_ack ||
	    bsdh->bufs < SDP_PEER_BUFS_MIN)
		return -EPROTO;
	return version >> 4 == SDP_VERSION >> 4 ? 0 : -EPROTONOSUPPORT;
}

static u32 sdp_hello_len(const struct sdp_hello *hello)
{
	if (!hello->has_ext)
		return HELLO_BASE_LEN;
	return hello->token ? SDP_HELLO_TOKEN_LEN : SDP_HELLO_LEN;
}

static void sdp_hello_ext_encode(const struct sdp_hello *hello, u8 *buf)
{
	sdp_ext_encode(hello->ext_features, buf);
	if (!hello->token)
		return;
	buf[EXT_OFF_LENGTH] = EXT_TOKEN_LEN;
	put_unaligned_be64(hello->token, buf + EXT_OFF_TOKEN);
}

/* What a block says beyond its value; @buf has one that sdp_ext_parse() has found. */
static u64 sdp_ext_token(const u8 *buf)
{
	return buf[EXT_OFF_LENGTH] >= EXT_TOKEN_LEN ? get_unaligned_be64(buf + EXT_OFF_TOKEN) : 0;
}

/**
 * sdp_hello_encode() - write a Hello as private data of REQ
 * @hello: what to say; the extension block is written if @has_ext
 * @buf: where to
 * @size: bytes at @buf, SDP_HELLO_TOKEN_LEN suffice
 *
 * Return: bytes to send, 0 if @size is too small.
 */
u32 sdp_hello_encode(const struct sdp_hello *hello, u8 *buf, u32 size)
{
	struct sdp_bsdh bsdh = {
		.mid = SDP_MID_HELLO,
		.bufs = hello->bufs,
		.len = sdp_hello_len(hello),
	};

	if (size < bsdh.len)
		return 0;
	memset(buf, 0, bsdh.len);
	sdp_bsdh_encode(&bsdh, buf);
	buf[HELLO_VERSION] = hello->version;
	buf[HELLO_CAP] = hello->ip_version << 4 | (hello->cap & 0xf);
	buf[HELLO_MAX_ADVERTS] = hello->max_adverts;
	put_unaligned_be32(hello->des_remote_rcv_size,
			   buf + HELLO_DES_REM_RCV_SIZE);
	put_unaligned_be32(hello->local_rcv_size, buf + HELLO_LOCAL_RCV_SIZE);
	put_unaligned_be16(hello->src_port, buf + HELLO_SRC_PORT);
	if (hello->has_ext)
		sdp_hello_ext_encode(hello, buf + HELLO_BASE_LEN);
	return bsdh.len;
}

static void sdp_hello_decode(const u8 *buf, struct sdp_hello *hello)
{
	hello->bufs = get_unaligned_be16(buf + HELLO_BUFS);
	hello->version = buf[HELLO_VERSION];
	hello->ip_version = buf[HELLO_CAP] >> 4;
	hello->cap = buf[HELLO_CAP] & 0xf;
	hello->max_adverts = buf[HELLO_MAX_ADVERTS];
	hello->des_remote_rcv_size =
		get_unaligned_be32(buf + HELLO_DES_REM_RCV_SIZE);
	hello->local_rcv_size = get_unaligned_be32(buf + HELLO_LOCAL_RCV_SIZE);
	hello->src_port = get_unaligned_be16(buf + HELLO_SRC_PORT);
}

static bool sdp_hello_ok(const struct sdp_hello *hello)
{
	return (hello->ip_version == 4 || hello->ip_version == 6) &&
	       hello->max_adverts &&
	       sdp_rcv_size_ok(hello->des_remote_rcv_size) &&
	       sdp_rcv_size_ok(hello->local_rcv_size);
}

/*
 * How many bytes may hold an extension.  The connection manager pads private
 * data, so the Hello's own length counts; a full Hello of the standard, of
 * which we may see only the start, has addresses there.
 */
static int sdp_hello_ext_room(u32 hello_len, u32 len)
{
	if (hello_len == HELLO_FULL_LEN)
		return 0;
	if (hello_len < HELLO_BASE_LEN || hello_len > len)
		return -EPROTO;
	return hello_len - HELLO_BASE_LEN;
}

/**
 * sdp_hello_parse() - decode and check a Hello
 * @buf: private data of REQ
 * @len: bytes at @buf, padding of the connection manager included
 * @hello: result, undefined on error
 *
 * Return: 0, -EPROTO if the Hello is not right, -EPROTONOSUPPORT if it is of
 * another major version.
 */
int sdp_hello_parse(const u8 *buf, u32 len, struct sdp_hello *hello)
{
	struct sdp_bsdh bsdh;
	int err;

	if (len < HELLO_BASE_LEN || len > SDP_RCV_SIZE_MAX)
		return -EPROTO;
	sdp_bsdh_decode(buf, &bsdh);
	err = sdp_setup_check(&bsdh, SDP_MID_HELLO, buf[HELLO_VERSION]);
	if (err)
		return err;
	sdp_hello_decode(buf, hello);
	if (!sdp_hello_ok(hello))
		return -EPROTO;

	err = sdp_hello_ext_room(bsdh.len, len);
	if (err >= 0)
		err = sdp_ext_parse(buf + HELLO_BASE_LEN, err,
				    &hello->ext_features);
	hello->has_ext = err > 0;
	hello->token = hello->has_ext ? sdp_ext_token(buf + HELLO_BASE_LEN) : 0;
	return err < 0 ? err : 0;
}

/**
 * sdp_hello_ack_encode() - write a HelloAck as private data of REP
 * @ack: what to say; the extension block is written if @has_ext
 * @buf: where to
 * @size: bytes at @buf, at least SDP_HELLO_ACK_LEN
 *
 * Return: bytes to send, 0 if @size is too small.
 */
u32 sdp_hello_ack_encode(const struct sdp_hello_ack *ack, u8 *buf, u32 size)
{
	struct sdp_bsdh bsdh = {
		.mid = SDP_MID_HELLOACK,
		.bufs = ack->bufs,
		.len = SDP_HELLO_ACK_LEN,
	};

	if (size < bsdh.len)
		return 0;
	memset(buf, 0, bsdh.len);
	sdp_bsdh_encode(&bsdh, buf);
	buf[HELLO_VERSION] = ack->version;
	buf[HELLO_CAP] = ack->cap & 0xf;
	buf[HELLO_MAX_ADVERTS] = ack->max_adverts;
	put_unaligned_be32(ack->act_rcv_size, buf + HELLO_ACK_ACT_RCV_SIZE);
	if (ack->has_ext)
		sdp_ext_encode(ack->ext_features, buf + HELLO_ACK_BASE_LEN);
	return bsdh.len;
}

/**
 * sdp_hello_ack_parse() - decode and check a HelloAck
 * @buf: private data of REP
 * @len: bytes at @buf
 * @ack: result, undefined on error
 *
 * Return: 0, -EPROTO if the HelloAck is not right, -EPROTONOSUPPORT if it is
 * of another major version.
 */
int sdp_hello_ack_parse(const u8 *buf, u32 len, struct sdp_hello_ack *ack)
{
	struct sdp_bsdh bsdh;
	int err;

	if (len < SDP_HELLO_ACK_LEN)
		return -EPROTO;
	sdp_bsdh_decode(buf, &bsdh);
	err = sdp_setup_check(&bsdh, SDP_MID_HELLOACK, buf[HELLO_VERSION]);
	if (err)
		return err;

	ack->bufs = bsdh.bufs;
	ack->version = buf[HELLO_VERSION];
	ack->cap = buf[HELLO_CAP] & 0xf;
	ack->max_adverts = buf[HELLO_MAX_ADVERTS];
	ack->act_rcv_size = get_unaligned_be32(buf + HELLO_ACK_ACT_RCV_SIZE);
	if (bsdh.len != SDP_HELLO_ACK_LEN ||
	    !sdp_rcv_size_ok(ack->act_rcv_size))
		return -EPROTO;

	err = sdp_ext_parse(buf + HELLO_ACK_BASE_LEN,
			    SDP_HELLO_ACK_LEN - HELLO_ACK_BASE_LEN,
			    &ack->ext_features);
	ack->has_ext = err > 0;
	return err < 0 ? err : 0;
}

/**
 * sdp_reject_encode() - write the reason for a rejection as data of REJ
 * @reason: why
 * @buf: where to
 * @size: bytes at @buf, at least SDP_REJECT_LEN
 *
 * Return: bytes to send, 0 if @size is too small.
 */
u32 sdp_reject_encode(enum sdp_reject_reason reason, u8 *buf, u32 size)
{
	if (size < SDP_REJECT_LEN)
		return 0;
	sdp_ext_encode(reason, buf);
	return SDP_REJECT_LEN;
}

/**
 * sdp_reject_parse() - find out why a connection was rejected
 * @buf: private data of REJ
 * @len: bytes at @buf, may be 0
 *
 * Return: the reason, SDP_REJECT_NONE if we do not understand it.
 */
enum sdp_reject_reason sdp_reject_parse(const u8 *buf, u32 len)
{
	u16 reason;

	if (sdp_ext_parse(buf, len, &reason) <= 0 ||
	    reason > SDP_REJECT_PROTOCOL)
		return SDP_REJECT_NONE;
	return reason;
}
