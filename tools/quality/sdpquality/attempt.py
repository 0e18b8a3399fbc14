# SPDX-License-Identifier: GPL-2.0
"""One change: made in a copy of the sources, built, and tested there."""

import os
import shutil
import subprocess

from . import choose

# Warnings of what is unused now are no news.
_ENV = {"KCFLAGS": "-Wno-error", "SDP_NICE": "0", "SDP_ULP": "0", "SDP_STOP": "1", "SDP_RUN_LIMIT": "900"}
_BUILD_SECONDS, _TEST_SECONDS = 600, 1800


def _sources(root):
    """Yield the names of all files of the repository, those that git does not know included."""
    for path in root.rglob("*"):
        name = path.relative_to(root)
        if path.is_file() and name.parts[0] not in ("build", ".git", "last.log"):
            yield name


class Tree:
    """A copy of the repository in which one file at a time is changed."""

    def __init__(self, root):
        self.root, self.path = root, root / "build/mutate/tree"
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

    def unit_tests(self):
        """Return whether the pure parts' own tests pass; None if they cannot be built."""
        build = "build/unit"
        if not (self.run("cmake", "-S", "selftests/unit", "-B", build) and
                self.run("cmake", "--build", build, f"-j{os.cpu_count()}")):
            return None
        return self.run("ctest", "--test-dir", build, "--stop-on-failure", f"-j{os.cpu_count()}")

    def selftests(self, kernel, lane, names):
        """Return whether these programs pass in a node; None if the module cannot be built."""
        if not self.run("tools/build-module", kernel):
            return None
        (self.path / "last.log").write_bytes(b"")
        return self.run("selftests/run", kernel + lane, TESTS=f"@({'|'.join(names)})", seconds=_TEST_SECONDS)


class Baseline:
    """Which programs pass in a copy that nothing was changed in: each is tried once."""

    def __init__(self, tree):
        self._tree, self._passed = tree, {}

    def passes(self, kernel, lane, names):
        """Return those of NAMES that do."""
        fresh = [name for name in names if (kernel, lane, name) not in self._passed]
        if fresh:
            whole = self._tree.selftests(kernel, lane, fresh)
            for name in fresh:
                self._passed[kernel, lane, name] = \
                    whole or len(fresh) > 1 and bool(self._tree.selftests(kernel, lane, [name]))
        return [name for name in names if self._passed[kernel, lane, name]]


def judge(tree, mutation, programs, baseline):
    """Return (verdict, what was run): caught, survived, not run, or not built."""
    path = tree.path / mutation.file
    before = path.read_text(encoding="utf-8")
    kernel = choose.kernel_for(mutation)
    lane, names = programs.that_run(mutation)
    names = baseline.passes(kernel, lane, names)
    try:
        path.write_text(mutation.apply(before), encoding="utf-8")
        if choose.is_pure(mutation.file):
            passed = tree.unit_tests()
            if not passed:
                return ("not built" if passed is None else "caught"), ["unit"]
        if not names:
            return "not run", []
        passed = tree.selftests(kernel, lane, names)
        return {None: "not built", True: "survived", False: "caught"}[passed], names
    finally:
        path.write_text(before, encoding="utf-8")
