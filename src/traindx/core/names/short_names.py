"""Names of runs, shortened to what tells them apart."""

from __future__ import annotations

from collections.abc import Sequence


def without_shared(names: Sequence[str]) -> list[str]:
    """Names without the folders and the file name that all share; of equal names the file name is left."""
    pieces = [name.split("/") for name in names]
    if len(set(names)) < 2:
        return [parts[-1] or name for parts, name in zip(pieces, names, strict=True)]
    least = min(map(len, pieces)) - 1
    first = next((i for i in range(least) if len({p[i] for p in pieces}) > 1), least)
    same_file = least > first and len({p[-1] for p in pieces}) == 1
    return ["/".join(p[first:-1] if same_file else p[first:]) for p in pieces]
