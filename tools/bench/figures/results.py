# SPDX-License-Identifier: GPL-2.0
"""From the runs of a node to cells: median and spread of each."""

import json
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pathlib import Path
from typing import Any, Self

from . import hybrid, plan, stacks

# Of a run: the kernel asked for, its release, checksum, clock, and how many runs there are of a cell.
Method = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """What all runs of one transport at one point say."""

    runs: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle of the runs."""
        return statistics.median(self.runs)

    @property
    def spread(self) -> float:
        """From the least run to the greatest, as a share of the median."""
        return (max(self.runs) - min(self.runs)) / self.median if self.median else 0.0


class Results:
    """Cells of one set-up, by experiment, metric, transport and point."""

    def __init__(self, method: Method | None = None) -> None:
        self.method = dict(method or {})
        self.notes: dict[str, str] = {}  # why a transport has no figures
        self._runs: dict[tuple[str, str, str, int], list[float]] = {}

    def add(self, experiment: str, metric: str, transport: str, point: int, value: float) -> None:
        """Take one more run."""
        self._runs.setdefault((experiment, metric, transport, point), []).append(value)

    def cell(self, experiment: str, metric: str, transport: str, point: int) -> Cell | None:
        """The cell, or None if there was no run."""
        runs = self._runs.get((experiment, metric, transport, point))
        return Cell(tuple(runs)) if runs else None

    def has(self, experiment: str) -> bool:
        """Whether the experiment has been done."""
        return any(key[0] == experiment for key in self._runs)

    def replace(self, other: "Results") -> None:
        """Forget what the other results measured anew, and take it from there."""
        # pylint: disable=protected-access
        done = {key[0] for key in other._runs}
        self._runs = {key: runs for key, runs in self._runs.items() if key[0] not in done}
        self._runs.update(other._runs)
        self.method = other.method
        self.notes.update(other.notes)
        measured = {key[2] for key in self._runs}
        self.notes = {name: why for name, why in self.notes.items() if name not in measured}

    def to_json(self) -> str:
        """As text that from_json() reads; the medians are for other programs."""
        cells = [
            {"experiment": experiment, "metric": metric, "transport": transport, "point": point,
             "median": statistics.median(runs), "lowest": min(runs), "highest": max(runs),
             "runs": runs}
            for (experiment, metric, transport, point), runs in sorted(self._runs.items())]
        return json.dumps({"method": self.method, "notes": self.notes, "cells": cells}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """What to_json() made the text of."""
        document = json.loads(text)
        results = cls(document["method"])
        results.notes = document["notes"]
        for cell in document["cells"]:
            key = (cell["experiment"], cell["metric"], cell["transport"], cell["point"])
            results._runs[key] = cell["runs"]
        return results


def load(path: Path) -> Results:
    """The results in a file; none, if it is not there."""
    return Results.from_json(path.read_text(encoding="utf-8")) if path.exists() else Results()


def collect(directory: Path, jobs: Iterable[plan.Job], method: Method) -> tuple[Results, list[str]]:
    """
    Read what a node left for each job.

    Return the results, and for each job that gave none the reason.
    """
    results, failures = Results(method), []
    for job in jobs:
        stem = directory / f"{job.number:05d}"
        skipped, measured = stem.with_suffix(".skipped"), stem.with_suffix(".json")
        if skipped.exists():
            results.notes[job.transport] = skipped.read_text(encoding="utf-8").strip()
        elif measured.exists():
            found = json.loads(measured.read_text(encoding="utf-8"))[0]
            if stem.with_suffix(".few").exists():
                found = stacks.read(stem, found, not job.transport.endswith("tcp"))
            if stem.with_suffix(".counters").exists():
                size = plan.EXPERIMENTS[job.experiment].size or job.point
                found |= hybrid.metrics(found, _counters(stem.with_suffix(".counters")), size)
            _take(results, job, found)
        else:
            failed = stem.with_suffix(".failed")
            reason = failed.read_text(encoding="utf-8", errors="replace").strip() \
                if failed.exists() else "the node ended before"
            failures.append(f"{job.command}: {reason}")
    return results, failures


def _counters(path: Path) -> dict[str, int]:
    """What a node has counted during a job."""
    lines = path.read_text(encoding="ascii").splitlines()
    return {name: int(value) for name, value in map(str.split, lines)}


def _take(results: Results, job: plan.Job, measured: dict[str, Any]) -> None:
    """Add a run's figure, and the processor time that goes with it."""
    experiment = plan.EXPERIMENTS[job.experiment]
    if "unread_bytes" in measured:
        measured["fill_percent"] = 100 * measured["unread_bytes"] / experiment.ring
    for metric in dict.fromkeys((experiment.metric, "busy_us_per_message", *experiment.more)):
        if metric in measured:
            results.add(job.experiment, metric, job.transport, job.point, measured[metric])
