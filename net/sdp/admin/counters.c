// SPDX-License-Identifier: GPL-2.0
/*
 * Event counters.
 */
#include <linux/seq_file.h>
#include <net/ip.h>

#include "base/base.h"
#include "zcopy/zcopy.h"
#include "socket/socket.h"
#include "admin.h"

static const struct snmp_mib sdp_mib_list[] = {
	/* connect() calls that reached the network */
	SNMP_MIB_ITEM("ActiveOpens", SDP_MIB_ACTIVEOPENS),
	/* connections that reached a listener's queue */
	SNMP_MIB_ITEM("PassiveOpens", SDP_MIB_PASSIVEOPENS),
	/* ends of connections within this kernel that do without the device */
	SNMP_MIB_ITEM("LocalEnds", SDP_MIB_LOCALENDS),
	/* bytes that such an end has copied from the program to the other end's buffers */
	SNMP_MIB_ITEM("LocalBytesOut", SDP_MIB_LOCALBYTESOUT),
	SNMP_MIB_ITEM("IntegratedBytesOut", SDP_MIB_INTEGRATEDBYTESOUT),
	SNMP_MIB_ITEM("IntegratedBytesIn", SDP_MIB_INTEGRATEDBYTESIN),
	/* connect() calls that failed */
	SNMP_MIB_ITEM("ConnectFails", SDP_MIB_CONNECTFAILS),
	/* requests put off because a listener's queue was full */
	SNMP_MIB_ITEM("BacklogRejects", SDP_MIB_BACKLOGREJECTS),
	/* half-open connections given up for newer ones */
	SNMP_MIB_ITEM("HalfOpenDrops", SDP_MIB_HALFOPENDROPS),
	SNMP_MIB_ITEM("OrphanDrops", SDP_MIB_ORPHANDROPS),
	/* requests repeated because the peer's queue was full */
	SNMP_MIB_ITEM("ConnectRetries", SDP_MIB_CONNECTRETRIES),
	/* connections that ended after DisConn in both directions */
	SNMP_MIB_ITEM("OrderlyCloses", SDP_MIB_ORDERLYCLOSES),
	/* connections that ended otherwise, except for the two next */
	SNMP_MIB_ITEM("Resets", SDP_MIB_RESETS),
	/* connections whose peer did not answer any more */
	SNMP_MIB_ITEM("Timeouts", SDP_MIB_TIMEOUTS),
	/* connections whose device went away */
	SNMP_MIB_ITEM("DeviceRemovals", SDP_MIB_DEVICEREMOVALS),
	/* messages that violated the protocol */
	SNMP_MIB_ITEM("ProtocolErrors", SDP_MIB_PROTOCOLERRORS),
	/* work requests that the device refused */
	SNMP_MIB_ITEM("PostErrors", SDP_MIB_POSTERRORS),
	/* connections for which the device had no queue pair or domain left */
	SNMP_MIB_ITEM("DeviceRefusals", SDP_MIB_DEVICEREFUSALS),
	/* payload bytes that user space has read, and written */
	SNMP_MIB_ITEM("BytesIn", SDP_MIB_BYTESIN),
	SNMP_MIB_ITEM("BytesOut", SDP_MIB_BYTESOUT),
	/* Data messages with payload */
	SNMP_MIB_ITEM("DataIn", SDP_MIB_DATAIN),
	SNMP_MIB_ITEM("DataOut", SDP_MIB_DATAOUT),
	/* messages that only return credits or announce an urgent byte */
	SNMP_MIB_ITEM("CreditUpdates", SDP_MIB_CREDITUPDATES),
	/* times that data had to wait for credits */
	SNMP_MIB_ITEM("CreditStalls", SDP_MIB_CREDITSTALLS),
	/* times that a writer had to wait for room in the send ring */
	SNMP_MIB_ITEM("SendWaits", SDP_MIB_SENDWAITS),
	/* completions that were polled by readers */
	SNMP_MIB_ITEM("BusyPolls", SDP_MIB_BUSYPOLLS),
	/* connections whose engine of flow control is not the one wanted */
	SNMP_MIB_ITEM("FlowDowngrades", SDP_MIB_FLOWDOWNGRADES),
	/* receive rings that were advertised to peers */
	SNMP_MIB_ITEM("RingStarts", SDP_MIB_RINGSTARTS),
	/* writes that were coalesced with a message that waited */
	SNMP_MIB_ITEM("CoalescedWrites", SDP_MIB_COALESCEDWRITES),
	/* times that what had waited for the peer's space left in a call */
	SNMP_MIB_ITEM("FlushCalls", SDP_MIB_FLUSHCALLS),
	/* ...: when an interrupt reported the space */
	SNMP_MIB_ITEM("FlushInterrupts", SDP_MIB_FLUSHINTERRUPTS),
	/* ...: by a timer */
	SNMP_MIB_ITEM("FlushTimers", SDP_MIB_FLUSHTIMERS),
	/* times that a burst's last bytes left because no more came */
	SNMP_MIB_ITEM("FlushPauses", SDP_MIB_FLUSHPAUSES),
	/* payload bytes read, and written, without a copy */
	SNMP_MIB_ITEM("ZcopyBytesIn", SDP_MIB_ZCOPYBYTESIN),
	SNMP_MIB_ITEM("ZcopyBytesOut", SDP_MIB_ZCOPYBYTESOUT),
	/* adverts of peers that came by copy because no read could take them */
	SNMP_MIB_ITEM("ZcopyRefusals", SDP_MIB_ZCOPYREFUSALS),
	/* adverts withdrawn from peers that did not read them */
	SNMP_MIB_ITEM("ZcopyCancels", SDP_MIB_ZCOPYCANCELS),
	/* transfers that were too many for net.sdp.zcopy_mem */
	SNMP_MIB_ITEM("ZcopyMemRefusals", SDP_MIB_ZCOPYMEMREFUSALS),
	/* payload bytes written without a copy by calls that did not wait */
	SNMP_MIB_ITEM("AsyncBytesOut", SDP_MIB_ASYNCBYTESOUT),
	/* of these, what went straight from its pages into messages, refused or not offered */
	SNMP_MIB_ITEM("DirectBytesOut", SDP_MIB_DIRECTBYTESOUT),
	/* payload bytes read by calls that did not wait */
	SNMP_MIB_ITEM("AsyncBytesIn", SDP_MIB_ASYNCBYTESIN),
	/* pages of these that somebody waited for */
	SNMP_MIB_ITEM("AsyncReadWaits", SDP_MIB_ASYNCREADWAITS),
	/* of these bytes, what never came, because the connection ended */
	SNMP_MIB_ITEM("AsyncBytesLost", SDP_MIB_ASYNCBYTESLOST),
	/* payload bytes whose pages programs have mapped */
	SNMP_MIB_ITEM("MappedBytesIn", SDP_MIB_MAPPEDBYTESIN),
	/* reads that let the peer write to their memory */
	SNMP_MIB_ITEM("SinkAdverts", SDP_MIB_SINKADVERTS),
	/* of these, those that could not wait for it to do so */
	SNMP_MIB_ITEM("SinkCancels", SDP_MIB_SINKCANCELS),
	/* payload bytes that peers wrote there, and that were written to peers' memory */
	SNMP_MIB_ITEM("SinkBytesIn", SDP_MIB_SINKBYTESIN),
	SNMP_MIB_ITEM("SinkBytesOut", SDP_MIB_SINKBYTESOUT),
	/* writes that could have been such, but for the kind of memory */
	SNMP_MIB_ITEM("GuardRefusals", SDP_MIB_GUARDREFUSALS),
	/* pages that user space wrote to while they were in flight */
	SNMP_MIB_ITEM("GuardFaults", SDP_MIB_GUARDFAULTS),
	/* of these, those that a writer had to wait for */
	SNMP_MIB_ITEM("GuardWaits", SDP_MIB_GUARDWAITS),
	/* of these, those that were copied because it took too long */
	SNMP_MIB_ITEM("GuardCopies", SDP_MIB_GUARDCOPIES),
	/* times that a connection got more or larger receive buffers */
	SNMP_MIB_ITEM("RcvBufGrows", SDP_MIB_RCVBUFGROWS),
	/* times that memory or a limit did not allow that */
	SNMP_MIB_ITEM("RcvBufRefusals", SDP_MIB_RCVBUFREFUSALS),
	/* times that all sockets together came under memory pressure */
	SNMP_MIB_ITEM("MemPressures", SDP_MIB_MEMPRESSURES),
	/* connect() calls that went on over TCP: no RDMA device on the path */
	SNMP_MIB_ITEM("FallbackNoDevice", SDP_MIB_FALLBACKNODEVICE),
	/* ...: no way to the peer was found */
	SNMP_MIB_ITEM("FallbackUnreachable", SDP_MIB_FALLBACKUNREACHABLE),
	/* ...: the peer rejected the request */
	SNMP_MIB_ITEM("FallbackRefused", SDP_MIB_FALLBACKREFUSED),
	/* ...: the peer did not answer in time */
	SNMP_MIB_ITEM("FallbackTimeout", SDP_MIB_FALLBACKTIMEOUT),
	/* ...: this host lacked something */
	SNMP_MIB_ITEM("FallbackResources", SDP_MIB_FALLBACKRESOURCES),
	/* connections accepted that came over TCP */
	SNMP_MIB_ITEM("FallbackAccepts", SDP_MIB_FALLBACKACCEPTS),
	/* connect() calls on sockets that were to use TCP only */
	SNMP_MIB_ITEM("FallbackChoices", SDP_MIB_FALLBACKCHOICES),
	/* listeners that RDMA refused, or left, and that TCP serves alone */
	SNMP_MIB_ITEM("FallbackListens", SDP_MIB_FALLBACKLISTENS),
};

