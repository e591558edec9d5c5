"""Which DataLoaders feed the training: those whose batches a backward pass follows."""

from __future__ import annotations

import weakref
from typing import Any

import torch


class LoaderPass:
    """One pass over a loader, and the line of the script that began it."""

    def __init__(self, loader: Any, site: tuple[str, int]) -> None:
        self.loader = loader
        self.site = site
        self.fetched = 0
        self.backwards = 0


class Feeding:
    """Learned from what happens; a loader that is made anew is known by the line that passes over it."""

    def __init__(self) -> None:
        self._loaders: weakref.WeakSet[Any] = weakref.WeakSet()
        self._sites: set[tuple[str, int]] = set()
        self._mixed: set[tuple[str, int]] = set()
        self.last: LoaderPass | None = None

    def fetched(self, source: LoaderPass) -> bool:
        """A batch was fetched; whether it is known to be one of training."""
        before, source.fetched = self.last, source.fetched + 1
        if not torch.is_grad_enabled():
            return False
        if before is not None and before is not source and not before.backwards:
            self._mixed.add(before.site)
        self.last = source
        if source.loader in self._loaders:
            return True
        return source.site in self._sites and source.site not in self._mixed

    def backward(self) -> None:
        source = self.last
        if source is not None:
            source.backwards += 1
            self._loaders.add(source.loader)
            self._sites.add(source.site)
