# SPDX-License-Identifier: GPL-2.0
"""Which changes are tried, and which test programs could notice each."""

import collections
import json
import pathlib
import random
import re
import typing
from collections.abc import Iterable, Iterator, Sequence

from . import operators, verdicts

_PURE = re.compile(r"^net/sdp/(wire/|flow/(credit|rdma|nic|auto)|stream/(ring|rcvbuf)\.|zcopy/(state|sinkavail)\.)"
                   r"|^net/iwarp/wire/")
# Kernels whose tests could notice.  The first is a process of the host, and by far the
# quickest, with the checkers of locks and leaks; it has one processor, and no huge pages.  What a
# lock or a barrier is for is seen by the checkers of locks and of data races.
_QUICK, _ALL, _RACES = ("uml",), ("uml", "6.1", "debug"), ("uml", "debug", "kcsan")
_NEEDS_FAULTS = re.compile(r"_fail_")
# Needs more than one node, or much longer.
_UNSUITABLE = re.compile(r"(_rerun|_two_node|\.b$|^leaks-[^1])")
# In a process of the host these fail without a change, too: nothing guards pages there, there are
# no huge pages and no kprobes, and fork() copies wrong entries (sdp_zmap); failing allocations find
# leaks of the kernel (sdp_fail_load), and checkers what they do not like about the kernel's software
# iWARP (sdp_netns) or pages of a module that has gone (iwarp_removed).  Over iWARP nothing is offered,
# and programs are told twice of a port's end (iwarp_tools); why is not known.
_NOT_IN_A_PROCESS = re.compile(
    r"^[^/]*/(sdp_(fail_load|fault|limits|memory|netns|script_self|trace|zasync\w*|zblock|zchoice|zdirect|zmap"
    r"|zreuse|zusers)|iwarp_(fail_completion|integrated|integrated_rx|removed|res|tcp|zcopy))$"
    r"|^-iwarp/(iwarp_tools|sdp_(attempt|fail_any|fallback\w*|gates|immediate|info|rogue|scale|sink\w*|uring_zc"
    r"|z\w*))$")


# (seconds, name) of a program, and with its lane's suffix between them.
Timed = tuple[float, str]
Found = tuple[float, str, str]
Lanes = list[tuple[str, list[str]]]


def is_pure(file: str) -> bool:
    """Whether unit tests compile FILE for user space."""
    return bool(_PURE.match(file))


def stages(mutation: operators.Mutation, again: bool) -> tuple[str, ...]:
    """Return the kernels whose tests are to notice, the quickest first; AGAIN, slower ones, too."""
    if not again:
        return _QUICK
    return _RACES if mutation.operator in ("lock", "barrier") else _ALL


def _all(root: pathlib.Path) -> Iterator[operators.Mutation]:
    """All but those of what only tests use."""
    for path in sorted(set((root / "net").rglob("*.c")) - set((root / "net").rglob("*fault.c"))):
        yield from operators.of_file(str(path.relative_to(root)), path.read_text(encoding="utf-8"))


def every(root: pathlib.Path) -> set[str]:
    """Return all changes that could be made, as text."""
    return {str(mutation) for mutation in _all(root)}


def sample(root: pathlib.Path, count: int, seed: int, pure: bool = False) -> list[operators.Mutation]:
    """Return COUNT changes: rooms and operators take turns, so that none is left out.

    PURE ones are those of which unit tests say enough."""
    groups: dict[tuple[str, str], list[operators.Mutation]] = {}
    for mutation in _all(root):
        if pure and not is_pure(mutation.file):
            continue
        groups.setdefault((str(pathlib.PurePath(mutation.file).parent), mutation.operator), []).append(mutation)
    dice = random.Random(seed)
    queues = [dice.sample(found, len(found)) for _, found in sorted(groups.items())]
    dice.shuffle(queues)
    chosen: list[operators.Mutation] = []
    while len(chosen) < count and any(queues):
        chosen += [queue.pop() for queue in queues if queue]
    return chosen[:count]


