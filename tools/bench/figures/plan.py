# SPDX-License-Identifier: GPL-2.0
"""What is measured, in which order, and which figures are drawn from it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from . import BenchError

KIB = 1 << 10
MIB = 1 << 20

# Of (name, value).
Settings = tuple[tuple[str, str | int], ...]


@dataclass(frozen=True)
class Transport:
    """One way to move bytes: a program, and for AF_SDP how net.sdp is set."""

    label: str
    program: str
    colour: str
    settings: Settings = ()


def _engine(name: str, colour: str) -> Transport:
    return Transport(f"AF_SDP {name}", "sdp", colour, (("flow_control", name),))


def _zcopy(label: str, colour: str, mode: str, fault: str = "copy",
           more: Settings = (("zcopy_threshold", 4 * KIB),)) -> Transport:
    return Transport(label, "sdp", colour, (("flow_control", "credit"), ("zcopy", mode),
                                            ("zcopy_fault", fault), *more))


TRANSPORTS = {
    "credit": _engine("credit", "#d62728"),
    "rdma": _engine("rdma", "#1f77b4"),
    "nic": _engine("nic", "#2ca02c"),
    "auto": _engine("auto", "#17becf"),
    # Both ends are in one kernel, which all others here do not make use of.
    "joined": Transport("AF_SDP joined", "sdp", "#bcbd22", (("flow_control", "auto"), ("local", 1))),
    "bsdp": _zcopy("BSDP", "#d62728", "off"),
    "zsdp": _zcopy("ZSDP", "#1f77b4", "sync"),
    # These choose for each write, also whether to copy it.
    "azsdp": _zcopy("AZ-SDP copy", "#2ca02c", "async", more=()),
    "azblock": _zcopy("AZ-SDP block", "#ff7f0e", "async", "block", more=()),
    # As the paper's: all is advertised.
    "azoffer": _zcopy("AZ-SDP offer", "#8c564b", "async",
                      more=(("zcopy_threshold", 4 * KIB), ("zcopy_direct", 0))),
    # And its reads: not with Linux 6.1.
    "azboth": _zcopy("AZ-SDP both", "#9467bd", "async",
                     more=(("zcopy_threshold", 4 * KIB), ("zcopy_direct", 0),
                           ("zcopy_recv", "async"))),
    "verbs": Transport("raw verbs", "verbs", "#000000"),
    "verbs_write": Transport("raw write", "verbs_write", "#7f7f7f"),
    "verbs_read": Transport("raw read", "verbs_read", "#7f7f7f"),
    "rsockets": Transport("rsockets", "rsockets", "#9467bd"),
    "smc": Transport("SMC-R", "smc", "#ff7f0e"),
    "tcp": Transport("TCP", "tcp", "#8c564b"),
    "guard_off": Transport("copy it", "guard_off", "#d62728"),
    "guard_copy": Transport("guard 'copy'", "guard_copy", "#2ca02c"),
    "guard_block": Transport("guard 'block'", "guard_block", "#ff7f0e"),
    "guard_mprotect": Transport("mprotect() twice", "guard_mprotect", "#7f7f7f"),
}

MODES = ("credit", "rdma", "nic")
# The papers know the modes only.
CHOICES = ("auto", *MODES)
PEERS = ("verbs", "verbs_write", "rsockets", "smc", "tcp")
GUARDS = ("guard_off", "guard_copy", "guard_block", "guard_mprotect")
ZCOPY = ("bsdp", "zsdp", "azsdp", "azblock")
# The paper's own forms besides.
ZFORMS = ZCOPY + ("azoffer", "azboth")

_MANY = 3000
_GUARD_TIMES = 5
# Between bursts, so that samples are not taken at the same place of each message.
_OUT_OF_STEP = "--compute 100 --uneven"
# Of the shorter of two runs; the other is five times as long.
_PROFILE_BYTES = 48 * MIB
DEFAULT_BUFFERS = "16x65536"
PAPER_BUFFERS = "8x8192"
# An exchange is a burst to and fro; few of them make a long pass.
EXCHANGES = 8
ROUND_TRIPS = 300
# The hot spot's, of each client: there are several.
HOT_TRIPS = 40
# What a figure of the zero-copy paper is measured over, one way.
WIRE = 50
# A short message by credits takes one processor 32 microseconds on Linux 6.1, and 38 on 6.12,
# both ends together (figure 4b); the round trip of this wire, ten times as long.
FAR_WIRE = 160

_PAPER_SIZES = (1, 4, 16, 64, 256, 512, KIB, 2 * KIB, 4 * KIB, 8 * KIB, 16 * KIB, 64 * KIB)
_LARGE_SIZES = (256 * KIB, MIB)


def human(size: int) -> str:
    """A size as people write it."""
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def messages(size: int) -> int:
    """Messages of a pass: enough for a steady state, few enough for an emulated node.

    Modes that hold small messages together send the first of a burst as they come.
    """
    return max(32, min(10000, (16 * MIB) // size))


def _slow(size: int) -> int:
    """Microseconds that make a receiver slower than any sender: 500 Mbit/s, 20,000 messages/s."""
    return max(50, -(-size * 8 // 500))


# How sdpbench is told of a point that is neither a size nor a wire.
_OPTIONS = {"computation": "--compute", "window": "--burst", "connections": "--connections"}


@dataclass(frozen=True)
class Experiment:
    """One kind of measurement at several points."""

    name: str
    title: str
    test: str  # of sdpbench
    metric: str  # in its results
    unit: str
    better: str  # "larger" or "smaller"
    transports: tuple[str, ...]
    points: tuple[int, ...]
    axis: str  # what a point is
    buffers: str = DEFAULT_BUFFERS
    size: int = 0  # of a message, where it is not the point
    passes: int = 0  # how often the receiver's ring is filled, where that counts
    wire: int = 0  # microseconds that it takes one way
    connections: int = 1  # where they are not the point
    settings: Settings = ()  # of net.sdp, for all transports
    more: tuple[str, ...] = ()  # other metrics in the results
    bed: str = "rxe"  # whose devices the node has
    packages: tuple[str, ...] = ()  # of Debian's, with what it needs besides

    @property
    def ring(self) -> int:
        """Bytes of all buffers of one end."""
        number, size = self.buffers.split("x")
        return int(number) * int(size)

    def _count(self, size: int) -> int:
        """Messages of a pass, round trips or exchanges."""
        if self.test == "guard":
            return _GUARD_TIMES
        if self.test == "profile":
            return max(8, _PROFILE_BYTES // size)
        if self.passes:
            return min(_MANY, self.passes * self.ring // size)
        if self.test == "progress":
            return EXCHANGES
        if self.test == "hotspot":
            return HOT_TRIPS
        if self.test == "lat" and size <= 64 * KIB:
            return ROUND_TRIPS
        return messages(size)

    def _options(self, size: int, point: int) -> str:
        """What else sdpbench is told."""
        if self.test == "guard":
            return "--huge" if point > 4 * KIB else ""
        if self.test == "profile":
            return f"--burst {max(1, MIB // size)} {_OUT_OF_STEP}"
        if self.passes:
            return f"--compute {_slow(size)}"
        if self.axis in _OPTIONS:
            return f"{_OPTIONS[self.axis]} {point}"
        return f"--connections {self.connections}" if self.connections > 1 else ""

    def _settings(self, transport: Transport) -> str:
        """How net.sdp is set: all modes get the same memory."""
        number, size = self.buffers.split("x")
        settings = (("ring_size", self.ring), ("num_buffers", number), ("buffer_size", size),
                    *transport.settings, *self.settings)
        return ",".join(f"{name}={value}" for name, value in settings)

    def command(self, name: str, point: int) -> str:
        """What the node is told, but for the job's number."""
        transport = TRANSPORTS[name]
        size = self.size or point
        wire = point if self.axis == "delay" else self.wire
        settings = self._settings(transport) if transport.program == "sdp" else "-"
        return (f"{transport.program} {wire} {settings} {self.test} {size} "
                f"{self._count(size)} {self._options(size, point)}").rstrip()


