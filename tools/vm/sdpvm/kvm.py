# SPDX-License-Identifier: GPL-2.0
"""Does KVM really work here? Asked once; /dev/kvm alone proves nothing."""

import os
import platform
import subprocess

from . import CACHE, initramfs
from .kernels import Kernel

_SECONDS = 8


def usable(kernel: Kernel) -> bool:
    """Return whether a guest boots with KVM on this machine; cached."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    answer = CACHE / f"kvm-probe-{platform.release()}"
    if not answer.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        answer.write_text("yes\n" if _probe(kernel) else "no\n", encoding="ascii")
    return answer.read_text(encoding="ascii").strip() == "yes"


def _probe(kernel: Kernel) -> bool:
    command = ["qemu-system-x86_64", "-machine", "q35", "-accel", "kvm", "-cpu", "host", "-m", "512",
               "-kernel", str(kernel.image), "-initrd", str(initramfs.provide(kernel)),
               "-append", "console=ttyS0 quiet panic=-1 sdpvm.probe",
               "-display", "none", "-serial", "stdio", "-monitor", "none", "-nic", "none", "-no-reboot"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return b"sdpvm: the probe booted" in done.stdout
