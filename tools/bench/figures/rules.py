# SPDX-License-Identifier: GPL-2.0
"""What is expected, as ratios within one boot."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from . import foreign, hybrid, iwarp, plan, samehost
from .plan import KIB, MIB, MODES

# (The one judged, the one it is compared with, or None.)
Pairs = tuple[tuple[str, str | None], ...]
# Runs that differ by less than this are equal.
EQUAL = 0.02


@dataclass(frozen=True)
class Rule:
    """
    The ratio of two transports' figures, held against a limit at some points;
    the figure itself where there is nothing to compare it with.
    """

    figure: str
    text: str
    experiment: str
    pairs: Pairs
    limit: float
    at_least: bool = True  # else at most
    somewhere: bool = False  # else at every point
    either_way: bool = False  # the larger to the smaller of a pair
    least: int = 0
    most: int = 1 << 62  # point
    kernel: str = ""  # the only one it is for
    metric: str = ""  # if it is not the experiment's own

    def points(self) -> list[int]:
        """The experiment's points for which the rule is."""
        return [point for point in plan.EXPERIMENTS[self.experiment].points
                if self.least <= point <= self.most]


def _against(subjects: Iterable[str], others: Iterable[str]) -> Pairs:
    return tuple((subject, other) for subject in subjects for other in others)


def _at_most(figure: str, text: str, experiment: str, pairs: Pairs, limit: float, **more: Any) -> Rule:
    return Rule(figure, text, experiment, pairs, limit, at_least=False, **more)


