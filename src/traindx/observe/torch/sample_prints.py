"""Single samples of the data as loaders give them, known again by prints."""

from __future__ import annotations

from typing import Any

from traindx.observe.data.fingerprints import Fingerprints
from traindx.observe.torch.batch_columns import parts_of

_RARER = 1.06


class SampleFingerprints(Fingerprints):
    """Samples the batches of loaders too: what they hold may reach the model in another form."""

    def __init__(self) -> None:
        super().__init__()
        self._loads, self._next_load = 0, 1.0

    def load_due(self) -> bool:
        """Whether to sample the batch that a loader gave for training; the first, then ever fewer."""
        self._loads += 1
        return self._loads >= self._next_load

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
            self.beside = max(self.beside, parts.beside)
            self.trained(parts.given, parts.target, "loader", parts.others)
        else:
            self.evaluated(parts.given, ("loader", loader), parts.others)
