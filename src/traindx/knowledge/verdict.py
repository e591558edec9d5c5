"""Why a run can be believed to be healthy; what to log when nobody can tell."""

from __future__ import annotations

import numpy as np

from traindx.case import Case, Curve
from traindx.examine import Examination
from traindx.knowledge.facts import readable

_WANTED = (
    ("loss", "the training loss at least 20 times a run (loss)"),
    ("val/loss", "the validation loss at least once an epoch (val/loss)"),
    ("lr|setting:lr", "the learning rate (lr)"),
    ("grad_norm", "the global gradient norm (grad_norm)"),
    ("accuracy|val/*", "a metric that people understand (accuracy, F1, ...)"),
)


def reasons_for_health(case: Case, examination: Examination) -> tuple[str, ...]:
    """What was measured and is as it should be."""
    reasons = []
    values = sum(len(series) for series in case.run.series.values())
    broken = sum(int((~np.isfinite(s.values)).sum()) for s in case.run.series.values())
    if not case.surrogate:
        reasons += _fell("The training loss", case.loss)
        reasons += _fell("The validation loss", case.val_loss)
    else:
        reasons.append("The loss of this kind of training (RL, GAN) is a surrogate: it was not judged.")
        reasons += _rose("The reward", case.curve("reward"))
    if values and not broken:
        reasons.append(f"All {values:,} logged values are finite.")
    reasons += _steady(case)
    ran = sum(check.status == "ran" for check in examination.checks)
    reasons.append(f"{ran} checks looked and none saw trouble of medium weight or more.")
    return tuple(reasons)


def what_to_log(case: Case, examination: Examination) -> tuple[str, ...]:
    """What is too thin, and what would let the checks look."""
    thin = next((f.text for f in examination.findings if f.id == "run_too_short"), None)
    wanted = [text for need, text in _WANTED if not case.has(need)]
    blind = sum(check.status == "skipped" for check in examination.checks)
    said = [thin] if thin else []
    said.append(f"{blind} of {len(examination.checks)} checks could not look.")
    if wanted:
        said.append(f"Log {'; '.join(wanted)}.")
    else:
        said.append("Let it run longer, or log more often, and diagnose again.")
    return tuple(said)


def _fell(what: str, curve: Curve | None) -> list[str]:
    if curve is None or len(curve) < 3:
        return []
    first, last = curve.head, curve.tail
    ends = f"{readable(first)} to {readable(last)} in {len(curve):,} points"
    if not last < first:
        return [f"{what} went from {ends}, without trouble that could be told from its noise."]
    share = f" ({(first - last) / first:.0%})" if first > 0 and last > 0 else ""
    end = "is at its best level at the end" if curve.best >= last - 2 * curve.noise else "stays near its best"
    return [f"{what} fell from {ends}{share} and {end}."]


def _rose(what: str, curve: Curve | None) -> list[str]:
    if curve is None or len(curve) < 3 or not curve.tail > curve.head:
        return []
    return [f"{what} rose from {readable(curve.head)} to {readable(curve.tail)} in {len(curve):,} points."]


def _steady(case: Case) -> list[str]:
    norm = case.grad_norm
    if norm is None or len(norm) < 8 or norm.broken:
        return []
    low, high = np.quantile(norm.y, (0.05, 0.95))
    return [f"The gradient norm stays between {readable(float(low))} and {readable(float(high))} (5-95 %)."]
