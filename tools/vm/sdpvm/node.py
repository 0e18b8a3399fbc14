# SPDX-License-Identifier: GPL-2.0
"""One virtual node: its QEMU process and the lines that lead into it."""

import pathlib
import platform
import shlex
import socket
import subprocess
import time
from collections.abc import Mapping

from . import BED, REPO, initramfs, kvm
from .kernels import Kernel
from .options import Options

# erms makes the emulator copy byte by byte and pclmulqdq makes Soft-RoCE's
# checksum slower than a table: both distort. la57 only costs page walks.
# After cmpxchg16b, QEMU 7.2 may hand on the operand of an earlier comparison as
# flags. An interrupt then saves and restores them, and the kernel, whose memory
# allocator lives on this instruction, goes on with virtual-8086 mode or the
# direction flag set: once in some hundred boots it dies of a double fault.
_CPU_TCG = {
    "x86_64": "max,la57=off,erms=off,fsrm=off,pclmulqdq=off",
    # What signs pointers is emulated by a cipher, unless it may be any function.
    "aarch64": "max,pauth-impdef=on,sve=off,sme=off",
}
_MACHINE = {"x86_64": "q35", "aarch64": "virt"}
_CONSOLE = {"x86_64": "ttyS0", "aarch64": "ttyAMA0"}

# An emulated timer that is late on a busy machine is not a broken one, which
# would be the end of the boot.
_APPEND = ("quiet panic=-1 oops=panic mitigations=off nokaslr log_buf_len=4M "
           "cryptomgr.notests=1 sysrq_always_enabled=1 unknown_nmi_panic=1 net.ifnames=0 "
           "no_timer_check")
# The number of cx16: a program that cannot do without it must have it, see above.
_APPEND_CX16 = "clearcpuid=141"
# It has siw in it, but what is tested is the one that build-siw has mended.
_APPEND_DEBUG = "kasan_multi_shot kmemleak=on initcall_blacklist=siw_init_module"