EXPERIMENTS = {experiment.name: experiment for experiment in (
    Experiment(
        "latency", "Ping-pong latency: half a round trip", "lat", "one_way_us", "us", "smaller",
        CHOICES + ("verbs", "rsockets", "smc", "tcp"),
        (1, 64, 256, KIB, 4 * KIB, 16 * KIB, 64 * KIB), "message"),
    Experiment(
        "bandwidth", "Uni-directional bandwidth, 8 buffers of 8 KiB", "bw", "mbit_per_s", "Mbit/s",
        "larger", MODES, _PAPER_SIZES, "message", PAPER_BUFFERS),
    Experiment(
        "farbandwidth", "Uni-directional bandwidth over a long wire, 8 buffers of 8 KiB", "bw",
        "mbit_per_s", "Mbit/s", "larger", MODES, _PAPER_SIZES, "message", PAPER_BUFFERS,
        wire=FAR_WIRE),
    Experiment(
        "peers", "Uni-directional bandwidth beside the peers, rings of 1 MiB", "bw", "mbit_per_s",
        "Mbit/s", "larger", CHOICES + PEERS,
        (1, 64, 256, KIB, 4 * KIB, 16 * KIB, 64 * KIB) + _LARGE_SIZES, "message"),
    Experiment(
        "progress", "Communication progress: bursts of 100 x 4 KiB to and fro, 8 buffers of 8 KiB",
        "progress", "exchange_us", "us", "smaller", MODES,
        (0, 250, 500, 1000, 1500, 2000, 3000, 4000), "computation", PAPER_BUFFERS, 4 * KIB),
)}

