# SPDX-License-Identifier: GPL-2.0
"""Run jobs in a node of the test bed, and show how far it is."""

import os
import pathlib
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from . import BenchError
from .plan import Job

REPO = pathlib.Path(__file__).resolve().parents[3]
BUILD = REPO / "build"
_LIMIT_SECONDS = 5400
_BAR_WIDTH = 40


@dataclass(frozen=True)
class Setup:
    """In what a figure is measured."""

    kernel: str
    crc: str
    clock: str

    @property
    def name(self) -> str:
        """Of the directory that keeps the results."""
        return f"{self.kernel}-{self.crc}-crc" + ("" if self.clock == "instructions" else "-wall")

    @property
    def directory(self) -> pathlib.Path:
        """It keeps results.json and the pictures."""
        return BUILD / "bench" / self.name


# What the node runs, and cmake builds.
_PROGRAMS = ("sdpbench", "smc-setup", "guardcost", "iwarpbench")
_LIBRARIES = ("libsmc-preload.so",)


def _output(*command: str, **variables: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, **variables})
    if done.returncode:
        raise BenchError(f"'{command[0]}' failed")
    return done.stdout.strip()


def install(packages: Iterable[str]) -> None:
    """Have these packages of Debian's here, and so in the node."""
    if packages:
        _output(str(REPO / "tools/apps/install-packages"), *packages)


def build(kernel: str) -> pathlib.Path:
    """Build modules and tools; return sdp.ko's path."""
    tools = BUILD / "tools"
    _output("cmake", "-S", str(REPO / "tools"), "-B", str(tools), "-DSDP_TESTS=ON")
    _output("cmake", "--build", str(tools), "--target", *_PROGRAMS, "smc-preload",
            "sdp", "sdp-run", "--",
            "--no-print-directory", "-s")
    return pathlib.Path(_output(str(REPO / "tools/build-module"), kernel, SDP_BENCH="m"))


class Progress:
    """A bar on a terminal, else a line now and then."""

    def __init__(self, total: int, title: str) -> None:
        self.total, self.title = total, title
        self.started = time.monotonic()
        self.shown = -1

    def show(self, done: int) -> None:
        """Bring it up to date."""
        terminal = sys.stderr.isatty()
        step = done if terminal else done * 10 // max(self.total, 1)
        if step == self.shown:
            return
        self.shown = step
        filled = done * _BAR_WIDTH // max(self.total, 1)
        print(f"{self.title} [{'#' * filled:<{_BAR_WIDTH}}] {done}/{self.total} runs, "
              f"{time.monotonic() - self.started:.0f} s", end="\r" if terminal else "\n",
              file=sys.stderr, flush=True)

    def finish(self, done: int) -> None:
        """Leave the last state behind."""
        self.show(done)
        if sys.stderr.isatty():
            print(file=sys.stderr)


def _rxe(setup: Setup, module: pathlib.Path, out: pathlib.Path) -> list[str]:
    """What a node with Soft-RoCE's devices is told besides."""
    nullcrc = ["--nullcrc"] if setup.crc == "free" else []
    return [*nullcrc, "--env", f"SDP_MODULE={module}", "--", str(out / "in-node")]


def _iwarp(setup: Setup, _module: pathlib.Path, out: pathlib.Path) -> list[str]:
    """The same for one with iWARP devices of our own, and at times siw's."""
    siw = _output(str(REPO / "tools/vm/build-siw"), setup.kernel)
    shutil.copy2(siw, out)
    return ["--rdma", "iwarp", "--env", f"SDP_IWARP={out / 'iwarp.ko'}",
            "--env", f"SIW={out / 'siw.ko'}", "--", str(out / "in-node-iwarp")]


def _samehost(_setup: Setup, module: pathlib.Path, out: pathlib.Path) -> list[str]:
    """The same for one with iWARP devices of our own that carry AF_SDP."""
    return ["--rdma", "iwarp", "--env", f"SDP_MODULE={module}",
            "--env", f"SDP_IWARP={out / 'iwarp.ko'}", "--", str(out / "in-node")]


def _hybrid(setup: Setup, module: pathlib.Path, out: pathlib.Path) -> list[str]:
    """The same, with what has been counted beside what was measured."""
    return ["--env", "BENCH_COUNTERS=1", *_samehost(setup, module, out)]


_BEDS: dict[str, Callable[[Setup, pathlib.Path, pathlib.Path], list[str]]] = {
    "rxe": _rxe, "iwarp": _iwarp, "samehost": _samehost, "hybrid": _hybrid}


def _command(setup: Setup, bed: str, module: pathlib.Path, out: pathlib.Path) -> list[str]:
    clock = ["--icount"] if setup.clock == "instructions" else ["--smp", "2"]
    return [str(REPO / "tools/vm/vm"), "run", "--kernel", setup.kernel, "--topology", "self",
            "--timeout", str(_LIMIT_SECONDS), *clock, "--log-name", f"bench-{setup.name}-{bed}",
            "--out", str(out), "--env", f"BENCH_PROGRAMS={out}", *_BEDS[bed](setup, module, out)]


def _provide(module: pathlib.Path, out: pathlib.Path) -> pathlib.Path:
    """Put all that the node uses into its directory: it may be built anew in the meantime."""
    scripts = REPO / "tools/bench"
    for path in (module, module.parents[1] / "iwarp/iwarp.ko",
                 module.parents[2] / "guardcost/guardcost.ko", scripts / "in-node",
                 scripts / "in-node-programs", scripts / "in-node-settings",
                 scripts / "in-node-iwarp",
                 *(BUILD / "tools/bench" / name for name in (*_PROGRAMS, *_LIBRARIES)),
                 *(BUILD / "tools/libsdp" / name for name in ("libsdp.so.1", "sdp-run"))):
        shutil.copy2(path, out)
    return out / module.name


def _finished(out: pathlib.Path) -> int:
    return sum(1 for name in os.listdir(out) if name.endswith((".json", ".skipped", ".failed")))


def run(setup: Setup, bed: str, jobs: Sequence[Job], out: pathlib.Path) -> str:
    """
    Boot a node with the devices of a bed, do the jobs, leave what they say in a directory.

    Return the kernel's release.
    """
    built = build(setup.kernel)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    module = _provide(built, out)
    (out / "jobs").write_text("".join(f"{job.line()}\n" for job in jobs), encoding="ascii")
    log = out / "node.log"
    progress = Progress(len(jobs), f"{setup.name} on {bed}")
    with open(log, "wb") as output, subprocess.Popen(
            _command(setup, bed, module, out), stdout=output, stderr=subprocess.STDOUT) as node:
        try:
            while node.poll() is None:
                progress.show(_finished(out))
                time.sleep(0.5)
        finally:
            if node.poll() is None:
                node.terminate()
    progress.finish(_finished(out))
    if node.returncode:
        raise BenchError(f"the node failed with status {node.returncode}; see {log}")
    return (out / "release").read_text(encoding="ascii").strip()
