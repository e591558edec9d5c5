"""DataLoaders: how they are made, and what they give."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torch.utils.data import dataloader

from traindx.observe.clock import perf_counter
from traindx.observe.hooks.bus import Channel
from traindx.observe.torch.places.patches import Patches


def loader_made(patches: Patches, event: Channel) -> None:
    """Its arguments before they are used, and the loader when it is there."""
    names = tuple(inspect.signature(dataloader.DataLoader.__init__).parameters)[1:]

    def replaced(original: Callable[..., Any]) -> Callable[..., Any]:
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            arguments = dict(zip(names, args, strict=False)) | kwargs
            finishers = [finish for call in event.calls if (finish := call(arguments)) is not None]
            original(self, **arguments)
            for finish in finishers:
                finish(self)

        return __init__

    patches.replace(dataloader.DataLoader, "__init__", replaced)


def pass_begins(patches: Patches, event: Channel) -> None:
    def replaced(original: Callable[..., Any]) -> Callable[..., Any]:
        def _get_iterator(self: Any) -> Any:
            began = perf_counter()
            iterator = original(self)
            for call in event.calls:
                call(self, iterator, began)
            return iterator

        return _get_iterator

    patches.replace(dataloader.DataLoader, "_get_iterator", replaced)


def fetching(patches: Patches, fetch: Channel, batch: Channel) -> None:
    """Where an iterator fetches, inside `__next__`, which stays as it is."""

    def replaced(original: Callable[..., Any]) -> Callable[..., Any]:
        def _next_data(self: Any) -> Any:
            ends = [end for begin in fetch.calls if (end := begin(self)) is not None]
            try:
                fetched = original(self)
                for call in batch.calls:
                    fetched = call(fetched, self)
            except BaseException as error:
                for end in ends:
                    end(None, error)
                raise
            for end in ends:
                end(fetched, None)
            return fetched

        return _next_data

    for name in ("_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter"):
        patches.replace(getattr(dataloader, name), "_next_data", replaced)
