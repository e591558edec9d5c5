"""Single samples of the data as loaders give them, known again by prints."""

from __future__ import annotations

from typing import Any

from traindx.observe.data.fingerprints import Fingerprints
from traindx.observe.torch import element_samples as element_samples  # how a tensor is read
from traindx.observe.torch.batch_columns import parts_of

_RARER = 1.06


class LoaderRoles:
    """Which loaders are trained on: those with backward passes between their batches.

    Gradients may be on while a validation batch is fetched: many loops switch them off for the model alone.
    `progress` changes with every backward pass.
    """

    def __init__(self) -> None:
        self._began: dict[int, object] = {}
        self._trains: dict[int, bool | None] = {}

    def begins(self, loader: int, progress: object) -> None:
        """A pass over the data begins."""
        self._began[loader] = progress

    def trains(self, loader: int, progress: object) -> bool | None:
        """Whether the batch it gives now is trained on; None: not known yet."""
        if progress != self._began.setdefault(loader, progress):
            self._trains[loader] = True
        return self._trains.setdefault(loader, None)

    def first(self, loader: int) -> bool:
        """Whether it has given nothing yet."""
        return loader not in self._trains

    def ends(self, loader: int, progress: object) -> bool:
        """A pass is over; whether the loader is trained on."""
        self._trains[loader] = bool(self.trains(loader, progress))
        return bool(self._trains[loader])


class SampleFingerprints(Fingerprints):
    """Samples the batches of loaders too: what they hold may reach the model in another form."""

    def __init__(self) -> None:
        super().__init__()
        self.roles = LoaderRoles()
        self._loads, self._next_load = 0, 1.0
        self._first: dict[int, set[int]] = {}

    def load_due(self) -> bool:
        """Whether to sample the batch that a loader gave for training; the first, then ever fewer."""
        self._loads += 1
        return self._loads >= self._next_load

    def loaded_first(self, batch: Any, loader: int) -> None:
        """The first batch of a loader, trained on if `not_trained` is not called afterwards."""
        labels_before = set(self._labels)
        self.loaded(batch, loader, training=True)
        self._first[loader] = set(self._labels) - labels_before

    def not_trained(self, loader: int) -> None:
        """The loader turned out to be one of validation."""
        for mark in self._first.pop(loader, ()):
            self._labels.pop(mark, None)

    def loaded(self, batch: Any, loader: int, *, training: bool) -> None:
        """A loader gave a batch."""
        if training:
            self._next_load = max(self._loads + 1, _RARER * self._loads)
        elif not self.wants(("loader", loader)):
            return
        parts = parts_of(batch)
        if parts is None:
            return
        if training:
            self.extra_tensors = max(self.extra_tensors, parts.extra_count)
            self.trained(parts.inputs, parts.target, "loader", parts.other_inputs)
        else:
            self.evaluated(parts.inputs, ("loader", loader), parts.other_inputs)
