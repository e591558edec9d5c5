"""Which version of a library wrote the samples, and numbers as the truth files show them."""

from __future__ import annotations

import json
import math
from pathlib import Path

_VERSIONS = Path(__file__).with_name("versions.json")


def record(library: str, version: str) -> None:
    """Note a library's version."""
    known = json.loads(_VERSIONS.read_text()) if _VERSIONS.exists() else {}
    known[library] = version
    _VERSIONS.write_text(json.dumps(dict(sorted(known.items())), indent=2) + "\n")


def shown(value: float) -> float | str:
    """A number for JSON: what is not finite becomes text."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
