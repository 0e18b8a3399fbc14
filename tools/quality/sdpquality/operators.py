# SPDX-License-Identifier: GPL-2.0
"""Small changes to C code in kernel style, each a mistake that somebody could make."""

import dataclasses
import re
from collections.abc import Iterator

_COMPARISONS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == "}
_ARITHMETIC = {" + ": " - ", " - ": " + ", " && ": " || ", " || ": " && "}
# Of these alone a processor of this kind would notice that they are gone: atomic instructions are
# barriers by themselves.
_BARRIER = re.compile(r"^\t+smp_mb\(\);$")
_CALL = re.compile(r"^\t+(\w+)\(.*\);$")
# What only says that something must hold, or tells people of it.
_SAYS = re.compile(r"^(DEFINE_|DECLARE_|LIST_HEAD|smp_[rw]?mb|trace_|lockdep_|mutex_acquire|mutex_release|"
                   r"sdp_owned|sdp_sock_owned|WARN|BUILD_BUG|pr_|might_|"
                   r"memset$|rdma_rej|SDP_\w*STATS|IWARP_\w*STAT)"
                   r"|_stat(s)?$|_tell$")
_RELEASES = re.compile(r"(put|free|release|destroy|unpin|dealloc)\w*$")
_WAKES = re.compile(r"(flush|wake|notify|drain|cancel|arm|queue|schedule|space|ready|push|kick|complete)\w*$")
_LOCKS = re.compile(r"^\t+((?:raw_)?(?:spin|read|write|mutex|rcu_read|up|down)\w*_?(?:lock|unlock)?\w*)\(([^;]*)\);$")
_GUARD = re.compile(r"^(\t+)if \((.*)\)$")
_LEAVES = re.compile(r"^\t+(return\b|goto |continue;|break;)")
_TRUTH = {"return true;": "return false;", "return false;": "return true;"}


@dataclasses.dataclass(frozen=True)
class Mutation:
    """One change: these lines of a file are replaced (their numbers begin with 1)."""

    file: str
    operator: str
    lines: tuple[tuple[int, str, str], ...]  # (number, old text, new text)

    def apply(self, text: str) -> str:
        """Return the file's TEXT with the change made."""
        rows = text.split("\n")
        for number, old, new in self.lines:
            if rows[number - 1] != old:
                raise ValueError(f"{self.file}:{number} is not '{old.strip()}'")
            rows[number - 1] = new
        return "\n".join(rows)

    def __str__(self) -> str:
        number, old, new = self.lines[0]
        return f"{self.file}:{number}: {self.operator}: {old.strip()} -> {new.strip()}"


class Function:
    """The body of a function: lines, each with its number."""

    def __init__(self, file: str, rows: list[tuple[int, str]]) -> None:
        self.file, self.rows = file, rows

    def _one(self, operator: str, number: int, row: str, new: str) -> Mutation:
        return Mutation(self.file, operator, ((number, row, new),))

    def mutations(self) -> Iterator[Mutation]:
        """Yield each change that can be made here."""
        for index, (number, row) in enumerate(self.rows):
            following = self.rows[index + 1][1] if index + 1 < len(self.rows) else ""
            yield from self._exchanges(number, row)
            yield from self._checks(number, row, following)
            yield from self._calls(number, row)
            yield from self._locks(index)

    def _exchanges(self, number: int, row: str) -> Iterator[Mutation]:
        for operator, table in (("compare", _COMPARISONS), ("operate", _ARITHMETIC),
                                ("truth", _TRUTH)):
            for old, new in table.items():
                for found in re.finditer(re.escape(old), row):
                    yield self._one(operator, number, row, row[:found.start()] + new + row[found.end():])

    def _checks(self, number: int, row: str, following: str) -> Iterator[Mutation]:
        if (guard := _GUARD.match(row)) and _LEAVES.match(following):
            yield self._one("check", number, row, f"{guard[1]}if (false && ({guard[2]}))")

    def _calls(self, number: int, row: str) -> Iterator[Mutation]:
        if _BARRIER.match(row):
            yield self._one("barrier", number, row, _nothing(row))
        elif (call := _CALL.match(row)) and not _SAYS.search(call[1]) and not _LOCKS.match(row):
            yield self._one(_kind_of_call(call[1]), number, row, _nothing(row))

    def _locks(self, index: int) -> Iterator[Mutation]:
        """A lock is dropped together with all that release it."""
        taken = _LOCKS.match(self.rows[index][1])
        if not taken or "unlock" in taken[1] or taken[1].startswith("up"):
            return
        same = [(number, row) for number, row in self.rows[index:]
                if (found := _LOCKS.match(row)) and found[2].split(",")[0] == taken[2].split(",")[0]]
        if len(same) > 1:
            yield Mutation(self.file, "lock", tuple((number, row, _nothing(row)) for number, row in same))


def _nothing(row: str) -> str:
    return row[:len(row) - len(row.lstrip("\t"))] + ";"


def _kind_of_call(name: str) -> str:
    if _RELEASES.search(name):
        return "release"
    return "wake" if _WAKES.search(name) else "call"


def functions(file: str, text: str) -> Iterator[Function]:
    """Yield the functions of a file in kernel style: "{" and "}" stand in the first column."""
    body: list[tuple[int, str]] | None = None
    comment = False
    for number, row in enumerate(text.split("\n"), 1):
        if row == "{":
            body = []
        elif row == "}" and body is not None:
            yield Function(file, body)
            body = None
        elif body is not None:
            comment = comment or "/*" in row
            if not comment and not row.startswith("#"):
                body.append((number, row))
            comment = comment and "*/" not in row


def of_file(file: str, text: str) -> list[Mutation]:
    """Return all mutations of a file."""
    return [m for function in functions(file, text) for m in function.mutations()]
