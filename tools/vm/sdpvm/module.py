# SPDX-License-Identifier: GPL-2.0
"""Build the small kernel modules that belong to the test bed."""

import fcntl
import pathlib
import shutil
import subprocess

from . import BUILD, BedError
from .kernels import Kernel


def provide(name: str, source: pathlib.Path, kernel: Kernel) -> pathlib.Path:
    """Build module NAME from directory SOURCE; return where the .ko is."""
    target = BUILD / kernel.release / name
    target.mkdir(parents=True, exist_ok=True)
    with open(target / ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        newest = max(path.stat().st_mtime for path in source.iterdir())
        built = target / f"{name}.ko"
        if not built.exists() or built.stat().st_mtime < newest:
            _build(name, source, target, kernel)
    return target


def _build(name: str, source: pathlib.Path, target: pathlib.Path, kernel: Kernel) -> None:
    for path in source.iterdir():
        shutil.copy(path, target)
    done = subprocess.run(["make", "-C", kernel.build, f"M={target}", "modules"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise BedError(f"building {name} failed:\n{done.stdout}")
