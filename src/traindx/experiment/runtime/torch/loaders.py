"""DataLoaders: how they are made, and what they give."""

from __future__ import annotations

import inspect
import linecache
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch.utils.data import dataloader

from traindx.experiment.runtime.frames import place_in_script
from traindx.experiment.runtime.torch.feeding import Feeding, Source
from traindx.observe.torch.patches import Patches

if TYPE_CHECKING:
    from traindx.experiment.runtime.joints import Training


def touch_loaders(training: Training, patches: Patches) -> list[Callable[[], object]]:
    loader_class = dataloader.DataLoader
    owners: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
    names = tuple(inspect.signature(loader_class.__init__).parameters)[1:]

    def making(original: Callable[..., Any]) -> Callable[..., Any]:
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            given = dict(zip(names, args, strict=False)) | kwargs
            asked = [] if training.aside else training.asked("loader_made", given, _line_of_script())
            original(self, **given)
            for call in asked:
                if call is not None:
                    call(self)

        return __init__

    def starting(original: Callable[..., Any]) -> Callable[..., Any]:
        def start(self: Any) -> Any:
            iterator = original(self)
            if iterator not in owners:
                owners[iterator] = Source(self, place_in_script())
            return iterator

        return start

    def fetching(original: Callable[..., Any]) -> Callable[..., Any]:
        def fetch(self: Any) -> Any:
            batch = original(self)
            source = owners.get(self)
            if source is None or training.aside:
                return batch
            return training.through("batch", batch, source, training.feeding.fetched(source))

        return fetch

    if "loader_made" in training.calls:
        patches.replace(loader_class, "__init__", making)
    if "batch" in training.calls:
        training.feeding = Feeding()
        training.calls.setdefault("after_backward", []).insert(0, training.feeding.backward)
        patches.replace(loader_class, "_get_iterator", starting)
        for name in ("_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter"):
            patches.replace(getattr(dataloader, name), "_next_data", fetching)
    return []


def _line_of_script() -> str:
    """The line that makes the loader: its words tell training from validation."""
    path, number = place_in_script()
    return linecache.getline(path, number).strip()
