"""Training and eval mode, by what really happens to what a model gives."""

from __future__ import annotations

import time
import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from traindx.experiment.runtime.frames import place_in_script
from traindx.experiment.runtime.torch.tensors import grad_fn_of
from traindx.observe.torch.graph import walk
from traindx.observe.torch.kinds import has_modes

if TYPE_CHECKING:
    from traindx.experiment.runtime.hooks import Hooks
    from traindx.observe.torch.places.models import ModelCall

Site = tuple[str, int]
# So often a backward pass must have come without what was called at a place.
_SURE = 2
_OPEN = 8
_SECONDS = 0.5


class ForcedModes:
    """Which places in the script train, and what modes its parts were in before ours."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self._trains: set[Site] = set()
        self._misses: dict[Site, int] = {}
        self._site: Site | None = None
        self._open: list[tuple[Site, Any]] = []
        self._saved: weakref.WeakKeyDictionary[nn.Module, list[tuple[Any, bool]]] = (
            weakref.WeakKeyDictionary()
        )

    def on_model_call(self, call: ModelCall, root: nn.Module) -> None:
        self._site = place_in_script() if call.training else None
        if self._site is None or self._misses.get(self._site, 0) >= _SURE:
            self._switch(root, training=False)
        elif self._site in self._trains:
            self._switch(root, training=True)

    def on_output(self, output: Any, root: nn.Module) -> Any:
        """Remember what a place gave until the next backward pass, as long as it is not known."""
        del root
        site = self._site
        if site is not None and site not in self._trains and self._misses.get(site, 0) < _SURE:
            node = grad_fn_of(output)
            if node is not None:
                self._open = [*self._open[1 - _OPEN :], (site, node)]
        return output

    def backward(self, losses: tuple[torch.Tensor, ...]) -> None:
        """Places whose results the loss is computed from train; others do not."""
        if not self._open:
            return
        reached: set[Any] = set()
        for loss in losses:
            if loss.grad_fn is not None:
                reached |= set(walk(loss.grad_fn, time.monotonic() + _SECONDS).nodes)
        training_sites = {site for site, node in self._open if node in reached}
        self._trains |= training_sites
        if reached:
            for site in {site for site, _ in self._open} - training_sites:
                self._misses[site] = self._misses.get(site, 0) + 1
        self._open = []

    def _switch(self, root: nn.Module, *, training: bool) -> None:
        if root.training is training:
            return
        now = [(weakref.ref(module), module.training) for module in root.modules()]
        previous, self._saved[root] = self._saved.get(root), now
        concerned = sum(1 for module in root.modules() if has_modes(module))
        root.train(training)
        if previous is not None and training:
            for ref, mode in previous:
                module = ref()
                if module is not None:
                    module.training = mode
        if concerned:
            word, place = ("training", "it trains") if training else ("eval", "it does not train")
            self._hooks.changed(
                f"{type(root).__name__} is put into {word} mode where {place} ({concerned} layers differ)"
            )
        elif not self._hooks.has_changed:
            self._hooks.otherwise("the model has neither dropout nor batch norm: its modes are the same")