_ZCOPY_SIZES = tuple(size * KIB for size in (4, 8, 16, 32, 64, 128, 256, 1024))
_FEW_SIZES = tuple(size * KIB for size in (16, 64, 256, 1024))
_DELAYS = (0, 10, 25, 50, 100)
# The paper's are up to 200, on machines that are four times as fast.
_COMPUTATIONS = (0, 50, 100, 200, 250, 300, 400, 800)
_WINDOWS = (1, 2, 4, 8, 16, 32)
_CLIENTS = 6
# As in the paper: that a socket gives up would be measured otherwise.
_NEVER_GIVE_UP = (("zcopy_fault_limit", 100),)


def _over_wire(name: str, title: str, test: str, transports: tuple[str, ...], points: tuple[int, ...], axis: str,
               **more: Any) -> Experiment:
    """An experiment of the zero-copy paper."""
    metric, unit, better = ("one_way_us", "us", "smaller") if test in ("lat", "hotspot") else \
        ("mbit_per_s", "Mbit/s", "larger")
    more = {"wire": WIRE, "settings": _NEVER_GIVE_UP, "metric": metric, "unit": unit,
            "better": better, **more}
    if more["wire"]:
        title += f", over a wire of {more['wire']} us"
    return Experiment(name=name, title=title, test=test, transports=transports, points=points,
                      axis=axis, **more)


def _zcopy_basics() -> Iterator[Experiment]:
    """Figure 6 of the zero-copy paper, and the wire's share."""
    yield _over_wire("zlatency", "Ping-pong latency: half a round trip", "lat",
                     ZFORMS + ("verbs",), _ZCOPY_SIZES, "message")
    yield _over_wire("zbandwidth", "Uni-directional throughput", "bw",
                     ZFORMS + ("verbs", "verbs_read"), _ZCOPY_SIZES, "message")
    yield _over_wire("zdelay", "Uni-directional throughput of 64 KiB by the wire's delay", "bw",
                     ZCOPY + ("verbs_read",), _DELAYS, "delay", size=64 * KIB, wire=0)


def _zcopy_programs() -> Iterator[Experiment]:
    """Figures 7 and 8: what the sending program does besides."""
    for name, size in (("64k", 64 * KIB), ("1m", MIB)):
        yield _over_wire(f"zoverlap{name}", f"Throughput of {human(size)}, computation after each "
                         "message", "bw", ZFORMS, _COMPUTATIONS, "computation", size=size)
    for name, size in (("64k", 64 * KIB), ("1m", MIB)):
        yield _over_wire(f"ztouch{name}", f"Throughput of {human(size)}, memory overwritten after "
                         "each window of messages", "touch", ZFORMS, _WINDOWS, "window", size=size)
    yield _over_wire("ztouch", "Throughput, memory overwritten after each message, "
                     "net.sdp.zcopy_fault_limit as it is", "touch", ZCOPY, _ZCOPY_SIZES, "message",
                     settings=())


