# SPDX-License-Identifier: GPL-2.0
"""The figures of the paper on out-of-order communication, on our own iWARP devices."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from . import plan
from .plan import KIB, MIB, Figure, Transport

DESIGNS = ("host", "assisted", "offloaded", "offloaded_sg")
RIVALS = ("iwarp", "siw")
EARLY = ("host", "late")
CODES = ("none", "host", "instruction")

TRANSPORTS = {
    "host": Transport("host-based", "iwarp", "#d62728", (("design", "host"),)),
    "assisted": Transport("host-assisted", "iwarp", "#1f77b4", (("design", "assisted"),)),
    "offloaded": Transport("host-offloaded", "iwarp", "#2ca02c", (("design", "offloaded"),)),
    "offloaded_sg": Transport("offloaded, s/g", "iwarp", "#9467bd", (("design", "offloaded-sg"),)),
    "late": Transport("late only", "iwarp", "#7f7f7f", (("early", 0),)),
    "none": Transport("none", "iwarp", "#7f7f7f", (("crc", 0),)),
    "instruction": Transport("by instruction", "iwarp", "#1f77b4", (("instruction", 1),)),
    "iwarp": Transport("iwarp", "iwarp", "#1f77b4"),
    "siw": Transport("siw", "siw", "#8c564b"),
}

# As a network card without segmentation gets them, and as the paper's did.
_PER_PACKET = (("gso", 1),)
_FULL = (*_PER_PACKET, ("markers", 1), ("crc", 1))
_SIZES = (64, KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB)
# All units of work of the application together.
_DATASET = 8 * MIB


@dataclass(frozen=True)
class _Experiment(plan.Experiment):
    """A measurement of iwarpbench."""

    bed: str = "iwarp"
    more: tuple[str, ...] = ("host_us_per_message", "engine_cpu_us_per_message", "engine_us_per_message",
                   "tx_host_copies", "rx_host_copies")
    common: plan.Settings = field(default=())  # settings of all transports
    most: int = 300  # messages

    def _count(self, size: int) -> int:
        if self.test == "iso":
            return _DATASET // size
        if self.test == "lat":
            return 100
        return max(30, min(self.most, 8 * MIB // size))

    def _own_settings(self, transport: Transport, point: int) -> plan.Settings:
        settings = (*self.common, *transport.settings)
        if self.axis == "markers":
            return settings + ((("marker_interval", point),) if point else (("markers", 0),))
        return settings

    def command(self, name: str, point: int) -> str:
        transport = plan.TRANSPORTS[name]
        size = self.size or point
        words = ",".join(f"{key}={value}" for key, value in self._own_settings(transport, point)) or "-"
        options = {"computation": f"--compute {point}", "buffers": f"--buffers {point}"}
        return (f"{transport.program} {words} {self.test} {size} {self._count(size)} "
                f"{options.get(self.axis, '')}").rstrip()


def _latency(name: str, title: str, transports: tuple[str, ...], common: plan.Settings) -> _Experiment:
    return _Experiment(name, title, "lat", "one_way_us", "us", "smaller", transports, _SIZES,
                       "message", common=common)


def _bandwidth(name: str, title: str, transports: tuple[str, ...], common: plan.Settings,
               points: tuple[int, ...] = _SIZES, axis: str = "message", **more: Any) -> _Experiment:
    return _Experiment(name, title, "bw", "mbit_per_s", "Mbit/s", "larger", transports, points,
                       axis, common=common, **more)


def _overlap(name: str, size: int, points: tuple[int, ...]) -> _Experiment:
    return _bandwidth(name, f"Uni-directional bandwidth of {plan.human(size)} with computation "
                      "before each", DESIGNS, _FULL, points, "computation", size=size)


EXPERIMENTS = {experiment.name: experiment for experiment in (
    _latency("ilatency", "Ping-pong latency: half a round trip", DESIGNS, _FULL),
    _bandwidth("ibandwidth", "Uni-directional bandwidth", DESIGNS, _FULL),
    _bandwidth("icache", "Uni-directional bandwidth of 64 KiB by the number of buffers that are "
               "sent in turn", DESIGNS, _FULL, (1, 256), "buffers", size=64 * KIB),
    _bandwidth("imarkers", "Uni-directional bandwidth of 64 KiB by the distance of markers, "
               "0: none", DESIGNS, _FULL, (0, 512, 1024, 2048, 4096), "markers", size=64 * KIB),
    _overlap("ioverlap4k", 4 * KIB, (0, 4, 8, 16, 32, 64)),
    _overlap("ioverlap128k", 128 * KIB, (0, 64, 128, 256, 512, 1024)),
    _Experiment("iso", f"Four filters that compute: for a MiB, of {plan.human(_DATASET)}", "iso",
                "wall_us_per_message", "us", "smaller", DESIGNS, (8 * KIB, MIB), "unit",
                common=_FULL),
    _bandwidth("iearly", "Uni-directional bandwidth of 64 KiB with early placement on and off",
               EARLY, _FULL, (64 * KIB,)),
    _bandwidth("icode", "Uni-directional bandwidth by what computes checksums on the host", CODES,
               _FULL),
    _Experiment("iloss", "Share that is placed early, messages of 64 KiB over a wire of 1 ms that "
                "loses 1 %", "bw", "early_percent", "%", "larger", ("host",), (64 * KIB,),
                "message", common=(*_FULL, ("loss", 1))),
    _latency("siwlatency", "Ping-pong latency: half a round trip, no markers, no checksum", RIVALS,
             ()),
    # Beginnings differ more from each other than the two do later.
    _bandwidth("siwbandwidth", "Uni-directional bandwidth, no markers, no checksum", RIVALS, (),
               most=10_000),
)}

# Who spends the time: behind the name of a figure, the title, the metric.
_SHARES = (("-host", "the host's processors", "host_us_per_message"),
           ("-work", "processors in the engine's place", "engine_cpu_us_per_message"),
           ("-engine", "the sender's engine by its own clock", "engine_us_per_message"))


def _by_design(name: str, title: str, experiment: str) -> Iterator[Figure]:
    """A figure of wall time, and those of who spends it."""
    title = f"iWARP designs: {title}"
    yield Figure(name, title, experiment, DESIGNS, yardstick="host")
    for suffix, who, metric in _SHARES:
        yield Figure(name + suffix, f"{title}: {who}", experiment, DESIGNS, metric, "us")


def _figures() -> Iterator[Figure]:
    yield from _by_design("i10a", "ping-pong latency", "ilatency")
    yield from _by_design("i10b", "uni-directional bandwidth", "ibandwidth")
    yield from _by_design("i11", "out-of-cache bandwidth", "icache")
    for side, metric in (("sending", "tx_host_copies"), ("receiving", "rx_host_copies")):
        yield Figure(f"i12{'a' if side == 'sending' else 'b'}",
                     f"iWARP designs: bytes that the {side} host copies for a byte", "ibandwidth",
                     DESIGNS, metric, "bytes")
    yield from _by_design("i13", "distance of markers", "imarkers")
    yield from _by_design("i14a", "computation and communication, 4 KiB", "ioverlap4k")
    yield from _by_design("i14b", "computation and communication, 128 KiB", "ioverlap128k")
    yield from _by_design("i15", "application of four filters", "iso")
    yield Figure("i-early", "iWARP: the price of early placement, in order", "iearly", EARLY,
                 yardstick="late")
    yield Figure("i-crc", "iWARP: checksums by the table and by the processor's instruction",
                 "icode", CODES, yardstick="host")
    yield Figure("i-crc-host", "iWARP: checksums by the table and by the processor's instruction: "
                 "the host's processors", "icode", CODES, "host_us_per_message", "us")
    yield Figure("i-loss", "iWARP: what arrives out of order and is placed early", "iloss",
                 ("host",))
    yield Figure("siw-lat", "Latency beside siw", "siwlatency", RIVALS, yardstick="siw")
    yield Figure("siw-bw", "Bandwidth beside siw", "siwbandwidth", RIVALS, yardstick="siw")


plan.TRANSPORTS |= TRANSPORTS
plan.EXPERIMENTS |= EXPERIMENTS
plan.FIGURES |= {figure.name: figure for figure in _figures()}
