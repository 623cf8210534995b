"""What a results file or a card says about the machine it was made on."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import Any


def usable_cores() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def machine() -> dict[str, Any]:
    """Processor, cores, memory and operating system; no names."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return {
        "cpu": found[1] if found else platform.processor() or platform.machine(),
        "cores": usable_cores(),
        "memory_mb": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") >> 20,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
