# SPDX-License-Identifier: GPL-2.0
"""Figures of two programs on one machine: software iWARP's short cut beside TCP's loopback."""

from dataclasses import dataclass

from . import plan
from .plan import KIB, MIB, Figure, Transport

# What all of them are judged by, and those without a copy.
LOOPBACK = "loopback"
COPY = "here_copy"
ZERO_COPY = ("here_sync", "here_async")
_ALL = (COPY, *ZERO_COPY, LOOPBACK)

TRANSPORTS = {
    LOOPBACK: Transport("TCP loopback", "loopback", "#7f7f7f"),
    COPY: Transport("AF_SDP", "sdp", "#1f77b4", (("zcopy", "off"),)),
    "here_sync": Transport("AF_SDP, sync", "sdp", "#2ca02c", (("zcopy", "sync"),)),
    "here_async": Transport("AF_SDP, async", "sdp", "#d62728", (("zcopy", "async"),)),
}

_SIZES = (64, KIB, 4 * KIB, 16 * KIB, 64 * KIB, MIB)


@dataclass(frozen=True)
class _Experiment(plan.Experiment):
    """A measurement with both programs on one machine."""

    bed: str = "samehost"

    def _count(self, size: int) -> int:
        """A stream of short messages takes TCP a while to be steady."""
        return 200 if self.test == "lat" else max(128, min(20000, 64 * MIB // size))


EXPERIMENTS = {experiment.name: experiment for experiment in (
    _Experiment("herelatency", "Ping-pong latency on one machine: half a round trip", "lat",
                "one_way_us", "us", "smaller", _ALL, _SIZES, "message"),
    _Experiment("herebandwidth", "Uni-directional bandwidth on one machine", "bw", "mbit_per_s",
                "Mbit/s", "larger", _ALL, _SIZES, "message"),
)}

plan.TRANSPORTS |= TRANSPORTS
plan.EXPERIMENTS |= EXPERIMENTS
plan.FIGURES |= {figure.name: figure for figure in (
    Figure("here-lat", "Latency on one machine", "herelatency", _ALL, yardstick=LOOPBACK),
    Figure("here-bw", "Bandwidth on one machine", "herebandwidth", _ALL, yardstick=LOOPBACK),
)}
