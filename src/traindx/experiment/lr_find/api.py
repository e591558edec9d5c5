"""`traindx.lr_find`: the learning-rate range test, on a model in this process or on a script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from traindx.experiment.lr_find.answer import RangeAnswer
from traindx.experiment.lr_find.ramps import Ramps
from traindx.experiment.lr_find.search import SEEDS, STEPS, RangeRequest, around, search

if TYPE_CHECKING:
    from traindx.experiment.runtime.ramping import LiveTraining


def lr_find(
    model: Any,
    optimizer: Any = None,
    loss_fn: Callable[..., Any] | None = None,
    loader: Any = None,
    *,
    compute: Callable[[Any, Any], Any] | None = None,
    accumulate: int = 1,
    args: Sequence[str] = (),
    steps: int = STEPS,
    seeds: int = SEEDS,
    seed: int = 0,
    span: tuple[float, float] | None = None,
) -> RangeAnswer:
    """Which learning rates suit this training, by raising the rate step by step.

    With a model, its optimizer, a loss and a loader of batches it trains here, and puts weights,
    optimizer and random streams back: `lr_find(model, optimizer, loss_fn, loader)`. With the path of a
    script it runs the script in copies, as `traindx lr-find` does: `lr_find("train.py", args=[...])`.
    """
    if isinstance(model, str) or hasattr(model, "__fspath__"):
        from traindx.experiment.lr_find.scripts import find_in_script

        return find_in_script(model, tuple(args), steps=steps, seeds=seeds, seed=seed, span=span)
    from traindx.experiment.runtime.ramping import LiveTraining, loss_of

    if optimizer is None or loader is None:
        raise ValueError("lr_find needs model, optimizer, loss_fn and loader, or the path of a script.")
    training = LiveTraining(model, optimizer, loader, compute or loss_of(loss_fn), accumulate)
    current = next((rate for rate in training.base_rates() if rate > 0), None)
    request = RangeRequest(steps, seeds, seed, span, current)
    return search(live(training), around(type(optimizer).__name__, current), request)


def live(training: LiveTraining) -> Callable[..., Ramps]:
    """Ramps of a model in this process; controls cost little here and are always measured."""

    def walk(first: float, last: float, steps: int, seeds: Sequence[int], *, controls: bool) -> Ramps:
        del controls
        rates = np.geomspace(first, last, steps)
        ramped = [training.ramp(rates.tolist(), number) for number in seeds]
        return Ramps.of(rates, [ramp.losses for ramp in ramped], [ramp.controls for ramp in ramped])

    return walk
