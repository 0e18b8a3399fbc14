# SPDX-License-Identifier: GPL-2.0
"""Figures of a program that others wrote, qperf, unmodified and with its own defaults."""

from dataclasses import dataclass

from . import plan
from .plan import KIB, MIB, Figure, Transport

# What users get who change nothing, what could be had instead, and what they have now.
DEFAULT = "qperf_auto"
FIXED = ("qperf_credit", "qperf_rdma", "qperf_nic")
TCP = "qperf_tcp"
_ALL = (DEFAULT, *FIXED, TCP)


def _engine(name, colour):
    return Transport(f"AF_SDP {name}", "qperf_sdp", colour, (("flow_control", name),))


TRANSPORTS = {
    DEFAULT: _engine("auto", "#17becf"),
    "qperf_credit": _engine("credit", "#d62728"),
    "qperf_rdma": _engine("rdma", "#1f77b4"),
    "qperf_nic": _engine("nic", "#2ca02c"),
    TCP: Transport("TCP", "qperf_tcp", "#8c564b"),
}

_SIZES = (64, KIB, 4 * KIB, 16 * KIB, 64 * KIB, MIB)


@dataclass(frozen=True)
class _Experiment(plan.Experiment):
    """A measurement of qperf's, which runs for a second of the node's time."""

    def command(self, name, point):
        """What the node is told; all of net.sdp but the engine stays as it is by default."""
        transport = TRANSPORTS[name]
        settings = ",".join(f"{name}={value}" for name, value in transport.settings)
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
