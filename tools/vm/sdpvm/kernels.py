# SPDX-License-Identifier: GPL-2.0
"""Where a guest kernel, its modules and its build directory are."""

import dataclasses
import pathlib
import re
import subprocess
from collections.abc import Sequence

from . import BED, BedError


# Those that are built here, each for another kind of mistake.
DEBUG_KERNELS = ("debug", "kcsan", "gcov", "uml")


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel that can be booted and built against."""

    release: str  # what uname -r says in the guest
    image: pathlib.Path
    modules: pathlib.Path  # becomes /lib/modules/<release> in the guest
    build: pathlib.Path  # KDIR of an external module
    debug: bool
    process: bool = False  # of the host, and no machine's
    processor: str = "x86_64"
    root: pathlib.Path = pathlib.Path("/")  # what the guest finds below its own layer


def find(name: str) -> Kernel:
    """Return the kernel called NAME: one of DEBUG_KERNELS, "unstable", "arm64", or a series such as "6.1"."""
    if name in DEBUG_KERNELS:
        return _debug_kernel(name)
    if name == "arm64":
        return _arm64_kernel()
    return _unstable_kernel() if name == "unstable" else _stock_kernel(name)


def siw(name: str) -> pathlib.Path:
    """Return siw.ko for the kernel called NAME."""
    return _run_for_path([BED / "build-siw", name])


def newest_headers(series: str) -> str:
    """Return the newest release of SERIES whose headers are installed."""
    found = _newest(pathlib.Path("/usr/src"), rf"{re.escape(series)}\.\d[^/]*")
    if not found:
        raise BedError(f"no kernel headers of the {series} series are installed; run 'make deps'")
    return found


def _newest(sources: pathlib.Path, release: str) -> str:
    pattern = re.compile(rf"linux-headers-({release}-amd64)$")
    found = [m[1] for p in sources.iterdir() if (m := pattern.match(p.name))]
    plain = [r for r in found if not re.search(r"-(rt|cloud)-", r)]
    return max(plain, key=lambda r: [int(n) for n in re.findall(r"\d+", r)], default="")


def _unstable_kernel() -> Kernel:
    root = _run_for_path([BED / "unstable", "root"])
    release = _newest(root / "usr/src", "[^/]*")
    if not release:
        raise BedError(f"no kernel headers are installed in {root}; remove it to have it made anew")
    modules = root / "usr/lib/modules" / release
    return Kernel(
        release=release,
        image=modules / "vmlinuz",
        modules=modules,
        build=root / f"usr/src/linux-headers-{release}",
        debug=False,
    )


def _arm64_kernel() -> Kernel:
    root = _run_for_path([BED / "cross", "arm64"])
    image = next((root / "boot").glob("vmlinuz-*"))
    release = image.name.removeprefix("vmlinuz-")
    return Kernel(
        release=release,
        image=image,
        modules=root / "lib/modules" / release,
        build=root / f"usr/src/linux-headers-{release}",
        debug=False,
        processor="aarch64",
        root=root,
    )


def _stock_kernel(series: str) -> Kernel:
    if not re.fullmatch(r"\d+\.\d+", series):
        raise BedError(f"unknown kernel '{series}': give a series such as 6.1 or 6.12,"
                       f" unstable, arm64, or one of {', '.join(DEBUG_KERNELS)}")
    release = newest_headers(series)
    root = _ask_shell(f'unpack_deb "$(image_package {release})"')
    modules = root / "lib/modules" / release
    if not (modules / "modules.dep").exists():
        subprocess.run(["depmod", "-b", root, release], check=True)
    return Kernel(
        release=release,
        image=root / f"boot/vmlinuz-{release}",
        modules=modules,
        build=pathlib.Path(f"/usr/src/linux-headers-{release}"),
        debug=False,
    )


def _debug_kernel(name: str) -> Kernel:
    build = _run_for_path([BED / "build-debug-kernel", name])
    release = (build / "include/config/kernel.release").read_text(encoding="ascii").strip()
    process = name == "uml"
    return Kernel(
        release=release,
        image=build / ("vmlinux" if process else "arch/x86/boot/bzImage"),
        modules=build / "root/lib/modules" / release,
        build=build,
        debug=not process,
        process=process,
    )


def _ask_shell(call: str) -> pathlib.Path:
    return _run_for_path(["bash", "-euo", "pipefail", "-c", f". {BED}/lib.sh; {call}"])


def _run_for_path(command: Sequence[str | pathlib.Path]) -> pathlib.Path:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise BedError("the kernel could not be provided, see above")
    return pathlib.Path(done.stdout.strip().splitlines()[-1])
