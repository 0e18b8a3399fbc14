# SPDX-License-Identifier: GPL-2.0
"""Changes that are made to C code, and which of them are tried."""

import pathlib
import tempfile
import unittest
import unittest.mock
from collections.abc import Sequence

from sdpquality import attempt, choose, operators, verdicts

_CODE = """\
/* if (a < b) */
static int take(struct thing *t, int len)
{
	spin_lock(&t->lock);
	/* len < 0: never */
	if (len < t->room)
		goto out;
	smp_mb();
	thing_wake(t);
	smp_mb__after_atomic();
	trace_thing(t);
	thing_put(t);
out:
	spin_unlock(&t->lock);
	return true;
}
"""


def _changes(code: str) -> set[tuple[str, str]]:
    return {(m.operator, m.apply(code)) for m in operators.of_file("net/x/a.c", code)}


class Operators(unittest.TestCase):
    """What is changed, and what is not."""

    def _expect(self, operator: str, *replacements: tuple[str, str]) -> None:
        changed = _CODE
        for old, new in replacements:
            self.assertIn(old, changed)
            changed = changed.replace(old, new)
        self.assertIn((operator, changed), _changes(_CODE))

    def test_a_comparison(self) -> None:
        """The next one."""
        self._expect("compare", ("if (len < t", "if (len <= t"))

    def test_a_check(self) -> None:
        """Of which nothing follows any more."""
        self._expect("check", ("if (len < t->room)", "if (false && (len < t->room))"))

    def test_calls_by_what_they_do(self) -> None:
        """Each is gone."""
        self._expect("barrier", ("smp_mb();", ";"))
        self._expect("wake", ("thing_wake(t);", ";"))
        self._expect("release", ("thing_put(t);", ";"))

    def test_a_lock_goes_with_its_release(self) -> None:
        """Or everything would hang."""
        self._expect("lock", ("spin_lock(&t->lock);", ";"), ("spin_unlock(&t->lock);", ";"))

    def test_truth(self) -> None:
        """Becomes a lie."""
        self._expect("truth", ("return true;", "return false;"))

    def test_nothing_else(self) -> None:
        """No comment, nothing outside of functions, nothing that is no instruction here."""
        self.assertEqual(len(_changes(_CODE)), 7)

    def test_another_file(self) -> None:
        """Is not changed by mistake."""
        change = operators.of_file("net/x/a.c", _CODE)[0]
        with self.assertRaises(ValueError):
            change.apply(_CODE.replace("lock", "mutex"))


