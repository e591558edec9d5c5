"""Let the learning rate follow another schedule.

From the rate each group was made with (the peak of a one-cycle schedule) down to 0 over `steps` steps, by a
cosine or linearly; or constant. The script's own schedule is set aside.

Out of reach: updates written by hand without an optimizer of torch, and optimizers without a rate.
"""

from __future__ import annotations

import math
from typing import Literal

from traindx.experiment.runtime import rate_groups
from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Let the learning rate follow another schedule.",
    knobs=("schedule",),
    least={"steps": 1},
)


def apply(hooks: Hooks, *, kind: Literal["cosine", "linear", "constant"], steps: int) -> None:
    def scheduled(group: rate_groups.Group, lr: float) -> float:
        del lr
        done = min(1.0, group.step / steps)
        share = {"cosine": 0.5 * (1 + math.cos(math.pi * done)), "linear": 1 - done, "constant": 1.0}[kind]
        if not group.step:
            hooks.changed(f"{rate_groups.rate_text(group, group.base)}, then {kind} over {steps} steps")
        return group.base * share

    hooks.otherwise(rate_groups.NO_STEP)
    hooks.rate(scheduled)
