"""Losses that no backward follows: those of validation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from traindx.observe.torch.scalars import in_transform, scalar

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

_FEW = 2
_LARGER = 1.5


class Validation:
    """Loss values seen without gradients, or in eval mode, since the last training step."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self._sums: dict[str, list[float | torch.Tensor]] = {}
        self._calls: dict[str, int] = {}
        self._maybe: list[tuple[str, float | torch.Tensor, float]] = []
        self._train_mode = False
        self._at_work = False
        # A batch much larger than those of training is a validation set given at once.
        self._other_size = False
        self.rows = 0
        # Whether there is something to commit; `TrainingMode` has its part in it.
        self.pending = False

    def saw(self, name: str, output: torch.Tensor, result: torch.Tensor, summed: int) -> None:
        """A loss was computed where none is expected to be learned from; a sum over so many targets, or 0."""
        if result.numel() != 1 or in_transform(result):
            return
        value = scalar(result)
        if value is None:
            return
        size = float(output.shape[0]) if output.dim() else 1.0
        if summed:
            # A sum counts as it is, unless training divides such sums by their number before backward.
            divides = self.watching.losses.divides_sums
            value, size = (value / summed, float(summed)) if divides else (value, 1.0)
        self.pending = True
        if result.requires_grad:
            self._maybe.append((name, value, size))
            return
        if not self._calls:
            modes = self.watching.modes
            self._train_mode = modes.training() is True and not modes.rested
            self._at_work = self._train_mode and modes.at_work()
        trained = self.watching.losses.batch
        self._other_size = bool(trained) and output.dim() > 0 and output.shape[0] > _LARGER * trained
        self.watching.steps.paused()
        self.watching.guard("evaluations", self.watching.sampler.evaluations.judged)
        self._add(name, value, size)

    def _add(self, name: str, value: float | torch.Tensor, size: float) -> None:
        sums = self._sums.setdefault(name, [0.0, 0.0])
        sums[0] = sums[0] + value * size
        sums[1] = sums[1] + size
        self._calls[name] = self._calls.get(name, 0) + 1

    def commit(self, *, training: bool) -> None:
        """Training continues (or ends): what was gathered is one point of `val/loss`."""
        self.pending = False
        self.watching.modes.resumes()
        if self._maybe:
            self._settle_maybe(training)
        if not self._calls:
            return
        calls = max(self._calls.values())
        sums, self._sums, self._calls = self._sums, {}, {}
        recorder = self.watching.recorder
        if self._train_mode and calls <= _FEW and recorder.step > 0 and training and not self._other_size:
            # A value computed in the middle of a training step, not a validation.
            return
        means = {name: float(total) / float(size) for name, (total, size) in sums.items() if size}
        if self._train_mode and self._at_work and not self.watching.sampler.evaluations.of_another:
            recorder.event("validated_in_train_mode", f"{calls} validation batches ran in training mode")
        self.rows += 1
        if self.watching.losses.is_whole is False and not self.watching.losses.sums_parts:
            # What is trained on holds more than this: the two could not be compared.
            recorder.row(_parts(means))
        elif len(means) == 1:
            recorder.row({"val/loss": next(iter(means.values()))})
        elif self.watching.losses.sums_parts:
            recorder.row({"val/loss": sum(means.values()), **_parts(means)})
        else:
            recorder.row(_parts(means))

    def _settle_maybe(self, training: bool) -> None:
        """Losses in eval mode with gradients on: the last are the training's own when backward follows."""
        training_calls = max(1, self.watching.losses.per_step) if training else 0
        evaluated = self._maybe[:-training_calls] if training_calls else self._maybe
        self._maybe = []
        if len(evaluated) > _FEW and not self._calls:
            self.watching.steps.paused()
            self._train_mode = False
        if len(evaluated) > _FEW:
            for name, value, size in evaluated:
                self._add(name, value, size)


def _parts(means: dict[str, float]) -> dict[str, float]:
    return {f"val/loss/{name}": mean for name, mean in means.items()}