static void sdp_mem_show(struct seq_file *seq)
{
	seq_printf(seq, "Sockets %d\n",
		   sock_prot_inuse_get(seq_file_single_net(seq), &sdp_prot));
	seq_printf(seq, "MemPages %ld\n", sdp_mem_pages());
	seq_printf(seq, "MemPressure %lu\n", READ_ONCE(sdp_memory_pressure));
}

static unsigned long sdp_mib_sum(struct net *net, int entry)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += snmp_get_cpu_field(sdp_net(net)->mib, cpu, entry);
	return sum;
}

/**
 * sdp_mib_show() - print the counters of a namespace, a name and value a line,
 *	and what is in use now
 * @seq: file of the namespace
 * @v: unused
 *
 * Return: 0
 */
int sdp_mib_show(struct seq_file *seq, void *v)
{
	struct net *net = seq_file_single_net(seq);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sdp_mib_list); i++)
		seq_printf(seq, "%s %lu\n", sdp_mib_list[i].name,
			   sdp_mib_sum(net, sdp_mib_list[i].entry));
	sdp_mem_show(seq);
	sdp_zmem_show(seq);
	return 0;
}

/**
 * sdp_mib_init() - allocate the counters of a namespace
 * @net: namespace
 *
 * Return: 0 or -ENOMEM.
 */
int sdp_mib_init(struct net *net)
{
	sdp_net(net)->mib = alloc_percpu(struct sdp_mib);
	return sdp_net(net)->mib ? 0 : -ENOMEM;
}

/**
 * sdp_mib_exit() - free the counters of a namespace
 * @net: namespace
 */
void sdp_mib_exit(struct net *net)
{
	free_percpu(sdp_net(net)->mib);
}
