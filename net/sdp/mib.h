/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event counters of a network namespace, shown in /proc/net/sdpstats.
 */
#ifndef _SDP_MIB_H
#define _SDP_MIB_H

#include <net/snmp.h>

#include "netns.h"

/* Names and meanings stand in mib.c. */
enum {
	SDP_MIB_ACTIVEOPENS,
	SDP_MIB_PASSIVEOPENS,
	SDP_MIB_CONNECTFAILS,
	SDP_MIB_BACKLOGREJECTS,
	SDP_MIB_CONNECTRETRIES,
	SDP_MIB_ORDERLYCLOSES,
	SDP_MIB_RESETS,
	SDP_MIB_TIMEOUTS,
	SDP_MIB_DEVICEREMOVALS,
	SDP_MIB_PROTOCOLERRORS,
	SDP_MIB_POSTERRORS,
	SDP_MIB_BYTESIN,
	SDP_MIB_BYTESOUT,
	SDP_MIB_DATAIN,
	SDP_MIB_DATAOUT,
	SDP_MIB_CREDITUPDATES,
	SDP_MIB_CREDITSTALLS,
	SDP_MIB_SENDWAITS,
	SDP_MIB_FLOWDOWNGRADES,
	SDP_MIB_RINGSTARTS,
	SDP_MIB_COALESCEDWRITES,
	/* In the order of enum sdp_flush. */
	SDP_MIB_FLUSHCALLS,
	SDP_MIB_FLUSHINTERRUPTS,
	SDP_MIB_FLUSHTIMERS,
	SDP_MIB_FLUSHPAUSES,
	SDP_MIB_ZCOPYBYTESIN,
	SDP_MIB_ZCOPYBYTESOUT,
	SDP_MIB_ZCOPYREFUSALS,
	SDP_MIB_ZCOPYCANCELS,
	SDP_MIB_RCVBUFGROWS,
	SDP_MIB_RCVBUFREFUSALS,
	SDP_MIB_MEMPRESSURES,
	/* In the order of enum sdp_fallback_reason. */
	SDP_MIB_FALLBACKNODEVICE,
	SDP_MIB_FALLBACKUNREACHABLE,
	SDP_MIB_FALLBACKREFUSED,
	SDP_MIB_FALLBACKTIMEOUT,
	SDP_MIB_FALLBACKRESOURCES,
	SDP_MIB_FALLBACKACCEPTS,
	SDP_MIB_FALLBACKCHOICES,
	SDP_MIB_FALLBACKLISTENS,
	__SDP_MIB_MAX
};

struct sdp_mib {
	unsigned long mibs[__SDP_MIB_MAX];
};

#define SDP_INC_STATS(net, field)	\
	SNMP_INC_STATS(sdp_net(net)->mib, field)
/* What every call and message counts: looking for the namespace costs more. */
#define SDP_SOCK_INC_STATS(ssk, field)	\
	SNMP_INC_STATS((ssk)->mib, field)
#define SDP_SOCK_ADD_STATS(ssk, field, n)	\
	SNMP_ADD_STATS((ssk)->mib, field, n)

struct seq_file;

int sdp_mib_show(struct seq_file *seq, void *v);

#endif /* _SDP_MIB_H */
