# SPDX-License-Identifier: GPL-2.0
"""A node that is a process of the host: User Mode Linux in place of QEMU."""

import socket

from . import BED
from .node import Node

_WORDS = ("console=tty0", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "quiet", "panic=-1", "log_buf_len=4M",
          "sysrq_always_enabled=1", "net.ifnames=0", "kmemleak=on", "kasan_multi_shot", "page_poison=1", "noreboot",
          "initcall_blacklist=siw_init_module")


class ProcessNode(Node):
    """Its files are the host's, and it cannot be asked from outside where its tasks are."""

    def accel(self) -> str:
        return "uml"

    def command_monitor(self, line: str) -> None:
        """There is no monitor."""

    def sysrq(self, key: str) -> None:
        """Nor a line that takes requests."""

    def _command(self, wire: socket.socket | None) -> list[str]:
        serial, _, output = (end.fileno() for end in self._guest_ends)
        return ["setpriv", "--pdeathsig", "KILL", str(self.kernel.image), f"mem={self.options.mem}M", *_WORDS,
                f"uml_dir={self.dir}/", f"init={BED}/guest/init-uml", f"con0=fd:{serial}", f"con1=fd:{output}",
                f"sdpvm.bed={BED}", f"sdpvm.role={self.role}", f"sdpvm.ctl={self.dir / 'ctl'}",
                f"sdpvm.out={self.options.out}", *self.options.append]
