"""Series that stand beside the curves of a run: of single layers, of further ranks, told twice.

Their names hold words of the user's model (`grad_norm/memory_bank`), so nothing is read out of them.
"""

from __future__ import annotations

import re

_ASIDE = re.compile(
    r"^(?:(?:grad|weight|update|activation)_\w+/|(?:printed|logged|observed)/)|/rank\d+(?:@\w+)?$"
)


def aside(name: str) -> bool:
    """Whether a canonical name is that of a layer, of a rank above the first, or of a second telling."""
    return _ASIDE.search(name) is not None
