"""The model with several samples, in both modes, twice, and its source."""

from __future__ import annotations

import numpy as np

from traindx.core.facts import number
from traindx.core.nouns import Number
from traindx.evidence.case import Case
from traindx.experiment.preflight.check import CheckAnswer, failed, passed, unknown
from traindx.experiment.preflight.failure_advice import from_finding
from traindx.experiment.preflight.observations import AGAIN, MEASURED, UNTOUCHED, Flight

_LEAK = 1e-4
_DO = (
    "Look for a wrong dimension: softmax, mean, norm or attention over the batch, a view or reshape that "
    "mixes samples, a recurrent layer or a transformer without batch_first=True."
)


def items_independent(flight: Flight) -> CheckAnswer:
    measured = flight.measure("items")
    leak = number(measured, "leak_eval")
    if leak is None:
        return unknown(str(measured.get("why") or flight.why_not(MEASURED) or "it was not measured"))
    batch, training = number(measured, "batch") or 0.0, number(measured, "leak_train")
    norms = number(measured, "batch_norm") or 0.0
    numbers: dict[str, Number] = {
        "leak_eval": leak,
        "leak_train": leak if training is None else training,
        "batch": batch,
    }
    method = "gradient" if measured.get("how") == "gradient" else "change"
    if leak <= _LEAK:
        text = f"{method} of one of {batch:.0f} samples with respect to the others: {leak:.2g} of its own"
        if training is not None and training > _LEAK and norms:
            text += f"; {training:.2g} in training mode, by {norms:.0f} batch norm layers, as designed"
        elif training is not None and training > _LEAK:
            text += f"; {training:.2g} in training mode"
        return passed(f"{text}.", **numbers)
    dependence = f"one of {batch:.0f} samples depends on the others, {leak:.2g} as much as on its own input"
    if not measured.get("certain"):
        return unknown(f"{dependence}; whether rows are samples is not known.", **numbers)
    return failed(f"{dependence}, in eval mode.", do=_DO, cause="", **numbers)


def validation_apart(flight: Flight, case: Case) -> CheckAnswer:
    measured = flight.measure("modes")
    told_of = _mode_words(flight)
    validated = case.val_loss is not None or bool(case.inside.fact("samples").get("validation"))
    random = number(measured, "eval_repeat") or 0.0
    if random > 0:
        told_of += "; it draws random numbers in eval mode, too"
    numbers = {
        key: value
        for key in ("eval_repeat", "train_eval", "dropout", "batch_norm")
        if (value := number(measured, key)) is not None
    }
    if not validated:
        text = f"no validation was seen in {case.run.last_step or 0:,.0f} steps"
        return unknown(f"{text}{f' ({told_of})' if told_of else ''}.", **numbers)
    return passed(
        f"validation was seen: same scale, no known samples{f'; {told_of}' if told_of else ''}.", **numbers
    )


def _mode_words(flight: Flight) -> str:
    measured = flight.measure("modes")
    dropout, norms = number(measured, "dropout"), number(measured, "batch_norm")
    differ = number(measured, "train_eval")
    if dropout is None or norms is None or differ is None:
        return ""
    parts = [f"{dropout:.0f} dropout"] if dropout else []
    parts += [f"{norms:.0f} batch norm"] if norms else []
    if not parts:
        return (
            "mode changes nothing" if not differ else f"mode changes the output by {differ:.2g} of its size"
        )
    return f"mode changes the output by {differ:.2g} of its size ({', '.join(parts)})"


_ROUNDING, _CLEAR = 1e-5, 1e-3
_EARLY = 20


def deterministic(flight: Flight) -> CheckAnswer:
    first, second = flight.losses(UNTOUCHED), flight.losses(AGAIN)
    steps = min(first.size, second.size)
    if not steps:
        return unknown(flight.why_not(UNTOUCHED) or flight.why_not(AGAIN) or "no training loss was seen")
    a, b = first[:steps], second[:steps]
    with np.errstate(all="ignore"):
        apart = np.where(a == b, 0.0, np.abs(a - b) / np.maximum(np.abs(a), 1e-12))
    apart = np.where(np.isnan(a) & np.isnan(b), 0.0, apart)
    if not apart.any():
        return passed(f"{steps:,} losses are the same, bit for bit.", steps=steps, largest=0.0)
    largest, at = (
        float(np.nanmax(apart)),
        int(np.flatnonzero(apart > _ROUNDING)[0]) if (apart > _ROUNDING).any() else 0,
    )
    if largest <= _ROUNDING:
        return passed(
            f"{steps:,} losses are the same within rounding ({largest:.1g}).", steps=steps, largest=largest
        )
    early = float(np.nanmax(apart[:_EARLY]))
    text = f"two runs with the same seed part at step {at + 1:,}, by up to {largest:.2g} of the loss"
    if early > _CLEAR:
        return failed(
            f"{text}.",
            do="Seed every generator: random, numpy, torch, those of workers and your own.",
            steps=steps,
            largest=largest,
            step=at + 1,
        )
    return passed(f"{text}: rounding that grows.", steps=steps, largest=largest, step=at + 1)


def source_clean(flight: Flight, case: Case) -> CheckAnswer:
    if case.script is None:
        return unknown("there is no source to read")
    rules = [name for name in flight.coverage if name.startswith("script_")]
    finding = flight.trouble(*rules)
    if finding is not None:
        return from_finding(flight, finding)
    ran = sum(1 for name in rules if flight.coverage[name].status == "ran")
    return passed(f"{ran} rules had something to check.", rules=ran)
