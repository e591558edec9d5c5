"""How long a schedule of PyTorch is: in epochs or in batches."""

from __future__ import annotations

from traindx.evidence.detectors._script.loops import same_number
from traindx.source.values import ListValue, Made, Value, number, parents

_FEW_STEPS = 30
_LENGTHS = {
    "CosineAnnealingLR": (1, "T_max"),
    "CosineAnnealingWarmRestarts": (1, "T_0"),
    "PolynomialLR": (1, "total_iters"),
    "OneCycleLR": (2, "total_steps"),
    "get_linear_schedule_with_warmup": (2, "num_training_steps"),
    "get_cosine_schedule_with_warmup": (2, "num_training_steps"),
    "get_polynomial_decay_schedule_with_warmup": (2, "num_training_steps"),
}


def short_for_batches(schedule: Made, turns: Value | None, epochs: float | None) -> str:
    """Why a schedule is over too soon when it is stepped with every batch; empty when it is not."""
    name = schedule.short
    if name in _LENGTHS:
        length = schedule.argument(*_LENGTHS[name])
        plain = number(length)
        if same_number(length, turns) and plain != 1:
            return "is as long as the epochs are many"
        within = plain is not None and epochs is not None and 1 < plain <= epochs
        return f"is {plain:g} steps long, which are epochs" if within else ""
    return _decaying(schedule, epochs)


def _decaying(schedule: Made, epochs: float | None) -> str:
    name, few_steps = schedule.short, max(_FEW_STEPS, epochs or 0.0)
    if name == "StepLR":
        size, gamma = number(schedule.argument(1, "step_size")), number(schedule.argument(2, "gamma"))
        if size is not None and size <= few_steps and (0.1 if gamma is None else gamma) <= 0.8:
            return f"lowers the rate every {size:g} steps, which are batches then"
    if name == "ExponentialLR":
        gamma = number(schedule.argument(1, "gamma"))
        if gamma is not None and 0 < gamma <= 0.97:
            return (
                f"takes {1 - gamma:.2g} of the rate at each step: after 200 batches {gamma**200:.1g} is left"
            )
    if name == "MultiStepLR":
        stones = schedule.argument(1, "milestones")
        ends = [number(m) for m in stones.items] if isinstance(stones, ListValue) and not stones.open else []
        last = max((end for end in ends if end is not None), default=None)
        if last is not None and None not in ends and epochs is not None and last <= epochs:
            return f"has its last milestone at step {last:g}, which is an epoch"
    if name == "ReduceLROnPlateau":
        patience = schedule.argument(3, "patience")
        waits = 10.0 if patience is None else number(patience)
        if waits is not None and waits <= few_steps:
            return (
                f"lowers the rate after {waits:g} steps without a better value, and single batches are noisy"
            )
    return ""


def length_in_batches(schedule: Made, epochs: float | None) -> str:
    """Why a schedule hardly moves when it is stepped once per epoch; empty when it does."""
    per_epoch = schedule.argument(4, "steps_per_epoch") if schedule.short == "OneCycleLR" else None
    if per_epoch is not None and (number(per_epoch) or 2) > 1:
        return "is laid out over the batches of all epochs: only its first part is seen"
    length = schedule.argument(*_LENGTHS[schedule.short]) if schedule.short in _LENGTHS else None
    if length is not None and _counts_batches(length):
        return "is as long as all batches of the training: only its first part is seen"
    plain = number(length)
    if plain is not None and epochs is not None and plain >= 20 * epochs and "Restarts" not in schedule.short:
        return f"is {plain:g} steps long and the training has {epochs:g} epochs: only its first part is seen"
    return ""


def _counts_batches(value: Value) -> bool:
    """Whether a number is a product with the length of a loader."""
    waiting, product, length = [value], False, False
    for _ in range(40):
        if not waiting:
            break
        at = waiting.pop()
        if isinstance(at, Made) and at.kind == "operator":
            product |= at.name == "Mult"
            waiting += parents(at)
        elif isinstance(at, Made) and at.kind == "call" and at.name in ("len", "int"):
            length |= at.name == "len"
            waiting += parents(at) if at.name == "int" else []
    return product and length
