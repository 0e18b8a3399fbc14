# SPDX-License-Identifier: GPL-2.0
"""Why a line is not run by any test: a list that people keep."""

import fnmatch
import pathlib
import re

# File, function, text if there is one, reason.
_Entry = tuple[str, str, str | None, str]


class Reasons:
    """Lines of "FILE FUNCTION[:TEXT] REASON"; names are shell patterns, TEXT is in the line."""

    def __init__(self, text: str) -> None:
        entries = [self._parse(number, line) for number, line in enumerate(text.splitlines(), 1)
                   if line.strip() and not line.startswith("#")]
        # What names a line says more than what names a function.
        self._entries = sorted(entries, key=lambda entry: entry[2] is None)
        self._used: set[_Entry] = set()

    @staticmethod
    def _parse(number: int, line: str) -> _Entry:
        found = re.fullmatch(r"(\S+)\s+([^\s:]+)(?::\"([^\"]+)\")?\s+(\S.*)", line)
        if not found:
            raise SystemExit(f"uncovered: line {number}: not 'FILE FUNCTION[:\"TEXT\"] REASON': {line}")
        return found[1], found[2], found[3], found[4]

    def of(self, file: str, function: str, source: str) -> str | None:
        """Return the reason for a line of FILE in FUNCTION whose text is SOURCE, or None."""
        for entry in self._entries:
            in_file, in_function, text, reason = entry
            if fnmatch.fnmatch(file, in_file) and fnmatch.fnmatch(function, in_function) \
                    and (text is None or text in source):
                self._used.add(entry)
                return reason
        return None

    def unused(self) -> list[str]:
        """Return what names no line that is not run: it has a test now, or a new name."""
        return [" ".join(part for part in entry if part) for entry in self._entries
                if entry not in self._used]


def load(path: pathlib.Path) -> Reasons:
    """Return the reasons that a file names."""
    return Reasons(path.read_text(encoding="utf-8"))