def named(root: pathlib.Path, text: str) -> list[operators.Mutation]:
    """Return the changes that TEXT names, with the number of a line or without."""
    return [mutation for mutation in _all(root) if text in (str(mutation), verdicts.lasting(str(mutation)))]


class Named:
    """Programs that somebody chose, as "LANE:PROGRAM,PROGRAM", whatever lines they run."""

    def __init__(self, text: str) -> None:
        lane, _, names = text.partition(":")
        kernel = re.match(rf"({'|'.join(map(re.escape, sorted({*_ALL, *_RACES})))})(-\w+)?$", lane)
        if not kernel or not names:
            raise ValueError(text)
        self._kernel, self._lane, self._names = kernel[1], kernel[2] or "", names.split(",")

    def kernels(self, _mutation: object, _again: bool) -> tuple[str, ...]:
        """The one."""
        return (self._kernel,)

    def that_run(self, _mutation: object, _kernel: str, _seconds: float) -> Lanes:
        """All of them."""
        return [(self._lane, self._names)]


class Program(typing.TypedDict):
    """What tools/quality/coverage says of a program."""

    name: str
    lane: str
    seconds: int
    files: dict[str, list[int]]


class Programs:
    """What the coverage of each test program says of it."""

    def __init__(self, path: pathlib.Path) -> None:
        self._programs: list[Program] = json.loads(path.read_text(encoding="utf-8"))

    def kernels(self, mutation: operators.Mutation, again: bool) -> tuple[str, ...]:
        """Return those whose tests are to notice."""
        return stages(mutation, again)

    def _running(self, file: str, numbers: set[int], kernel: str) -> list[Found]:
        return [(p["seconds"], p["lane"], _name(p["name"])) for p in self._programs
                if _is_for(kernel, p["lane"], p["name"]) and numbers & set(p["files"].get(file, []))]

    def that_run(self, mutation: operators.Mutation, kernel: str, seconds: float) -> Lanes:
        """Return [(lane suffix, names)] of programs that run the changed lines, the quickest first.

        The lane that most of them have is the first; those of each take SECONDS at most, if there
        is a choice."""
        found = (self._running(mutation.file, lines, kernel) for lines in _places(mutation))
        return _within(sorted(next(filter(None, found), [])), seconds)


# Who says which programs could notice a change.
Chooser = Named | Programs


def _places(mutation: operators.Mutation) -> Iterator[set[int]]:
    """Yield the numbers of lines, the best first, whose programs are to notice.

    Who runs what a check leads to knows best. The compiler merges lines, and counts what is
    inlined where it comes from: then those around say as much."""
    numbers = {number for number, _, _ in mutation.lines}
    if mutation.operator == "check":
        yield {number + 1 for number in numbers}
    yield numbers
    yield set(range(min(numbers) - 3, max(numbers) + 4))


def _name(program: str) -> str:
    """What runs when the modules are unloaded is run behind any program."""
    return "sdp_api" if program == "leaks-1" else program


def _is_for(kernel: str, lane: str, name: str) -> bool:
    """Stock kernels have no faults on request."""
    if _UNSUITABLE.search(name):
        return False
    if kernel == "uml":
        return not _NOT_IN_A_PROCESS.search(f"{lane}/{name}")
    return kernel == "debug" or not _NEEDS_FAULTS.search(name)


def _within(found: Sequence[Found], most: float) -> Lanes:
    lanes = collections.Counter(lane for _, lane, _ in found)
    return [(lane, _quickest([(took, name) for took, where, name in found if where == lane], most))
            for lane, _ in lanes.most_common()]


def _quickest(found: Iterable[Timed], most: float) -> list[str]:
    names: list[str] = []
    sum_of: float = 0
    for took, name in found:
        if name not in names and (not names or sum_of + took <= most):
            names.append(name)
            sum_of += took
    return names
