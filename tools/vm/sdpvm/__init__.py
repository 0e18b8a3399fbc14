# SPDX-License-Identifier: GPL-2.0
"""The host's side of the virtual test bed."""

import os
import pathlib

BED = pathlib.Path(__file__).resolve().parent.parent
REPO = BED.parent.parent
BUILD = REPO / "build"
CACHE = pathlib.Path(
    os.environ.get("SDP_CACHE")
    or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "linux-sdp"
)

# What `vm run` answers beside the command's own exit status.
EXIT_SPLAT = 99
EXIT_TIMEOUT = 124
EXIT_BED = 125


class BedError(Exception):
    """The test bed itself failed; the message is meant for people."""
