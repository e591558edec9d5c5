"""Lines that a recording itself says, on standard error."""

from __future__ import annotations

import contextlib
import sys


def say(text: str) -> None:
    """One line. Names of folders stand in it: what could steer the terminal is shown as an escape."""
    printable = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
    with contextlib.suppress(Exception):
        sys.stderr.write(f"traindx: {printable}\n")
        sys.stderr.flush()
