# SPDX-License-Identifier: GPL-2.0
"""One change: made in a copy of the sources, built, and tested there."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import threading

from . import choose

# Warnings of what is unused now are no news.
_ENV = {"KCFLAGS": "-Wno-error", "SDP_NICE": "0", "SDP_ULP": "0", "SDP_STOP": "1", "SDP_RUN_LIMIT": "400"}
# How long a case may take, in seconds: what hangs is to be known soon.
_DEADLINE = {"6.1": "15", "gcov": "200", "debug": "90"}
# The debug kernel takes so much longer for the same.
_SLOWER = {"6.1": 1, "gcov": 1, "debug": 3}
# What is said of a node that does not load, crashes, or has something left.
_NODE = "node"
_BUILD_SECONDS, _TEST_SECONDS, _UNIT_SECONDS = 600, 600, 200


def _how_long(test):
    """Those that try everything are the last."""
    return "property" in test.name or "exhaustive" in test.name, test.name


def _sources(root):
    """Yield the names of all files of the repository, those that git does not know included."""
    for folder, folders, files in os.walk(root):
        if folder == str(root):
            folders[:] = [name for name in folders if name not in ("build", ".git")]
        for name in files:
            path = pathlib.Path(folder, name).relative_to(root)
            if path.name != "last.log":
                yield path


class Tree:
    """A copy of the repository in which one file at a time is changed."""

    def __init__(self, root, path):
        self.root, self.path = root, path
        self.path.mkdir(parents=True, exist_ok=True)
        wanted = set(_sources(root))
        for name in set(_sources(self.path)) - wanted:
            (self.path / name).unlink()
        for name in wanted:
            self._copy(name)

    def _copy(self, name):
        """What differs is newer than what was built of it, whatever was tried here before."""
        old, new = self.path / name, self.root / name
        if old.exists() and old.read_bytes() == new.read_bytes():
            return
        old.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(new, old)
        shutil.copymode(new, old)

    def run(self, *command, seconds=_BUILD_SECONDS, **env):
        """Return whether a command of the copy ends well; it is killed after so many SECONDS."""
        with open(self.path / "last.log", "ab") as log:
            with subprocess.Popen(command, cwd=self.path, env=os.environ | _ENV | env, stdout=log,
                                  stderr=log, stdin=subprocess.DEVNULL, start_new_session=True) as child:
                try:
                    return child.wait(seconds) == 0
                except subprocess.TimeoutExpired:
                    os.killpg(child.pid, 9)
                    return False

    def unit_tests(self, file):
        """Return whether the unit tests of what FILE is a part of pass; None if they cannot be built."""
        build = self.path / "build/unit"
        if not (self.run("cmake", "-S", "selftests/unit", "-B", build, "-DSDP_WERROR=OFF") and
                self.run("cmake", "--build", build, "-j2")):
            return None
        iwarp = file.startswith("net/iwarp/")
        tests = sorted(path for path in build.glob("*_test") if path.name.startswith("iwarp_") == iwarp)
        return all(self.run(test, "--gtest_fail_fast", "--gtest_brief=1", seconds=_UNIT_SECONDS)
                   for test in sorted(tests, key=_how_long))

    def selftests(self, kernel, lane, names):
        """Return which of these programs fail in a node, or _NODE; None if that cannot be said."""
        if not self.run("tools/build-module", kernel):
            return None
        (self.path / "last.log").write_bytes(b"")
        results = self.path / "build/results/mutation"
        if self.run("selftests/run", kernel + lane, results, TESTS=f"@({'|'.join(names)})",
                    SDP_TEST_DEADLINE=_DEADLINE[kernel], seconds=_TEST_SECONDS):
            return set()
        return _failed(results, names) or None


def _failed(results, names):
    """Which tests say so, and not only the time that it took."""
    def is_named(path):
        status = path.with_suffix(".status")
        return re.search("^(not ok|Bail out)", path.read_text(errors="replace"), re.MULTILINE) or \
            status.exists() and status.read_text().strip() not in ("0", "4")

    failed = {path.stem for path in results.glob("*.ktap") if is_named(path)}
    return {name if name in names else _NODE for name in failed}


class Baseline:
    """What passes if nothing is changed: asked of what has failed, once for each, in a tree of its own."""

    def __init__(self, root, path):
        self._root, self._path, self._passed, self._lock = root, path, {}, threading.Lock()

    @functools.cached_property
    def _tree(self):
        return Tree(self._root, self._path)

    def unit(self, file):
        """End the program if the unit tests fail by themselves."""
        family = file.split("/")[1]
        with self._lock:
            if family not in self._passed and not self._tree.unit_tests(file):
                raise RuntimeError(f"the unit tests of net/{family} fail without a change: see {self._path}/last.log")
            self._passed[family] = True

    def passes(self, kernel, lane, name):
        """Return whether a program does; of a node nobody knows which of them it was."""
        if name == _NODE:
            return True
        with self._lock:
            if (kernel, lane, name) not in self._passed:
                failed = self._tree.selftests(kernel, lane, [name])
                if failed is None:
                    raise RuntimeError(f"{name} cannot be tried without a change: see {self._path}/last.log")
                self._passed[kernel, lane, name] = not failed
        return self._passed[kernel, lane, name]


def _node_passes(tree, baseline, kernel, lane, names):
    """As Tree.unit_tests(); what fails without a change is left out."""
    while names:
        failed = tree.selftests(kernel, lane, names)
        if not failed:
            return None if failed is None else True
        if any(baseline.passes(kernel, lane, name) for name in failed):
            return False
        names = [name for name in names if name not in failed]
    return True


def _attempts(tree, mutation, programs, baseline, seconds):
    """Return what could notice: (function that says whether it passes, or None; what it runs)."""
    found = []
    if choose.is_pure(mutation.file):
        baseline.unit(mutation.file)
        found.append((functools.partial(tree.unit_tests, mutation.file), ["unit"]))
    for kernel in choose.stages(mutation) if programs else ():
        lane, names = programs.that_run(mutation, kernel, seconds / _SLOWER[kernel])
        if names:
            found.append((functools.partial(_node_passes, tree, baseline, kernel, lane, names), [kernel + lane, *names]))
    return found


def judge(tree, mutation, programs, baseline, seconds):
    """Return (verdict, what was run): caught, survived, not run, or not built.

    SECONDS is how long the tests of one kernel may take."""
    path = tree.path / mutation.file
    before = path.read_text(encoding="utf-8")
    tried = []
    attempts = _attempts(tree, mutation, programs, baseline, seconds)
    try:
        path.write_text(mutation.apply(before), encoding="utf-8")
        for passes, names in attempts:
            tried += names
            if not (passed := passes()):
                return ("not built" if passed is None else "caught"), tried
        return ("survived" if tried else "not run"), tried
    finally:
        path.write_text(before, encoding="utf-8")
