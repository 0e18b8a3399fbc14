# SPDX-License-Identifier: GPL-2.0
"""One change: made in a copy of the sources, built, and tested there."""

import collections
import functools
import os
import pathlib
import re
import shutil
import subprocess
import threading
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence

from . import choose
from .operators import Mutation

# Warnings of what is unused now are no news.
_ENV = {"KCFLAGS": "-Wno-error", "SDP_NICE": "0"}
# How long a case may take, in seconds: what hangs is to be known soon.
_DEADLINE = {"uml": "30", "6.1": "30", "debug": "90", "kcsan": "90"}
# And a node, which may hang when its programs have ended.
_LIMIT = {"uml": "150", "6.1": "400", "debug": "400", "kcsan": "400"}
# How much longer a kernel takes than the one for coverage, where the time of programs was taken.
_SLOWER = {"uml": 0.5, "6.1": 0.8, "debug": 3, "kcsan": 2}
# What is said of a node that does not load, crashes, or has something left.
_NODE = "node"
_BUILD_SECONDS, _TEST_SECONDS, _UNIT_SECONDS = 600, 600, 200

# (program, case) of each that fails; what could notice: whether it passes, or None, and what it runs.
Failed = set[tuple[str, str]]
Attempt = tuple[Callable[[], bool | None], list[str]]


def _how_long(test: pathlib.Path) -> tuple[bool, str]:
    """Those that try everything are the last."""
    return "property" in test.name or "exhaustive" in test.name, test.name


