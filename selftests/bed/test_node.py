# SPDX-License-Identifier: GPL-2.0
"""What is told to a node that has ended already."""

import pathlib
import tempfile
import types
import unittest

from sdpvm import kernels, node


class EndedNode(unittest.TestCase):
    """A Node whose process has closed its ends of all lines."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        path = pathlib.Path(directory.name)
        kernel = kernels.Kernel("6.1", path, path, path, debug=False)
        self.node = node.Node("a", kernel, types.SimpleNamespace(), path)
        for end in self.node._guest_ends:  # pylint: disable=protected-access
            end.close()
        for mine in ("serial", "monitor", "output", "serial_log", "output_log"):
            self.addCleanup(getattr(self.node, mine).close)

    def test_does_not_hear_a_system_request(self) -> None:
        self.node.sysrq("w")

    def test_does_not_hear_the_monitor(self) -> None:
        self.node.command_monitor("nmi")
