"""The learning rate and its schedule."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from traindx.experiment.runtime import rate_groups
from traindx.experiment.runtime.hooks import Hooks, change

_ONCE = ("cosine", "linear", "constant")


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


@change(knobs=("schedule",), above={"factor": 1}, least={"steps": 1})
def replace_schedule(
    hooks: Hooks,
    *,
    kind: Literal["cosine", "linear", "constant", "warm_restarts", "cyclic"],
    steps: int,
    factor: float = 5.0,
) -> None:
    """Let the learning rate follow another schedule.

    From the rate each group was made with (the peak of a one-cycle schedule) down to 0 over `steps` steps,
    by a cosine or linearly; or constant. With `warm_restarts` the cosine begins again at the full rate after
    every `steps` steps; with `cyclic` the rate rises linearly to `factor` times itself and falls back within
    every `steps` steps. The script's own schedule is set aside.

    Out of reach: updates written by hand without an optimizer of torch, and optimizers without a rate.
    """

    def cosine(progress: float) -> float:
        return 0.5 * (1 + math.cos(math.pi * progress))

    shares: dict[str, Callable[[int], float]] = {
        "cosine": lambda step: cosine(min(1.0, step / steps)),
        "linear": lambda step: 1 - min(1.0, step / steps),
        "constant": lambda _: 1.0,
        "warm_restarts": lambda step: cosine(step % steps / steps),
        "cyclic": lambda step: 1 + (factor - 1) * (1 - abs(1 - 2 * (step % steps) / steps)),
    }

    def scheduled(group: rate_groups.Group, lr: float) -> float:
        del lr
        if not group.step:
            shape = f"{kind} over {steps} steps" if kind in _ONCE else f"{kind} every {steps} steps"
            hooks.changed(f"{rate_groups.rate_text(group, group.base)}, then {shape}")
        return group.base * shares[kind](group.step)

    hooks.otherwise(rate_groups.NO_STEP)
    hooks.rate(scheduled)


@change(knobs=("schedule",), above={"factor": 0}, least={"patience": 1}, most={"factor": 0.99})
def reduce_on_plateau(hooks: Hooks, *, patience: int = 5, factor: float = 0.1) -> None:
    """Lower the learning rate whenever the validation loss has stopped improving.

    As torch's `ReduceLROnPlateau` does it: after more than `patience` evaluations without an improvement
    every rate of the script is multiplied by `factor`, and again after as many. The validation loss is the
    mean of torch's loss functions where the script calls them without gradients.

    Out of reach: scripts without validation, validation losses written by hand, and updates written by hand.
    """
    import torch

    from traindx.experiment.runtime.torch.validation_losses import ValidationLosses

    # Its scheduler works on an optimizer of its own, whose rate is the factor for those of the script.
    unit = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(unit, factor=factor, patience=patience)
    evaluations = 0

    def evaluated(loss: float) -> None:
        nonlocal evaluations
        evaluations += 1
        old_factor = unit.param_groups[0]["lr"]
        plateau.step(loss)
        new_factor = unit.param_groups[0]["lr"]
        if new_factor != old_factor:
            hooks.changed(f"lr x {new_factor:.4g} from evaluation {evaluations} on")
        if evaluations > patience:
            hooks.otherwise(f"the validation loss never went {patience} evaluations without an improvement")
        else:
            hooks.otherwise(
                f"a patience of {patience} evaluations needs more than the {evaluations} of this trial"
            )

    def reduced(group: rate_groups.Group, lr: float) -> float:
        del group
        return lr * float(unit.param_groups[0]["lr"])

    hooks.otherwise("no loss function of torch was called without gradients: there is no validation loss")
    ValidationLosses(hooks, evaluated)
    hooks.rate(reduced)
