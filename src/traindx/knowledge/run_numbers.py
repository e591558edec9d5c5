"""The numbers of this run that remedies are filled with, as text fit to be read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from traindx.core.nouns import Finding
from traindx.core.number_text import short
from traindx.evidence.case import Case

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
    "warmup_ratio": "warmup_ratio",
    "schedule": "schedule",
}


# As many gradient norms are needed to say where to clip.
_FEWEST_NORMS = 5
# Given together or not at all: the best of a loss next to the last of an accuracy makes no sense.
_VALIDATED = {"val_best", "val_best_step", "val_last"}


def facts(case: Case, findings: Sequence[Finding], onset: float | None) -> dict[str, str]:
    """Placeholder -> text. What is not known is not there, so that the remedy says something else.

    The first findings are the problem's own: their numbers come before those of others.
    """
    texts = _texts({name: case.run.settings.get(setting) for name, setting in _SETTINGS.items()})
    texts |= _loss(case) | _validation(case) | _steps(case)
    if not any(finding.id == "grad_scaled" for finding in findings):
        texts |= _gradients(case)
    for finding in reversed(findings):
        whole = finding.numbers.keys() >= _VALIDATED and "val_best" in texts
        texts |= _texts({n: v for n, v in finding.numbers.items() if whole or n not in _VALIDATED})
    if "clip_new" in texts:
        texts["clip_new"] = short(round_down(number(texts["clip_new"]) or 1.0))
        now, new = (number(texts.get(name)) or 0.0 for name in ("clip", "clip_new"))
        if 0 < now < new:
            texts["clip_factor"] = short(new / now)
    texts |= _rates(case, findings)
    texts |= {f"finding:{finding.id}": finding.text for finding in findings}
    texts["axis"] = case.run.axis
    if onset is not None:
        texts["onset"] = _text(onset if case.run.axis == "epoch" else round(onset))
    _halves(texts)
    return texts


def number(text: str | None) -> float | None:
    """The number in a fact's text."""
    try:
        value = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def round_down(value: float) -> float:
    """The next 1, 2, 3 or 5 times a power of ten at or below a value."""
    if not 1e-300 < value < 1e300:
        return value
    power = 10.0 ** math.floor(math.log10(value) + 1e-9)
    lead = max(step for step in (1, 2, 3, 5) if step <= value / power + 1e-9)
    return float(f"{lead * power:.6g}")


def _texts(table: Mapping[str, object]) -> dict[str, str]:
    """What is known as text; numbers that are not finite are not known."""
    return {name: text for name, value in table.items() if (text := _text(value))}


def _text(value: object) -> str:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return "" if value is None else str(value)
    number = float(value)
    return short(number) if math.isfinite(number) else ""


def _rates(case: Case, findings: Iterable[Finding]) -> dict[str, str]:
    """The rate in use, and where to go from it: below the point where the loss rose, if that is known,
    and into what is usual for the optimizer.
    """
    rate = case.lr_value
    if any(finding.id == "lr_zero" for finding in findings):
        peak = 0.0 if case.lr is None else float(case.lr.y.max())
        if peak <= 0:
            return {"lr_zero": "0", "lr_never": "0"}
        return {"lr_zero": "0", "lr": short(peak), "lr_first": short(peak), "lr_last": "0"}
    if rate is None or not rate > 0:
        return {}
    usual = {f.id: float(f.numbers["lr_usual"]) for f in findings if "lr_usual" in f.numbers}
    low, high = usual.get("config_lr_low", 0.0), usual.get("config_lr_high", math.inf)
    texts = {"lr": short(rate)}
    if rate <= 0.05:
        texts["lr_higher"] = short(round_down(max(rate * 10, low * 100)))
    if case.lr is not None and len(case.lr):
        last = float(case.lr.y[-1])
        if rate > 2 * last and case.lr.y.argmax() < 0.8 * len(case.lr):
            texts |= {"lr_first": short(rate), "lr_last": short(last)}
    rose = next((f.numbers["lr_rose_at"] for f in findings if "lr_rose_at" in f.numbers), None)
    if isinstance(rose, int | float):
        texts["lr_lower"] = short(round_down(min(rate / 3, float(rose) / 3, high / 10)))
    elif rate / 10 <= high:
        texts["lr_lower"] = texts["lr_tenth"] = short(rate / 10)
    else:
        texts["lr_lower"] = short(round_down(high / 10))
    return texts


def _loss(case: Case) -> dict[str, str]:
    loss = case.loss
    if loss is None or not len(loss):
        return {}
    val = case.val_loss
    curve = val if val is not None and len(val) >= 3 else loss
    step, best = curve.best_point if curve is val else (curve.best_step, curve.best)
    first, last = float(loss.y[0]), float(loss.y[-1])
    hardly = {"hardly_moved_to": short(last)} if abs(first - last) < 0.3 * abs(first) else {}
    return hardly | {
        "first_value": short(float(loss.y[0])),
        "last_value": short(float(loss.y[-1])),
        "best_value": short(best),
        "best_step": short(step),
        "steps_done": short(float(loss.x[-1] - loss.x[0])),
    }


def _validation(case: Case) -> dict[str, str]:
    val = case.val_loss
    if val is None or not len(val):
        return {}
    step, best = val.best_point
    if val.y[-1] <= 1.01 * best or _score_gains(case, step):
        return {}
    return {
        "val_best": short(best),
        "val_best_step": short(step),
        "val_last": short(float(val.y[-1])),
    }


def _score_gains(case: Case, step: float) -> bool:
    """Whether a validation score is clearly better later: the lowest loss is then not the best model."""
    for name in ("accuracy", "f1", "auc", "map50", "map", "bleu", "iou"):
        score = case.val(name)
        if score is not None and len(score) >= 3:
            return bool(score.y.max() > 1.02 * score.at(step))
    return False


def _gradients(case: Case) -> dict[str, str]:
    norm = case.grad_norm
    if norm is None or len(norm) < _FEWEST_NORMS or not (norm.y > 0).any():
        return {}
    middle = float(np.median(norm.y[norm.y > 0]))
    return {
        "grad_norm": short(middle),
        "grad_peak": short(float(norm.y.max())),
        "clip_new": short(round_down(2 * middle)),
    }


def _steps(case: Case) -> dict[str, str]:
    texts = {}
    total = case.planned_steps if case.run.axis == "step" else None
    if total and total >= 20:
        texts["total_steps"] = short(total)
        texts["warmup_new"] = short(max(10, round_down(total * 0.05)))
        texts["cycle_steps"] = short(max(4, total // 4))
    if case.epoch_length and case.run.axis == "step":
        texts["steps_per_epoch"] = short(round(case.epoch_length))
    pace = case.curve("step_s")
    if pace is not None and len(pace):
        texts["step_s"] = short(float(np.median(pace.y)))
    classes = case.number("classes")
    if classes and classes >= 2:
        texts["chance"] = short(math.log(classes))
    return texts


def _halves(texts: dict[str, str]) -> None:
    """Values to move to, from the ones in use."""
    batch = number(texts.get("batch"))
    if batch and batch >= 1:
        texts["batch_higher"] = short(max(16, batch * 4))
        texts["batch_lower"] = short(max(1, batch // 4))
    decay = number(texts.get("weight_decay"))
    if decay and decay > 0:
        texts["weight_decay_lower"] = short(round_down(min(decay / 10, 0.1)))
    dropout = number(texts.get("dropout"))
    if dropout and dropout > 0:
        texts["dropout_lower"] = short(round(min(dropout / 2, 0.3), 2))
