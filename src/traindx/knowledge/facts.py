"""The numbers of this run that remedies are filled with, as text fit to be read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from traindx.case import Case
from traindx.core import Finding

_SETTINGS = {
    "optimizer": "optimizer",
    "batch": "batch_size",
    "accumulation": "accumulation",
    "clip": "clip",
    "weight_decay": "weight_decay",
    "dropout": "dropout",
    "precision": "precision",
    "momentum": "momentum",
    "beta1": "beta1",
    "beta2": "beta2",
    "eps": "eps",
    "warmup": "warmup",
    "classes": "classes",
    "epochs": "epochs",
    "workers": "workers",
    "parameters": "model_parameters",
    "train_samples": "train_samples",
    "loss_scale": "loss_scale",
}


# Told together or not at all: the best of a loss beside the last of an accuracy makes no sense.
_VALIDATED = {"val_best", "val_best_step", "val_last"}


def facts(case: Case, findings: Sequence[Finding], onset: float | None) -> dict[str, str]:
    """Placeholder -> text. What is not known is not there, so that the remedy says something else.

    The first findings are the problem's own: their numbers come before those of others.
    """
    known: dict[str, str] = {}
    for name, setting in _SETTINGS.items():
        value = case.run.settings.get(setting)
        if value is not None and value != "":
            known[name] = _text(value)
    known |= _loss(case) | _validation(case) | _gradients(case) | _steps(case)
    for finding in reversed(findings):
        whole = finding.numbers.keys() >= _VALIDATED
        known |= {
            name: _text(value) for name, value in finding.numbers.items() if whole or name not in _VALIDATED
        }
    if "clip_new" in known:
        known["clip_new"] = readable(round_down(number(known["clip_new"]) or 1.0))
    known |= _rates(case, findings)
    known["axis"] = case.run.axis
    if onset is not None:
        known["onset"] = _text(onset)
    _halves(known)
    return known


def number(text: str | None) -> float | None:
    """The number a fact's text stands for."""
    try:
        value = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def readable(value: float) -> str:
    """A number in three digits: 0.0123, 1,250, 3e-4."""
    size = abs(value)
    if size and (size < 1e-3 or size >= 1e7):
        digits, _, power = f"{value:.1e}".partition("e")
        return f"{digits.removesuffix('.0')}e{int(power)}"
    if value == int(value) or size >= 1000:
        return f"{round(value):,}"
    return f"{value:.3g}"


def round_down(value: float) -> float:
    """The next 1, 2, 3 or 5 times a power of ten at or below a value."""
    if not value > 0:
        return value
    power = 10.0 ** math.floor(math.log10(value) + 1e-9)
    lead = max(step for step in (1, 2, 3, 5) if step <= value / power + 1e-9)
    return float(f"{lead * power:.6g}")


def _text(value: object) -> str:
    return readable(float(value)) if isinstance(value, int | float) else str(value)


def _rates(case: Case, findings: Iterable[Finding]) -> dict[str, str]:
    """The rate in use, and where to go from it: below the point where the loss rose, if that is known,
    and into what is usual for the optimizer.
    """
    rate = case.lr_value
    if rate is None or not rate > 0:
        return {}
    usual = {f.id: float(f.numbers["lr_usual"]) for f in findings if "lr_usual" in f.numbers}
    low, high = usual.get("config_lr_low", 0.0), usual.get("config_lr_high", math.inf)
    known = {"lr": readable(rate), "lr_higher": readable(round_down(max(rate * 10, low * 100)))}
    if case.lr is not None and len(case.lr):
        known |= {"lr_first": readable(float(case.lr.y[0])), "lr_last": readable(float(case.lr.y[-1]))}
    rose = next((f.numbers["lr_rose_at"] for f in findings if "lr_rose_at" in f.numbers), None)
    ceiling = rate / 10 if not isinstance(rose, int | float) else min(rate / 3, float(rose) / 3)
    known["lr_lower"] = readable(round_down(min(ceiling, high / 10)))
    return known


def _loss(case: Case) -> dict[str, str]:
    loss = case.loss
    if loss is None or not len(loss):
        return {}
    return {
        "first_value": readable(float(loss.y[0])),
        "last_value": readable(float(loss.y[-1])),
        "best_value": readable(loss.best),
        "best_step": readable(loss.best_step),
    }


def _validation(case: Case) -> dict[str, str]:
    val = case.val_loss
    if val is None or not len(val):
        return {}
    at = int(val.y.argmin())
    return {
        "val_best": readable(float(val.y[at])),
        "val_best_step": readable(float(val.x[at])),
        "val_last": readable(float(val.y[-1])),
    }


def _gradients(case: Case) -> dict[str, str]:
    norm = case.grad_norm
    if norm is None or not len(norm) or not (norm.y > 0).any():
        return {}
    middle = float(np.median(norm.y[norm.y > 0]))
    return {
        "grad_norm": readable(middle),
        "grad_peak": readable(float(norm.y.max())),
        "clip_new": readable(round_down(2 * middle)),
    }


def _steps(case: Case) -> dict[str, str]:
    known = {}
    total = case.number("max_steps") or (case.span[1] if case.run.axis == "step" else None)
    if total and total >= 20:
        known["total_steps"] = readable(total)
        known["warmup_new"] = readable(max(10, round_down(total * 0.05)))
    if case.epoch_length and case.run.axis == "step":
        known["steps_per_epoch"] = readable(round(case.epoch_length))
    pace = case.curve("step_s")
    if pace is not None and len(pace):
        known["step_s"] = readable(float(np.median(pace.y)))
    classes = case.number("classes")
    if classes and classes >= 2:
        known["chance"] = readable(math.log(classes))
    return known


def _halves(known: dict[str, str]) -> None:
    """Values to move to, from the ones in use."""
    batch = number(known.get("batch"))
    if batch and batch >= 1:
        known["batch_higher"] = readable(max(16, batch * 4))
        known["batch_lower"] = readable(max(1, batch // 4))
    decay = number(known.get("weight_decay"))
    if decay:
        known["weight_decay_lower"] = readable(round_down(min(decay / 10, 0.1)))
    dropout = number(known.get("dropout"))
    if dropout:
        known["dropout_lower"] = readable(round(min(dropout / 2, 0.3), 2))
