# SPDX-License-Identifier: GPL-2.0
"""What each program of a run made the modules run: the counts of GCOV, read and added up."""

import collections
import dataclasses
import json
import pathlib
import subprocess
import tarfile
import tempfile


@dataclasses.dataclass
class File:
    """Counts of one source file."""

    lines: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    functions: dict = dataclasses.field(default_factory=dict)  # line number -> function
    branches: dict = dataclasses.field(default_factory=dict)  # line number -> [count of each]

    def add_line(self, line):
        """Add what gcov says of a line; inlined copies of a function say it more than once."""
        number = line["line_number"]
        self.lines[number] += line["count"]
        self.functions.setdefault(number, line.get("function_name", ""))
        self._add_branches(number, [branch["count"] for branch in line["branches"]])

    def _add_branches(self, number, counts):
        if not counts:
            return
        before = self.branches.get(number, [])
        # Copies that were compiled differently cannot be compared: the first one stands.
        if before and len(before) != len(counts):
            return
        self.branches[number] = [a + b for a, b in zip(before or [0] * len(counts), counts)]

    def merge(self, other):
        """Add the counts of another run."""
        self.lines.update(other.lines)
        self.functions = other.functions | self.functions
        for number, counts in other.branches.items():
            self._add_branches(number, counts)


def read(archive):
    """Return {source file: File} of one program's ARCHIVE."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as tar:
            tar.extractall(folder)
        counted = [p for p in pathlib.Path(folder).rglob("*.gcda") if _notes(p, folder).exists()]
        for path in counted:
            path.with_suffix(".gcno").symlink_to(_notes(path, folder))
        return _ask_gcov(counted, _stage(counted[0], folder)) if counted else {}


def _stage(path, folder):
    """Return where the objects were built."""
    notes = str(_notes(path, folder))
    return pathlib.Path(notes[:notes.rindex("/net/")])


def _notes(path, folder):
    return pathlib.Path("/") / path.relative_to(folder).with_suffix(".gcno")


def _ask_gcov(counted, stage):
    files = collections.defaultdict(File)
    said = subprocess.run(["gcov", "--json-format", "--branch-probabilities", "--stdout", *counted],
                          cwd=stage, stdout=subprocess.PIPE, check=True, text=True)
    for text in said.stdout.splitlines():
        for file in json.loads(text)["files"]:
            name = _name_of(file["file"], stage)
            if name:
                for line in file["lines"]:
                    files[name].add_line(line)
    return files


def _name_of(file, stage):
    """The file's name in the repository; none of the kernel's."""
    path = pathlib.Path(stage, file)
    if path.is_relative_to(stage / "net"):
        return str(path.relative_to(stage))
    return None


def merged(runs):
    """Add up what several programs have run."""
    total = collections.defaultdict(File)
    for files in runs:
        for name, file in files.items():
            total[name].merge(file)
    return total