def _zcopy_crowds() -> Iterator[Experiment]:
    """Figures 9 and 10: several connections."""
    yield _over_wire("zhot", f"Half a round trip, {_CLIENTS} clients served in turn", "hotspot",
                     ZFORMS, _FEW_SIZES, "message", connections=_CLIENTS)
    yield _over_wire("zstreams", "Throughput of all streams together, 64 KiB", "bw", ZFORMS,
                     (1, 2, 4, 8), "connections", size=64 * KIB)
    yield _over_wire("zclients", f"Throughput of {_CLIENTS} clients together", "bw", ZFORMS,
                     _FEW_SIZES, "message", connections=_CLIENTS)


def _zcopy_experiments() -> tuple[Experiment, ...]:
    """All of the zero-copy paper."""
    return (*_zcopy_basics(), *_zcopy_programs(), *_zcopy_crowds())


EXPERIMENTS["profile"] = _over_wire(
    "profile", "Instructions of sdp.ko for a byte: the sender's calls, and both ends' completions",
    "profile", ZCOPY, _FEW_SIZES, "message", metric="host", unit="instructions", better="smaller",
    more=("sender", "completions", "receiver", "device", "other"))

EXPERIMENTS["guard"] = Experiment(
    "guard", "Copying memory, or protecting it and letting it go, each 4 KiB, by the size of pages",
    "guard", "warm", "ns", "smaller", GUARDS, (4 * KIB, 2 * MIB), "message",
    more=("cold", "after", "given", "early"))

EXPERIMENTS |= {experiment.name: experiment for experiment in _zcopy_experiments()}


FILL_SIZES = (256, 512, KIB, 4 * KIB, 8 * KIB, 32 * KIB)


def _fill(name: str, number: int, size: int) -> Experiment:
    return Experiment(
        name, f"Share of the receiver's buffers that holds data, {number} buffers of "
        f"{human(size)}, slow reader", "fill", "fill_percent", "%", "larger", MODES, FILL_SIZES,
        "message", f"{number}x{size}", passes=16)


for _experiment in (_fill("fill8", 8, 8 * KIB), _fill("fill32", 8, 32 * KIB)):
    EXPERIMENTS[_experiment.name] = _experiment


@dataclass(frozen=True)
class Figure:
    """A picture and a table of one experiment's results."""

    name: str
    title: str
    experiment: str
    transports: tuple[str, ...]
    metric: str = ""  # if it is not the experiment's own
    unit: str = ""
    largest: int = 1 << 62  # point
    paper: bool = False  # whether the paper has it, so that wall-clock time has to agree
    yardstick: str = ""  # transport that the others are compared with

    def points(self) -> list[int]:
        """The experiment's points as far as the figure shows them."""
        return [point for point in EXPERIMENTS[self.experiment].points if point <= self.largest]


