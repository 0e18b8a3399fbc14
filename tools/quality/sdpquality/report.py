# SPDX-License-Identifier: GPL-2.0
"""Shares of lines and branches, for people and for programs."""

import collections
import json
import pathlib
import re
import typing
from collections.abc import Mapping, Sequence

from .counts import File
from .reasons import Reasons

# Macros that ask the compiler what it knows, of a size or of a constant, and leave no
# branch of that in the program: most of what GCOV counts of them is never taken.
_COMPILERS_CHOICE = re.compile(r"test_bit\(|__(set|clear)_bit\(|_STATS?\(|this_cpu_|DECLARE_EVENT_CLASS|"
                               r"(DEFINE|TRACE)_EVENT|(round(up|down)|is)_(pow|power)_of_(two|2)|ilog2\(")
# There the program has a choice, too.
_CHOICE = re.compile(r"&&|\|\|")

Files = Mapping[str, File]
# By "lines", "lines_run", "branches" and "branches_taken".
Figures = collections.Counter[str]


class Entry(typing.TypedDict):
    """A line that nothing has run."""

    file: str
    line: int
    function: str
    source: str
    reason: str | None


def _share(done: int, total: int) -> float:
    return 100 * done / total if total else 100.0


def _is_compilers_choice(row: str) -> bool:
    return bool(_COMPILERS_CHOICE.search(row)) and not _CHOICE.search(row)


def leave_out_compilers_choice(files: Files, root: pathlib.Path) -> None:
    """Forget the branches of lines where the compiler has the choice, and not the program."""
    for name, file in files.items():
        source = (root / name).read_text(encoding="utf-8").splitlines()
        for number in [n for n in file.copies if _is_compilers_choice(source[n - 1])]:
            del file.copies[number]


def figures(file: File) -> dict[str, int]:
    """Return what was run of a File, and how much there is."""
    branches = [count for number in file.copies for count in file.branches(number)]
    return {"lines": len(file.lines), "lines_run": sum(n > 0 for n in file.lines.values()),
            "branches": len(branches), "branches_taken": sum(n > 0 for n in branches)}


def by_room(files: Files) -> tuple[dict[str, Figures], Figures]:
    """Add the figures of all files of a folder; a second result is of all of them."""
    rooms: dict[str, Figures] = collections.defaultdict(collections.Counter)
    total: Figures = collections.Counter()
    for name, file in files.items():
        room = str(pathlib.PurePath(name).parent)
        for where in (rooms[room], total):
            where.update(figures(file))
    return dict(sorted(rooms.items())), total


def _row(name: str, of: Figures) -> str:
    return (f"{name:<24} {of['lines']:>6} {_share(of['lines_run'], of['lines']):>6.1f} %"
            f" {of['branches']:>8} {_share(of['branches_taken'], of['branches']):>6.1f} %")


def table(files: Files) -> list[str]:
    """Return the shares of each folder, as lines of text."""
    rooms, total = by_room(files)
    head = f"{'':<24} {'lines':>6} {'run':>8} {'branches':>8} {'taken':>8}"
    return [head, *(_row(name, of) for name, of in rooms.items()), _row("all", total)]


def _function_at(source: Sequence[str], number: int) -> str:
    """Return the name of the function that a line is in, as GCOV has none for what is inlined."""
    for row in reversed(source[:number]):
        if found := re.match(r"(?![#\s]).*?\b(\w+)\(", row):
            return found[1]
    return ""


def _line(entry: Entry) -> str:
    return f"{entry['file']}:{entry['line']}: {entry['function']}(): {entry['source']}"


class Unrun:
    """Lines that nothing has run, with the reason of each if there is one."""

    def __init__(self, files: Files, reasons: Reasons, root: pathlib.Path) -> None:
        self.with_reason: list[Entry] = []
        self.without: list[Entry] = []
        for name, file in sorted(files.items()):
            source = (root / name).read_text(encoding="utf-8").splitlines()
            for number, count in sorted(file.lines.items()):
                if not count:
                    function = file.functions[number] or _function_at(source, number)
                    self._add(name, number, function, source[number - 1].strip(), reasons)

    def _add(self, name: str, number: int, function: str, source: str, reasons: Reasons) -> None:
        reason = reasons.of(name, function, source)
        entry: Entry = {"file": name, "line": number, "function": function, "source": source, "reason": reason}
        (self.with_reason if reason else self.without).append(entry)

    def text(self) -> list[str]:
        """Return all of them, those first that nobody has explained."""
        return [*map(_line, self.without), *(f"{_line(e)}  -- {e['reason']}" for e in self.with_reason)]


def as_json(files: Files, unrun: Unrun) -> str:
    """Return all that the report says, for a program."""
    rooms, total = by_room(files)
    return json.dumps({"total": total, "rooms": rooms, "files": {n: figures(f) for n, f in sorted(files.items())},
                       "not_run": unrun.without + unrun.with_reason}, indent=1)