_HERE = ((samehost.COPY, samehost.LOOPBACK),)
_HERE_ZERO = _against(samehost.ZERO_COPY, [samehost.LOOPBACK])
_PAPERS = (
    _at_most("4a", "modes within 5 % of each other", "latency", tuple(combinations(MODES, 2)), 1.05,
             either_way=True),
    _at_most("4a", "auto within 5 % of the best mode", "latency", _against(["auto"], MODES), 1.05),
    _at_most("4a", "every mode at most 1.1 x ibv_rc_pingpong -e", "latency",
             _against(MODES, ["verbs"]), 1.1),
    _at_most("4a", "auto at most 1.02 x ibv_rc_pingpong -e at 64 B", "latency",
             _against(["auto"], ["verbs"]), 1.02, least=64, most=64),
    _at_most("4a", "every mode ahead of rsockets", "latency", _against(MODES, ["rsockets"]), 1.0),
    _at_most("4a", "every mode ahead of SMC-R", "latency", _against(MODES, ["smc"]), 1.0,
             kernel="6.12"),
    Rule("4b-far", "rdma 10 x credit somewhere in 256 B - 4 KiB", "farbandwidth",
         (("rdma", "credit"),), 10, somewhere=True, least=256, most=4 * KIB),
    Rule("4b-far", "nic 10 x credit somewhere in 256 B - 4 KiB", "farbandwidth",
         (("nic", "credit"),), 10, somewhere=True, least=256, most=4 * KIB),
    Rule("4b-far", "rdma, nic 5 x credit in all of 256 B - 4 KiB", "farbandwidth",
         _against(("rdma", "nic"), ["credit"]), 5, least=256, most=4 * KIB),
    Rule("4b", "nic within 5 % of rdma", "bandwidth", (("nic", "rdma"),), 0.95),
    Rule("peers", "nic at least ib_send_bw -e from 64 KiB", "peers", (("nic", "verbs"),), 1.0,
         least=64 * KIB),
    Rule("peers", "nic at least 0.9 x ib_write_bw from 64 KiB", "peers", (("nic", "verbs_write"),),
         0.9, least=64 * KIB, kernel="6.1"),
    Rule("peers", "nic ahead of rsockets at every size", "peers", (("nic", "rsockets"),), 1.0),
    Rule("peers", "nic ahead of SMC-R, equal buffers, at every size", "peers", (("nic", "smc"),),
         1.0, kernel="6.12"),
    Rule("peers", "auto within 5 % of the best mode", "peers", _against(["auto"], MODES), 0.95),
    Rule("peers", "auto at least ib_send_bw -e at 64 KiB", "peers", (("auto", "verbs"),), 1.0,
         least=64 * KIB, most=64 * KIB),
    Rule("peers", "auto at least 0.95 x ib_send_bw -e at 1 MiB", "peers", (("auto", "verbs"),),
         0.95, least=MIB),
    Rule("peers", "nic ahead of TCP at 64 B", "peers", (("nic", "tcp"),), 1.0, least=64, most=64),
    Rule("5", "rdma behind credit from 1000 us", "progress", (("rdma", "credit"),), 1.0 + EQUAL,
         least=1000),
    _at_most("5", "nic best or equal best everywhere", "progress",
             _against(["nic"], ("credit", "rdma")), 1.0 + EQUAL),
    _at_most("z6a", "AZ-SDP offer within 5 % of ZSDP", "zlatency", (("azoffer", "zsdp"),), 1.05,
             either_way=True, least=8 * KIB),
    Rule("z6b", "AZ-SDP offer 1.35 x ZSDP from 16 to 64 KiB", "zbandwidth",
         (("azoffer", "zsdp"),), 1.35, least=16 * KIB, most=64 * KIB),
    _at_most("z6a", "AZ-SDP at most BSDP's latency from 16 KiB", "zlatency",
             (("azsdp", "bsdp"),), 1.0, least=16 * KIB),
    _at_most("z6a", "AZ-SDP at most half of ZSDP's latency from 16 to 64 KiB", "zlatency",
             (("azsdp", "zsdp"),), 0.5, least=16 * KIB, most=64 * KIB),
    Rule("z6b", "AZ-SDP 1.35 x ZSDP from 16 to 128 KiB", "zbandwidth", (("azsdp", "zsdp"),), 1.35,
         least=16 * KIB, most=128 * KIB),
    Rule("z6b", "AZ-SDP at least BSDP from 16 KiB", "zbandwidth", (("azsdp", "bsdp"),), 1.0,
         least=16 * KIB),
    Rule("z7a", "AZ-SDP 2 x ZSDP somewhere with computation", "zoverlap64k",
         (("azsdp", "zsdp"),), 2.0 * (1 - EQUAL), somewhere=True, least=1),
    Rule("z8c", "AZ-SDP at least 0.95 x BSDP when overwritten", "ztouch", (("azsdp", "bsdp"),),
         0.95),
    _at_most("z9", "AZ-SDP ahead of ZSDP and BSDP", "zhot", _against(["azsdp"], ("zsdp", "bsdp")),
             1.0),
    Rule("z10b", "AZ-SDP ahead of ZSDP and BSDP", "zclients",
         _against(["azsdp"], ("zsdp", "bsdp")), 1.0),
    _at_most("zcpu", "AZ-SDP at most 0.15 of BSDP's at 64 KiB", "profile", (("azsdp", "bsdp"),),
             0.15, least=64 * KIB, most=64 * KIB),
    _at_most("zcpu", "AZ-SDP at most 0.1 of BSDP's at 1 MiB", "profile", (("azsdp", "bsdp"),),
             0.1, least=MIB),
    _at_most("zcpu", "ZSDP, AZ-SDP at most half of BSDP's at 1 MiB", "profile",
             _against(("zsdp", "azsdp", "azblock"), ["bsdp"]), 0.5, least=MIB),
    _at_most("6a", "credit fills at most 1/16 (%) at 512 B", "fill8", (("credit", None),), 6.25,
             least=512, most=512),
    Rule("i10b", "host-assisted 2.5 x host-based at 64 KiB", "ibandwidth", (("assisted", "host"),),
         2.5, least=64 * KIB, most=64 * KIB),
    Rule("i10b", "host-assisted ahead of scatter/gather at 64 KiB", "ibandwidth",
         (("assisted", "offloaded_sg"),), 1.0, least=64 * KIB, most=64 * KIB),
    _at_most("i10b", "host-offloaded takes the least of the host", "ibandwidth",
             _against(["offloaded"], ("host", "assisted")), 1.0, least=16 * KIB,
             metric="host_us_per_message"),
    Rule("i-early", "early placement costs at most 3 % in order", "iearly", (("host", "late"),),
         0.97),
    Rule("i-loss", "90 % placed early with 1 % lost", "iloss", (("host", None),), 90),
    _at_most("siw-lat", "ahead of siw at every size", "siwlatency", (iwarp.RIVALS,), 1.0),
    Rule("siw-bw", "ahead of siw at every size", "siwbandwidth", (iwarp.RIVALS,), 1.0),
    _at_most("here-lat", "no slower than TCP at 64 B", "herelatency", _HERE, 1.0, most=64),
    Rule("here-bw", "no slower than TCP at 64 B", "herebandwidth", _HERE, 1.0, most=64),
    Rule("here-bw", "1.4 x TCP at 64 KiB by copy", "herebandwidth", _HERE, 1.4, least=64 * KIB,
         most=64 * KIB),
    Rule("here-bw", "1.8 x TCP at 64 KiB without a copy", "herebandwidth", _HERE_ZERO, 1.8,
         somewhere=True, least=64 * KIB, most=64 * KIB),
    Rule("here-bw", "2.5 x TCP at 1 MiB without a copy", "herebandwidth", _HERE_ZERO, 2.5,
         somewhere=True, least=MIB),
    Rule("6a", "rdma, nic fill at least 90 % at 512 B", "fill8", (("rdma", None), ("nic", None)), 90,
         least=512, most=512),
)


