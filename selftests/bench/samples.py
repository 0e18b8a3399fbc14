# SPDX-License-Identifier: GPL-2.0
"""Results made up for tests."""

from figures import plan, results

METHOD = {"kernel": "6.1", "release": "6.1.0-test", "crc": "free", "clock": "instructions", "runs": 3}


def fill(experiment, factors, method=None, jitter=0.0):
    """
    Results of an experiment in which each transport has its factor times
    1000 at every point, in three runs that differ by the jitter.
    """
    made = results.Results(method or METHOD)
    add(made, experiment, factors, jitter)
    return made


def add(made, experiment, factors, jitter=0.0):
    """As fill(), into results that are there already."""
    for transport, factor in factors.items():
        for point in plan.EXPERIMENTS[experiment].points:
            for run in (-1, 0, 1):
                made.add(experiment, plan.EXPERIMENTS[experiment].metric, transport, point,
                         1000.0 * factor * (1 + run * jitter))
