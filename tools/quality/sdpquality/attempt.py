# SPDX-License-Identifier: GPL-2.0
"""One change: made in a copy of the sources, built, and tested there."""

import os
import subprocess

from . import choose

# Warnings of what is unused now are no news.
_ENV = {"KCFLAGS": "-Wno-error", "SDP_NICE": "0", "SDP_ULP": "0", "SDP_STOP": "1", "SDP_RUN_LIMIT": "900"}
_BUILD_SECONDS, _TEST_SECONDS = 600, 1800


class Tree:
    """A copy of the repository in which one file at a time is changed."""

    def __init__(self, root):
        self.root, self.path = root, root / "build/mutate/tree"
        self.path.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-au", *(str(p) for p in root.iterdir() if p.name not in ("build", ".git")),
                        self.path], check=True)

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


def judge(tree, mutation, programs):
    """Return (verdict, what was run): caught, survived, not run, or not built."""
    path = tree.path / mutation.file
    before = path.read_text(encoding="utf-8")
    lane, names = programs.that_run(mutation)
    try:
        path.write_text(mutation.apply(before), encoding="utf-8")
        if choose.is_pure(mutation.file):
            passed = tree.unit_tests()
            if not passed:
                return ("not built" if passed is None else "caught"), ["unit"]
        if not names:
            return "not run", []
        passed = tree.selftests(choose.kernel_for(mutation), lane, names)
        return {None: "not built", True: "survived", False: "caught"}[passed], names
    finally:
        path.write_text(before, encoding="utf-8")
