"""The learning rate and its schedule."""

from __future__ import annotations

import math
from typing import Literal

from traindx.experiment.runtime import rate_groups
from traindx.experiment.runtime.hooks import Hooks, change


@change(knobs=("lr",), above={"value": 0})
def set_lr(hooks: Hooks, *, value: float) -> None:
    """Set the learning rate.

    The first group's rate becomes `value`; other groups and other optimizers keep their ratio to it, and a
    schedule keeps its shape: each step is taken at the script's rate times `value` over the rate the group
    was made with (for one-cycle schedules: over its peak).

    Out of reach: updates written by hand without an optimizer of torch, and optimizers without a rate.
    """
    hooks.otherwise(rate_groups.NO_STEP)
    hooks.rate(rate_groups.to_value(hooks, value))


@change(knobs=("lr",), above={"factor": 0})
def scale_lr(hooks: Hooks, *, factor: float) -> None:
    """Multiply the learning rate by a factor.

    Every step of every optimizer is taken at the script's own rate times `factor`, whatever schedule or line
    of the script sets it: schedules go on undisturbed and keep their shape. The script itself reads its own
    rates, not the changed ones.

    Out of reach: updates written by hand without an optimizer of torch, and optimizers without a rate.
    """

    def scaled(group: rate_groups.Group, lr: float) -> float:
        if not group.step:
            hooks.changed(rate_groups.rate_text(group, lr * factor))
        return lr * factor

    hooks.otherwise(rate_groups.NO_STEP)
    hooks.rate(scaled)


@change(knobs=("schedule",))
def hold_lr(hooks: Hooks) -> None:
    """Hold the learning rate where the script first set it: no schedule.

    Each group keeps the rate it was made with (the peak of a one-cycle schedule), whatever a schedule or the
    script sets later.

    Out of reach: updates written by hand without an optimizer of torch, and optimizers without a rate.
    """

    def constant(group: rate_groups.Group, lr: float) -> float:
        if lr != group.base:
            hooks.changed(f"lr held at {group.base:.6g} in group {group.index} of {group.optimizer}")
        return group.base

    hooks.otherwise("the learning rate never left the value it was made with: there is no schedule")
    hooks.rate(constant)


@change(knobs=("warmup",), least={"steps": 1})
def warm_up(hooks: Hooks, *, steps: int) -> None:
    """Raise the learning rate linearly over the first steps.

    Step n of the first `steps` steps is taken at n/`steps` of the rate the script has by then; after that at
    the script's own rate.

    Out of reach: updates written by hand without an optimizer of torch, and optimizers without a rate.
    """

    def warmed(group: rate_groups.Group, lr: float) -> float:
        share = min(1.0, (group.step + 1) / steps)
        if not group.step:
            hooks.changed(
                f"{rate_groups.rate_text(group, lr * share)}, the script's own rate after {steps} steps"
            )
        return lr * share

    hooks.otherwise(rate_groups.NO_STEP)
    hooks.rate(warmed)


@change(knobs=("lr",), above={"first": 0, "last": 0}, least={"steps": 2})
def ramp_lr(hooks: Hooks, *, first: float, last: float, steps: int) -> None:
    """Raise the learning rate exponentially from `first` to `last` over `steps` steps: the range test.

    The script's own rates and schedules are set aside; other groups and other optimizers keep their ratio to
    the first group. After `steps` steps the rate stays at `last`.

    Out of reach: updates written by hand without an optimizer of torch, and optimizers without a rate.
    """

    def ramped(group: rate_groups.Group, lr: float) -> float:
        del lr
        progress = min(group.step, steps - 1) / (steps - 1)
        rate = group.share * first * math.exp(math.log(last / first) * progress)
        if not group.step:
            hooks.changed(
                f"{rate_groups.rate_text(group, rate)}, then up to {group.share * last:.6g} in {steps} steps"
            )
        return rate

    hooks.otherwise(rate_groups.NO_STEP)
    hooks.rate(ramped)


@change(knobs=("schedule",), least={"steps": 1})
def replace_schedule(hooks: Hooks, *, kind: Literal["cosine", "linear", "constant"], steps: int) -> None:
    """Let the learning rate follow another schedule.

    From the rate each group was made with (the peak of a one-cycle schedule) down to 0 over `steps` steps,
    by a cosine or linearly; or constant. The script's own schedule is set aside.

    Out of reach: updates written by hand without an optimizer of torch, and optimizers without a rate.
    """

    def scheduled(group: rate_groups.Group, lr: float) -> float:
        del lr
        progress = min(1.0, group.step / steps)
        share = {"cosine": 0.5 * (1 + math.cos(math.pi * progress)), "linear": 1 - progress, "constant": 1.0}[
            kind
        ]
        if not group.step:
            hooks.changed(f"{rate_groups.rate_text(group, group.base)}, then {kind} over {steps} steps")
        return group.base * share

    hooks.otherwise(rate_groups.NO_STEP)
    hooks.rate(scheduled)
