# SPDX-License-Identifier: GPL-2.0
"""What the modes are expected to reach, as ratios within one boot, and whether they do."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from . import plan, table
from .results import Cell, Results
from .rules import RULES, Rule

@dataclass(frozen=True)
class Finding:
    """A rule's outcome: None for the ratio if nothing was measured."""

    rule: Rule
    ratio: float | None
    where: str
    missing: tuple[str, ...]  # transports

    @property
    def met(self) -> bool:
        """Whether the ratio is within the limit."""
        assert self.ratio is not None
        if self.rule.at_least:
            return self.ratio >= self.rule.limit
        return self.ratio <= self.rule.limit


def _median(results: Results, experiment: plan.Experiment, metric: str, transport: str | None,
            point: int) -> float | None:
    """A transport's figure, None if it was not measured; 1 for no transport."""
    if transport is None:
        return 1.0
    cell = results.cell(experiment.name, metric, transport, point)
    return cell.median if cell else None


def _ratios(rule: Rule, results: Results) -> Iterator[tuple[float, str]]:
    """Yield (ratio, where) of each pair at each point that was measured."""
    experiment = plan.EXPERIMENTS[rule.experiment]
    metric = rule.metric or experiment.metric
    for subject, other in rule.pairs:
        names = " to ".join(filter(None, (subject, other)))
        for point in rule.points():
            judged = _median(results, experiment, metric, subject, point)
            against = _median(results, experiment, metric, other, point)
            if judged is None or against is None:
                continue
            ratio = judged / against
            if rule.either_way:
                ratio = max(ratio, 1 / ratio)
            yield ratio, f"{names} at {table.point_name(experiment, point)}"


def _missing(rule: Rule, results: Results) -> tuple[str, ...]:
    """Transports of the rule that have no figures."""
    experiment = plan.EXPERIMENTS[rule.experiment]
    names = dict.fromkeys(name for pair in rule.pairs for name in pair if name)
    return tuple(name for name in names
                 if not any(results.cell(experiment.name, experiment.metric, name, point)
                            for point in rule.points()))


def check(rule: Rule, results: Results) -> Finding:
    """Hold a rule against results: the ratio is the one that decides."""
    found = list(_ratios(rule, results))
    missing = _missing(rule, results)
    if not found:
        return Finding(rule, None, "", missing)
    decide = max if rule.somewhere == rule.at_least else min
    ratio, where = decide(found)
    return Finding(rule, ratio, where, missing)


def line(finding: Finding) -> str:
    """A finding as people read it."""
    rule = finding.rule
    limit = f"{'>=' if rule.at_least else '<='} {rule.limit:.2f}"
    lacks = f"without {', '.join(finding.missing)}" if finding.missing else ""
    if finding.ratio is None:
        verdict, outcome = "not measured", f"{'-':>7}  {limit:<9}{lacks}"
    else:
        verdict = "met" if finding.met else "MISSED"
        outcome = f"{finding.ratio:>7.2f}  {limit:<9}{finding.where}{'; ' if lacks else ''}{lacks}"
    return f"  {verdict:<13}{rule.figure:<16}{rule.text:<50}{outcome}"


def report(results: Results) -> str:
    """The whole bar for the results of one set-up."""
    how = results.method
    lines = [f"The bar: Linux {how['release']}, checksum {how['crc']}",
             f"  {'':<13}{'':<16}{'':<50}{'ratio':>7}  {'limit':<9}decided by"]
    for rule in RULES:
        if not rule.kernel or how["release"].startswith(rule.kernel + "."):
            lines.append(line(check(rule, results)))
    return "\n".join(lines)


def _relation(first: Cell, second: Cell, larger_is_better: bool) -> int:
    """1 if the first cell is better, -1 if the second is, 0 if their runs overlap."""
    if min(first.runs) <= max(second.runs) and min(second.runs) <= max(first.runs):
        return 0
    return 1 if (first.median > second.median) == larger_is_better else -1


def disagreements(counted: Results, wall: Results, experiment: plan.Experiment) -> tuple[int, list[str]]:
    """
    Where two modes are in one order in instruction-counted time and in the
    other in wall-clock time.

    Return how many pairs were compared, and a line for each that is the other
    way round. Modes whose runs overlap in either time contradict nothing.
    """
    larger, compared, lines = experiment.better == "larger", 0, []
    for point in experiment.points:
        for pair in combinations(experiment.transports, 2):
            cells = [cell for results in (counted, wall) for mode in pair
                     if (cell := results.cell(experiment.name, experiment.metric, mode, point))]
            if len(cells) < 4:
                continue
            compared += 1
            relations = [_relation(first, second, larger) for first, second in (cells[:2], cells[2:])]
            if relations[0] * relations[1] < 0:
                better = pair[0] if relations[1] > 0 else pair[1]
                lines.append(f"{experiment.title}, {table.point_name(experiment, point)}: "
                             f"{better} is the better of {' and '.join(pair)} in wall-clock time only")
    return compared, lines


def agreement(counted: Results, wall: Results) -> str:
    """Whether wall-clock time puts the modes in the same order; "" if there is nothing to compare."""
    compared, lines = 0, []
    for experiment in plan.EXPERIMENTS.values():
        more, differ = disagreements(counted, wall, experiment)
        compared += more
        lines += differ
    if not compared:
        return ""
    return "\n".join([f"Wall-clock time on two virtual CPUs puts {compared - len(lines)} of {compared} "
                      "pairs of modes in the same order as counted instructions, or finds them equal.",
                      *(f"  {line_}" for line_ in lines)])
