#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Run the unit tests of the tools in Python and report them as KTAP."""

import pathlib
import sys
import unittest
from collections.abc import Iterator

sys.dont_write_bytecode = True
REPO = pathlib.Path(__file__).resolve().parents[2]
# Where tests are, and where what they test is.
SUITES = {"bed": "tools/vm", "bench": "tools/bench", "quality": "tools/quality"}


def _cases(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from _cases(item)
        else:
            yield item


def _suite(name: str, tested: str) -> list[tuple[str, unittest.TestCase]]:
    sys.path.insert(0, str(REPO / tested))
    found = unittest.TestLoader().discover(str(REPO / "selftests" / name))
    return [(name, case) for case in _cases(found)]


def main() -> int:
    """Run each case by itself; fail if one does."""
    cases = [case for name, tested in SUITES.items() for case in _suite(name, tested)]
    failed = 0
    print(f"KTAP version 1\n1..{len(cases)}")
    for number, (suite, case) in enumerate(cases, 1):
        result = unittest.TestResult()
        case.run(result)
        for _, trace in result.errors + result.failures:
            print("".join(f"# {line}\n" for line in trace.splitlines()), end="")
        name = case.id().split(".", 1)[-1]
        print(f"{'ok' if result.wasSuccessful() else 'not ok'} {number} {suite}.{name}")
        failed += not result.wasSuccessful()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
