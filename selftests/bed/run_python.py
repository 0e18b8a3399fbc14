#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Run the test bed's own unit tests and report them as KTAP."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools/vm"))


def _cases(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from _cases(item)
        else:
            yield item


def main():
    """Run each case by itself; fail if one does."""
    cases = list(_cases(unittest.defaultTestLoader.discover(str(HERE))))
    failed = 0
    print(f"KTAP version 1\n1..{len(cases)}")
    for number, case in enumerate(cases, 1):
        result = unittest.TestResult()
        case.run(result)
        for _, trace in result.errors + result.failures:
            print("".join(f"# {line}\n" for line in trace.splitlines()), end="")
        name = case.id().split(".", 1)[-1]
        print(f"{'ok' if result.wasSuccessful() else 'not ok'} {number} bed.{name}")
        failed += not result.wasSuccessful()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