class Choice(unittest.TestCase):
    """Which changes, and which programs."""

    def setUp(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.root = pathlib.Path(self._folder.name)
        for room in ("one", "two"):
            (self.root / "net/x" / room).mkdir(parents=True)
            (self.root / "net/x" / room / "a.c").write_text(_CODE * 5, encoding="utf-8")

    def test_rooms_and_operators_take_turns(self) -> None:
        """So that fourteen changes are seven of each room."""
        chosen = choose.sample(self.root, 14, seed=3)
        self.assertEqual(len({(m.file, m.operator) for m in chosen}), 14)

    def test_pure_ones(self) -> None:
        """Are those of which unit tests know."""
        (self.root / "net/sdp/wire").mkdir(parents=True)
        (self.root / "net/sdp/wire/wire.c").write_text(_CODE, encoding="utf-8")
        self.assertEqual({m.file for m in choose.sample(self.root, 20, 1, pure=True)}, {"net/sdp/wire/wire.c"})

    def test_the_seed_decides(self) -> None:
        """The same again, and others."""
        first = choose.sample(self.root, 20, seed=1)
        self.assertEqual(first, choose.sample(self.root, 20, seed=1))
        self.assertNotEqual(first, choose.sample(self.root, 20, seed=2))

    def test_kernels(self) -> None:
        """The quick one alone, and all for what it has not noticed."""
        change = operators.Mutation("net/x/a.c", "compare", ((6, "old", "new"),))
        self.assertEqual(choose.stages(change, False), ("uml",))
        self.assertEqual(choose.stages(change, True)[0], "uml")
        self.assertIn("debug", choose.stages(change, True))
        lock = operators.Mutation("net/x/a.c", "lock", ((6, "old", "new"),))
        self.assertEqual(choose.stages(lock, False), ("uml",))
        self.assertIn("kcsan", choose.stages(lock, True))

    def test_one_by_its_name(self) -> None:
        """With the number of its line, and without: then of all that are so named."""
        change = choose.sample(self.root, 1, seed=1)[0]
        self.assertEqual(choose.named(self.root, str(change)), [change])
        same = choose.named(self.root, verdicts.lasting(str(change)))
        self.assertIn(change, same)
        self.assertEqual(len(same), 5)
        self.assertEqual(choose.named(self.root, "no such change"), [])

    def test_programs_by_their_names(self) -> None:
        """On the kernel and with the devices that are said."""
        programs = choose.Named("uml-iwarp:iwarp_data,sdp_api")
        self.assertEqual(programs.kernels(None, True), ("uml",))
        self.assertEqual(programs.that_run(None, "uml", 1), [("-iwarp", ["iwarp_data", "sdp_api"])])
        for wrong in ("uml", "uml:", "5.10:sdp_api", "iwarp_data"):
            self.assertRaises(ValueError, choose.Named, wrong)

    def test_programs_that_run_it(self) -> None:
        """The quickest first, those of the devices that most have, none that cannot be used."""
        path = self.root / "programs.json"
        path.write_text("""[
            {"name": "slow", "lane": "", "seconds": 90, "files": {"net/x/a.c": [6]}},
            {"name": "quick", "lane": "", "seconds": 2, "files": {"net/x/a.c": [6, 7]}},
            {"name": "iwarp", "lane": "-iwarp", "seconds": 1, "files": {"net/x/a.c": [6]}},
            {"name": "other", "lane": "", "seconds": 1, "files": {"net/x/a.c": [7]}},
            {"name": "x_fail_y", "lane": "", "seconds": 1, "files": {"net/x/a.c": [6]}},
            {"name": "leaks-1", "lane": "", "seconds": 0, "files": {"net/x/a.c": [20, 30]}},
            {"name": "sdp_api", "lane": "", "seconds": 1, "files": {"net/x/a.c": [30]}},
            {"name": "sdp_zmap", "lane": "", "seconds": 1, "files": {"net/x/a.c": [40]}},
            {"name": "sdp_info", "lane": "-iwarp", "seconds": 1, "files": {"net/x/a.c": [50]}},
            {"name": "sdp_info", "lane": "", "seconds": 1, "files": {"net/x/a.c": [50]}},
            {"name": "leaks-2.a", "lane": "", "seconds": 0, "files": {"net/x/a.c": [20]}},
            {"name": "long", "lane": "", "seconds": 100, "files": {"net/x/a.c": [6]}}]""", encoding="utf-8")
        change = operators.Mutation("net/x/a.c", "compare", ((6, "old", "new"),))
        programs = choose.Programs(path)
        self.assertEqual(programs.that_run(change, "6.1", 95), [("", ["quick", "slow"]), ("-iwarp", ["iwarp"])])
        self.assertEqual(programs.that_run(change, "6.1", 10)[0], ("", ["quick"]))
        self.assertEqual(programs.that_run(change, "debug", 3)[0], ("", ["x_fail_y", "quick"]))
        self.assertEqual(programs.that_run(change, "uml", 10)[0], ("", ["x_fail_y", "quick"]))
        check = operators.Mutation("net/x/a.c", "check", ((6, "old", "new"),))
        self.assertEqual(programs.that_run(check, "6.1", 95), [("", ["other", "quick"])])
        near = operators.Mutation("net/x/a.c", "call", ((9, "old", "new"),))
        self.assertEqual(programs.that_run(near, "6.1", 10)[0], ("", ["other", "quick"]))
        unloading = operators.Mutation("net/x/a.c", "call", ((20, "old", "new"),))
        self.assertEqual(programs.that_run(unloading, "6.1", 10), [("", ["sdp_api"])])
        both = operators.Mutation("net/x/a.c", "call", ((30, "old", "new"),))
        self.assertEqual(programs.that_run(both, "6.1", 10), [("", ["sdp_api"])])
        guarded = operators.Mutation("net/x/a.c", "call", ((40, "old", "new"),))
        self.assertEqual(programs.that_run(guarded, "6.1", 10), [("", ["sdp_zmap"])])
        self.assertEqual(programs.that_run(guarded, "uml", 10), [])
        shown = operators.Mutation("net/x/a.c", "call", ((50, "old", "new"),))
        self.assertEqual(programs.that_run(shown, "uml", 10), [("", ["sdp_info"])])


class Judgement(unittest.TestCase):
    """What tests say counts only if they say something else without the change."""

    class _Tree(attempt.Tree):
        def __init__(self, *answers: attempt.Failed | None) -> None:  # pylint: disable=super-init-not-called
            self.answers = list(answers)

        def selftests(self, kernel: str, lane: str, names: Sequence[str], **env: str) -> attempt.Failed | None:
            """Return the next answer."""
            return self.answers.pop(0)

    class _Baseline(attempt.Baseline):
        def __init__(self, failed: attempt.Failed | None) -> None:  # pylint: disable=super-init-not-called
            self.failed = failed

        def fails(self, kernel: str, lane: str, names: Sequence[str]) -> attempt.Failed | None:
            """Return what fails by itself in NAMES."""
            return self.failed and {(p, c) for p, c in self.failed if p in (*names, "node")}

        def passes(self, kernel: str, lane: str, names: Sequence[str]) -> None:
            """Of what was seen to pass nothing is asked here."""

    def _passes(self, failed_before: attempt.Failed | None, *answers: attempt.Failed | None) -> bool | None:
        return attempt.node_passes(self._Tree(*answers), self._Baseline(failed_before), "6.1", "", ["a", "b"])

    def test_a_program_that_fails(self) -> None:
        """Notices, unless it does so without the change."""
        one, two, other = ("a", "one"), ("a", "two"), ("b", "one")
        self.assertIs(self._passes(set(), {one}), False)
        self.assertIs(self._passes({one}, {one}, {one}, set()), True)
        self.assertIs(self._passes({one}, {one, two}), False)
        self.assertIs(self._passes({one}, {one}, {one}, {other}), False)
        self.assertIsNone(self._passes({("a", "")}, {("a", "")}, {("a", "")}))

    def test_what_follows_a_known_failure(self) -> None:
        """Is run, too; and if all fails without the change, nothing is known."""
        one, two, other = ("a", "one"), ("a", "two"), ("b", "one")
        self.assertIs(self._passes({one}, {one}, {one, two}), False)
        self.assertIsNone(self._passes({one, other}, {one}, {one}, {other}, {other}))

    def test_what_a_program_has_written(self) -> None:
        """Its cases, or that it did not come to them."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a.ktap")
            for text, status, expected in (("ok 1 one\nnot ok 2 two # why\n", "1", ["two"]), ("", "1", [""]),
                                           ("ok 1 one\n", "124", [""]), ("ok 1 one\n", "0", []), ("", "4", [])):
                path.write_text(text, encoding="ascii")
                path.with_suffix(".status").write_text(status + "\n", encoding="ascii")
                self.assertEqual(attempt.failed_cases(path), expected)

    def test_a_node_that_fails(self) -> None:
        """Notices, if it does not do so with the same programs."""
        self.assertIs(self._passes(set(), {("node", "")}), False)
        self.assertIsNone(self._passes({("node", "")}, {("node", "")}))

    def test_what_passed_is_not_asked_again(self) -> None:
        """Be it without a change, or with one; nor what failed."""
        tree = self._Tree(set(), {("c", "one")})
        baseline = attempt.Baseline(tree)
        self.assertEqual(baseline.fails("6.1", "", ["a", "b"]), set())
        baseline.passes("6.1", "", ["d"])
        self.assertEqual(baseline.fails("6.1", "", ["b", "d"]), set())
        for _ in range(2):
            self.assertEqual(baseline.fails("6.1", "", ["a", "c"]), {("c", "one")})
        self.assertEqual(tree.answers, [])

    def test_nothing_is_known(self) -> None:
        """Without an answer, or without one to compare with."""
        self.assertIsNone(self._passes(set(), None))
        self.assertIsNone(self._passes(None, {("a", "one")}))

    def test_verdicts(self) -> None:
        """The first that notices is enough; what cannot be said is not survived."""
        for answers, expected in (((), "not run"), ((True, False), "caught"), ((None, True), "survived"),
                                  ((None,), "undecided")):
            attempts = [(lambda answer=answer: answer, ["p"]) for answer in answers]
            self.assertEqual(attempt.verdict(attempts, []), expected)


class Builds(unittest.TestCase):
    """Tree.build()"""

    def setUp(self) -> None:
        keeper = tempfile.TemporaryDirectory()
        self.addCleanup(keeper.cleanup)
        (pathlib.Path(keeper.name) / "root").mkdir()
        self.tree = attempt.Tree(pathlib.Path(keeper.name) / "root", pathlib.Path(keeper.name) / "tree")

    def test_what_fails_is_not_built(self) -> None:
        self.tree.build("true")
        self.assertRaises(attempt.NotBuilt, self.tree.build, "false")

    def test_what_takes_too_long_is_no_answer(self) -> None:
        with unittest.mock.patch.object(attempt.Tree.run, "__kwdefaults__", {"seconds": 0.1}):
            self.assertRaises(RuntimeError, self.tree.build, "sleep", "60")


class Verdicts(unittest.TestCase):
    """Shares of what was noticed."""

    def setUp(self) -> None:
        self.results: list[verdicts.Result] = [
            {"change": str(n), "verdict": v, "programs": ["p"]} for n, v in
            enumerate(["caught", "caught", "survived", "survived", "not built", "not run"])]

    def test_shares(self) -> None:
        """What changes nothing does not count, what could not be tried only for all."""
        self.assertEqual(verdicts.share(self.results, {"3": "why"}), 100 * 2 / 3)
        self.assertEqual(verdicts.share_of_all(self.results, {"3": "why"}), 40)
        self.assertEqual(verdicts.share_of_all([], {}), 0)

    def test_summary(self) -> None:
        """Names what survived, and reasons for changes that are not made any more."""
        text = "\n".join(verdicts.summary(self.results, {"3": "why", "gone": "why"}, {"2", "3"}))
        self.assertIn("2 caught, 1 survived (66.7 % caught), 1 change nothing", text)
        self.assertIn("survived 2  [p]", text)
        self.assertIn("names 0 changes: gone", text)
        self.assertNotIn("survived 3", text)

    def test_moved_lines(self) -> None:
        """What was found of a change holds where its line is now, if no other has the same name."""
        found: list[verdicts.Result] = [
            {"change": name, "verdict": "caught", "programs": []} for name in
            ("a.c:3: x: -> y", "a.c:4: u: -> v", "a.c:5: p: -> q", "a.c:6: gone: -> z",
             "a.c:7: two: -> one", "a.c:8: two: -> one")]
        every = {"a.c:13: x: -> y", "a.c:4: u: -> v", "a.c:9: u: -> v", "a.c:15: p: -> q", "a.c:25: p: -> q",
                 "a.c:18: two: -> one"}
        self.assertEqual([result["change"] for result in verdicts.moved(found, every)],
                         ["a.c:13: x: -> y", "a.c:4: u: -> v"])


if __name__ == "__main__":
    unittest.main()
