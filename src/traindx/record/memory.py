"""Memory of this process, as the system counts it."""

from __future__ import annotations

import os
import sys

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def resident_bytes() -> int | None:
    """What is in memory now; None where the system does not tell cheaply."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        psutil = sys.modules.get("psutil")
        return int(psutil.Process().memory_info().rss) if psutil is not None else None
