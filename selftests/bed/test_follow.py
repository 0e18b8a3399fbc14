# SPDX-License-Identifier: GPL-2.0
"""How a manual is followed."""

import pathlib
import re
import unittest
from typing import Any

from loading import load

_PATH = pathlib.Path(__file__).resolve().parent.parent / "follow.py"

follow = load("follow", _PATH)


class Steps(unittest.TestCase):
    """steps_of()"""

    def one(self, text: str, heading: str = "1. All") -> list[Any]:
        """Return the steps of a section."""
        return follow.steps_of(f"\n{heading}\n======\n\n{text}")

    def test_commands_and_what_they_print(self) -> None:
        steps = self.one("So::\n\n    # first\n    seen\n\n    $ second\n\nMore.\n")
        self.assertEqual([(s.is_root, s.command, s.expected) for s in steps],
                         [(True, "first", ["seen"]), (False, "second", [])])

    def test_machines(self) -> None:
        self.assertEqual(self.one("::\n\n    $ x\n", "1. Here, on 10.0.0.2")[0].hosts, ("b",))
        self.assertEqual(self.one("::\n\n    $ x\n", "1. Here, on both")[0].hosts, ("a", "b"))
        self.assertEqual(self.one("::\n\n    10.0.0.1$ x\n", "1. Here, on both")[0].hosts, ("a",))

    def test_lines_that_belong_together(self) -> None:
        steps = self.one("::\n\n    # one \\\n        more\n    # cat << END\n    # no prompt\n    END\n    seen\n")
        self.assertEqual([s.command for s in steps], ["one \\\n    more", "cat << END\n# no prompt\nEND"])
        self.assertEqual(steps[1].expected, ["seen"])

    def test_text_behind_the_block_of_an_item(self) -> None:
        steps = self.one("* Item::\n\n    $ x\n    seen\n\n  More of the item.\n")
        self.assertEqual(steps[0].expected, ["seen"])

    def test_what_others_have_done(self) -> None:
        self.assertEqual(self.one("::\n\n    # apt install x \\\n        y\n    $ make deb\n"), [])

    def test_each_prompt_of_the_manual_is_a_step(self) -> None:
        text = (_PATH.parents[1] / "Documentation/user/walkthrough.rst").read_text()
        prompts = [line for line in re.findall(r"^ +(?:10\.0\.0\.\d)?[#$] (.*)", text, re.MULTILINE)
                   if not re.match("apt |make deb", line)]
        self.assertEqual([step.command.split("\n")[0] for step in follow.steps_of(text)], prompts)


class Seen(unittest.TestCase):
    """is_seen()"""

    def judge(self, expected: list[str], output: str, result: bool) -> None:
        """Whether lines that are expected are in an output."""
        self.assertEqual(follow.is_seen(expected, output, {"8080"}), result)

    def test_numbers_differ(self) -> None:
        self.judge(["x(pid=1,fd=22)  7:11"], "x(pid=345,fd=3) 9:9\n", True)

    def test_but_addresses_and_named_ports_do_not(self) -> None:
        self.judge(["10.0.0.1:8080"], "10.0.0.1:8080\n", True)
        self.judge(["10.0.0.1:8080"], "10.0.0.1:8081\n", False)
        self.judge(["10.0.0.1:8080"], "10.0.0.2:8080\n", False)

    def test_nor_what_large_numbers_begin_with(self) -> None:
        self.judge(["n 67109138"], "n 67110000\n", True)
        self.judge(["n 67109138"], "n 3\n", False)
        self.judge(["n 67109138"], "n 6710913\n", False)

    def test_nor_do_counters_of_few_things(self) -> None:
        self.judge(["Opens   3"], "Opens  3\n", True)
        self.judge(["Opens   3"], "Opens  30\n", False)

    def test_other_lines_may_be_between(self) -> None:
        self.judge(["a", "b"], "a\nnoise\nb\n", True)
        self.judge(["a", "b"], "b\na\n", True)
        self.judge(["a", "a"], "b\na\n", False)


if __name__ == "__main__":
    unittest.main()
