# SPDX-License-Identifier: GPL-2.0
"""Counts of several programs, and what is said of them."""

import pathlib
import tempfile
import unittest

from sdpquality import counts, reasons, report


def _line(number: int, count: int, *branches: int, function: str = "f") -> counts.Line:
    return {"line_number": number, "count": count, "function_name": function,
            "branches": [{"count": n} for n in branches]}


def _file(*lines: counts.Line) -> counts.File:
    file = counts.File()
    for line in lines:
        file.add_line(line)
    return file


class Counts(unittest.TestCase):
    """What is added to what."""

    def test_programs_add_up(self) -> None:
        """A line is run if one of them runs it; a branch is taken so, too."""
        total = counts.merged([{"a.c": _file(_line(1, 0, 0, 0), _line(2, 3))},
                               {"a.c": _file(_line(1, 2, 2, 0), _line(2, 0)), "b.c": _file(_line(9, 0))}])
        self.assertEqual(report.figures(total["a.c"]),
                         {"lines": 2, "lines_run": 2, "branches": 2, "branches_taken": 1})
        self.assertEqual(report.figures(total["b.c"])["lines_run"], 0)

    def test_inlined_copies_are_one_line(self) -> None:
        """Wherever the compiler has put them."""
        file = _file(_line(4, 0, 0, 0), _line(4, 7, 0, 7), _line(4, 1, 1))
        self.assertEqual(report.figures(file), {"lines": 1, "lines_run": 1, "branches": 2, "branches_taken": 1})

    def test_copies_with_other_branches(self) -> None:
        """The one of which most is taken stands for all, whichever comes first."""
        for lines in ((_line(4, 0, 0, 0, 0), _line(4, 7, 0, 7)), (_line(4, 7, 0, 7), _line(4, 0, 0, 0, 0))):
            self.assertEqual(_file(*lines).branches(4), [0, 7])

    def test_what_the_compiler_chooses(self) -> None:
        """Is no branch of the program's."""
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "a.c").write_text("if (test_bit(A, &flags))\nif (a)\n", encoding="utf-8")
            files = {"a.c": _file(_line(1, 1, 0, 0, 0, 1), _line(2, 1, 0, 1))}
            report.leave_out_compilers_choice(files, pathlib.Path(folder))
        self.assertEqual(report.figures(files["a.c"]), {"lines": 2, "lines_run": 2, "branches": 2, "branches_taken": 1})

    def test_rooms(self) -> None:
        """A folder has the sum of its files."""
        rooms, total = report.by_room({"net/x/a.c": _file(_line(1, 1)), "net/x/b.c": _file(_line(1, 0)),
                                       "net/y/c.c": _file(_line(1, 1))})
        self.assertEqual((rooms["net/x"]["lines"], rooms["net/x"]["lines_run"]), (2, 1))
        self.assertEqual((total["lines"], total["lines_run"]), (3, 2))


class Unrun(unittest.TestCase):
    """Lines that nothing runs."""

    def test_the_reason_of_each(self) -> None:
        """By file, function, and what is in the line; what names nothing is known."""
        known = reasons.Reasons('# comment\na.c f:"kfree" no memory\nb.c * never\n')
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "a.c").write_text("\tkfree(x);\n\treturn;\n", encoding="utf-8")
            unrun = report.Unrun({"a.c": _file(_line(1, 0), _line(2, 0))}, known, root)
        self.assertEqual([(e["line"], e["reason"]) for e in unrun.with_reason], [(1, "no memory")])
        self.assertEqual([e["line"] for e in unrun.without], [2])
        self.assertEqual(known.unused(), ["b.c * never"])

    def test_a_reason_without_a_function(self) -> None:
        """Is a mistake that is named."""
        with self.assertRaisesRegex(SystemExit, "line 1"):
            reasons.Reasons("a.c\n")


if __name__ == "__main__":
    unittest.main()
