# SPDX-License-Identifier: GPL-2.0
"""What is told to a node that has ended already."""

import pathlib
import tempfile
import types
import unittest

from sdpvm import node


class EndedNode(unittest.TestCase):
    """A Node whose process has closed its ends of all lines."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.node = node.Node("a", None, types.SimpleNamespace(), pathlib.Path(directory.name))
        for end in self.node._guest_ends:  # pylint: disable=protected-access
            end.close()
        for mine in ("serial", "monitor", "output", "serial_log", "output_log"):
            self.addCleanup(getattr(self.node, mine).close)

    def test_does_not_hear_a_system_request(self):
        self.node.sysrq("w")

    def test_does_not_hear_the_monitor(self):
        self.node.command_monitor("nmi")
