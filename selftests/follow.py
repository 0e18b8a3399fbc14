# SPDX-License-Identifier: GPL-2.0
"""Inside each of two nodes: type what a manual says, and see what it says one sees.

    follow.py a|b MANUAL SHARED-DIRECTORY

A command is a line of a literal block that begins with a prompt, "#" for root and "$" for
anybody else, with the address of its machine before it, or in the heading of its section, or
else it is for both. What follows up to the next prompt has to be among what it prints; numbers
differ, but for addresses, for ports of servers, for how long numbers are and what they begin
with, and for counters of few things. Where bytes go is checked by their hash."""

import dataclasses
import hashlib
import itertools
import pathlib
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import IO

_ADDRESS = {"a": "10.0.0.1", "b": "10.0.0.2"}
_PROMPT = re.compile(r"(?P<host>10\.0\.0\.\d)?(?P<prompt>[#$]) (?P<command>.+)")
_HEADING = re.compile(r"\n(.+)\n=+\n")
_BLOCK = re.compile(r"::\n\n((?:[ \t]+.*\n|\n)+)")
# Of packages that are installed already, and built by other tests.
_DONE_BEFORE = re.compile(r"apt |make deb")
# For what takes its time until it is to be seen.
_BOUND = 120


@dataclasses.dataclass
class Step:
    """What one types, on which machines, and what one sees then."""

    hosts: tuple[str, ...]
    is_root: bool
    command: str
    expected: list[str]

    def waits_for_peer(self) -> bool:
        """Say whether it is a server that does not leave the terminal free."""
        return self.command.startswith("rping -s")


def _hosts(heading: str) -> tuple[str, ...]:
    named = tuple(host for host, address in _ADDRESS.items() if re.search(rf"\bon {re.escape(address)}\b", heading))
    return named or tuple(_ADDRESS)


def _is_open(command: str) -> bool:
    """Say whether the next line belongs to it."""
    here = re.search(r"<< (\w+)$", command.split("\n", 1)[0])
    return command.split("\n")[-1] != here[1] if here else command.endswith("\\")


def _lines(block: str) -> list[str]:
    """Return the lines without their indentation; one that has less is behind the block."""
    lines = block.expandtabs().strip("\n").splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    inside = itertools.takewhile(lambda line: not line.strip() or line.startswith(" " * indent), lines)
    return [line[indent:] for line in inside]


def _of_block(block: str, hosts: tuple[str, ...]) -> list[Step]:
    steps: list[Step] = []
    for line in _lines(block):
        if steps and _is_open(steps[-1].command):
            steps[-1].command += "\n" + line
        elif found := _PROMPT.fullmatch(line):
            where = tuple(h for h, address in _ADDRESS.items() if found["host"] in (address, None))
            steps.append(Step(where if found["host"] else hosts, found["prompt"] == "#", found["command"], []))
        elif steps and line.strip():
            steps[-1].expected.append(line)
    return steps


def steps_of(text: str) -> list[Step]:
    """Return the steps of a manual in their order."""
    found = []
    parts = _HEADING.split(text)
    for heading, body in zip(parts[1::2], parts[2::2]):
        for block in _BLOCK.findall(body):
            found += _of_block(block, _hosts(heading))
    return [step for step in found if not _DONE_BEFORE.match(step.command)]


def _number(text: str, kept: set[str]) -> str:
    if text in kept:
        return text
    return f"{text[:3]}\\d{{{len(text) - 3}}}" if len(text) > 6 else r"\d+"


def pattern_of(line: str, kept: set[str]) -> re.Pattern[str]:
    """Return what matches a line whose numbers, those KEPT excepted, are others."""
    words = []
    if re.fullmatch(r"\w+ +\d", line.strip()):
        kept = kept | {line[-1]}
    for word in line.split():
        parts = re.split(r"(\d+\.\d+\.\d+\.\d+|\d+)", word)
        words.append("".join(re.escape(part) if i % 2 == 0 or "." in part else _number(part, kept)
                             for i, part in enumerate(parts)))
    return re.compile(r"\s*" + r"\s+".join(words) + r"\s*")


