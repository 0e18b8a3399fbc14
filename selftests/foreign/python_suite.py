#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Run test modules of CPython's own suite and tell how each test ended.

    python_suite.py --done FILE MODULE...

Prints a line "TEST STATUS" for each test that was not named in FILE: ok, skip,
fail or error. What a failed test had to say goes to standard error. A test
that hangs ends the process with all stacks; whoever called starts it again
with the tests it has seen so far in FILE, the one that hung among them.
"""

import argparse
import faulthandler
import importlib
import pathlib
import sys
import traceback
import types
import unittest
from collections.abc import Iterator

_SECONDS = 60
Error = tuple[type[BaseException], BaseException, types.TracebackType] | tuple[None, None, None]


class Teller(unittest.TestResult):
    """Prints the verdict of each test as soon as it is known."""

    verdict = ""

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.verdict = "ok"
        print(f"{test.id()} start", flush=True)
        faulthandler.dump_traceback_later(_SECONDS, exit=True)

    def stopTest(self, test: unittest.TestCase) -> None:
        faulthandler.cancel_dump_traceback_later()
        print(f"{test.id()} {self.verdict}", flush=True)
        super().stopTest(test)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self.verdict = "skip"

    def addFailure(self, test: unittest.TestCase, err: Error) -> None:
        self._failed(test, err, "fail")

    def addError(self, test: unittest.TestCase, err: Error) -> None:
        self._failed(test, err, "error")

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Error | None) -> None:
        if err:
            self._failed(test, err, "fail")

    def _failed(self, test: unittest.TestCase, err: Error, verdict: str) -> None:
        self.verdict = verdict
        print(f"=== {test.id()}\n{''.join(traceback.format_exception(*err))}", file=sys.stderr, flush=True)


def each(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    """Yield the test cases of a suite, however deeply nested."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test


def main() -> None:
    """Run the modules that are named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--done", type=pathlib.Path, help="names of tests not to run")
    parser.add_argument("modules", nargs="+")
    options = parser.parse_args()
    done = set(options.done.read_text(encoding="utf-8").split()) if options.done else set()
    loader = unittest.TestLoader()
    suite = unittest.TestSuite()
    for name in options.modules:
        module = importlib.import_module(f"test.{name}")
        suite.addTests(test for test in each(loader.loadTestsFromModule(module)) if test.id() not in done)
    suite.run(Teller())


if __name__ == "__main__":
    main()
