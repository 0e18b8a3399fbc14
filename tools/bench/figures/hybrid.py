# SPDX-License-Identifier: GPL-2.0
"""
The figures of the paper on hybrid stacks: AF_SDP over our own iWARP devices with integrated
buffering and without it, as they would have been with more or less of iWARP in hardware.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from . import foreign, plan
from .plan import KIB, Figure, Transport

BED = "hybrid"
PROGRAM = "qperf"
TCP = foreign.TCP
_OFF = (("iwarp.markers", 0), ("iwarp.crc", 0))
_ON = (("iwarp.markers", 1), ("iwarp.crc", 1))

# Who does iWARP's work, and with what of the standard.
STACKS = {
    "plain": ("host", _OFF, "iWARP in software, no markers, no checksum"),
    "host": ("host", _ON, "iWARP in software"),
    "assisted": ("assisted", _ON, "hybrid iWARP"),
    "offloaded": ("offloaded", _ON, "iWARP in hardware"),
}
# Those of which a part is a model.
ENGINES = ("assisted", "offloaded")
# Where a program's bytes are copied to, and how that looks.
FORMS = {"integrated": (1, "#1f77b4"), "ring": (0, "#d62728")}


def kind(stack: str, form: str) -> str:
    """The name of a stack's sockets with a form of buffering."""
    return f"{stack}_{form}"


def kinds(stack: str) -> tuple[str, ...]:
    """Those of all forms."""
    return tuple(kind(stack, form) for form in FORMS)


def _settings(stack: str, form: str) -> plan.Settings:
    """The wire is what is measured, although both ends are here."""
    design, more, _ = STACKS[stack]
    return (("iwarp.design", design), ("iwarp.local", 0),
            ("iwarp.send_iter", FORMS[form][0]), ("iwarp.recv_iter", FORMS[form][0]), *more)


plan.TRANSPORTS |= {
    kind(stack, form): Transport(f"{stack}, {form}", "sdp", color, _settings(stack, form))
    for stack in STACKS for form, (_, color) in FORMS.items()}

ALL = tuple(name for stack in STACKS for name in kinds(stack))


def copies(counted: Mapping[str, int]) -> dict[str, float]:
    """
    How often hosts copy each byte: those that send, and those that receive.

    A writer's bytes go to the send ring, but those that the provider takes from the program;
    and where no engine reads the ring, on to what TCP sends. Where no engine places them they
    are copied to the buffer that the receiver has posted, or to the program; and to it from
    there.
    """
    written, read = counted["BytesOut"], counted["BytesIn"]
    if not written or not read:
        return {}
    to_ring = written - counted["IntegratedBytesOut"]
    from_buffer = read - counted["IntegratedBytesIn"]
    return {"tx_copies": (to_ring + counted["tx_host_bytes"]) / written,
            "rx_copies": (from_buffer + counted["rx_host_bytes"]) / read}


def without_engine(measured: Mapping[str, Any], counted: Mapping[str, int], size: int) -> dict[str, float]:
    """
    Microseconds for a message that are left without the time that processors have spent in
    the place of an engine, of both ends.
    """
    if not counted["BytesOut"]:
        return {}
    whole = measured.get("one_way_us") or size * 8 / measured["mbit_per_s"]
    engine = counted["engine_cpu_ns"] / 1000 * size / counted["BytesOut"]
    return {"rest_us": whole - engine}


def metrics(measured: Mapping[str, Any], counted: Mapping[str, int], size: int) -> dict[str, float]:
    """What a node has counted says of a run with messages of a size."""
    return copies(counted) | without_engine(measured, counted, size)


def _define() -> None:
    more: dict[str, Any] = {"bed": BED, "more": ("tx_copies", "rx_copies", "rest_us")}
    everyone = (*ALL, TCP)
    foreign.add_experiment("hlatency", "Ping-pong latency by qperf: half a round trip", PROGRAM,
                           everyone, test="lat", metric="one_way_us", unit="us", better="smaller",
                           axis="message", points=(64, KIB, 4 * KIB, 64 * KIB), **more)
    foreign.add_experiment("hbandwidth", "Uni-directional bandwidth by qperf", PROGRAM, everyone,
                           test="bw", metric="mbit_per_s", unit="Mbit/s", better="larger",
                           axis="message", points=(64, 4 * KIB, 64 * KIB), **more)
    plan.EXPERIMENTS["hstreams"] = plan.Experiment(
        "hstreams", "Bandwidth of all streams together, 64 KiB", "bw", "mbit_per_s", "Mbit/s",
        "larger", everyone, (1, 4, 8), "connections", size=64 * KIB, **more)


def _figures() -> Iterator[Figure]:
    for name, what, experiment, program in (
            ("lat", "ping-pong latency", "hlatency", PROGRAM),
            ("bw", "uni-directional bandwidth", "hbandwidth", PROGRAM),
            ("streams", "several streams", "hstreams", "")):
        for stack, (_, _, how) in STACKS.items():
            names = (*kinds(stack), TCP)
            transports = foreign.over(program, names) if program else names
            title = f"Hybrid stacks: {what}, {how}"
            yield Figure(f"h-{name}-{stack}", title, experiment, transports,
                         yardstick=transports[1])
            if stack in ENGINES:
                yield Figure(f"h-{name}-{stack}-rest", f"{title}: time for a message without what "
                             "processors do in an engine's place", experiment, transports[:2], "rest_us",
                             "us", yardstick=transports[1])
    for side, name in (("sending", "tx"), ("receiving", "rx")):
        yield Figure(f"h-copies-{name}", f"Hybrid stacks: how often the {side} host copies a byte",
                     "hbandwidth", foreign.over(PROGRAM, ALL), f"{name}_copies",
                     "copies")


_define()
plan.FIGURES |= {figure.name: figure for figure in _figures()}
