"""One measured fact about the machine, and what it means for a training."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

State = Literal["ok", "note", "problem", "not_checked"]


@dataclass(frozen=True)
class DoctorLine:
    """A `problem` will spoil a training or slow it for long, a `note` may."""

    id: str
    subject: str
    state: State
    fact: str
    advice: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Surroundings:
    """Where a training would run: its folder, its script, its environment, its processor's share.

    `root` is the root of the file system, elsewhere only for tests of `/proc` and `/sys`.
    """

    folder: Path
    script: Path | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    root: Path = Path("/")
    seconds: float = 4.0

    def read(self, path: str) -> str:
        """A file of `/proc` or `/sys`; empty where there is none."""
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""


def size(number: float) -> str:
    """`512 MB`, `3.4 GB`: in powers of 1,024, as `free` and `df` count."""
    for unit, factor in (("TB", 2**40), ("GB", 2**30), ("MB", 2**20)):
        if number >= factor:
            value = number / factor
            return f"{value:.0f} {unit}" if value >= 100 or unit == "MB" else f"{value:.3g} {unit}"
    return f"{number / 1024:.0f} kB"
