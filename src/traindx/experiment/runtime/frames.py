"""The place in the user's own code that is now running."""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

OURS = str(Path(__file__).parents[2]) + os.sep
_LIBRARY = tuple(
    os.path.join(folder, "") for name in ("stdlib", "platstdlib") if (folder := sysconfig.get_path(name))
)


def place_in_script() -> tuple[str, int]:
    """The file and line of the innermost frame outside of libraries."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        path = frame.f_code.co_filename
        library = path.startswith((OURS, "<", *_LIBRARY)) or "site-packages" in path
        if not library:
            return path, frame.f_lineno
        frame = frame.f_back
    return "", 0


def line_of_script() -> str:
    """The text of that line: its words distinguish training from validation."""
    return linecache.getline(*place_in_script()).strip()
