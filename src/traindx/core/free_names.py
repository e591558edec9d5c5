"""Free file names: `report`, else `report-2`, `report-3`, ..."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path


def numbered(path: Path, ending: str = "") -> Iterator[Path]:
    """The path with its ending, then with `-2`, `-3`, ... before it; without an end."""
    yield path.with_name(path.name + ending)
    for number in count(2):
        yield path.with_name(f"{path.name}-{number}{ending}")


def first_free(path: Path, ending: str = "") -> Path:
    """The first of them that does not exist, not even as a broken link."""
    return next(candidate for candidate in numbered(path, ending) if not os.path.lexists(candidate))
