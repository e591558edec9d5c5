"""Names in a line of text."""

from __future__ import annotations

from collections.abc import Sequence


def listed(names: Sequence[str], limit: int) -> str:
    """`fc1, fc2 and 3 more`."""
    text = ", ".join(names[:limit])
    return text if len(names) <= limit else f"{text} and {len(names) - limit} more"
