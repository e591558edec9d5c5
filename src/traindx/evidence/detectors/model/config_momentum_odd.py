"""Momentum, a beta or epsilon of the optimizer lies outside what makes sense.

Odd is: SGD momentum above 0.99 or below 0, or of 0.98 and more where a step of the rate, multiplied by it,
goes further than `reach`; beta1 above 0.98 or below 0; beta2 below 0.9, above 0.9999,
or not above beta1; Adam's epsilon above 0.001 or below 1e-15.

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
    momentum_most: float = 0.99,
    beta1_most: float = 0.98,
    beta2_least: float = 0.9,
    beta2_most: float = 0.9999,
    eps_least: float = 1e-15,
    eps_most: float = 1e-3,
    reach: float = 1.0,
) -> Detected:
    family = optimizer_family(case)
    limits = []
    if family in ("sgd", "rmsprop"):
        most = min(momentum_most, _LONG) if family == "sgd" and _reach(case) > reach else momentum_most
        limits.append(("momentum", case.number("momentum"), 0.0, most))
    elif family or case.number("beta1") is not None:
        limits.append(("beta1", case.number("beta1"), 0.0, beta1_most))
        least = max(beta2_least, case.number("beta1") or 0.0)
        limits.append(("beta2", case.number("beta2"), least, beta2_most))
        if case.inside.optimizers or any("adam" in key or "optim" in key for key in keys_of(case, "eps")):
            limits.append(("eps", case.number("eps"), eps_least, eps_most))
    known = [(name, value, low, high) for name, value, low, high in limits if value is not None]
    if not known:
        return Skipped("the optimizer and its momentum, betas or epsilon")
    for name, value, low, high in known:
        side, bound = ("below", low) if value < low else ("above", high)
        equal = name == "beta2" and value == case.number("beta1")
        if low <= value <= high and not equal:
            continue
        told = "equal to beta1" if equal else f"{side} the usual {text(bound)}"
        return Finding(
            text=f"The optimizer's {name} is {text(value) if value < 0.99 else f'{value:g}'}, {told}.",
            severity="low",
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
