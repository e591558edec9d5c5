"""Where a script sets what a cause is about: the line of the learning rate, of the loss, of the loader.

For a number that comes from a constant, an option or a configuration it is the line of the number. Each
function of the `anchors_of_*` modules that takes a training and finds a place in it is known by its name.
"""

from __future__ import annotations

from collections.abc import Callable

from traindx.core.nouns import Place
from traindx.source import (
    anchors_of_data,
    anchors_of_loop,
    anchors_of_loss,
    anchors_of_model,
    anchors_of_ranks,
    anchors_of_samples,
    anchors_of_sets,
)
from traindx.source.edit_pieces import place
from traindx.source.script import Script
from traindx.source.training import Training
from traindx.source.values import Spot

Finder = Callable[[Training], Spot | None]
_MODULES = (
    anchors_of_data,
    anchors_of_loop,
    anchors_of_loss,
    anchors_of_model,
    anchors_of_ranks,
    anchors_of_samples,
    anchors_of_sets,
)
_SIGNATURE = {"training": "Training", "return": "Spot | None"}

FINDERS: dict[str, Finder] = {
    name: function
    for module in _MODULES
    for name, function in vars(module).items()
    if not name.startswith("_") and getattr(function, "__annotations__", None) == _SIGNATURE
}


def anchor(script: Script, name: str) -> Place | None:
    """The line that sets `name` (`lr`, `optimizer`, `loss`, ...); None when it is not known."""
    finder = FINDERS.get(name)
    if finder is None:
        return None
    try:
        spot = finder(script.training)
    except (LookupError, RecursionError):
        return None
    return place(spot) if spot is not None and hasattr(spot.node, "lineno") else None