FIGURES = {figure.name: figure for figure in (
    Figure("4a", "Ping-pong latency", "latency", CHOICES + ("verbs", "rsockets", "smc", "tcp"),
           yardstick="verbs"),
    Figure("4b", "Uni-directional bandwidth of the modes", "bandwidth", MODES, paper=True,
           yardstick="credit"),
    Figure("4b-far", "Uni-directional bandwidth of the modes over a long wire", "farbandwidth",
           MODES, yardstick="credit"),
    Figure("5", "Communication progress", "progress", MODES, paper=True, yardstick="credit"),
    Figure("6a", "Buffer utilisation, 8 KiB x 8", "fill8", MODES),
    Figure("6b", "Buffer utilisation, 32 KiB x 8", "fill32", MODES),
    Figure("peers", "Uni-directional bandwidth beside the peers", "peers", CHOICES + PEERS,
           yardstick="verbs"),
    Figure("z6a", "Zero copy: ping-pong latency", "zlatency",
           ZFORMS + ("verbs",), yardstick="zsdp"),
    Figure("z6b", "Zero copy: uni-directional throughput", "zbandwidth",
           ZFORMS + ("verbs", "verbs_read"), yardstick="zsdp"),
    Figure("z6c", "Zero copy: throughput by the wire's delay", "zdelay", ZCOPY + ("verbs_read",),
           yardstick="zsdp"),
    Figure("z7a", "Zero copy: computation and communication, 64 KiB", "zoverlap64k", ZFORMS,
           paper=True, yardstick="zsdp"),
    Figure("z7b", "Zero copy: computation and communication, 1 MiB", "zoverlap1m", ZFORMS,
           yardstick="zsdp"),
    Figure("z8a", "Zero copy: impact of page faults, 64 KiB", "ztouch64k", ZFORMS, yardstick="bsdp"),
    Figure("z8b", "Zero copy: impact of page faults, 1 MiB", "ztouch1m", ZFORMS, yardstick="bsdp"),
    Figure("z8c", "Zero copy: memory overwritten after each message", "ztouch", ZCOPY,
           yardstick="bsdp"),
    Figure("z9", "Zero copy: hot spot", "zhot", ZFORMS, yardstick="zsdp"),
    Figure("z10a", "Zero copy: several streams", "zstreams", ZFORMS, yardstick="zsdp"),
    Figure("z10b", "Zero copy: several clients", "zclients", ZFORMS, yardstick="zsdp"),
    Figure("zcpu", "Zero copy: processor of the sender, without its device", "profile", ZCOPY,
           yardstick="bsdp"),
    Figure("zcpu-calls", "Zero copy: the sender's calls alone", "profile", ZCOPY, "sender",
           "instructions", yardstick="bsdp"),
    Figure("zcpu-device", "Zero copy: the devices of both ends", "profile", ZCOPY, "device",
           "instructions", yardstick="bsdp"),
    Figure("zguard-warm", "Guards: memory in the caches", "guard", GUARDS, yardstick="guard_off"),
    Figure("zguard-cold", "Guards: memory not in the caches", "guard", GUARDS, "cold", "ns",
           yardstick="guard_off"),
    Figure("zguard-after", "Guards: writing to the memory after it was sent", "guard", GUARDS,
           "after", "ns"),
    Figure("zguard-given", "Guards: giving the memory back before it is read into", "guard",
           ("guard_copy", "guard_block"), "given", "ns"),
    Figure("zguard-early", "Guards: writing to the memory before it was sent", "guard",
           ("guard_copy",), "early", "ns"),
    Figure("cpu", "Processor time for a message", "peers", CHOICES + ("rsockets", "smc", "tcp"),
           "busy_us_per_message", "us", yardstick="credit"),
)}


def figures(names: Iterable[str]) -> list[Figure]:
    """The figures of these names, or whose names begin so; all, for none."""
    chosen = []
    for name in names:
        found = [name] if name in FIGURES else [item for item in FIGURES if item.startswith(name)]
        if not found:
            raise BenchError(f"there is no figure '{name}'; there are {', '.join(FIGURES)}")
        chosen += found
    return [FIGURES[name] for name in dict.fromkeys(chosen or FIGURES)]


def experiments(chosen: Iterable[Figure], wall_clock: bool) -> list[Experiment]:
    """What has to be measured for these figures, each once."""
    names = [figure.experiment for figure in chosen if figure.paper or not wall_clock]
    return [EXPERIMENTS[name] for name in dict.fromkeys(names)]


@dataclass(frozen=True)
class Job:
    """One run of one cell."""

    number: int
    experiment: str
    transport: str
    point: int
    command: str

    def line(self) -> str:
        """As the node reads it."""
        return f"{self.number:05d} {self.command}"


def on_bed(todo: Iterable[Job], bed: str) -> list[Job]:
    """Those of these jobs that need the devices of a bed."""
    return [job for job in todo if EXPERIMENTS[job.experiment].bed == bed]


def jobs(chosen: Sequence[Experiment], runs: int) -> list[Job]:
    """
    Jobs of these experiments in the order in which they are done: the transports
    of a point side by side, and all points before any again, so that whatever
    changes in the node with time does not favour one of them.
    """
    todo: list[Job] = []
    for _ in range(runs):
        for experiment in chosen:
            for point in experiment.points:
                for transport in experiment.transports:
                    todo.append(Job(len(todo), experiment.name, transport, point,
                                    experiment.command(transport, point)))
    return todo
