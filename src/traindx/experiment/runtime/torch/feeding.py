"""DataLoaders that feed the training, those whose batches a backward pass follows: how they are made anew."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sized
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import IterableDataset, Sampler, SequentialSampler

from traindx.experiment.runtime.frames import place_in_script
from traindx.experiment.runtime.torch.labels import is_validation

if TYPE_CHECKING:
    from traindx.experiment.runtime.hooks import ChangedTraining, Hooks


class LoaderPass:
    """One pass over a loader, and the line of the script that began it."""

    def __init__(self, loader: Any, site: tuple[str, int]) -> None:
        self.loader = loader
        self.site = site
        self.fetched = 0
        self.backwards = 0


class Feeding:
    """Learned while the training runs; a loader that is made again is known by the line that iterates it."""

    def __init__(self, training: ChangedTraining) -> None:
        self._training = training
        self.calls: list[Callable[..., Any]] = []
        self._passes: weakref.WeakKeyDictionary[Any, LoaderPass] = weakref.WeakKeyDictionary()
        training.listen("pass_begins", self._pass_begins)
        training.listen("batch", self._batch)
        training.backward.after.insert(0, self._backward)
        self._loaders: weakref.WeakSet[Any] = weakref.WeakSet()
        self._sites: set[tuple[str, int]] = set()
        self._mixed: set[tuple[str, int]] = set()
        self.last: LoaderPass | None = None

    def _pass_begins(self, loader: Any, iterator: Any, _: float) -> None:
        if iterator not in self._passes:
            self._passes[iterator] = LoaderPass(loader, place_in_script())

    def _batch(self, batch: Any, iterator: Any) -> Any:
        source = self._passes.get(iterator)
        if source is None or self._training.aside:
            return batch
        trains = self._fetched(source)
        for call in self.calls:
            batch = call(batch, source, trains)
        return batch

    def _fetched(self, source: LoaderPass) -> bool:
        """A batch was fetched; whether it is known to be one of training."""
        previous, source.fetched = self.last, source.fetched + 1
        if not torch.is_grad_enabled():
            return False
        if previous is not None and previous is not source and not previous.backwards:
            self._mixed.add(previous.site)
        self.last = source
        if source.loader in self._loaders:
            return True
        return source.site in self._sites and source.site not in self._mixed

    def _backward(self) -> None:
        source = self.last
        if source is not None:
            source.backwards += 1
            self._loaders.add(source.loader)
            self._sites.add(source.site)


class RandomOrder(Sampler[int]):
    """A new order each time while gradients are recorded; from first to last otherwise."""

    def __init__(self, data: Sized) -> None:
        self._data = data
        self._random = torch.Generator()
        self._random.manual_seed(0)

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Iterator[int]:
        count = len(self._data)
        if not torch.is_grad_enabled():
            return iter(range(count))
        return iter(torch.randperm(count, generator=self._random).tolist())


def in_order(arguments: dict[str, Any]) -> str:
    """Why the order of a loader cannot or need not be changed; empty if it can."""
    if isinstance(arguments["dataset"], IterableDataset) or not hasattr(arguments["dataset"], "__len__"):
        return "the dataset is iterable: only the script decides on its order"
    if arguments.get("shuffle"):
        return "the DataLoader shuffles already"
    sampler = arguments.get("sampler")
    if arguments.get("batch_sampler") is not None or not isinstance(sampler, SequentialSampler | None):
        return "the DataLoader has a sampler of the script's own"
    return ""


def change_loaders(
    hooks: Hooks, alter: Callable[[dict[str, Any]], Any], describe: Callable[[Any, Any], str]
) -> None:
    """Make the training's DataLoaders otherwise; those that the script calls validation or test stay.

    `alter(arguments)` changes what a loader is made with and returns what it was before; None: nothing was.
    `describe(loader, before)` is reported when such a loader feeds the training.
    """
    old_values: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def loader_made(arguments: dict[str, Any], line: str) -> Any:
        old = None if is_validation(line) else alter(arguments)
        return None if old is None else lambda loader: old_values.update({loader: old})

    def on_batch(batch: Any, source: LoaderPass, trains: bool) -> Any:
        if trains and source.loader in old_values:
            hooks.changed(describe(source.loader, old_values[source.loader]))
        return batch

    hooks.otherwise("no DataLoader was made")
    hooks.loader_made(loader_made)
    hooks.batch(on_batch)
