# SPDX-License-Identifier: GPL-2.0
"""Figures of programs that others wrote, unmodified and with their own defaults."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from . import plan
from .plan import KIB, MIB, Figure

# What users get who change nothing, and what they have now.
DEFAULT, TCP = "auto", "tcp"
# And who has both ends on one machine: then the device is left out.
JOINED = "joined"
# What could be had instead, and what else is there for any program.
ENGINES = (DEFAULT, *plan.MODES)
PEERS = (TCP, "rsockets", "smc")

_SIZES = (64, KIB, 4 * KIB, 16 * KIB, 64 * KIB, MIB)
# A datagram's size is the most that sockperf sends.
_SOCKPERF_SIZES = (64, KIB, 4 * KIB, 16 * KIB, 60 * KIB)
_CLIENTS = (1, 20)
# What one client does repeats itself, and samples would be taken at the same places.
_CROWDS = (20, 50)
_NODELAY = "-N"
_PACKAGES = {
    "qperf": ("qperf",), "iperf3": ("iperf3",), "sockperf": ("sockperf",),
    "nc": ("netcat-openbsd",), "redis": ("redis-server", "redis-tools"),
    "curl": ("nginx-light", "curl"), "wrk": ("nginx-light", "wrk"), "ab": ("nginx-light", "apache2-utils"),
    "pgbench": ("postgresql-15", "postgresql-client-15"),
}


def over(program: str, kinds: Iterable[str]) -> tuple[str, ...]:
    """The names of a program's transports, of those of its sockets."""
    return tuple(f"{program}_{kind}" for kind in kinds)


def _transport(program: str, kind: str) -> plan.Transport:
    settings = plan.TRANSPORTS[kind]
    sockets = "sdp" if settings.program == "sdp" else kind
    return replace(settings, program=f"{program}_{sockets}")


