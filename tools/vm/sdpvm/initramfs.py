# SPDX-License-Identifier: GPL-2.0
"""The small first root file system that mounts the host's root."""

import hashlib
import lzma
import os
import pathlib
import shutil
import subprocess
import tempfile

from . import BED, CACHE, BedError
from .kernels import Kernel

# What is needed before the host's root and its modules can be reached, and
# the ports that carry the command's output.
MODULES = ("virtio_pci", "virtio_console", "virtio_net", "9pnet_virtio", "9p", "overlay")
APPLETS = ("sh", "mount", "insmod", "mkdir", "switch_root", "poweroff")
BUSYBOX = "bin/busybox"


def provide(kernel: Kernel) -> pathlib.Path:
    """Return the initramfs for KERNEL, made anew only if its parts changed."""
    init = BED / "guest/init"
    parts = [init.read_bytes(), repr(MODULES + APPLETS).encode(), str(kernel.modules).encode()]
    key = hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]
    image = CACHE / "initramfs" / f"{kernel.release}-{key}.img"
    if not image.exists():
        image.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as tmp:
            _fill(pathlib.Path(tmp), kernel, init)
            _pack(pathlib.Path(tmp), image)
    return image


def _module_files(kernel: Kernel) -> list[pathlib.Path]:
    """Return the module files to insert, dependencies first."""
    root = kernel.modules.parent.parent.parent
    files: dict[pathlib.Path, None] = {}
    for name in MODULES:
        asked = subprocess.run(
            ["modprobe", "-d", root, "-S", kernel.release, "--show-depends", name],
            stdout=subprocess.PIPE, text=True, check=False)
        if asked.returncode != 0:
            raise BedError(f"kernel {kernel.release} has no module {name}")
        for line in asked.stdout.splitlines():
            verb, _, rest = line.partition(" ")
            if verb == "insmod":
                files[pathlib.Path(rest.split()[0])] = None
    return list(files)


def _fill(root: pathlib.Path, kernel: Kernel, init: pathlib.Path) -> None:
    for name in ("bin", "proc", "sys", "dev", "lower", "upper", "root", "modules"):
        (root / name).mkdir()
    if not (kernel.root / BUSYBOX).exists():
        raise BedError("busybox-static is missing; run 'make deps'")
    shutil.copy(kernel.root / BUSYBOX, root / "bin/busybox")
    for applet in APPLETS:
        (root / "bin" / applet).symlink_to("busybox")
    order = []
    for path in _module_files(kernel):
        data = path.read_bytes()
        if path.suffix == ".xz":
            data, path = lzma.decompress(data), path.with_suffix("")
        (root / "modules" / path.name).write_bytes(data)
        order.append(path.name)
    (root / "modules/order").write_text("".join(f"{n}\n" for n in order), encoding="ascii")
    shutil.copy(init, root / "init")
    (root / "init").chmod(0o755)


def _pack(root: pathlib.Path, image: pathlib.Path) -> None:
    names = "\n".join(str(p.relative_to(root)) for p in sorted(root.rglob("*")))
    partial = image.with_suffix(f".{os.getpid()}")
    with open(partial, "wb") as out:
        cpio = subprocess.Popen(["cpio", "-o", "-H", "newc", "--quiet"], cwd=root,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        gzip = subprocess.Popen(["gzip", "-1"], stdin=cpio.stdout, stdout=out)
        assert cpio.stdout
        cpio.stdout.close()
        cpio.communicate(names.encode())
        if cpio.returncode or gzip.wait():
            raise BedError("packing the initramfs failed")
    partial.rename(image)