class Node:
    """A guest from start to power-off."""

    def __init__(self, role: str, kernel: Kernel, options: Options, directory: pathlib.Path) -> None:
        self.role = role
        self.kernel = kernel
        self.options = options
        self.dir = directory
        self.process: subprocess.Popen[bytes] | None = None
        self.serial_log = open(directory / f"{role}.serial.log", "wb")
        self.output_log = open(directory / f"{role}.out", "wb")
        self._guest_ends: list[socket.socket] = []
        self.serial = self._line()
        self.monitor = self._line()
        self.output = self._line()
        self.last_serial = time.monotonic()
        self._asleep_until: float | None = None
        self.wire: socket.socket | None = None
        # Its power was taken away: whatever it was doing has no end.
        self.cut = False

    def _line(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        self._guest_ends.append(theirs)
        return ours

    def path(self, what: str) -> pathlib.Path:
        """Return this node's file in the control directory."""
        return self.dir / "ctl" / f"{self.role}.{what}"

    def status(self) -> int | None:
        """Return the exit status of the node's command, None if unknown."""
        path = self.path("status")
        return int(path.read_text(encoding="ascii")) if path.exists() else None

    def write_job(self, command: str, environment: Mapping[str, object]) -> None:
        """Leave the command and its environment for the guest to find."""
        self.path("cmd").write_text(command + "\n", encoding="utf-8")
        lines = [f"export {name}={shlex.quote(str(value))}\n" for name, value in environment.items()]
        self.path("env").write_text("".join(lines), encoding="utf-8")

    def start(self, wire: socket.socket | None = None) -> None:
        """Start QEMU; WIRE is this end of the link to the other node."""
        self.wire = wire
        fds = [s.fileno() for s in self._guest_ends + ([wire] if wire else [])]
        stdin = None if self.options.shell else subprocess.DEVNULL
        with open(self.dir / f"{self.role}.qemu.log", "wb") as log:
            self.process = subprocess.Popen(self._command(wire), pass_fds=fds, stdin=stdin,
                                            stdout=None if self.options.shell else log, stderr=log)
        for end in self._guest_ends:
            end.close()

    def lives(self) -> bool:
        """Return whether the guest has been started and has not ended."""
        return self.process is not None and self.process.poll() is None

    def stop(self) -> None:
        """End the process, whatever state it is in."""
        if self.process and self.lives():
            self.process.kill()
            self.process.wait()

    def log_texts(self) -> list[str]:
        """Return what the kernel said: on the console, and in its own buffer."""
        self.serial_log.flush()
        paths = [pathlib.Path(self.serial_log.name), self.path("dmesg")]
        return [path.read_text(encoding="utf-8", errors="replace") for path in paths if path.exists()]

    def accel(self) -> str:
        """Return "kvm" or "tcg"."""
        if self.options.icount or self.kernel.processor != platform.machine():
            return "tcg"
        return "kvm" if kvm.usable(self.kernel) else "tcg"

    def _command(self, wire: socket.socket | None) -> list[str]:
        serial, monitor, output = (end.fileno() for end in self._guest_ends)
        command = [
            # The guest must not outlive us, even if we are killed.
            "setpriv", "--pdeathsig", "KILL",
            f"qemu-system-{self.kernel.processor}", "-machine", _MACHINE[self.kernel.processor],
            "-m", str(self.options.mem), "-smp", str(self.options.smp), *self._accel_args(),
            "-kernel", self.kernel.image, "-initrd", initramfs.provide(self.kernel),
            "-append", self._append(), "-display", "none", "-no-reboot",
            "-chardev", f"socket,id=serial,fd={serial}", "-serial", "chardev:serial",
            "-chardev", f"socket,id=monitor,fd={monitor}", "-mon", "chardev=monitor,mode=readline",
            "-device", "virtio-serial-pci",
            "-chardev", f"socket,id=output,fd={output}",
            "-device", "virtserialport,chardev=output,name=output",
            *self._share("hostroot", self.options.root, ",readonly=on,multidevs=remap"),
            *self._repo(),
            *self._share("ctl", self.dir / "ctl"),
            *self._share("out", self.options.out),
        ]
        if self.options.shell:
            command += ["-chardev", "stdio,id=shell,signal=off", "-device", "virtconsole,chardev=shell"]
        return [str(word) for word in command + self._net_args(wire)]

    def _accel_args(self) -> list[str]:
        if self.options.icount:
            return ["-icount", "shift=0,sleep=off", "-accel", "tcg,thread=single", "-cpu", self._cpu_tcg()]
        if self.accel() == "kvm":
            return ["-accel", "kvm", "-cpu", "host"]
        return ["-accel", "tcg,thread=multi,tb-size=512", "-cpu", self._cpu_tcg()]

    def _cpu_tcg(self) -> str:
        cpu = _CPU_TCG[self.kernel.processor]
        return cpu if self.options.cx16 or self.kernel.processor != "x86_64" else cpu + ",cx16=off"

    def _append(self) -> str:
        words = [_APPEND, f"console={_CONSOLE[self.kernel.processor]}", f"sdpvm.bed={BED}",
                 f"sdpvm.role={self.role}"]
        if self.kernel.debug:
            words.append(_APPEND_DEBUG)
        if self.options.cx16:
            words.append(_APPEND_CX16)
        return " ".join(words + self.options.append)

    def _repo(self) -> list[str]:
        """A root that is not the host's has no checkout."""
        own_root = self.options.root != pathlib.Path("/")
        return self._share("repo", REPO, ",readonly=on,multidevs=remap") if own_root else []

    @staticmethod
    def _share(tag: str, path: pathlib.Path, extra: str = "") -> list[str]:
        return ["-fsdev", f"local,id={tag},path={path},security_model=none{extra}",
                "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]

    def _net_args(self, wire: socket.socket | None) -> list[str]:
        if wire is None:
            return ["-nic", "none"]
        last = 1 if self.role == "a" else 2
        # host_mtu is what lets the guest raise its MTU above 1500.
        return ["-netdev", f"stream,id=wire,server=off,addr.type=fd,addr.str={wire.fileno()}",
                "-device", f"virtio-net-pci,netdev=wire,host_mtu=9000,mac=52:54:00:00:00:0{last}"]

    def command_monitor(self, line: str) -> None:
        """Give QEMU's monitor one command; its answer is not waited for."""
        self._tell(self.monitor, line.encode() + b"\n")

    @staticmethod
    def _tell(line: socket.socket, data: bytes) -> None:
        try:
            line.send(data)
        except OSError:
            # The node has ended since it was last looked at, or does not listen.
            pass

    def serve_suspend(self) -> None:
        """Stop the processors for as long as the other node has asked for."""
        request = self.path("suspend")
        if self._asleep_until:
            if time.monotonic() > self._asleep_until:
                self._asleep_until = None
                self.command_monitor("cont")
                request.unlink()
        elif request.exists():
            self._asleep_until = time.monotonic() + float(request.read_text(encoding="ascii"))
            self.command_monitor("stop")

    def serve_power_off(self) -> None:
        """End the node at once if the other one has asked for it."""
        if not self.cut and self.path("poweroff").exists():
            self.cut = True
            if self.process:
                self.process.kill()

    def leave_wire(self) -> socket.socket | None:
        """Return the end of the wire of a node that has ended, to be drained; None if it is closed.

        What connects machines does not go with one of them: for the other one
        the link stays up, and what it sends is lost.
        """
        wire, self.wire = self.wire, None
        if wire and not self.cut:
            wire.close()
        elif wire:
            wire.setblocking(False)
            return wire
        return None

    def sysrq(self, key: str) -> None:
        """Send the magic system request KEY over the serial line."""
        self.command_monitor("chardev-send-break serial")
        # The break and the key must not arrive in one go.
        time.sleep(0.2)
        self._tell(self.serial, key.encode())
