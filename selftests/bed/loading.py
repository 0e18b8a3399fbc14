# SPDX-License-Identifier: GPL-2.0
"""Programs whose file has no name of a module."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import types


def load(name: str, path: pathlib.Path) -> types.ModuleType:
    """Return what the program at PATH defines, as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    return module
