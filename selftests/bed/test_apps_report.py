# SPDX-License-Identifier: GPL-2.0
"""How programs between two nodes are judged."""

import pathlib
import tempfile
import unittest
from typing import Any

from loading import load

_PATH = pathlib.Path(__file__).resolve().parents[2] / "tools" / "apps" / "report"

report = load("apps_report", _PATH)
_PLAN = "kernel\t6.1\nrounds\t{}\ntransports\tsdp tcp\nprogram\tcat\t1.2\t100\nnodes\t0\n"


def _result(number: int = 10, status: str = "ok", sent: int = 1000, segments: int = 5, expected: int = 1000) -> str:
    return (f"figure\tcopy\t{number}\tMB/s\nstatus\t{status}\nbytes\t{sent}\n"
            f"segments\t{segments}\nexpected\t{expected}\n")


class Report(unittest.TestCase):
    """Results of one program"""

    def judge(self, *rounds: tuple[str | None, str | None], plan: str = _PLAN) -> Any:
        """Read results, given as (over SDP, over TCP) for each round."""
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            (directory / "plan").write_text(plan.format(len(rounds)), encoding="utf-8")
            for count, texts in enumerate(rounds, 1):
                for transport, text in zip(("sdp", "tcp"), texts):
                    if text is not None:
                        (directory / f"cat.{transport}.{count}.result").write_text(text, encoding="utf-8")
            return report.Results(directory)

    def failures(self, *rounds: tuple[str | None, str | None], **more: str) -> list[str]:
        """Return the names of the verdicts that are failures."""
        return [name for name, good, _ in self.judge(*rounds, **more).verdicts() if not good]

    def test_good(self) -> None:
        self.assertEqual(self.failures((_result(), _result(sent=0, segments=9999))), [])

    def test_what_went_wrong_is_named(self) -> None:
        good = _result()
        self.assertEqual(self.failures((_result(sent=999), good)), ["cat.sdp.bytes_over_sdp"])
        self.assertEqual(self.failures((_result(segments=101), good)), ["cat.sdp.nothing_over_tcp"])
        self.assertEqual(self.failures((_result(status="no"), good)), ["cat.sdp.result"])
        self.assertEqual(self.failures((good, _result(status="no"))), ["cat.tcp.result"])
        self.assertEqual(self.failures((good, good), plan=_PLAN.replace("nodes\t0", "nodes\t99")), ["nodes"])
        self.assertEqual(self.failures((good, good), plan=_PLAN.replace("nodes\t0\n", "")), ["nodes"])

    def test_each_round_counts(self) -> None:
        good = _result()
        self.assertEqual(self.failures((good, good), (_result(sent=1), good), (good, good)),
                         ["cat.sdp.bytes_over_sdp"])

    def test_silence_is_failure(self) -> None:
        self.assertEqual(self.failures((None, None)),
                         ["cat.sdp.result", "cat.sdp.bytes_over_sdp", "cat.sdp.nothing_over_tcp",
                          "cat.tcp.result"])

    def test_medians_and_their_ratio(self) -> None:
        results = self.judge(*((_result(sdp), _result(tcp)) for sdp, tcp in ((10, 40), (90, 20), (30, 10))))
        self.assertEqual(results.programs[0].figures(),
                         [{"what": "copy", "unit": "MB/s", "sdp": 30, "tcp": 20, "ratio": 1.5}])

    def test_ktap_keeps_to_its_plan(self) -> None:
        plan = _PLAN + "skipped\tdog\tnot on 6.1\n"
        text = report.as_ktap([self.judge((_result(status="a # b"), _result()), plan=plan)])
        self.assertEqual(text.splitlines()[1:], [
            "1..6", "not ok 1 cat.sdp.result # a ? b", "ok 2 cat.sdp.bytes_over_sdp",
            "ok 3 cat.sdp.nothing_over_tcp", "ok 4 cat.tcp.result", "ok 5 nodes", "ok 6 dog # SKIP not on 6.1"])


if __name__ == "__main__":
    unittest.main()
