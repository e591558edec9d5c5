"""Where a script sets what a cause is about: the line of the learning rate, of the loss, of the loader."""

from __future__ import annotations

from traindx.core import Place
from traindx.script.source import Script


def anchor(script: Script, name: str) -> Place | None:
    """The line that sets `name` (`lr`, `optimizer`, `loss`, ...), if exactly one does."""
    del script, name
    return None
