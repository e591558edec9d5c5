"""The first batch again and again, at the place where this training can be given it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from traindx.intervene.pytorch.streams import Streams
from traindx.intervene.pytorch.tensors import copied, tensors_in

if TYPE_CHECKING:
    from traindx.intervene.joints import Joints
    from traindx.intervene.pytorch.calls import Given
    from traindx.intervene.pytorch.feeding import Source
    from traindx.intervene.pytorch.losses import LossCall

_AGAIN = "the same batch is drawn at every step: the states of the random generators are put back"


class Repeating:
    """Learns from the first step where batches come from; from the second on, repeats."""

    def __init__(self, joints: Joints) -> None:
        self._joints = joints
        self._way = ""
        self._firsts: dict[tuple[str, int], Any] = {}
        self._fetches = 0
        self._backwards = self._steps = 0
        # By their position within a step.
        self._inputs: list[tuple[Any, Any]] = []
        self._targets: list[Any] = []
        self._called = self._judged = 0
        self._streams = Streams()
        self._seen: list[list[float]] = [[], []]

    # Where batches come from.

    def fetched(self, batch: Any, source: Source, trains: bool) -> Any:
        if not torch.is_grad_enabled() or self._way in ("calls", "streams"):
            return batch
        self._fetches += 1
        if not trains:
            if source.site not in self._firsts:
                self._firsts[source.site] = copied(batch)
            return batch
        # A loader made anew gives the batch of the one before.
        return copied(self._firsts.setdefault(source.site, copied(batch)))

    def called(self, given: Given, root: object) -> None:
        del root
        if not (given.training and given.fresh):
            return
        at, self._called = self._called, self._called + 1
        if not self._steps and self._way in ("", "calls"):
            self._inputs.append((copied(given.args), copied(given.kwargs)))
        elif self._way == "calls":
            args, kwargs = self._inputs[at % len(self._inputs)]
            given.args, given.kwargs = copied(args), copied(kwargs)
        elif self._way == "streams":
            self._seen[-1] += [_checksum(one) for _, one in given.tensors()]

    def judged(self, loss: LossCall) -> None:
        if not (loss.training and loss.input.requires_grad):
            return
        at, self._judged = self._judged, self._judged + 1
        if not self._steps and self._way in ("", "calls"):
            self._targets.append(copied(loss.target) if not loss.target.requires_grad else None)
        elif self._way == "calls":
            target = self._targets[at % len(self._targets)] if self._targets else None
            if target is not None:
                loss.target = target.clone()
        elif self._way == "streams":
            self._seen[-1].append(_checksum(loss.target))

    # What the first steps show.

    def backward(self) -> None:
        self._backwards += 1
        source = self._joints.training.feeding.last
        if self._way in ("", "loader") and source is not None:
            if self._backwards > 1 and self._fetches == 1:
                # Loaded once, used again and again: batches are made of it elsewhere.
                self._way = "calls" if self._inputs and self._targets else "streams"
            elif not self._way:
                self._way = "loader"
                shapes = ", ".join(
                    "x".join(map(str, t.shape)) for _, t in tensors_in(self._firsts[source.site])
                )
                self._joints.changed(f"the first batch of the DataLoader ({shapes}) is given at every step")
        elif not self._way:
            self._way = "calls" if self._inputs and any(t is not None for t in self._targets) else "streams"

    def stepped(self, optimizer: object) -> None:
        del optimizer
        self._steps += 1
        self._called = self._judged = 0
        if self._way == "calls" and self._steps == 1:
            count, shapes = len(self._inputs), _shapes(self._inputs[0])
            told = f"{shapes} and the targets of the first step are given at every step"
            self._joints.changed(told if count == 1 else f"{told} ({count} calls of the model)")
        elif self._way == "streams":
            self._repeat_streams()

    def _repeat_streams(self) -> None:
        if self._steps == 1:
            self._streams.save()
            return
        before, now = self._seen[0], self._seen[-1]
        if self._steps == 2:
            self._seen = [now, []]
        else:
            if before != now or not now:
                self._joints.cannot(
                    "no DataLoader gives the batches, and the script does not draw the same batch again when "
                    "the states of the random generators are put back"
                )
            self._seen[-1] = []
            self._joints.changed(_AGAIN)
        self._streams.restore()


def _checksum(tensor: torch.Tensor) -> float:
    return float(tensor.detach().double().sum())


def _shapes(given: tuple[Any, Any]) -> str:
    shapes = ["x".join(map(str, one.shape)) for _, one in tensors_in([*given[0], given[1]])]
    return f"the inputs ({', '.join(shapes[:4])})"