def _sources(root: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yield the names of all files of the repository, those that git does not know included."""
    for folder, folders, files in os.walk(root):
        if folder == str(root):
            folders[:] = [name for name in folders if name not in ("build", ".git")]
        for name in files:
            path = pathlib.Path(folder, name).relative_to(root)
            if path.name != "last.log":
                yield path


class Options(typing.Protocol):
    """What is to be known of how much is tried."""

    again: bool  # on slower kernels, too
    seconds: float  # that the tests of one kernel may take


class NotBuilt(Exception):
    """The change is none that the compiler takes."""


class Tree:
    """A copy of the repository in which one file at a time is changed."""

    def __init__(self, root: pathlib.Path, path: pathlib.Path) -> None:
        self.root, self.path = root, path
        self.path.mkdir(parents=True, exist_ok=True)
        wanted = set(_sources(root))
        for name in set(_sources(self.path)) - wanted:
            (self.path / name).unlink()
        for name in wanted:
            self._copy(name)

    def _copy(self, name: pathlib.Path) -> None:
        """What differs is newer than what was built of it, whatever was tried here before."""
        old, new = self.path / name, self.root / name
        if old.exists() and old.read_bytes() == new.read_bytes():
            return
        old.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(new, old)
        shutil.copymode(new, old)

    def run(self, *command: str | pathlib.Path, seconds: float = _BUILD_SECONDS, **env: str) -> bool | None:
        """Return whether a command of the copy ends well; None if it had to be killed after so many SECONDS."""
        with open(self.path / "last.log", "ab") as log:
            with subprocess.Popen(command, cwd=self.path, env=os.environ | _ENV | env, stdout=log,
                                  stderr=log, stdin=subprocess.DEVNULL, start_new_session=True) as child:
                try:
                    return child.wait(seconds) == 0
                except subprocess.TimeoutExpired:
                    os.killpg(child.pid, 9)
                    return None

    def build(self, *command: str | pathlib.Path) -> None:
        """That something takes too long says nothing of the change."""
        built = self.run(*command)
        if built is None:
            raise RuntimeError(f"{command[0]} takes more than {_BUILD_SECONDS} s: see {self.path}")
        if not built:
            raise NotBuilt

    def unit_tests(self, file: str) -> bool:
        """Return whether the unit tests of what FILE is a part of pass."""
        build = self.path / "build/unit"
        self.build("cmake", "-S", "selftests/unit", "-B", build, "-DSDP_WERROR=OFF")
        self.build("cmake", "--build", build, "-j2")
        iwarp = file.startswith("net/iwarp/")
        tests = sorted(path for path in build.glob("*_test") if path.name.startswith("iwarp_") == iwarp)
        return all(self.run(test, "--gtest_fail_fast", "--gtest_brief=1", seconds=_UNIT_SECONDS)
                   for test in sorted(tests, key=_how_long))

    def selftests(self, kernel: str, lane: str, names: Sequence[str], **env: str) -> Failed | None:
        """Return (program, case) of all that fail in a node, or _NODE; None if that cannot be said."""
        self.build("tools/build-module", kernel)
        (self.path / "last.log").write_bytes(b"")
        results = self.path / "build/results/mutation"
        if self.run("selftests/run", kernel + lane, results, TESTS=f"@({'|'.join(names)})",
                    SDP_TEST_DEADLINE=_DEADLINE[kernel], SDP_RUN_LIMIT=_LIMIT[kernel],
                    seconds=_TEST_SECONDS, **env):
            return set()
        return _failed(results, names) or None


def failed_cases(path: pathlib.Path) -> list[str]:
    """Return what failed in a program, by the file that it has written; [""] if it did not get that far."""
    status = path.with_suffix(".status")
    found = re.findall(r"^not ok \d+ (?:- )?(\S+)", path.read_text(errors="replace"), re.MULTILINE)
    ended = not status.exists() or status.read_text().strip() in ("0", "4")
    return found if found or ended else [""]


def _failed(results: pathlib.Path, names: Sequence[str]) -> Failed:
    """Return (program, case) of all that says that it has failed, and not only by the time it took."""
    return {(path.stem if path.stem in names else _NODE, case)
            for path in results.glob("*.ktap") for case in failed_cases(path)}


class Baseline:
    """What passes if nothing is changed: asked of what has failed, once for each, in a TREE of its own."""

    def __init__(self, tree: Tree) -> None:
        self._tree, self._lock = tree, threading.Lock()
        self._failed: dict[str | tuple[str, ...], Failed | None] = {}
        self._passed: dict[tuple[str, str], set[str]] = collections.defaultdict(set)

    def unit(self, tree: Tree, file: str) -> None:
        """End the program if the unit tests fail by themselves, in TREE, where nothing is changed yet."""
        family = file.split("/")[1]
        with self._lock:
            if family not in self._failed and not tree.unit_tests(file):
                raise RuntimeError(f"the unit tests of net/{family} fail without a change: see {tree.path}")
            self._failed[family] = set()

    def fails(self, kernel: str, lane: str, names: Sequence[str]) -> Failed | None:
        """Return what fails of these programs, as Tree.selftests()."""
        with self._lock:
            if self._passed[kernel, lane].issuperset(names):
                return set()
            key = (kernel, lane, *names)
            if key not in self._failed:
                self._failed[key] = self._tree.selftests(kernel, lane, names, SDP_STOP="program")
                if self._failed[key] == set():
                    self.passes(kernel, lane, names)
            return self._failed[key]

    def passes(self, kernel: str, lane: str, names: Sequence[str]) -> None:
        """What was seen to pass, be it with a change, is not asked of again, alone or beside others.

        Without the lock, which is held for minutes: all that is done is to add to a set."""
        self._passed[kernel, lane].update(names)


def node_passes(tree: Tree, baseline: Baseline, kernel: str, lane: str, names: Sequence[str]) -> bool | None:
    """Return whether nothing fails that does not do so without the change; None if nobody can say."""
    stop = "case"
    while names:
        failed = tree.selftests(kernel, lane, names, SDP_STOP=stop)
        if failed is None:
            return None
        if not failed:
            baseline.passes(kernel, lane, names)
            return True
        programs = {program for program, _ in failed}
        # Of a node nobody knows which program it was.
        asked = names if _NODE in programs else sorted(programs)
        before = baseline.fails(kernel, lane, asked)
        if before is None or before and _NODE in programs:
            return None
        if failed - before:
            return False
        if stop == "case":
            # What follows a case that fails anyway has not been run yet.
            stop = "program"
            continue
        # What ends before it has said anything may have more to say with the change.
        if any(not case for _, case in failed):
            return None
        # The first that fails is the last that was run.
        names, stop = [name for name in names if name not in programs], "case"
    return None


def _attempts(tree: Tree, mutation: Mutation, programs: choose.Chooser | None, baseline: Baseline,
              options: Options) -> list[Attempt]:
    """Return what could notice: (function that says whether it passes, or None; what it runs)."""
    found: list[Attempt] = []
    if choose.is_pure(mutation.file):
        baseline.unit(tree, mutation.file)
        found.append((functools.partial(tree.unit_tests, mutation.file), ["unit"]))
    if not programs:
        return found
    for kernel in programs.kernels(mutation, options.again):
        lanes = programs.that_run(mutation, kernel, options.seconds / _SLOWER[kernel])
        for lane, names in lanes if options.again else lanes[:1]:
            found.append((functools.partial(node_passes, tree, baseline, kernel, lane, names), [kernel + lane, *names]))
    return found


def verdict(attempts: Iterable[Attempt], tried: list[str]) -> str:
    """Return what came of (function that says whether it passes, its tests), one after the other."""
    decided: bool | None = False
    for passes, names in attempts:
        tried += names
        passed = passes()
        if passed is False:
            return "caught"
        decided = decided or passed
    return "survived" if decided else "undecided" if tried else "not run"


def judge(tree: Tree, mutation: Mutation, programs: choose.Chooser | None, baseline: Baseline,
          options: Options) -> tuple[str, list[str]]:
    """Return (verdict, what was run): caught, survived, not run, not built, or undecided.

    OPTIONS says how many seconds the tests of one kernel may take, and which kernels are tried."""
    path = tree.path / mutation.file
    before = path.read_text(encoding="utf-8")
    tried: list[str] = []
    attempts = _attempts(tree, mutation, programs, baseline, options)
    try:
        path.write_text(mutation.apply(before), encoding="utf-8")
        return verdict(attempts, tried), tried
    except NotBuilt:
        return "not built", tried
    finally:
        path.write_text(before, encoding="utf-8")
