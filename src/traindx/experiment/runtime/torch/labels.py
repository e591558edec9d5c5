"""Where the labels are: among a loss function's arguments, or in the batches of a DataLoader."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from traindx.experiment.runtime.torch.tensors import Pool, tensors_in
from traindx.observe.torch.batch_columns import is_given, is_label, is_structure
from traindx.observe.torch.places.models import mapped

if TYPE_CHECKING:
    from traindx.observe.torch.places.losses import LossArguments
    from traindx.observe.torch.places.models import ModelCall


def shuffled_target(loss: LossArguments, pool: Pool) -> torch.Tensor:
    """Targets of other samples; positions that the loss ignores stay ignored."""
    target: torch.Tensor = loss.target
    if not target.dim():
        return pool.drawn(target.reshape(1)).reshape(())
    if loss.name not in ("cross_entropy", "nll_loss") or target.is_floating_point():
        return pool.drawn(target)
    counted = target != loss.given.get("ignore_index", -100)
    new = target.clone()
    new[counted] = pool.drawn(target[counted])
    return new


class LabelParts:
    """The parts of a batch that never reach the model, learned from the first batch."""

    def __init__(self) -> None:
        self._batch: list[tuple[str, torch.Tensor]] = []
        self._inputs: list[torch.Tensor] = []
        self._labels: set[int] = set()
        self._pools: dict[int, Pool] = {}

    def on_model_call(self, call: ModelCall, root: object) -> None:
        del root
        if self._batch and not self._labels and call.training:
            self._inputs += [tensor for _, tensor in call.tensors()]

    def exchanged(self, batch: Any, trains: bool, changed: Callable[[str], None]) -> Any:
        """The batch with other samples' labels, once it is known where they are."""
        if not self._labels:
            self._batch, self._inputs = tensors_in(batch), []
            return batch
        if not trains:
            return batch
        number = -1

        def exchange(name: str, tensor: torch.Tensor) -> torch.Tensor:
            nonlocal number
            number += 1
            if number not in self._labels:
                return tensor
            new = self._pools.setdefault(number, Pool()).drawn(tensor)
            changed(f"part {number + 1}{f' ({name})' if name else ''} of each batch is other samples' labels")
            return new

        return mapped(batch, "", exchange)

    def learn(self) -> str:
        """Which parts did not reach the model; why that cannot be told, if so."""
        if self._labels:
            return ""
        if not self._batch:
            return "the loss is not one of torch's and no DataLoader gives the batches"
        rows = {tensor.shape[0] for tensor in self._inputs if tensor.dim()}
        reached = self._reached()
        free = {
            number
            for number, (_, part) in enumerate(self._batch)
            if number not in reached and part.dim() and (not rows or part.shape[0] in rows)
        }
        labelled = {number for number in free if is_label(self._batch[number][0])}
        if not reached and not labelled and len(self._batch) == 2:
            free = {1}
        self._labels = labelled or free
        self._batch, self._inputs = [], []
        return "" if self._labels else "no part of the batch could be told to be the labels"

    def _reached(self) -> set[int]:
        """Parts that went into the model: the same memory, or else the same number of values of a kind."""
        parts = [part for _, part in self._batch]
        reached = set()
        for tensor in self._inputs:
            same_memory = [n for n, part in enumerate(parts) if part.data_ptr() == tensor.data_ptr()]
            alike = [
                n
                for n, part in enumerate(parts)
                if part.numel() == tensor.numel() and part.is_floating_point() == tensor.is_floating_point()
            ]
            reached.update(same_memory or alike[:1])
        return reached


__all__ = ["is_input", "is_label", "is_numeric", "is_structure", "is_validation", "tensor_text"]

_VALIDATION = re.compile(r"(?<![a-z])(val|valid|validation|test|eval|dev|holdout|predict)", re.IGNORECASE)
_TRAINING = re.compile(r"train", re.IGNORECASE)


def is_input(name: str, tensor: torch.Tensor) -> bool:
    """Numbers or tokens that a model is to learn from; masks, labels and structure are none."""
    if tensor.dtype == torch.bool or not tensor.numel() or tensor.is_sparse:
        return False
    return is_given(name)


def is_numeric(name: str, tensor: torch.Tensor) -> bool:
    return is_input(name, tensor) and tensor.is_floating_point()


def is_validation(line: str) -> bool:
    """Whether a line of the script that makes a loader names it so."""
    name = line.partition("=")[0] if re.match(r"[\w.\[\]'\", ]+=(?!=)", line) else line
    if _TRAINING.search(name):
        return False
    return _VALIDATION.search(name) is not None


def tensor_text(name: str, tensor: torch.Tensor) -> str:
    """`x (3x32x32 each)`."""
    return f"{name} ({'x'.join(map(str, tensor.shape[1:])) or 'a number'} each)"
