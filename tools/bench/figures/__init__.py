# SPDX-License-Identifier: GPL-2.0
"""Measure in a node, and draw what was measured."""


class BenchError(Exception):
    """Something that the user can understand, and perhaps change."""
