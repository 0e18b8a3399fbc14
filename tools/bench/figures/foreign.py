# SPDX-License-Identifier: GPL-2.0
"""Figures of a program that others wrote, qperf, unmodified and with its own defaults."""

from dataclasses import dataclass, replace

from . import plan
from .plan import KIB, MIB, Figure

# What users get who change nothing, what could be had instead, and what they have now.
DEFAULT = "qperf_auto"
FIXED = ("qperf_credit", "qperf_rdma", "qperf_nic")
TCP = "qperf_tcp"
_ALL = (DEFAULT, *FIXED, TCP)


TRANSPORTS = {f"qperf_{name}": replace(plan.TRANSPORTS[name], program="qperf_sdp")
              for name in plan.CHOICES}
TRANSPORTS[TCP] = replace(plan.TRANSPORTS["tcp"], program=TCP)

_SIZES = (64, KIB, 4 * KIB, 16 * KIB, 64 * KIB, MIB)


@dataclass(frozen=True)
class _Experiment(plan.Experiment):
    """A measurement of qperf's, which runs for a second of the node's time."""

    def command(self, name, point):
        """What the node is told; all of net.sdp but the engine stays as it is by default."""
        transport = TRANSPORTS[name]
        settings = ",".join(f"{key}={value}" for key, value in transport.settings)
        return f"{transport.program} 0 {settings or '-'} {self.test} {point} 1"


EXPERIMENTS = {experiment.name: experiment for experiment in (
    _Experiment("qperfbandwidth", "qperf's bandwidth, its defaults and those of net.sdp", "bw",
                "mbit_per_s", "Mbit/s", "larger", _ALL, _SIZES, "message"),
    _Experiment("qperflatency", "qperf's latency, its defaults and those of net.sdp", "lat",
                "one_way_us", "us", "smaller", _ALL, _SIZES, "message"),
)}

plan.TRANSPORTS |= TRANSPORTS
plan.EXPERIMENTS |= EXPERIMENTS
plan.FIGURES |= {figure.name: figure for figure in (
    Figure("qperf-bw", "Bandwidth by qperf", "qperfbandwidth", _ALL, yardstick=TCP),
    Figure("qperf-lat", "Latency by qperf", "qperflatency", _ALL, yardstick=TCP),
)}
