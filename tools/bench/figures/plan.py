# SPDX-License-Identifier: GPL-2.0
"""What is measured, in which order, and which figures are drawn from it."""

from dataclasses import dataclass

from . import BenchError

KIB = 1 << 10
MIB = 1 << 20

MODES = ("credit", "rdma", "nic")
PEERS = ("verbs", "verbs_write", "rsockets", "smc", "tcp")
# How transports are called where people read.
NAMES = {
    "credit": "AF_SDP credit", "rdma": "AF_SDP rdma", "nic": "AF_SDP nic",
    "verbs": "raw verbs", "verbs_write": "raw write", "rsockets": "rsockets",
    "smc": "SMC-R", "tcp": "TCP",
}

_MANY = 3000
DEFAULT_BUFFERS = "16x65536"
PAPER_BUFFERS = "8x8192"
# An exchange is a burst to and fro; few of them make a long pass.
EXCHANGES = 8
ROUND_TRIPS = 300

_PAPER_SIZES = (1, 4, 16, 64, 256, 512, KIB, 2 * KIB, 4 * KIB, 8 * KIB, 16 * KIB, 64 * KIB)
_LARGE_SIZES = (256 * KIB, MIB)


def human(size):
    """A size as people write it."""
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def messages(size):
    """Messages of a pass: enough for a steady state, few enough for an emulated node."""
    return max(32, min(1000, (16 * MIB) // size))


def _slow(size):
    """Microseconds that make a receiver slower than any sender: 500 Mbit/s, 20,000 messages/s."""
    return max(50, -(-size * 8 // 500))


@dataclass(frozen=True)
class Experiment:
    """One kind of measurement at several points."""

    name: str
    title: str
    test: str  # of sdpbench
    metric: str  # in its results
    unit: str
    better: str  # "larger" or "smaller"
    transports: tuple
    points: tuple
    axis: str  # what a point is
    buffers: str = DEFAULT_BUFFERS
    size: int = 0  # of a message, where it is not the point
    passes: int = 0  # how often the receiver's ring is filled, where that counts

    @property
    def ring(self):
        """Bytes of all buffers of one end."""
        number, size = self.buffers.split("x")
        return int(number) * int(size)

    def command(self, transport, point):
        """What the node is told, but for the job's number."""
        size = self.size or point
        if self.test == "progress":
            return f"{transport} progress {size} {EXCHANGES} {point} {self.buffers}"
        count = ROUND_TRIPS if self.test == "lat" else messages(size)
        if self.passes:
            count = min(_MANY, self.passes * self.ring // size)
            return f"{transport} {self.test} {size} {count} {_slow(size)} {self.buffers}"
        return f"{transport} {self.test} {size} {count} 0 {self.buffers}"


EXPERIMENTS = {experiment.name: experiment for experiment in (
    Experiment(
        "latency", "Ping-pong latency: half a round trip", "lat", "one_way_us", "us", "smaller",
        MODES + ("verbs", "rsockets", "smc", "tcp"), (1, 64, 256, KIB, 4 * KIB, 16 * KIB, 64 * KIB),
        "message"),
    Experiment(
        "bandwidth", "Uni-directional bandwidth, 8 buffers of 8 KiB", "bw", "mbit_per_s", "Mbit/s",
        "larger", MODES, _PAPER_SIZES, "message", PAPER_BUFFERS),
    Experiment(
        "peers", "Uni-directional bandwidth beside the peers, rings of 1 MiB", "bw", "mbit_per_s",
        "Mbit/s", "larger", MODES + PEERS,
        (1, 64, 256, KIB, 4 * KIB, 16 * KIB, 64 * KIB) + _LARGE_SIZES, "message"),
    Experiment(
        "progress", "Communication progress: bursts of 100 x 4 KiB to and fro, 8 buffers of 8 KiB",
        "progress", "exchange_us", "us", "smaller", MODES,
        (0, 250, 500, 1000, 1500, 2000, 3000, 4000), "computation", PAPER_BUFFERS, 4 * KIB),
)}


FILL_SIZES = (256, 512, KIB, 4 * KIB, 8 * KIB, 32 * KIB)


def _fill(name, number, size):
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
    transports: tuple
    metric: str = ""  # if it is not the experiment's own
    unit: str = ""
    largest: int = 1 << 62  # point
    paper: bool = False  # whether the paper has it, so that wall-clock time has to agree
    yardstick: str = ""  # transport that the others are compared with

    def points(self):
        """The experiment's points as far as the figure shows them."""
        return [point for point in EXPERIMENTS[self.experiment].points if point <= self.largest]


FIGURES = {figure.name: figure for figure in (
    Figure("4a", "Ping-pong latency", "latency", MODES + ("verbs", "rsockets", "smc", "tcp"),
           yardstick="verbs"),
    Figure("4b", "Uni-directional bandwidth of the modes", "bandwidth", MODES, paper=True,
           yardstick="credit"),
    Figure("5", "Communication progress", "progress", MODES, paper=True, yardstick="credit"),
    Figure("6a", "Buffer utilisation, 8 KiB x 8", "fill8", MODES),
    Figure("6b", "Buffer utilisation, 32 KiB x 8", "fill32", MODES),
    Figure("peers", "Uni-directional bandwidth beside the peers", "peers", MODES + PEERS,
           yardstick="verbs"),
    Figure("cpu", "Processor time for a message", "peers", MODES + ("rsockets", "smc", "tcp"),
           "busy_us_per_message", "us", yardstick="credit"),
)}


def figures(names):
    """The figures of these names; all, for none."""
    for name in names:
        if name not in FIGURES:
            raise BenchError(f"there is no figure '{name}'; there are {', '.join(FIGURES)}")
    return [FIGURES[name] for name in names or FIGURES]


def experiments(chosen, wall_clock):
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

    def line(self):
        """As the node reads it."""
        return f"{self.number:05d} {self.command}"


def jobs(chosen, runs):
    """
    Jobs of these experiments in the order in which they are done: the transports
    of a point side by side, and all points before any again, so that whatever
    changes in the node with time does not favour one of them.
    """
    todo = []
    for _ in range(runs):
        for experiment in chosen:
            for point in experiment.points:
                for transport in experiment.transports:
                    todo.append(Job(len(todo), experiment.name, transport, point,
                                    experiment.command(transport, point)))
    return todo
