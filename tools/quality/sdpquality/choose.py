# SPDX-License-Identifier: GPL-2.0
"""Which changes are tried, and which test programs could notice each."""

import json
import pathlib
import random
import re

from . import operators

# Only checkers notice that something is not locked, or never released.
_FOR_CHECKERS = {"lock", "release", "barrier"}
_PURE = re.compile(r"^net/sdp/(wire/|flow/(credit|rdma|nic|auto)|stream/(ring|rcvbuf)\.|zcopy/(state|sinkavail)\.)"
                   r"|^net/iwarp/wire/")
# How many seconds of tests one change is worth, on each kernel that is tried: the debug
# kernel takes several times as long for the same.
_STAGES = (("6.1", 60),)
_STAGES_FOR_CHECKERS = (("6.1", 60), ("debug", 20))
# Needs what stock kernels have not, or more than one node, or much longer.
_UNSUITABLE = re.compile(r"(_fail_|_rerun|_two_node|\.b$|^leaks)")


def is_pure(file):
    """Whether unit tests compile FILE for user space."""
    return bool(_PURE.match(file))


def stages(mutation):
    """Return the kernels whose tests could notice, the quickest first, each with its seconds."""
    return _STAGES_FOR_CHECKERS if mutation.operator in _FOR_CHECKERS else _STAGES


def _all(root):
    for path in sorted((root / "net").rglob("*.c")):
        yield from operators.of_file(str(path.relative_to(root)), path.read_text(encoding="utf-8"))


def every(root):
    """Return all changes that could be made, as text."""
    return {str(mutation) for mutation in _all(root)}


def sample(root, count, seed, pure=False):
    """Return COUNT changes: rooms and operators take turns, so that none is left out.

    PURE ones are those of which unit tests say enough."""
    groups = {}
    for mutation in _all(root):
        if pure and not is_pure(mutation.file):
            continue
        groups.setdefault((str(pathlib.PurePath(mutation.file).parent), mutation.operator), []).append(mutation)
    dice = random.Random(seed)
    queues = [dice.sample(found, len(found)) for _, found in sorted(groups.items())]
    dice.shuffle(queues)
    chosen = []
    while len(chosen) < count and any(queues):
        chosen += [queue.pop() for queue in queues if queue]
    return chosen[:count]


class Programs:
    """What the coverage of each test program says of it."""

    def __init__(self, path):
        self._programs = json.loads(path.read_text(encoding="utf-8"))

    def that_run(self, mutation, seconds):
        """Return (lane suffix, names) of programs that run the changed lines, the quickest first.

        They take SECONDS at most, if there is a choice."""
        wanted = {number for number, _, _ in mutation.lines}
        found = [(p["seconds"], p["lane"], p["name"]) for p in self._programs
                 if not _UNSUITABLE.search(p["name"]) and wanted & set(p["files"].get(mutation.file, []))]
        return _within(sorted(found), seconds)


def _within(found, most):
    if not found:
        return "", []
    # One boot for all: the devices that most of them have.
    lanes = [lane for _, lane, _ in found]
    lane = max(set(lanes), key=lanes.count)
    names, sum_of = [], 0
    for took, where, name in found:
        if where == lane and (not names or sum_of + took <= most):
            names.append(name)
            sum_of += took
    return lane, names
