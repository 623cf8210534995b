"""The C interface of the core as a shared library, compiled when its sources have changed."""

from __future__ import annotations

from pathlib import Path

import plugin_support

from . import ROOT


def compiled() -> Path:
    """``build/fuzz/libgsp_c.so``."""
    target = ROOT / "build" / "fuzz" / "libgsp_c.so"
    sources = (plugin_support.PLUGIN / "gsp_c.cmake", *plugin_support.CORE.iterdir())
    newest = max(file.stat().st_mtime for file in sources)
    if not target.exists() or target.stat().st_mtime < newest:
        target.parent.mkdir(parents=True, exist_ok=True)
        plugin_support.compile_strictly(target, "-shared", *plugin_support.core_sources())
    return target
