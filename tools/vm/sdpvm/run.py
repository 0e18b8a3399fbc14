# SPDX-License-Identifier: GPL-2.0
"""Run a job on one or two nodes and judge how it went."""

import fcntl
import os
import pathlib
import selectors
import shutil
import socket
import sys
import time
import typing

from . import BED, BUILD, EXIT_BED, EXIT_SPLAT, EXIT_TIMEOUT, REPO, BedError, kernels, module, splat
from .node import Node
from .options import Options
from .uml import ProcessNode

# Time to boot does not count as the command's: it depends on the host's load.
_BOOT_SECONDS: float = 600
# How long a node may go on alone after the other one died.
_WIDOW_SECONDS = 20
_QUIET_SECONDS = 3
_DUMP_SECONDS = 40
_SPLAT_FILE = "splat.txt"
_STACKS_FOLLOW = "=== vm: timed out, task stacks follow ==="


def note(text: str) -> None:
    """Tell the user; the command's own output goes to stdout."""
    print(f"vm: {text}", file=sys.stderr, flush=True)


class Run:
    """One invocation of the test bed."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.kernel = kernels.find(options.kernel)
        self.modules = self.kernel.modules.relative_to(self.kernel.root)
        if options.root:
            self.modules = pathlib.Path("lib/modules", self.kernel.release)
        options.root = options.root or self.kernel.root
        self.dir = BUILD / "vm" / options.log_name
        self._lock_directory()
        options.out = options.out or self.dir / "out"
        self._prepare()

    def _lock_directory(self) -> None:
        self.dir.mkdir(parents=True, exist_ok=True)
        self._lock = open(self.dir / "lock", "w", encoding="ascii")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BedError(f"another run is using the log name '{self.options.log_name}'") from error

    def _prepare(self) -> None:
        """Have nodes of which nothing is known yet."""
        for entry in self.dir.iterdir():
            if entry.name == "lock":
                continue
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        (self.dir / "ctl").mkdir()
        self.options.out.mkdir(parents=True, exist_ok=True)
        roles = "ab"[:self.options.nodes]
        kind = ProcessNode if self.kernel.process else Node
        self.nodes = [kind(role, self.kernel, self.options, self.dir) for role in roles]
        self.selector = selectors.DefaultSelector()
        self.partial = {role: b"" for role in roles}
        self.timed_out, self.started = False, 0.0
        self.ready: set[str] = set()

    def go(self) -> int:
        """Run to the end and return the exit status for the caller.

        While one processor changes an instruction, QEMU 7.2 may let another one
        run what stood there for a moment: it dies of a breakpoint that is gone.
        A kernel changes many while it boots, and gets a second chance if that
        is what has ended it.
        """
        status = self.attempt()
        if status and not self.ready and any(map(splat.is_stale_breakpoint, self.log_texts())):
            note("the emulator has run a breakpoint that was gone: booting once more")
            self._prepare()
            status = self.attempt()
        return status

    def log_texts(self) -> list[str]:
        """Return what the kernels have said."""
        return [text for node in self.nodes for text in node.log_texts()]

    def attempt(self) -> int:
        """Boot and run to the end, once; return the exit status."""
        try:
            self._start()
            self._loop()
        finally:
            for node in self.nodes:
                node.stop()
        return self._verdict()

    def _environment(self, node: Node) -> dict[str, object]:
        rows, columns = shutil.get_terminal_size()[::-1]
        environment = {
            "VM_NODES": self.options.nodes,
            "VM_MODULES": pathlib.Path("/", self.modules),
            # A root of its own has the checkout, and nothing else of the host's.
            "VM_CWD": os.getcwd() if self.options.root == pathlib.Path("/") else REPO,
            "VM_SHELL": int(self.options.shell),
            "VM_ROWS": rows, "VM_COLS": columns,
            "VM_TOPOLOGY": self.options.topology, "VM_RDMA": self.options.rdma,
            "VM_NULLCRC": module.provide("nullcrc", BED / "nullcrc", self.kernel) if self.options.nullcrc else "",
            "VM_SIW": self._siw(),
            "KERNEL": self.options.kernel, "TERM": os.environ.get("TERM", "dumb"),
        }
        if self.options.nodes == 2:
            mine, peer = (1, 2) if node.role == "a" else (2, 1)
            environment |= {"SELF": f"10.0.0.{mine}", "PEER": f"10.0.0.{peer}",
                            "SELF6": f"fd00::{mine}", "PEER6": f"fd00::{peer}"}
        return environment | dict(word.split("=", 1) for word in self.options.env)

    def _siw(self) -> pathlib.Path | str:
        wanted = self.kernel.debug or self.options.rdma == "siw"
        return kernels.siw(self.options.kernel) if wanted else ""

    def _start(self) -> None:
        wires = socket.socketpair() if self.options.nodes == 2 else (None,)
        note(f"booting {self.options.nodes} node(s) with {self.kernel.release}"
             f" ({self.nodes[0].accel()}, {self.options.smp} cpu, {self.options.mem} MB); logs in {self.dir}")
        self.started = time.monotonic()
        for node, wire in zip(self.nodes, wires):
            node.write_job(self.options.commands[node.role], self._environment(node))
            node.start(wire)
            self.selector.register(node.serial, selectors.EVENT_READ, (node, "serial"))
            self.selector.register(node.output, selectors.EVENT_READ, (node, "output"))
            self.selector.register(node.monitor, selectors.EVENT_READ, (node, "monitor"))

    def _loop(self) -> None:
        deadline, limit = self.started + _BOOT_SECONDS, _BOOT_SECONDS
        alone_since = None
        while any(node.lives() for node in self.nodes):
            self._pump(0.1)
            for node in self.nodes:
                node.serve_suspend()
                node.serve_power_off()
            if self._announce_ready():
                limit = self.options.timeout
                deadline = time.monotonic() + limit
            gone = [node for node in self.nodes if not node.lives()]
            for node in gone:
                if wire := node.leave_wire():
                    self.selector.register(wire, selectors.EVENT_READ, (node, "wire"))
                node.path("gone").touch()
            if any(node.status() is None and not node.cut for node in gone):
                alone_since = alone_since or time.monotonic()
                if time.monotonic() - alone_since > _WIDOW_SECONDS:
                    note("the other node died; ending this one")
                    return
            if time.monotonic() > deadline:
                self._end_hang(limit)
                return
        while self._pump(0):
            pass

    def _announce_ready(self) -> bool:
        """Report nodes that came up; return True once all have."""
        before = len(self.ready)
        for node in self.nodes:
            if node.role not in self.ready and node.path("ready").exists():
                self.ready.add(node.role)
                note(f"node {node.role} is up after {time.monotonic() - self.started:.1f} s")
        return before < len(self.ready) == len(self.nodes)

    def _pump(self, timeout: float) -> bool:
        """Move what has arrived from the nodes; return whether anything had."""
        moved = False
        for key, _ in self.selector.select(timeout):
            node, line = key.data
            try:
                data = typing.cast(socket.socket, key.fileobj).recv(65536)
            except OSError:
                data = b""
            if not data:
                self.selector.unregister(key.fileobj)
                continue
            moved = True
            if line == "serial":
                node.last_serial = time.monotonic()
                node.serial_log.write(data)
                node.serial_log.flush()
            elif line == "output":
                node.output_log.write(data)
                node.output_log.flush()
                self._show(node, data)
        return moved

    def _show(self, node: Node, data: bytes) -> None:
        """Pass output on; with two nodes by whole lines, each with its role."""
        if self.options.nodes == 2:
            lines = (self.partial[node.role] + data).split(b"\n")
            self.partial[node.role] = lines.pop()
            data = b"".join(b"%s| %s\n" % (node.role.encode(), line) for line in lines)
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def _end_hang(self, limit: float) -> None:
        """Let every node that still lives say where its tasks are."""
        self.timed_out = True
        note(f"TIMED OUT after {limit:.0f} s; asking the nodes for all task stacks")
        for node in self.nodes:
            node.serial_log.write(f"\n{_STACKS_FOLLOW}\n".encode())
            if node.lives():
                self._dump(node)

    def _dump(self, node: Node) -> None:
        size = node.serial_log.tell()
        for key in "wtl":
            node.sysrq(key)
            self._settle(node)
        if node.serial_log.tell() == size:
            note(f"node {node.role} answers no request; sending it an NMI")
            node.command_monitor("nmi")
            self._settle(node)

    def _settle(self, node: Node) -> None:
        node.last_serial = time.monotonic()
        limit = time.monotonic() + _DUMP_SECONDS
        while time.monotonic() < min(limit, node.last_serial + _QUIET_SECONDS):
            self._pump(0.1)

    def _verdict(self) -> int:
        worst = 0
        for node in self.nodes:
            # The stacks shown after a time-out are not the kernel's complaint.
            texts = [text.split(_STACKS_FOLLOW)[0] for text in node.log_texts()]
            excerpt = next(filter(None, map(splat.find, texts)), None)
            if excerpt:
                note(f"KERNEL SPLAT on node {node.role} (command's status: {node.status()}):")
                print("\n".join(excerpt), file=sys.stderr, flush=True)
                (self.dir / _SPLAT_FILE).write_text("\n".join(excerpt) + "\n", encoding="utf-8")
                worst = EXIT_SPLAT
            elif node.status() is None and not self.timed_out and not node.cut:
                note(f"node {node.role} died before its command ended; the last it said:")
                print("\n".join(texts[0].splitlines()[-30:]), file=sys.stderr, flush=True)
                worst = worst or EXIT_BED
        if worst:
            return worst
        if self.timed_out:
            note(f"timed out; the stacks are in {self.dir}/*.serial.log")
            return EXIT_TIMEOUT
        return next(filter(None, (node.status() for node in self.nodes)), 0)