def _foreign(figure: str, text: str, program: str, other: str, limit: float, **more: Any) -> Rule:
    """What users get who change nothing, beside another kind of the same program's sockets."""
    experiment = figure.replace("-", "")
    default, rival = foreign.over(program, (foreign.DEFAULT, other))
    at_least = plan.EXPERIMENTS[experiment].better == "larger"
    return Rule(figure, text, experiment, ((default, rival),), limit if at_least else 1 / limit,
                at_least=at_least, **more)


def _best_engine(figure: str, program: str) -> Rule:
    """The default beside each engine that one could choose."""
    best = tuple(_foreign(figure, "auto within 5 % of the best engine", program, mode, 0.95)
                 for mode in MODES)
    return replace(best[0], pairs=tuple(rule.pairs[0] for rule in best))


_STREAMS = (("iperf3", "iperf3"), ("iperf3-nagle", "iperf3"), ("sockperf", "sockperf"),
            ("sockperf-nagle", "sockperf"))


def _foreign_rules() -> Iterator[Rule]:
    for figure, program in (("qperf-bw", "qperf"), ("qperf-lat", "qperf"), *_STREAMS[:2],
                            ("iperf3-both", "iperf3"), ("iperf3-eight", "iperf3"),
                            ("redis-answer", "redis")):
        yield _best_engine(figure, program)
    for figure, program in (("qperf-bw", "qperf"), *_STREAMS):
        yield _foreign(figure, "auto at least TCP from 64 B to 4 KiB", program, "tcp", 1.0,
                       most=4 * KIB)
    for figure, program in _STREAMS:
        yield _foreign(figure, "auto 2 x rsockets at every size", program, "rsockets", 2.0)
        yield _foreign(figure, "auto 1.2 x SMC-R up to 1 KiB", program, "smc", 1.2, most=KIB,
                       kernel="6.12")
        yield _foreign(figure, "auto 1.05 x SMC-R from 4 KiB", program, "smc", 1.05,
                       least=4 * KIB, kernel="6.12")
    yield Rule("redis-connect", "4500 connections a second", "redisconnect",
               (("redis_auto", None),), 4500)
    yield _at_most("first-answer", "the first of 100 KiB at most 1.1 x the tenth", "firstanswer",
                   (("curl_auto", None),), 1.1, least=100 * KIB, most=100 * KIB)
    yield _foreign("stream-cost", "the stack's own cost at most SMC-R's", "iperf3", "smc", 1.0,
                   kernel="6.12")
    for figure, program in (("redis-cost", "redis"), ("nginx-cost", "ab"),
                            ("pgbench-cost", "pgbench")):
        yield _foreign(figure, "the stack's own cost at most TCP's", program, "tcp", 1.0)


def _hybrid_rules() -> Iterator[Rule]:
    """What the paper gained on its hybrid stack."""
    integrated, ring = foreign.over(hybrid.PROGRAM, hybrid.kinds("assisted"))
    pairs = ((integrated, ring),)
    yield _at_most("h-lat-assisted", "integrated 0.9 x the ring's latency", "hlatency", pairs, 0.9,
                   somewhere=True)
    yield Rule("h-bw-assisted", "integrated 1.2 x the ring's bandwidth", "hbandwidth", pairs, 1.2,
               somewhere=True)
    # Headers are copied as well.
    yield _at_most("h-copies-tx", "integrated: one copy at 64 KiB", "hbandwidth",
                   ((integrated, None),), 1.05, least=64 * KIB, metric="tx_copies")


RULES = (*_PAPERS, *_foreign_rules(), *_hybrid_rules())
