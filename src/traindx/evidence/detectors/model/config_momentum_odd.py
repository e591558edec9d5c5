"""Momentum, a beta or epsilon of the optimizer lies outside what makes sense.

Odd is: SGD momentum above {max_momentum} or below 0, or of {max_beta1} or more where a step of the rate,
multiplied by it, goes further than {step_reach}; beta1 above {max_beta1} or below 0; beta2 below {min_beta2},
above {max_beta2}, or not above beta1; Adam's epsilon above {max_eps} or below {min_eps}.

`momentum` counts only for SGD and RMSprop, `eps` only when its key or a recording says that it is the
optimizer's: both words name other things too (batch norm, a teacher's average, Sinkhorn).
Known mistakes: a few image models were trained with an epsilon of 0.1 to 1 on purpose.
"""

from dataclasses import replace

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.evidence.detectors._settings import keys_of, optimizer_family, written
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="Odd momentum, beta or epsilon",
    needs=("setting:momentum|setting:beta1|setting:beta2|setting:eps",),
    family="momentum",
)

# A memory of fifty steps and more.
_LONG = 0.979


def detect(
    case: Case,
    *,
    max_momentum: float = 0.99,
    max_beta1: float = 0.98,
    min_beta2: float = 0.9,
    max_beta2: float = 0.9999,
    min_eps: float = 1e-15,
    max_eps: float = 1e-3,
    step_reach: float = 1.0,
) -> Detected:
    family = optimizer_family(case)
    limits = []
    if family in ("sgd", "rmsprop"):
        most = min(max_momentum, _LONG) if family == "sgd" and _reach(case) > step_reach else max_momentum
        limits.append(("momentum", case.number("momentum"), 0.0, most))
    elif family or case.number("beta1") is not None:
        limits.append(("beta1", case.number("beta1"), 0.0, max_beta1))
        least = max(min_beta2, case.number("beta1") or 0.0)
        limits.append(("beta2", case.number("beta2"), least, max_beta2))
        if case.inside.optimizers or any("adam" in key or "optim" in key for key in keys_of(case, "eps")):
            limits.append(("eps", case.number("eps"), min_eps, max_eps))
    known = [(name, value, low, high) for name, value, low, high in limits if value is not None]
    if not known:
        return Skipped("the optimizer and its momentum, betas or epsilon")
    for name, value, low, high in known:
        side, bound = ("below", low) if value < low else ("above", high)
        equal = name == "beta2" and value == case.number("beta1")
        if low <= value <= high and not equal:
            continue
        phrase = "equal to beta1" if equal else f"{side} the usual {text(bound)}"
        return Finding(
            text=f"The optimizer's {name} is {text(value) if value < 0.99 else f'{value:g}'}, {phrase}.",
            numbers={name: value},
            places=written(case, "betas" if name.startswith("beta") else name),
        )
    return None


def _reach(case: Case) -> float:
    """What the rate comes to once momentum has added up the steps: 1 for the usual 0.1 and 0.9."""
    momentum, rate = case.number("momentum") or 0.0, case.lr_value or 0.0
    return rate / (1 - momentum) if 0 <= momentum < 1 else 0.0


def fires() -> Runs:
    yield run({}, settings={"momentum": 0.999, "optimizer": "sgd"})
    yield run({}, settings={"momentum": 0.99, "lr": 0.05, "optimizer": "sgd"})
    yield run({}, settings={"beta1": 0.999, "beta2": 0.9999, "optimizer": "adamw"})
    yield run({}, settings={"beta1": 0.9, "beta2": 0.5})
    odd_eps = run({}, settings={"beta1": 0.9, "eps": 0.1, "optimizer": "adam"})
    yield replace(odd_eps, config={"adam_epsilon": 0.1})
    yield replace(odd_eps, config={"eps": 0.1}, facts={"optimizers": [{"class": "Adam"}]})


def silent() -> Runs:
    yield run({}, settings={"beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "optimizer": "adamw"})
    yield run({}, settings={"momentum": 0.996})
    yield run({}, settings={"momentum": 0.99, "optimizer": "sgd"})
    yield run({}, settings={"momentum": 0.99, "lr": 0.003, "optimizer": "sgd"})
    yield run({}, settings={"momentum": 0.9, "lr": 0.5, "optimizer": "sgd"})
    yield run({}, settings={"beta1": 0.0, "beta2": 0.9, "optimizer": "adam"})
    yield replace(run({}, settings={"eps": 0.05}), config={"epsilon": 0.05})
