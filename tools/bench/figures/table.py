# SPDX-License-Identifier: GPL-2.0
"""Tables for people."""

import textwrap
from collections.abc import Iterable

from . import plan
from .results import Cell, Results

WIDTH = 100
_COLUMN = 22
_CLOCKS = {
    "instructions": """\
Instruction-counted virtual time: one guest instruction is one nanosecond, both ends on one virtual \
CPU, two Soft-RoCE devices on one veth pair. The figures are path lengths: what program, kernel and \
emulated device of both ends execute. They know no caches, no parallel work of the two ends, no wire \
and no interrupts between CPUs, so compare columns, and take none for a speed of hardware. They \
hardly depend on what else the machine does. Computation is modelled as sleeping: virtual time \
passes and the CPU is free for the device. A wire's delay is netem's, in virtual time.""",
    "wall": """\
Wall-clock time of an emulated node with two virtual CPUs: it depends on the machine, and on what \
else it does. It shows whether the order of the modes is the same where both ends run at once.""",
}
_CRC = {
    "free": "Soft-RoCE's packet checksum, which adapters have for free, is removed.",
    "software": "Soft-RoCE's packet checksum is computed in software, and dominates.",
}
_IWARP = """\
Instruction-counted virtual time: one guest instruction is one nanosecond, both ends on one virtual \
CPU, iWARP devices of our own on one veth pair. Designs: gso_max_segs 1, so that TCP sends each \
segment by itself; markers; checksums by the table on the host, free for an engine, which is a model: \
500 ns for each transfer and 1 ns for each byte, 1.5 ns where it moves data, in time of its own. \
What processors do in its place is in bandwidth and latency, and not in the host's time. Beside siw: \
with segmentation, as it is."""
_SAMEHOST = """\
Instruction-counted virtual time: one guest instruction is one nanosecond, both programs on one \
virtual CPU. A copy is cheap here, an instruction for 8 bytes, and caches are not known. AF_SDP over \
our own iWARP devices, which copy from one program's memory, or its socket's, to the other's."""
_HYBRID = """\
Instruction-counted virtual time: one guest instruction is one nanosecond, both ends on one \
virtual CPU, iWARP devices of our own on one veth pair, which AF_SDP uses although both ends are \
here; segmentation is left to the pair. Stacks: plain, all by the host, without markers and \
checksums, so that FPDUs are long; host, with both; assisted, an engine has checksums and placement; offloaded, all. The \
engine is a model, and what processors do in its place is in wall time. Checksums by the \
processor's instruction. Ring: programs' bytes are copied to AF_SDP's send ring, from which the \
device sends; integrated: the device copies them itself. Copies are those that the devices and \
AF_SDP count, and an engine's are none of them."""
_TCP = "TCP has no device to pay for in software and its segments cross the pair whole (GSO)."


def _runs(runs: int) -> str:
    """How often a cell was measured."""
    if runs == 1:
        return "one run a cell, on a connection of its own."
    return (f"median of {runs} interleaved runs, each on a connection of its own, behind it the "
            "spread: from the least run to the greatest, as a share of the median.")


def method(results: Results, figure: plan.Figure) -> str:
    """The sentences that say how a figure came about."""
    how = results.method
    about = {"iwarp": [_IWARP], "samehost": [_SAMEHOST], "hybrid": [_HYBRID, _TCP]}
    words = about.get(plan.EXPERIMENTS[figure.experiment].bed,
                      [_CLOCKS[how["clock"]], _CRC[how["crc"]], _TCP])
    return " ".join([*words, f"Linux {how['release']};", _runs(how["runs"])])


def point_name(experiment: plan.Experiment, point: int) -> str:
    """A point of an experiment as people write it."""
    if experiment.axis in ("computation", "delay"):
        return f"{point} us"
    return plan.human(point) if experiment.axis in ("message", "unit") else str(point)


def cell_text(cell: Cell | None, yardstick: Cell | None) -> str:
    """A cell: median, spread, and ratio to the yardstick's cell if there is one."""
    if cell is None:
        return f"{'-':>8}{'':>{_COLUMN - 8}}"
    text = f"{number(cell.median):>8} {cell.spread * 100:>4.1f}%"
    if yardstick and yardstick.median:
        text += f"{number(cell.median / yardstick.median):>6}x"
    return f"{text:<{_COLUMN}}"


def number(value: float) -> str:
    """Three digits or more, and no more behind the point than mean anything."""
    return f"{value:.{0 if value >= 1000 else 1 if value >= 100 else 2}f}"


def figure_table(results: Results, figure: plan.Figure) -> list[str]:
    """The lines of one figure's table; none if it was not measured."""
    experiment = plan.EXPERIMENTS[figure.experiment]
    metric = figure.metric or experiment.metric

    def cell(transport: str, point: int) -> Cell | None:
        return results.cell(experiment.name, metric, transport, point)

    points = figure.points()
    columns = [name for name in figure.transports if any(cell(name, point) for point in points)]
    if not columns:
        return []
    lines = [f"Figure {figure.name}: {figure.title}",
             f"  {experiment.title}; {figure.unit or experiment.unit}, "
             f"{'smaller' if figure.metric else experiment.better} is better"
             + (f"; x: ratio to {plan.TRANSPORTS[figure.yardstick].label}"
                if figure.yardstick else ""),
             f"  {experiment.axis:>12} " +
             "".join(f"{plan.TRANSPORTS[name].label:^{_COLUMN}}" for name in columns).rstrip()]
    for point in points:
        cells = [cell_text(cell(name, point),
                           None if name == figure.yardstick else cell(figure.yardstick, point))
                 for name in columns]
        lines.append(f"  {point_name(experiment, point):>12} " + "".join(cells).rstrip())
    return lines


def render(results: Results, figures: Iterable[plan.Figure]) -> str:
    """The text of several figures, the method under each."""
    parts = []
    for figure in figures:
        lines = figure_table(results, figure)
        if lines:
            parts.append("\n".join(lines + ["", textwrap.fill(method(results, figure), WIDTH)]))
    for transport, why in sorted(results.notes.items()):
        parts.append(f"{plan.TRANSPORTS[transport].label} was not measured: {why}")
    return "\n\n".join(parts)
