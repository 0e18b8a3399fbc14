# SPDX-License-Identifier: GPL-2.0
"""What a run of the test bed has to be told."""

import pathlib
import typing


class Options(typing.Protocol):
    """The command line with its defaults filled in; see vm --help."""

    kernel: str
    nodes: int
    smp: int
    mem: int  # MB
    topology: str
    rdma: str
    icount: bool
    nullcrc: bool
    cx16: bool
    shell: bool
    timeout: float
    commands: dict[str, str]  # by role
    log_name: str
    root: pathlib.Path  # Run takes the kernel's if nobody names one
    env: list[str]  # NAME=VALUE
    append: list[str]
    out: pathlib.Path  # Run fills it in if nobody names one
