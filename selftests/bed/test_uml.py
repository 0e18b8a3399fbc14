# SPDX-License-Identifier: GPL-2.0
"""A node that is a process of the host."""

import contextlib
import io
import sys
import unittest
import unittest.mock

from sdpvm import EXIT_BED, cli


class Process(unittest.TestCase):
    """What such a node cannot be asked for."""

    def _refused(self, *words: str) -> str:
        said = io.StringIO()
        with unittest.mock.patch.object(sys, "argv", ["vm", "run", "--kernel", "uml", *words, "--", "true"]), \
                contextlib.redirect_stderr(said):
            self.assertEqual(cli.main(), EXIT_BED)
        return said.getvalue()

    def test_two(self) -> None:
        """There is no wire between them."""
        self.assertIn("neither a wire", self._refused("--nodes", "2"))

    def test_instructions(self) -> None:
        """They are the host's, which nobody counts."""
        self.assertIn("counts instructions", self._refused("--icount"))

    def test_what_is_built_for_machines(self) -> None:
        """There is no siw for it."""
        self.assertIn("nor siw", self._refused("--rdma", "siw"))

    def test_another_root(self) -> None:
        """It has the host's."""
        self.assertIn("another root", self._refused("--root", "/tmp"))

    def test_a_name_that_ends_early(self) -> None:
        """The host's directory would be another one."""
        self.assertIn("blank or a comma", self._refused("--out", "/tmp/a b"))


if __name__ == "__main__":
    unittest.main()
