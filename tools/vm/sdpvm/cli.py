# SPDX-License-Identifier: GPL-2.0
"""The command line of tools/vm/vm."""

import argparse
import os
import pathlib
import shlex
import signal
import sys
import types

from . import BUILD, EXIT_BED, BedError, kernels

_EPILOG = """\
exit status: the command's own (with two nodes the first that is not 0);
99 if a kernel log shows a splat, 124 after a time-out, 125 if the bed failed.
In a node, ROLE is a or b, with two nodes SELF, PEER, SELF6 and PEER6 are the
addresses and 'vm-barrier NAME' waits for the other node; VM_OUT is the shared
directory. The caller's working directory is the command's, seen through a
layer that forgets all writes."""


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kernel", default="6.1",
                        help="6.1 (default), 6.12, unstable, arm64, debug, kcsan, gcov or uml")
    parser.add_argument("--nodes", type=int, choices=(1, 2), default=1)
    parser.add_argument("--smp", type=int, help="virtual CPUs per node (default 2)")
    parser.add_argument("--mem", type=int, help="memory per node in MB (default 2048, debug 3072)")
    parser.add_argument("--topology", choices=("self", "pair", "none"),
                        help="self: two RDMA devices on a veth pair (one node's default); "
                             "pair: one device on the wire between two nodes; none")
    parser.add_argument("--rdma", choices=("rxe", "siw", "iwarp"), default="rxe",
                        help="kind of the RDMA devices: Soft-RoCE (default), siw, built for this "
                             "kernel, or iwarp, our own, from $SDP_IWARP")
    parser.add_argument("--icount", action="store_true", help="one instruction is one nanosecond")
    parser.add_argument("--nullcrc", action="store_true", help="free checksums for Soft-RoCE")
    parser.add_argument("--cx16", action="store_true",
                        help="let programs, not the kernel, use cmpxchg16b, which is emulated wrongly")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for the command (default 600)")
    parser.add_argument("--root", type=pathlib.Path,
                        help="the nodes' root, with the kernel's modules in it (default: the host's)")
    parser.add_argument("--out", type=pathlib.Path, help="directory shared with the nodes")
    parser.add_argument("--log-name", help="logs go to build/vm/NAME")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--append", action="append", default=[], help="for the kernel's command line")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="vm", description="Virtual nodes with Soft-RoCE.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run", help="run a command in one or two nodes", epilog=_EPILOG,
                           formatter_class=argparse.RawDescriptionHelpFormatter)
    _options(run)
    run.add_argument("--node-a", metavar="CMD", help="shell command for node a")
    run.add_argument("--node-b", metavar="CMD", help="shell command for node b")
    run.add_argument("command", nargs="*", metavar="COMMAND")
    _options(verbs.add_parser("shell", help="an interactive shell in one node"))
    kernel = verbs.add_parser("kernel", help="provide a kernel; print its release, build directory")
    kernel.add_argument("name")
    kernel.add_argument("--modules", action="store_true", help="print where its modules are instead")
    return parser


def _commands(options: argparse.Namespace) -> dict[str, str]:
    """Return the shell command of each role."""
    if options.shell:
        return {"a": "", "b": ""}
    common = shlex.join(options.command)
    commands = {"a": options.node_a or common, "b": options.node_b or common}
    if not all(commands[role] for role in "ab"[:options.nodes]):
        raise BedError("no command: give one after '--', or --node-a and --node-b")
    return commands


def _complete(options: argparse.Namespace) -> None:
    """Fill in the defaults that depend on other options."""
    options.shell = options.verb == "shell"
    if options.shell:
        options.nodes, options.timeout = 1, float("inf")
    options.smp = 1 if options.icount else options.smp or 2
    options.mem = options.mem or (3072 if options.kernel == "debug" else 2048)
    options.topology = options.topology or ("self" if options.nodes == 1 else "pair")
    if options.topology == "pair" and options.nodes == 1:
        raise BedError("topology 'pair' needs --nodes 2")
    if options.kernel == "uml":
        _complete_process(options)
    if options.kernel == "arm64" and (options.shell or options.nullcrc or options.rdma == "siw"):
        raise BedError("the kernel 'arm64' has neither a shell, nor free checksums, nor siw")
    if options.icount and options.nodes == 2:
        raise BedError("--icount needs one node: two guests' clocks run freely against each other")
    for word in options.env:
        if "=" not in word:
            raise BedError(f"--env wants NAME=VALUE, not '{word}'")
    options.commands = _commands(options)
    options.log_name = options.log_name or f"{options.verb}-{os.getpid()}"
    options.out = options.out and options.out.resolve()
    options.root = options.root and options.root.resolve()


def _complete_process(options: argparse.Namespace) -> None:
    options.smp = 1
    if options.nodes == 2 or options.icount:
        raise BedError("the kernel 'uml' is a process: it has neither a wire nor counts instructions")
    if options.shell or options.nullcrc or options.root or options.rdma == "siw":
        raise BedError("the kernel 'uml' has neither a shell, nor free checksums, nor another root, nor siw")
    if any(mark in str(path) for mark in " ," for path in (BUILD, options.out)):
        raise BedError("the kernel 'uml' cannot share a directory with a blank or a comma in its name")


def _terminate(_signal: int, _frame: types.FrameType | None) -> None:
    raise SystemExit(128 + signal.SIGTERM)


def main() -> int:
    """Entry point; returns the exit status."""
    options = _parser().parse_args()
    signal.signal(signal.SIGTERM, _terminate)
    try:
        if options.verb == "kernel":
            kernel = kernels.find(options.name)
            print(kernel.modules if options.modules else f"{kernel.release} {kernel.build}")
            return 0
        from . import run  # pylint: disable=import-outside-toplevel
        _complete(options)
        return run.Run(options).go()
    except BedError as error:
        print(f"vm: error: {error}", file=sys.stderr)
        return EXIT_BED
    except KeyboardInterrupt:
        return 130
