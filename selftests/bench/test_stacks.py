# SPDX-License-Identifier: GPL-2.0
"""Whose instructions a profile has counted."""

import unittest

from figures import stacks

_KERNEL = 0xffffffff81000000
_CALLS = ("memcpy", "schedule", "__do_softirq", "net_rx_action", "default_idle",
          "rxe_completer [rdma_rxe]", "sdp_sendmsg [sdp]", "sdp_recvmsg [sdp]", "sdp_output [sdp]",
          "__sys_sendto", "ip_rcv", "tcp_v4_rcv", "veth_xmit", "__dev_queue_xmit")
_ADDRESSES = {call.split()[0]: _KERNEL + 0x1000 * number for number, call in enumerate(_CALLS)}


def _symbols() -> stacks.Symbols:
    lines = [f"{_KERNEL + 0x1000 * number:x} t {call}" for number, call in enumerate(_CALLS)]
    return stacks.Symbols(reversed(lines))


def _sample(program: str, *calls: str) -> str:
    """As perf prints it, the innermost call first."""
    return "".join([f"{program} \n", *(f"\t{_ADDRESSES[call] + 8:x}\n" for call in calls), "\n"])


class Owners(unittest.TestCase):
    """To whom a sample belongs."""

    def _count(self, *samples: str) -> dict[str, int]:
        return dict(stacks.count(samples, _symbols()))

    def test_a_call_has_what_it_calls(self) -> None:
        """Other parts of the kernel work for it."""
        self.assertEqual(self._count(_sample("p", "memcpy", "sdp_sendmsg", "__sys_sendto"),
                                     _sample("p", "schedule", "sdp_recvmsg")),
                         {"sender": 1, "receiver": 1})

    def test_the_device_works_below_a_call(self) -> None:
        """Soft-RoCE sends within the program's own call."""
        self.assertEqual(self._count(_sample("p", "memcpy", "rxe_completer", "sdp_output",
                                             "sdp_sendmsg")), {"device": 1})

    def test_an_interrupted_call_is_innocent(self) -> None:
        """What runs on top of it may be the other end's."""
        self.assertEqual(self._count(_sample("p", "sdp_output", "__do_softirq", "sdp_sendmsg")),
                         {"completions": 1})

    def test_idleness_and_the_profiler_are_nobodys(self) -> None:
        """Neither is a price of anything."""
        self.assertEqual(self._count(_sample("swapper", "default_idle"),
                                     _sample("perf", "memcpy")), {})

    def test_programs_are_others(self) -> None:
        """Their addresses are not the kernel's."""
        self.assertEqual(dict(stacks.count(["sdpbench \n", "\t55d0c0ffee00\n", "\n"], _symbols())),
                         {"other": 1})


class Layers(unittest.TestCase):
    """In which part of a request a sample is."""

    def _count(self, rdma: bool, *samples: str) -> dict[str, int]:
        return dict(stacks.count(samples, _symbols(),
                                 lambda program, frames: stacks.layer(program, frames, rdma)))

    def test_packets_are_the_adapters(self) -> None:
        """It would make and take them, and the stack is what calls it, or is called."""
        self.assertEqual(self._count(True, _sample("p", "ip_rcv", "net_rx_action"),
                                     _sample("p", "memcpy", "rxe_completer", "sdp_output"),
                                     _sample("p", "sdp_output", "rxe_completer"),
                                     _sample("kworker/0:1", "schedule", "memcpy"),
                                     _sample("ksoftirqd/0", "schedule"),
                                     _sample("ksoftirqd/0", "memcpy", "sdp_output"),
                                     _sample("p", "schedule", "__sys_sendto")),
                         {"device": 4, "kernel": 3})

    def test_segments_are_tcps(self) -> None:
        """A wire is below it, and ends where it begins."""
        self.assertEqual(self._count(False, _sample("p", "tcp_v4_rcv", "ip_rcv", "net_rx_action"),
                                     _sample("p", "memcpy", "net_rx_action"),
                                     _sample("p", "veth_xmit", "__dev_queue_xmit", "__sys_sendto")),
                         {"kernel": 1, "device": 2})

    def test_idleness_counts_and_the_profiler_does_not(self) -> None:
        """A client waits for its server."""
        self.assertEqual(self._count(True, _sample("swapper", "default_idle"),
                                     _sample("perf", "memcpy"), "redis \n\t55d0c0ffee00\n\n"),
                         {"idle": 1, "program": 1})


class Shares(unittest.TestCase):
    """Instructions for a byte."""

    def test_what_both_runs_have_is_left_out(self) -> None:
        """And of the rest the plain run tells how much it is."""
        few = stacks.collections.Counter(sender=5, device=100)
        many = stacks.collections.Counter(sender=15, completions=10, device=180)
        found = stacks.per_byte(few, many, {"busy_us_per_message": 4.0, "size": 1000})
        self.assertEqual((found["sender"], found["completions"], found["device"]), (0.4, 0.4, 3.2))
        self.assertEqual((found["host"], found["receiver"]), (0.8, 0.0))

    def test_a_request_is_all_that_its_time_is(self) -> None:
        """The client says how many were answered, and nothing else ran."""
        few = stacks.collections.Counter(kernel=100, device=10)
        many = stacks.collections.Counter(kernel=150, device=30, program=20, idle=10)
        plain = {"requests_per_s": 1e6, "few_per_s": 1e6, "times": 5}
        found = {name: round(value) for name, value in
                 stacks.per_request(few, many, plain).items()}
        self.assertEqual(found, {"kernel": 500, "device": 200, "program": 200, "idle": 100})
