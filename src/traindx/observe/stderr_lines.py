"""Messages of the recorder on standard error."""

from __future__ import annotations

import contextlib
import sys


def say(text: str) -> None:
    """Print one line. It may hold names of folders: control characters are shown as escapes."""
    printable = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
    with contextlib.suppress(Exception):
        sys.stderr.write(f"traindx: {printable}\n")
        sys.stderr.flush()
