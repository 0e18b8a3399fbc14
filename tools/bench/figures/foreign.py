# SPDX-License-Identifier: GPL-2.0
"""Figures of programs that others wrote, unmodified and with their own defaults."""

from dataclasses import dataclass, replace

from . import plan
from .plan import KIB, MIB, Figure

# What users get who change nothing, what could be had instead, and what they have now.
DEFAULT = "qperf_auto"
FIXED = ("qperf_credit", "qperf_rdma", "qperf_nic")
TCP = "qperf_tcp"
_ALL = (DEFAULT, *FIXED, TCP)

# The same two for redis, under conversion.
REDIS, REDIS_TCP = "redis_auto", "redis_tcp"
_REDIS = (REDIS, REDIS_TCP)
_CLIENTS = (1, 20)
# What one client does repeats itself, and samples would be taken at the same places.
_CROWDS = (20, 50)
_REQUESTS = 3000


TRANSPORTS = {f"qperf_{name}": replace(plan.TRANSPORTS[name], program="qperf_sdp")
              for name in plan.CHOICES}
TRANSPORTS[TCP] = replace(plan.TRANSPORTS["tcp"], program=TCP)
TRANSPORTS[REDIS] = replace(plan.TRANSPORTS["auto"], program="redis_sdp")
TRANSPORTS[REDIS_TCP] = replace(plan.TRANSPORTS["tcp"], program=REDIS_TCP)

_SIZES = (64, KIB, 4 * KIB, 16 * KIB, 64 * KIB, MIB)


@dataclass(frozen=True)
class _Experiment(plan.Experiment):
    """A measurement of qperf's, for a second of the node's time, or of redis-benchmark's."""

    amount: int = 1

    def command(self, name, point):
        """What the node is told; all of net.sdp but the engine stays as it is by default."""
        transport = TRANSPORTS[name]
        settings = ",".join(f"{key}={value}" for key, value in transport.settings)
        return f"{transport.program} 0 {settings or '-'} {self.test} {point} {self.amount}"


def _redis(name, title, test, amount, metric="requests_per_s", **more):
    better = {"unit": "1/s", "better": "larger", "points": _CLIENTS, **more}
    return _Experiment(name, f"redis-benchmark -t get -d 100, {title}", test, metric, **better,
                       transports=_REDIS, axis="clients", amount=amount)


EXPERIMENTS = {experiment.name: experiment for experiment in (
    _Experiment("qperfbandwidth", "qperf's bandwidth, its defaults and those of net.sdp", "bw",
                "mbit_per_s", "Mbit/s", "larger", _ALL, _SIZES, "message"),
    _Experiment("qperflatency", "qperf's latency, its defaults and those of net.sdp", "lat",
                "one_way_us", "us", "smaller", _ALL, _SIZES, "message"),
    _redis("redisget", "answers a second", "get", _REQUESTS),
    _redis("redisconnect", "a connection for each request (-k 0)", "connect", _REQUESTS // 5),
    _redis("rediscost", "instructions of the kernel for a request, without device and wire",
           "cost", _REQUESTS, "kernel", unit="instructions", better="smaller",
           points=_CROWDS, more=("device", "program", "idle")),
)}

plan.TRANSPORTS |= TRANSPORTS
plan.EXPERIMENTS |= EXPERIMENTS
plan.FIGURES |= {figure.name: figure for figure in (
    Figure("qperf-bw", "Bandwidth by qperf", "qperfbandwidth", _ALL, yardstick=TCP),
    Figure("qperf-lat", "Latency by qperf", "qperflatency", _ALL, yardstick=TCP),
    Figure("redis-get", "Requests by redis-benchmark", "redisget", _REDIS, yardstick=REDIS_TCP),
    Figure("redis-connect", "Connections by redis-benchmark", "redisconnect", _REDIS,
           yardstick=REDIS_TCP),
    Figure("redis-cost", "The stack's own cost of a request", "rediscost", _REDIS,
           yardstick=REDIS_TCP),
    Figure("redis-device", "The devices' cost of a request", "rediscost", _REDIS, "device",
           "instructions", yardstick=REDIS_TCP),
)}
