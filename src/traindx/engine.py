"""The line: path -> read -> Run. Detection, inference and remedies join it here."""

from __future__ import annotations

import os
from collections.abc import Mapping

from traindx.core import Reading
from traindx.find import find_runs


def read(*paths: str | os.PathLike[str], mapping: Mapping[str, str] | None = None) -> Reading:
    """Every training run in the given files and folders; '-' is standard input."""
    return find_runs([str(path) for path in paths], mapping=mapping)
