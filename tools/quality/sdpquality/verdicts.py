# SPDX-License-Identifier: GPL-2.0
"""What became of all changes that were tried: shares of what was noticed, and what was not."""

import collections
import pathlib
import re
import typing
from collections.abc import Iterable, Mapping, Sequence


class Result(typing.TypedDict):
    """What became of a change; a line of results.jsonl."""

    change: str
    verdict: str
    programs: list[str]


def lasting(change: str) -> str:
    """Return the name of a change without the number of its line, which others move."""
    return re.sub(r":\d+:", ":", change, count=1)


def moved(results: Sequence[Result], every: Iterable[str]) -> list[Result]:
    """Return those of EVERY change that can be made now, which others may have moved to another line."""
    now: dict[str, set[str]] = collections.defaultdict(set)
    before: dict[str, set[str]] = collections.defaultdict(set)
    for change in every:
        now[lasting(change)].add(change)
    for result in results:
        before[lasting(result["change"])].add(result["change"])
    found = []
    for result in results:
        names = now[lasting(result["change"])]
        if result["change"] in names:
            found.append(result)
        elif len(names) == 1 and len(before[lasting(result["change"])]) == 1:
            result = result.copy()
            result["change"] = min(names)
            found.append(result)
    return found


def equivalent(path: pathlib.Path) -> dict[str, str]:
    """Return {lasting name: reason} of those that change nothing that matters, as a file names them."""
    text = path.read_text(encoding="utf-8")
    return dict(line.split(" -- ", 1) for line in text.splitlines() if " -- " in line and not line.startswith("#"))


def _survivors(results: Sequence[Result], known: Mapping[str, str]) -> list[Result]:
    return [r for r in results if r["verdict"] == "survived" and lasting(r["change"]) not in known]


def share(results: Sequence[Result], known: Mapping[str, str]) -> float:
    """Return how much of what was tried and matters was caught, in percent."""
    caught = sum(r["verdict"] == "caught" for r in results)
    tried = caught + len(_survivors(results, known))
    return 100 * caught / tried if tried else 0.0


def share_of_all(results: Sequence[Result], known: Mapping[str, str]) -> float:
    """The same, but what could not be tried was not caught either."""
    counted = [r for r in results if r["verdict"] != "survived" or lasting(r["change"]) not in known]
    return 100 * sum(r["verdict"] == "caught" for r in counted) / len(counted) if counted else 0.0


def summary(results: Sequence[Result], known: Mapping[str, str], every: Iterable[str]) -> list[str]:
    """Return the shares, and all that was not noticed, as lines of text; EVERY change that can be made."""
    counts = collections.Counter(r["verdict"] for r in results)
    survivors = _survivors(results, known)
    named = collections.Counter(lasting(change) for change in every)
    return [f"{len(results)} changes: {counts['caught']} caught, {len(survivors)} survived"
            f" ({share(results, known):.1f} % caught), {counts['survived'] - len(survivors)} change nothing,"
            f" {counts['not run']} in lines that nothing runs, {counts['not built']} do not build,"
            f" {counts['undecided']} undecided",
            *(f"names {named[change]} changes: {change}" for change in known if named[change] != 1),
            *(f"survived {r['change']}  [{' '.join(r['programs'])}]" for r in survivors)]
