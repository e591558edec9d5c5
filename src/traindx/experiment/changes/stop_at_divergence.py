"""End the training when its loss has diverged: not finite, or far above where it began, and staying there.

Nothing is changed before that. `factor` is how many times the loss of the first steps counts as far; it has
to stay there for `patience` calls of backward. It saves the rest of a trial whose rate was raised too far.

Out of reach: losses that `backward` is never called on.
"""

from __future__ import annotations

import math
from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="End the training when its loss has diverged.",
    above={"factor": 1},
    least={"patience": 1},
)
WORDS = "the loss diverged"
_FIRST = 5


def apply(hooks: Hooks, *, factor: float = 100.0, patience: int = 5) -> None:
    from traindx.observe.recorder import stop

    first: list[float] = []
    far = 0

    def look(losses: tuple[Any, ...]) -> None:
        nonlocal far
        loss = sum(float(one.detach().float().mean()) for one in losses if one.numel() == 1)
        if len(first) < _FIRST:
            first.append(abs(loss))
            hooks.changed(f"watches the loss: ends the training beyond {factor:g} times its start")
        start = sorted(first)[len(first) // 2]
        # A loss that begins at zero has no scale to be far from.
        far = far + 1 if not math.isfinite(loss) or (start > 0 and abs(loss) > factor * start) else 0
        if far >= patience:
            stop(f"{WORDS}: {loss:.3g} after {start:.3g} at the start")

    hooks.otherwise("backward was never called")
    hooks.before_backward(look)
