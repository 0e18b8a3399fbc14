# SPDX-License-Identifier: GPL-2.0
"""Results made up for tests."""

from collections.abc import Mapping

from figures import plan, results

METHOD = {"kernel": "6.1", "release": "6.1.0-test", "crc": "free", "clock": "instructions", "runs": 3}


def fill(experiment: str, factors: Mapping[str, float], method: results.Method | None = None,
         jitter: float = 0.0) -> results.Results:
    """
    Results of an experiment in which each transport has its factor times
    1000 at every point, in three runs that differ by the jitter.
    """
    made = results.Results(method or METHOD)
    add(made, experiment, factors, jitter)
    return made


def add(made: results.Results, experiment: str, factors: Mapping[str, float], jitter: float = 0.0) -> None:
    """As fill(), into results that are there already."""
    for transport, factor in factors.items():
        for point in plan.EXPERIMENTS[experiment].points:
            for run in (-1, 0, 1):
                made.add(experiment, plan.EXPERIMENTS[experiment].metric, transport, point,
                         1000.0 * factor * (1 + run * jitter))