def is_seen(expected: Sequence[str], output: str, kept: set[str]) -> bool:
    """Say whether all lines that are expected are there, whatever is between; what a program
    writes as an error comes at another time than on a terminal."""
    lines = output.splitlines()
    for line in expected:
        found = next((seen for seen in lines if pattern_of(line, kept).fullmatch(seen)), None)
        if found is None:
            return False
        lines.remove(found)
    return True


def _kept(steps: Sequence[Step]) -> set[str]:
    """Ports that commands name."""
    return {port for step in steps for port in re.findall(r"(?:port |:|listen )(\d{4})\b", step.command)}


class Terminal:
    """The machine that somebody sits at."""

    def __init__(self, role: str, kept: set[str]) -> None:
        self._role, self._kept = role, kept
        self._servers: list[tuple[Step, subprocess.Popen[bytes], IO[str]]] = []

    def _start(self, step: Step, output: IO[str]) -> subprocess.Popen[bytes]:
        user = [] if step.is_root else ["setpriv", "--reuid=nobody", "--regid=nogroup", "--init-groups"]
        return subprocess.Popen([*user, "bash", "-c", step.command], stdin=subprocess.DEVNULL, stdout=output,
                                stderr=output)

    def _run(self, step: Step) -> tuple[int, str]:
        """What goes on behind it in the background has the file, too."""
        with open("output", "w+", encoding="utf-8") as output:
            status = self._start(step, output).wait(_BOUND)
            output.seek(0)
            return status, output.read()

    def _serve(self, step: Step) -> None:
        output = open("served", "w+", encoding="utf-8")
        self._servers.append((step, self._start(step, output), output))
        self._until(lambda: "LISTEN" in subprocess.run(["rdma", "resource", "show", "cm_id"], check=True, text=True,
                                                       stdout=subprocess.PIPE).stdout, step)

    def _until(self, condition: Callable[[], bool], step: Step) -> None:
        end = time.monotonic() + _BOUND
        while not condition():
            if time.monotonic() > end:
                sys.exit(f"not within {_BOUND} s: {step.command}")
            time.sleep(0.1)

    def _looks(self, step: Step) -> None:
        """Look until it is there, as a person would."""
        seen = ""

        def there() -> bool:
            nonlocal seen
            status, seen = self._run(step)
            done = is_seen(step.expected, seen, self._kept)
            return done and (status == 0 or any("Failed" in line for line in step.expected))

        try:
            if re.match(r"sdpstat|rdma link$", step.command):
                self._until(there, step)
            elif not there():
                sys.exit(f"not what the manual shows: {step.command}")
        finally:
            print(seen, end="", flush=True)

    def do(self, number: int, step: Step) -> None:
        """Take a step, or wait until the other machine has taken it."""
        if self._role in step.hosts:
            print(f"{_ADDRESS[self._role]}{'#' if step.is_root else '$'} {step.command}", flush=True)
            if step.waits_for_peer():
                self._serve(step)
            else:
                self._looks(step)
        subprocess.run(["vm-barrier", f"walkthrough-{number}"], check=True)

    def leave(self) -> None:
        """Servers that have served are over."""
        for step, process, output in self._servers:
            if process.wait(_BOUND) != 0:
                output.seek(0)
                sys.exit(f"{step.command}: {output.read()}")


def _same_bytes(role: str, shared: pathlib.Path) -> None:
    """What the client has got is what the server has."""
    name = "/srv/www/file" if role == "a" else "got"
    with open(name, "rb") as file:
        (shared / f"sum.{role}").write_text(hashlib.file_digest(file, "sha256").hexdigest(), encoding="ascii")
    subprocess.run(["vm-barrier", "walkthrough-sums"], check=True)
    sums = {(shared / f"sum.{host}").read_text(encoding="ascii") for host in _ADDRESS}
    if len(sums) != 1:
        sys.exit(f"what was fetched is not what was served: {sums}")


def main() -> None:
    role, manual, shared = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    steps = steps_of(manual.read_text(encoding="utf-8"))
    terminal = Terminal(role, _kept(steps))
    for number, step in enumerate(steps):
        terminal.do(number, step)
    terminal.leave()
    _same_bytes(role, shared)


if __name__ == "__main__":
    main()
