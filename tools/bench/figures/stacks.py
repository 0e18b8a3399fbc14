# SPDX-License-Identifier: GPL-2.0
"""
Whose instructions a profile of a node's processor has counted.

There is one profile of a run with few messages and one of a run with many, so
that what both have, such as connecting, can be left out; and a run like the
second without a profile, so that what sampling itself takes is. The profiles
tell the shares, and the plain run of how much.
"""

import bisect
import collections
import functools
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import BenchError

# Call and module.
Frame = tuple[str, str]
# Samples by owner or layer, and who tells whose a program's frames are.
Counts = collections.Counter[str]
Whose = Callable[[str, Sequence[Frame]], str | None]

LAYERS = ("kernel", "device", "program", "idle")
OWNERS = ("sender", "completions", "receiver", "device", "other")

_IDLE = re.compile(r"idle|safe_halt|mwait|cpu_startup_entry|do_idle")
_BOUNDARY = re.compile(r"(__do_softirq|do_softirq|handle_softirqs|asm_sysvec_.*|asm_common_interrupt)$")
# Packets and their queues: what takes an adapter's place.
_DEVICE_MODULES = re.compile(r"\[(rdma_rxe|veth|sch_netem|udp_tunnel|ip6_udp_tunnel|crc32.*|nullcrc)\]")
_DEVICE_CALLS = re.compile(r"(net_rx_action|net_tx_action|process_backlog|__dev_queue_xmit|__qdisc_run|"
                           r"ip_local_out|ip_output|ip_rcv|udp_rcv|__netif_receive_skb.*|dev_hard_start_xmit|"
                           r"kfree_skb.*|__alloc_skb|skb_release_data|consume_skb)$")
# TCP has no adapter that makes packets of its own, and what carries them is its wire.
_WIRE = re.compile(r"(net_rx_action|net_tx_action|process_backlog|__dev_queue_xmit|__qdisc_run|"
                   r"dev_hard_start_xmit|veth_.*)$")
# Sockets over RDMA: the module, and whoever asks for completions.
_STACK = re.compile(r".* \[(sdp|smc)\]$|(__ib_process_cq|ib_cq_poll_work|irq_poll_softirq) ")
_TCP = re.compile(r"(__)?(tcp|ip)_")


class Symbols:
    """What is where in a node's kernel."""

    def __init__(self, lines: Iterable[str]) -> None:
        """From the lines of /proc/kallsyms."""
        found = sorted(self._parse(line) for line in lines)
        self._starts = [start for start, _ in found]
        self._frames = [frame for _, frame in found]

    @staticmethod
    def _parse(line: str) -> tuple[int, Frame]:
        words = line.split()
        return int(words[0], 16), (words[2], words[3] if len(words) > 3 else "")

    def frame(self, address: int) -> Frame:
        """What (call, module) has an address; nothing is known of programs."""
        at = bisect.bisect_right(self._starts, address) - 1
        return self._frames[at] if at >= 0 and address >> 63 else ("", "")


def samples(lines: Iterable[str], symbols: Symbols) -> Iterator[tuple[str, list[Frame]]]:
    """
    Yield (program, frames from the innermost on) of each sample in what
    "perf script -F comm,ip" says.
    """
    for sample in "".join(lines).split("\n\n"):
        head, *stack = sample.strip("\n").split("\n")
        if head:
            yield head.split()[0], [symbols.frame(int(line, 16)) for line in stack]


def _own(frames: Sequence[Frame]) -> Sequence[Frame]:
    """The frames of what was running, without those that it has interrupted."""
    for number, (call, _) in enumerate(frames):
        if _BOUNDARY.match(call):
            return frames[:number + 1]
    return frames


def _is_device(frame: Frame) -> bool:
    return bool(_DEVICE_MODULES.match(frame[1]) or _DEVICE_CALLS.match(frame[0]))


def owner(program: str, frames: Sequence[Frame]) -> str | None:
    """Whose a sample is; None if it is nobody's: an idle processor's, or the profiler's."""
    if program == "perf" or any(_IDLE.search(call) for call, _ in frames[:3]):
        return None
    own = _own(frames)
    for frame in own:
        if _is_device(frame):
            return "device"
        if frame[1] == "[sdp]":
            break
    calls = {call for call, _ in own}
    if "sdp_sendmsg" in calls:
        return "sender"
    if "sdp_recvmsg" in calls:
        return "receiver"
    if any(module == "[sdp]" for _, module in own) or "__ib_process_cq" in calls:
        return "completions"
    return "other"


def layer(program: str, frames: Sequence[Frame], rdma: bool) -> str | None:
    """
    Which of LAYERS a sample is in; None if it is the profiler's.

    "kernel" is what a network card leaves to the processor: calls, stack, scheduler.
    """
    if program == "perf":
        return None
    if any(_IDLE.search(call) for call, _ in frames[:3]):
        return "idle"
    own = _own(frames)
    if not any(call for call, _ in own):
        return "program"
    for call, module in own:
        if _is_device((call, module)) if rdma else _WIRE.match(call):
            return "device"
        if _STACK.match(f"{call} {module}") if rdma else _TCP.match(call):
            return "kernel"
    # Soft-RoCE has a work queue on newer kernels, and tasklets on older ones, which are
    # so many that there is a thread for them.
    return "device" if rdma and program.startswith(("kworker", "ksoftirqd")) else "kernel"


def count(lines: Iterable[str], symbols: Symbols,
          whose: Whose = owner) -> Counts:
    """How many samples each owner has."""
    return collections.Counter(filter(None, (whose(*sample) for sample in samples(lines, symbols))))


def per_byte(few: Counts, many: Counts, plain: Mapping[str, Any]) -> dict[str, float]:
    """Instructions for a byte, by owner, from counts and sdpbench's results."""
    more = {name: many[name] - few[name] for name in many}
    busy = plain["busy_us_per_message"] * 1000 / plain["size"]
    shares = {name: busy * more.get(name, 0) / sum(more.values()) for name in OWNERS}
    return {"host": shares["sender"] + shares["completions"], **shares}


def per_request(few: Counts, many: Counts, plain: Mapping[str, Any]) -> dict[str, float]:
    """Instructions for a request, by layer, from counts and what the client says."""
    more = {name: many[name] - few[name] for name in many}
    times = plain["times"]
    whole = 1e9 * (times / plain["requests_per_s"] - 1 / plain["few_per_s"]) / (times - 1)
    return {name: whole * more.get(name, 0) / sum(more.values()) for name in LAYERS}


def _script(profile: Path) -> str:
    done = subprocess.run(["perf", "script", "-i", str(profile), "-F", "comm,ip"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    if done.returncode:
        raise BenchError(f"'perf script' cannot read {profile}")
    return done.stdout


def read(stem: Path, plain: dict[str, Any], rdma: bool = True) -> dict[str, Any]:
    """What the profiles of a job say, in addition to its results without one."""
    requests = "requests_per_s" in plain
    whose: Whose = owner
    if requests:
        whose = functools.partial(layer, rdma=rdma)
    with open(stem.parent / "kallsyms", encoding="ascii") as file:
        symbols = Symbols(file)
    few, many = (count(_script(stem.with_suffix(suffix)), symbols, whose) for suffix in (".few", ".many"))
    return plain | (per_request if requests else per_byte)(few, many, plain)
