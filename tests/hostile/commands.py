"""The real command in a process of its own, which must end by itself, without a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SECONDS = 60


def traindx(folder: Path, *words: str | Path, code: int | tuple[int, ...] | None = None) -> str:
    """What it says on both streams; a failure of traindx itself is none that a user can cause."""
    done = subprocess.run(
        [sys.executable, "-m", "traindx", *map(str, words)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS,
        env={**os.environ, "NO_COLOR": "1"},
        check=False,
    )
    said = done.stdout.decode("utf-8", "replace")
    assert "traindx itself failed" not in said, said
    assert "Traceback" not in said, said
    if code is not None:
        assert done.returncode in (code if isinstance(code, tuple) else (code,)), said
    return said
