"""What reached a step: its inputs and targets, and the outputs that leave it."""

from __future__ import annotations

from typing import Any

import numpy as np

from traindx.core.kinds import BY_CLASS
from traindx.observe.arrays import Values, is_real
from traindx.observe.data.answers import answer_statistics
from traindx.observe.data.batches import input_statistics
from traindx.observe.data.fingerprints import Fingerprints
from traindx.observe.data.sampled_batches import Groups, SampledBatches
from traindx.observe.jax.pytrees import rows
from traindx.observe.jax.tracing import Notes
from traindx.observe.keras.loss_facts import aligned


class JaxBatches(SampledBatches):
    """Inputs, targets and outputs of sampled steps."""

    def __init__(self) -> None:
        super().__init__()
        self._last: int | None = None

    def restart(self) -> None:
        """Another training begins."""
        self.batches.restart()
        self.samples = Fingerprints()

    def groups(self, notes: Notes, argument_leaves: list[Any], out: list[Any], step: int) -> Groups:
        """The statistics of one batch."""
        groups: Groups = {}
        where, target_at = inputs_and_targets(notes, argument_leaves)
        inputs = rows(argument_leaves[where]) if where is not None else None
        target = rows(argument_leaves[target_at]) if target_at is not None else None
        output = rows(out[notes.output]) if notes.output is not None else None
        kind = str(notes.loss_calls[0]["kind"]) if notes.loss_calls else ""
        if target is not None and output is not None and len(target) == len(output):
            target, output = aligned(kind, target, output)
            if is_real(output):
                groups["output"] = input_statistics(output) | answer_statistics(kind, output, target)  # type: ignore[assignment]
        elif target is not None and kind in BY_CLASS and _one_hot(target):
            target = target.argmax(axis=-1)
        if target is not None:
            groups["target"] = dict(self.batches.targets(target))
        if inputs is not None and where is not None:
            groups["input"] = dict(self.batches.input(inputs, step))
            self.samples.trained(
                inputs, target if target is not None and len(target) == len(inputs) else None
            )
            # The same array each time is all of the data, not a batch that comes again.
            if self._last == id(argument_leaves[where]):
                groups["input"].pop("repeat_distance", None)
            self._last = id(argument_leaves[where])
        return groups


def inputs_and_targets(notes: Notes, argument_leaves: list[Any]) -> tuple[int | None, int | None]:
    """The places of both among the arguments: the target is what a loss compared, else the last array."""
    target = notes.target if notes.target in notes.batch else None
    rest = [place for place in notes.batch if place != target]
    if (
        target is None
        and len(rest) > 1
        and len(argument_leaves[rest[-1]].shape) <= len(argument_leaves[rest[0]].shape)
    ):
        target = rest.pop()
    real = [place for place in rest if np.dtype(argument_leaves[place].dtype).kind not in "iub"]
    return next(iter(real or rest), None), target


def _one_hot(target: Values) -> bool:
    return target.ndim > 1 and bool((target.sum(axis=-1) == 1).all()) and bool(np.isin(target, (0, 1)).all())
