"""`DataLoader`: how long the loop waits for it, and how it is set up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import dataloader

from traindx.observe.clock import perf_counter

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching


def watch_loading(watching: Watching) -> None:
    """Timed where an iterator fetches, inside `__next__`, which stays as it is."""
    steps = watching.steps

    def fetching(original: Callable[..., Any]) -> Callable[..., Any]:
        def fetch(self: Any) -> Any:
            if not watching.active or not watching.mine():
                return original(self)
            began, training = perf_counter(), torch.is_grad_enabled()
            # Not held while the next one is fetched: one batch more in memory might be one too many.
            watching.batch = None
            try:
                batch = watching.batch = original(self)
                steps.accumulation.fetched += training
                if not training:
                    watching.guard("evaluations", watching.looks.evaluations.wait, loaded=True)
                samples = watching.looks.samples
                if watching.recorder.internals and (not training or samples.load_due()):
                    key = id(getattr(self, "_index_sampler", self))
                    watching.guard("samples", samples.loaded, batch, key, training=training)
                return batch
            except StopIteration:
                watching.guard("loading", watching.recorder.tick)
                raise
            finally:
                steps.waited(began, perf_counter(), training=training)

        return fetch

    def starting(original: Callable[..., Any]) -> Callable[..., Any]:
        def start(self: Any) -> Any:
            began = perf_counter()
            iterator = original(self)
            if watching.active:
                watching.guard("facts", watching.facts.loader, self)
                if not torch.is_grad_enabled():
                    watching.guard("modes", watching.modes.evaluates)
                if watching.mine():
                    steps.waited(began, perf_counter(), training=torch.is_grad_enabled())
            return iterator

        return start

    for name in ("_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter"):
        watching.patches.replace(getattr(dataloader, name), "_next_data", fetching)
    watching.patches.replace(dataloader.DataLoader, "_get_iterator", starting)
