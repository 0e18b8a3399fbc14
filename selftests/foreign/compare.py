#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Run a test suite that others wrote over TCP and over AF_SDP, and compare.

    compare.py --preload LIBRARIES --expected FILE --log DIRECTORY SUITE

SUITE is "cpython:MODULE,MODULE..." or "libuv:PROGRAM". A test that fails over
TCP as well says nothing about AF_SDP and is skipped. One that fails over
AF_SDP alone is a failure, unless FILE names it with the reason why it has to:
"TEST  reason", one a line; such a line whose test passes is a failure too.
The output is KTAP.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Mapping

_HERE = pathlib.Path(__file__).resolve().parent
_NOBODY = 65534
_SECONDS = 120
# libuv's tests give themselves a few seconds, which a busy node may not keep.
_PATIENCE = {"UV_TEST_TIMEOUT_MULTIPLIER": "10"}
_HUNG = "hung"


class Cpython:
    """Modules of CPython's regression tests."""

    # The tests print as well.
    _VERDICT = re.compile(r"^(test\.\S+) (start|ok|skip|fail|error)$", re.MULTILINE)

    def __init__(self, argument: str) -> None:
        self.modules = argument.split(",")

    def results(self, environment: Mapping[str, str], log: pathlib.Path) -> dict[str, str]:
        """Return {test: verdict}; a process that died is started again behind the test it died in."""
        verdicts: dict[str, str] = {}
        before = -1
        while len(verdicts) > before:
            before = len(verdicts)
            done = log.with_suffix(".done")
            done.write_text("\n".join(verdicts), encoding="utf-8")
            with open(log, "ab") as errors:
                run = subprocess.run(
                    [sys.executable, _HERE / "python_suite.py", "--done", done, *self.modules],
                    env=os.environ | environment, cwd="/tmp", stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=errors, text=True, check=False)
            for test, verdict in self._VERDICT.findall(run.stdout):
                verdicts[test] = _HUNG if verdict == "start" else verdict
            if run.returncode == 0:
                break
        return verdicts


class Libuv:
    """libuv's test program, each of its tests in a process of its own."""

    # What uses stream sockets, and some of what must not be disturbed by them.
    _WANTED = re.compile(r"tcp|connect|accept|shutdown|poll_(?!.*fs)|ipc|multiple_listen|readable|writable|"
                         r"callback_stack|close_fd|closed_fd|eof|udp_(?!multicast)|getsockname")

    def __init__(self, argument: str) -> None:
        self.program = argument

    def _run(self, argument: list[str], environment: Mapping[str, str], log: pathlib.Path) -> int:
        with open(log, "ab") as output:
            return subprocess.run([self.program, *argument], env=os.environ | _PATIENCE | environment, cwd="/tmp",
                                  stdin=subprocess.DEVNULL, stdout=output, stderr=output, timeout=_SECONDS,
                                  user=_NOBODY, group=_NOBODY, extra_groups=[], check=False).returncode

    def _names(self) -> list[str]:
        listing = subprocess.run([self.program, "--list"], user=_NOBODY, group=_NOBODY, extra_groups=[],
                                 stdout=subprocess.PIPE, text=True, check=True).stdout
        names = (line.split()[0] for line in listing.splitlines() if line.strip())
        return [name for name in names if self._WANTED.search(name)]

    def results(self, environment: Mapping[str, str], log: pathlib.Path) -> dict[str, str]:
        """Return {test: verdict}."""
        verdicts: dict[str, str] = {}
        for name in self._names():
            try:
                status = self._run([name], environment, log)
            except subprocess.TimeoutExpired:
                verdicts[name] = _HUNG
                continue
            verdicts[name] = {0: "ok", 7: "skip"}.get(status, "fail")
        return verdicts


def sdp_connections() -> int:
    """Return how many connections AF_SDP sockets have asked for so far."""
    counters = pathlib.Path("/proc/net/sdpstats").read_text(encoding="ascii")
    return int(re.findall(r"^ActiveOpens (\d+)$", counters, re.MULTILINE)[0])


def read_expected(path: pathlib.Path) -> dict[str, str]:
    """Return {test: reason}."""
    expected = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            test, reason = line.split(maxsplit=1)
            expected[test] = reason
    return expected


def judge(tcp: str, sdp: str, reason: str | None) -> tuple[str, str]:
    """Return the KTAP result and directive for a test's two verdicts."""
    if tcp == "skip":
        return "ok", " # SKIP not for this machine"
    if tcp != "ok":
        return "ok", f" # SKIP over TCP: {tcp}"
    if sdp == "ok":
        return ("not ok", " # passes, and is expected to fail") if reason else ("ok", "")
    return ("ok", f" # XFAIL {reason}") if reason else ("not ok", f" # over AF_SDP: {sdp}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preload", required=True)
    parser.add_argument("--expected", type=pathlib.Path, required=True)
    parser.add_argument("--log", type=pathlib.Path, required=True)
    parser.add_argument("suite")
    return parser.parse_args()


def main() -> None:
    """Run, compare, print."""
    options = _options()
    kind, _, argument = options.suite.partition(":")
    suites: dict[str, type[Cpython] | type[Libuv]] = {"cpython": Cpython, "libuv": Libuv}
    suite = suites[kind](argument)
    expected = read_expected(options.expected)
    print("KTAP version 1", flush=True)
    tcp = suite.results({}, options.log / f"{kind}-tcp.log")
    print(f"# {kind}: {len(tcp)} tests ran over TCP", flush=True)
    before = sdp_connections()
    sdp = suite.results({"LD_PRELOAD": options.preload}, options.log / f"{kind}-sdp.log")
    carried = sdp_connections() - before
    unknown = sorted(set(expected) - set(tcp))
    print(f"1..{1 + len(tcp) + len(unknown)}")
    print(f"# {carried} connections over AF_SDP")
    print("ok 1 carried_by_sdp" if carried else "not ok 1 carried_by_sdp")
    for number, test in enumerate(tcp, 2):
        result, directive = judge(tcp[test], sdp.get(test, "never ran"), expected.get(test))
        print(f"{result} {number} {test}{directive}")
    for number, test in enumerate(unknown, len(tcp) + 2):
        print(f"not ok {number} {test} # is expected to fail, and does not exist")


if __name__ == "__main__":
    main()
