"""What reaches the model and the loss."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.core.facts import facts, number
from traindx.core.nouns import Number
from traindx.core.number_text import short
from traindx.evidence.case import Case
from traindx.experiment.preflight.check import CheckAnswer, failed, passed, unknown
from traindx.experiment.preflight.observations import Flight


def inputs_finite(case: Case) -> CheckAnswer:
    share = case.curve("input/nonfinite")
    bad = number(case.inside.fact("samples"), "nonfinite_batches") or 0.0
    looks = len(share) if share is not None else 0
    if bad or (share is not None and len(share) and float(share.y.max()) > 0):
        return failed(
            f"{max(int(bad), 1)} of the sampled batches hold NaN or Inf.",
            do="Find where they come from (a division, a log, an empty file) and fix or drop them.",
            cause="corrupt_batch",
            nonfinite_batches=max(int(bad), 1),
        )
    batches = number(case.inside.fact("samples"), "taken")
    if not looks and not batches and not facts(case.run.facts.get("models")):
        return unknown("no batch was seen on its way into a model")
    if not looks and not batches:
        return unknown("the inputs of the model could not be sampled")
    amount = f"{batches:,.0f} samples" if batches else f"{looks} batches"
    return passed(f"{amount} sampled, none with NaN or Inf.", samples=batches or 0, batches=looks)


def inputs_scaled(flight: Flight, case: Case) -> CheckAnswer:
    numbers = _first_values(case, "input", ("mean", "std", "min", "max", "scale_ratio"))
    if "mean" not in numbers or "std" not in numbers:
        if any(model.get("embeddings") for model in case.inside.models):
            return passed("the inputs are whole numbers (tokens), which have no scale.", **numbers)
        return unknown("the inputs of the model could not be sampled", **numbers)
    hint = flight.findings.get("inputs_unscaled")
    text = f"mean {short(numbers['mean'])}, spread {short(numbers['std'])}"
    if "min" in numbers and "max" in numbers:
        text += f", from {short(numbers['min'])} to {short(numbers['max'])}"
    if hint is not None:
        text += f"; worth checking: {hint.text[:1].lower()}{hint.text[1:]}"
    return passed(f"{text.rstrip('.')}.", **numbers)


def _first_values(case: Case, kind: str, names: Sequence[str]) -> dict[str, float]:
    """The first finite value of each series of inputs or targets that was recorded."""
    curves = {name: case.curve(f"{kind}/{name}") for name in names}
    return {name: float(curve.y[0]) for name, curve in curves.items() if curve is not None and len(curve)}


_MOST_CLASSES = 4


def labels_sensible(case: Case) -> CheckAnswer:
    text, numbers = _targets(case)
    if not text:
        return unknown("no target was seen: the loss is none of torch's own functions", **numbers)
    relation = case.inside.fact("samples").get("relation")
    z = number(relation, "z") if isinstance(relation, dict) else None
    if z is not None:
        numbers["relation_z"] = z
        if z >= 5:
            text += f"; simple predictors predict them from the inputs (z = {z:.0f})"
    return passed(f"{text}.", **numbers)


def _targets(case: Case) -> tuple[str, dict[str, Number]]:
    counts = {key: value for key, value in case.inside.fact("classes").items() if isinstance(value, int)}
    total = sum(counts.values())
    if total:
        ordered = sorted(counts.items(), key=lambda pair: -pair[1])
        listed = ", ".join(f"{key}: {value / total:.0%}" for key, value in ordered[:_MOST_CLASSES])
        ellipsis = ", ..." if len(ordered) > _MOST_CLASSES else ""
        share = ordered[0][1] / total
        text = f"{len(ordered)} classes among {total:,} targets ({listed}{ellipsis})"
        return text, {"classes": len(ordered), "targets": total, "largest_share": round(share, 4)}
    values = _first_values(case, "target", ("mean", "std", "min", "max", "distinct"))
    numbers: dict[str, Number] = {**values}
    if "mean" in values and "std" in values:
        return f"real targets of mean {short(values['mean'])}, spread {short(values['std'])}", numbers
    if "distinct" in values:
        return f"{values['distinct']:.0f} distinct targets in the first batch", numbers
    return "", numbers


def batches_differ(case: Case) -> CheckAnswer:
    samples = case.inside.fact("samples")
    sample_count, distinct = number(samples, "taken"), number(samples, "distinct")
    if sample_count and distinct:
        repeated = number(samples, "twice_in_a_batch") or 0.0
        text = f"{distinct:,.0f} distinct among {sample_count:,.0f} samples checked"
        if repeated:
            text += f", {repeated:,.0f} twice in one batch"
        return passed(f"{text}.", taken=sample_count, distinct=distinct, twice_in_a_batch=repeated)
    repeat = case.curve("input/repeat_share")
    if repeat is not None and len(repeat) >= 2:
        share = float(repeat.y[1:].mean())
        if share >= 0.99 and not case.inside.loaders:
            return unknown("every step sees the same batch; without a loader this may be all the data")
        return passed(f"{1 - share:.0%} of the items are new from one sample to the next.", repeated=share)
    return unknown("the batches could not be sampled")
