# SPDX-License-Identifier: GPL-2.0
"""What each program of a run made the modules run: the counts of GCOV, read and added up."""

import collections
import dataclasses
import json
import pathlib
import subprocess
import tarfile
import tempfile
import typing
from collections.abc import Iterable, Sequence


class Branch(typing.TypedDict):
    count: int


class Line(typing.TypedDict):
    """What gcov says of a line, as far as it is used."""

    line_number: int
    count: int
    function_name: typing.NotRequired[str]
    branches: list[Branch]


def _taken(counts: Sequence[int]) -> tuple[int, int]:
    return sum(n > 0 for n in counts), len(counts)


@dataclasses.dataclass
class File:
    """Counts of one source file."""

    lines: collections.Counter[int] = dataclasses.field(default_factory=collections.Counter)
    functions: dict[int, str] = dataclasses.field(default_factory=dict)  # line number -> function
    # Line number -> {branches: [count of each]}.
    copies: dict[int, dict[int, list[int]]] = dataclasses.field(default_factory=dict)

    def add_line(self, line: Line) -> None:
        """Add what gcov says of a line; inlined copies of a function say it more than once."""
        number = line["line_number"]
        self.lines[number] += line["count"]
        self.functions.setdefault(number, line.get("function_name", ""))
        self._add_branches(number, [branch["count"] for branch in line["branches"]])

    def _add_branches(self, number: int, counts: list[int]) -> None:
        """Copies that were compiled differently are counted by themselves."""
        if not counts:
            return
        copies = self.copies.setdefault(number, {})
        before = copies.get(len(counts), [0] * len(counts))
        copies[len(counts)] = [a + b for a, b in zip(before, counts)]

    def branches(self, number: int) -> list[int]:
        """Return how often each branch of a line was taken, in the copy where most were."""
        return max(self.copies.get(number, {0: []}).values(), key=_taken)

    def merge(self, other: "File") -> None:
        """Add the counts of another run."""
        self.lines.update(other.lines)
        self.functions = other.functions | self.functions
        for number, copies in other.copies.items():
            for counts in copies.values():
                self._add_branches(number, counts)


def read(archive: pathlib.Path) -> dict[str, File]:
    """Return {source file: File} of one program's ARCHIVE."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as tar:
            tar.extractall(folder)
        counted = [p for p in pathlib.Path(folder).rglob("*.gcda") if _notes(p, folder).exists()]
        for path in counted:
            path.with_suffix(".gcno").symlink_to(_notes(path, folder))
        return _ask_gcov(counted, _stage(counted[0], folder)) if counted else {}


def _stage(path: pathlib.Path, folder: str) -> pathlib.Path:
    """Return where the objects were built."""
    notes = str(_notes(path, folder))
    return pathlib.Path(notes[:notes.rindex("/net/")])


def _notes(path: pathlib.Path, folder: str) -> pathlib.Path:
    return pathlib.Path("/") / path.relative_to(folder).with_suffix(".gcno")


def _ask_gcov(counted: Sequence[pathlib.Path], stage: pathlib.Path) -> dict[str, File]:
    files: dict[str, File] = collections.defaultdict(File)
    said = subprocess.run(["gcov", "--json-format", "--branch-probabilities", "--stdout", *counted],
                          cwd=stage, stdout=subprocess.PIPE, check=True, text=True)
    for text in said.stdout.splitlines():
        for file in json.loads(text)["files"]:
            name = _name_of(file["file"], stage)
            if name:
                for line in file["lines"]:
                    files[name].add_line(line)
    return files


def _name_of(file: str, stage: pathlib.Path) -> str | None:
    """The file's name in the repository; none of the kernel's."""
    path = pathlib.Path(stage, file)
    if path.is_relative_to(stage / "net"):
        return str(path.relative_to(stage))
    return None


def merged(runs: Iterable[dict[str, File]]) -> dict[str, File]:
    """Add up what several programs have run."""
    total: dict[str, File] = collections.defaultdict(File)
    for files in runs:
        for name, file in files.items():
            total[name].merge(file)
    return total
