"""Names of layers: their path in the model, without the name of the model itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class LayerNames:
    """Paths as Keras gives them; what all models of a training have in common is left out."""

    def __init__(self) -> None:
        self._models: dict[str, None] = {}

    def restart(self) -> None:
        """Another training begins, with models of its own."""
        self._models.clear()

    def saw(self, models: Iterable[Any]) -> None:
        """Models that train; a layer without layers inside is none."""
        for model in models:
            if getattr(model, "_layers", None):
                self._models[str(model.name)] = None

    def short(self, path: str) -> str:
        """Without the model, where there is only one."""
        first, slash, rest = path.partition("/")
        return rest if slash and len(self._models) <= 1 and first in self._models else path

    def layer(self, layer: Any) -> str:
        """Layers without variables have no path."""
        return self.short(str(getattr(layer, "path", None) or layer.name))

    def variable(self, variable: Any) -> str:
        return self.short(str(getattr(variable, "path", None) or variable.name).removesuffix(":0"))

    def layer_of(self, variable: Any) -> str:
        """The layer that holds a variable."""
        name = self.variable(variable)
        return name.rpartition("/")[0] or name
