# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/bench/bench."""

import argparse
import signal
import sys
import types
from collections.abc import Sequence

from . import BenchError, bar, node, plan, plot, results, table
from .node import Setup

_RUNS = {"instructions": 1, "wall": 5}
_CHECKSUMS = {"free": "without Soft-RoCE's software checksum", "software": "with it"}


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench", description="Measure AF_SDP beside its peers in a virtual node: print tables, "
        "draw pictures, keep the results below build/bench.")
    parser.add_argument("--kernel", default="6.1", help="6.1 (default) or 6.12")
    parser.add_argument("--crc", choices=_CHECKSUMS, default="free",
                        help="free: without Soft-RoCE's software checksum (default); software: with")
    parser.add_argument("--figure", action="append", default=[], metavar="NAME",
                        help="only this one, or those whose names begin so, of "
                        f"{', '.join(plan.FIGURES)}; more than once for more")
    parser.add_argument("--clock", choices=("instructions", "wall", "both"), default="both",
                        help="both (default): count instructions, and repeat the paper's figures "
                        "of bandwidth and progress in wall-clock time")
    parser.add_argument("--runs", type=int, help="of each cell (default: 5 in wall-clock time; 1 of "
                        "counted instructions, which repeat themselves)")
    parser.add_argument("--show", action="store_true", help="measure nothing, print what is there")
    options = parser.parse_args()
    if options.runs is not None and options.runs < 1:
        parser.error("--runs has to be at least 1")
    return options


def _measure(setup: Setup, chosen: Sequence[plan.Figure], runs: int) -> list[str]:
    """Measure what the figures need, and keep it beside what was measured before."""
    experiments = plan.experiments(chosen, setup.clock == "wall")
    jobs = plan.jobs(experiments, runs)
    if not jobs:
        return []
    failures = []
    node.install(sorted({name for experiment in experiments for name in experiment.packages}))
    for bed in dict.fromkeys(experiment.bed for experiment in experiments):
        failures += _measure_on(setup, bed, plan.on_bed(jobs, bed), runs)
    return failures


def _measure_on(setup: Setup, bed: str, jobs: Sequence[plan.Job], runs: int) -> list[str]:
    """Do the jobs that need a node with the devices of a bed."""
    out = setup.directory / f"runs-{bed}"
    release = node.run(setup, bed, jobs, out)
    method = {"kernel": setup.kernel, "release": release, "crc": setup.crc, "clock": setup.clock,
              "runs": runs}
    measured, failures = results.collect(out, jobs, method)
    kept = results.load(setup.directory / "results.json")
    kept.replace(measured)
    (setup.directory / "results.json").write_text(kept.to_json(), encoding="utf-8")
    return failures


def _show(setup: Setup, chosen: Sequence[plan.Figure]) -> None:
    """Print and draw what is there."""
    known = results.load(setup.directory / "results.json")
    if not known.method:
        return
    print(f"\n{table.render(known, chosen)}\n")
    for figure in chosen:
        png = plot.draw(known, figure, setup.directory)
        if png:
            print(f"Picture: {png}")
    print(f"Results: {setup.directory / 'results.json'}\n")


def _conclude(counted: Setup, wall: Setup) -> None:
    """Hold the results against what is expected."""
    known = results.load(counted.directory / "results.json")
    if not known.method:
        return
    print(f"{bar.report(known)}\n")
    same_order = bar.agreement(known, results.load(wall.directory / "results.json"))
    if same_order:
        print(f"{same_order}\n")


def _run(options: argparse.Namespace) -> int:
    counted = Setup(options.kernel, options.crc, "instructions")
    wall = Setup(options.kernel, options.crc, "wall")
    chosen, failures = plan.figures(options.figure), []
    for setup in (counted, wall):
        if options.clock not in ("both", setup.clock):
            continue
        if not options.show:
            failures += _measure(setup, chosen, options.runs or _RUNS[setup.clock])
        _show(setup, [figure for figure in chosen if figure.paper or setup is counted])
    _conclude(counted, wall)
    for failure in failures:
        print(f"bench: failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _terminate(_signal: int, _frame: types.FrameType | None) -> None:
    raise SystemExit(128 + signal.SIGTERM)


def main() -> int:
    """Entry point; returns the exit status."""
    # The node must not outlive the one who waits for it.
    signal.signal(signal.SIGTERM, _terminate)
    try:
        return _run(_parse())
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