@dataclass(frozen=True)
class _Experiment(plan.Experiment):
    """A measurement by a program: for some seconds of the node's time, or of so much."""

    amount: int = 1
    least: int = 0  # bytes, which short messages need more of to be a stream
    options: str = ""

    def command(self, name: str, point: int) -> str:
        """What the node is told; all of net.sdp but the engine stays as it is by default."""
        transport = plan.TRANSPORTS[name]
        settings = ",".join(f"{key}={value}" for key, value in transport.settings)
        amount = max(self.amount, self.least // point)
        return (f"{transport.program} 0 {settings or '-'} {self.test} {point} {amount} "
                f"{self.options}").rstrip()


def add_experiment(name: str, title: str, program: str, kinds: tuple[str, ...], **more: Any) -> None:
    """An experiment with one program over several kinds of sockets."""
    transports = over(program, kinds)
    plan.TRANSPORTS |= {transport: _transport(program, kind)
                        for transport, kind in zip(transports, kinds)}
    plan.EXPERIMENTS[name] = _Experiment(name, title, transports=transports,
                                         packages=_PACKAGES[program], **more)


def _figures(measured: str, yardstick: str, *figures: tuple[str, ...]) -> None:
    """Of an experiment: (name, title, metric if it is not the experiment's own, unit)."""
    transports = plan.EXPERIMENTS[measured].transports
    plan.FIGURES |= {name: Figure(name, title, measured, transports, yardstick=yardstick,
                                  **dict[str, Any](zip(("metric", "unit"), more)))
                     for name, title, *more in figures}


def _stream(name: str, title: str, program: str, kinds: tuple[str, ...], test: str = "bw", **more: Any) -> None:
    """Bandwidth or latency by the size of messages."""
    bandwidth = test in ("bw", "tp")
    metric, unit, better = ("mbit_per_s", "Mbit/s", "larger") if bandwidth else \
        ("one_way_us", "us", "smaller")
    more = {"points": _SIZES, **more}
    add_experiment(name.replace("-", ""), title, program, kinds, test=test, metric=metric,
                   unit=unit, better=better, axis="message", **more)
    _figures(name.replace("-", ""), f"{program}_{TCP}", (name, title))


def _requests(name: str, title: str, program: str, kinds: tuple[str, ...] = (DEFAULT, TCP), **more: Any) -> None:
    """Answers a second by the number of clients."""
    more = {"points": _CLIENTS, **more}
    add_experiment(name.replace("-", ""), title, program, kinds, test="rate",
                   metric="requests_per_s", unit="1/s", better="larger", axis="clients", **more)
    _figures(name.replace("-", ""), f"{program}_{TCP}", (name, title))


def _cost(name: str, what: str, program: str, kinds: tuple[str, ...] = (DEFAULT, TCP), **more: Any) -> None:
    """Instructions of the kernel, and of the devices in whose place there would be adapters."""
    more = {"axis": "clients", "points": _CROWDS, **more}
    measured = f"{name}cost"
    add_experiment(measured, f"instructions of the kernel for {what}, without device and wire",
                   program, kinds, test="cost", metric="kernel", unit="instructions",
                   better="smaller", more=("device", "program", "idle"), **more)
    _figures(measured, f"{program}_{TCP}",
             (f"{name}-cost", f"The stack's own cost of {what}"),
             (f"{name}-device", f"The devices' cost of {what}", "device", "instructions"))


def _define_streams() -> None:
    _stream("qperf-bw", "Bandwidth by qperf", "qperf", (*ENGINES, TCP))
    _stream("qperf-lat", "Latency by qperf", "qperf", (*ENGINES, TCP), "lat")
    _stream("iperf3", "Bandwidth by iperf3 -N", "iperf3", (*ENGINES, *PEERS), options=_NODELAY)
    _stream("iperf3-nagle", "Bandwidth by iperf3", "iperf3", (*ENGINES, *PEERS))
    _stream("iperf3-both", "Bandwidth both ways by iperf3 -N --bidir", "iperf3", (*ENGINES, TCP),
            options=f"{_NODELAY} --bidir")
    _stream("iperf3-eight", "Bandwidth of eight streams by iperf3 -N -P 8", "iperf3",
            (*ENGINES, TCP), options=f"{_NODELAY} -P 8")
    _stream("sockperf", "Bandwidth by sockperf throughput --tcp-avoid-nodelay", "sockperf",
            (DEFAULT, *PEERS), "tp", points=_SOCKPERF_SIZES, options="--tcp-avoid-nodelay")
    _stream("sockperf-nagle", "Bandwidth by sockperf throughput", "sockperf", (DEFAULT, *PEERS),
            "tp", points=_SOCKPERF_SIZES)
    _stream("sockperf-lat", "Latency by sockperf ping-pong", "sockperf", (DEFAULT, *PEERS), "pp",
            points=_SOCKPERF_SIZES)
    _stream("netcat", "A file of 24 MiB by netcat", "nc", (*ENGINES, *PEERS), points=(24 * MIB,))


def _define_joined() -> None:
    for test, what in (("bw", "Bandwidth"), ("lat", "Latency")):
        _stream(f"joined-qperf-{test}", f"{what} by qperf on one machine", "qperf", (JOINED, TCP), test)
    _stream("joined-iperf3", "Bandwidth by iperf3 -N on one machine", "iperf3", (JOINED, TCP),
            options=_NODELAY)
    _requests("joined-redis", "redis-benchmark -t get -d 100 on one machine", "redis",
              (JOINED, TCP), amount=3000, options="-d 100")
    _requests("joined-nginx", "wrk, a page of 4 KiB from nginx on one machine", "wrk",
              (JOINED, TCP))
    _requests("joined-pgbench", "pgbench, transactions of PostgreSQL on one machine", "pgbench",
              (JOINED, TCP), points=(1, 8), amount=2)


def _define_requests() -> None:
    _requests("redis-get", "redis-benchmark -t get -d 100", "redis", amount=3000,
              options="-d 100")
    _requests("redis-answer", "redis-benchmark -t get -d 10240", "redis", (*ENGINES, TCP),
              amount=2000, options="-d 10240")
    _requests("redis-connect", "redis-benchmark -t get -d 100 -k 0: a connection for each",
              "redis", amount=600, options="-d 100 -k 0")
    _requests("nginx", "wrk, a page of 4 KiB from nginx", "wrk")
    _requests("nginx-connect", "ab, a page of 4 KiB from nginx: a connection for each", "ab",
              amount=400)
    add_experiment("firstanswer", "curl, 10 pages over one connection: the first to the tenth",
                   "curl", (*ENGINES, TCP), test="first", metric="first_to_tenth", unit="",
                   better="smaller", points=(10 * KIB, 100 * KIB, MIB), axis="message")
    _figures("firstanswer", f"curl_{TCP}", ("first-answer", "The first of ten pages to the last"))
    _requests("pgbench", "pgbench, transactions of PostgreSQL", "pgbench", points=(1, 8), amount=2)


def _define_costs() -> None:
    _cost("stream", "a message of a stream (iperf3 -N)", "iperf3", (DEFAULT, TCP, "smc"),
          axis="message", points=(64, KIB, 4 * KIB, 16 * KIB, 64 * KIB), amount=2000,
          least=2 * MIB, options=_NODELAY)
    _cost("redis", "a request of redis", "redis", amount=3000, options="-d 100")
    _cost("nginx", "a request of nginx (ab -k)", "ab", amount=2000, options="-k")
    _cost("pgbench", "a transaction of PostgreSQL", "pgbench", points=(8,), amount=20)


_define_streams()
_define_joined()
_define_requests()
_define_costs()
