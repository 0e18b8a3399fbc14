# SPDX-License-Identifier: GPL-2.0
"""Pictures, by gnuplot."""

import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path

from . import BenchError, plan, table
from .results import Results

_AXES = {
    "message": "message", "unit": "unit of work (bytes)", "computation": "computation after a burst or message (us)",
    "delay": "delay of the wire, one way (us)",
    "window": "messages between two times that the memory is overwritten",
    "connections": "connections", "clients": "clients",
    "markers": "distance of markers, 0: none", "buffers": "buffers sent in turn",
}


def data(results: Results, figure: plan.Figure, transport: str) -> list[str]:
    """Lines for gnuplot: point, median, least, greatest."""
    experiment = plan.EXPERIMENTS[figure.experiment]
    lines = []
    for point in figure.points():
        cell = results.cell(experiment.name, figure.metric or experiment.metric, transport, point)
        if cell:
            lines.append(f"{point} {cell.median} {min(cell.runs)} {max(cell.runs)}")
    return lines


def _axes(experiment: plan.Experiment, figure: plan.Figure) -> Iterator[str]:
    """What the axes say and how they are divided."""
    points = figure.points()
    yield f"set xrange [{points[0]}:{points[-1]}]"
    yield f'set ylabel "{figure.unit or experiment.unit}"'
    yield f'set xlabel "{_AXES[experiment.axis]}"'
    if experiment.axis != "message":
        yield "set yrange [0:*]"
        return
    ticks = ", ".join(f'"{plan.human(point)}" {point}' for point in points)
    yield "set logscale x" if experiment.unit == "%" else "set logscale xy"
    if experiment.unit == "%":
        yield "set yrange [0:100]"
    yield f"set xtics ({ticks}) rotate by -45"


def script(results: Results, figure: plan.Figure, png: Path | str) -> str | None:
    """What gnuplot is told; None if there is nothing to draw a line from."""
    experiment = plan.EXPERIMENTS[figure.experiment]
    blocks, curves = [], []
    for transport in figure.transports:
        lines = data(results, figure, transport)
        if lines:
            blocks += [f"${transport} << END", *lines, "END"]
            style = f'lc rgb "{plan.TRANSPORTS[transport].colour}"'
            curves += [f'${transport} using 1:2:3:4 with yerrorbars {style} pt 7 ps 0.6 notitle',
                       f'${transport} using 1:2 with lines {style} lw 2 '
                       f'title "{plan.TRANSPORTS[transport].label}"']
    if not curves or len(figure.points()) < 2:
        return None
    note = "\\n".join(textwrap.wrap(table.method(results, figure), 150))
    return "\n".join([
        'set terminal pngcairo noenhanced size 1000,760 font "DejaVu Sans,11"',
        f'set output "{png}"', f'set title "{figure.title}"', "set grid", "set key left top",
        "set bmargin 13", f'set label 1 "{note}" at screen 0.02, screen 0.15 font "DejaVu Sans,8"',
        *_axes(experiment, figure), *blocks, "plot " + ", \\\n\t".join(curves), ""])


def draw(results: Results, figure: plan.Figure, directory: Path) -> Path | None:
    """Make the figure's picture; return its path, or None if there is none."""
    png = directory / f"figure-{figure.name}.png"
    text = script(results, figure, png)
    if text is None:
        return None
    done = subprocess.run(["gnuplot"], input=text, text=True, capture_output=True, check=False)
    if done.returncode:
        raise BenchError(f"gnuplot: {done.stderr.strip()}")
    return png
