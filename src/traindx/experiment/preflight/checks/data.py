"""What reaches the model and the loss."""

from __future__ import annotations

from traindx.core.nouns import Number
from traindx.core.number_text import short
from traindx.evidence.case import Case
from traindx.evidence.inside import facts
from traindx.experiment.preflight.check import CheckAnswer, failed, passed, unknown
from traindx.experiment.preflight.failure_advice import from_finding
from traindx.experiment.preflight.observations import Flight, first_value, told


def inputs_finite(case: Case) -> CheckAnswer:
    share = case.curve("input/nonfinite")
    bad = told(case.inside.fact("samples"), "nonfinite_batches") or 0.0
    looks = len(share) if share is not None else 0
    if bad or (share is not None and len(share) and float(share.y.max()) > 0):
        return failed(
            f"{max(int(bad), 1)} of the sampled batches hold NaN or Inf.",
            do="Find where they come from (a division, a log, an empty file) and fix or drop them.",
            cause="corrupt_batch",
            nonfinite_batches=max(int(bad), 1),
        )
    batches = told(case.inside.fact("samples"), "taken")
    if not looks and not batches and not facts(case.run.facts.get("models")):
        return unknown("no batch was seen on its way into a model")
    if not looks and not batches:
        return unknown("the inputs of the model could not be sampled")
    seen = f"{batches:,.0f} samples" if batches else f"{looks} batches"
    return passed(f"{seen} sampled, none with NaN or Inf.", samples=batches or 0, batches=looks)


def inputs_scaled(flight: Flight, case: Case) -> CheckAnswer:
    found = flight.trouble("inputs_constant", "inputs_unscaled")
    names = ("mean", "std", "min", "max", "scale_ratio")
    seen = {name: value for name in names if (value := first_value(case, f"input/{name}")) is not None}
    if found is not None:
        return from_finding(flight, found, **seen)
    if "mean" not in seen or "std" not in seen:
        kinds = case.inside.models
        why = "the inputs of the model could not be sampled"
        if kinds and any(model.get("embeddings") for model in kinds):
            return passed("the inputs are whole numbers (tokens), which have no scale.")
        return unknown(why)
    hint = flight.findings.get("inputs_unscaled")
    text = f"mean {short(seen['mean'])}, spread {short(seen['std'])}"
    if "min" in seen and "max" in seen:
        text += f", from {short(seen['min'])} to {short(seen['max'])}"
    if hint is not None:
        text += f"; worth checking: {hint.text[:1].lower()}{hint.text[1:]}"
    return passed(text if text.endswith(".") else f"{text}.", **seen)


_MOST_TOLD = 4


def labels_sensible(flight: Flight, case: Case) -> CheckAnswer:
    found = flight.trouble("targets_empty", "labels_change", "classes_as_numbers", "labels_odd")
    text, numbers = _said(case)
    if found is not None:
        return from_finding(flight, found, **numbers)
    if not text:
        return unknown("no target was seen: the loss is none of torch's own functions")
    relation = case.inside.fact("samples").get("relation")
    z = told(relation, "z") if isinstance(relation, dict) else None
    if z is not None:
        numbers["relation_z"] = z
        if z >= 5:
            text += f"; simple predictors predict them from the inputs (z = {z:.0f})"
    return passed(f"{text}.", **numbers)


def _said(case: Case) -> tuple[str, dict[str, Number]]:
    counts = {key: value for key, value in case.inside.fact("classes").items() if isinstance(value, int)}
    total = sum(counts.values())
    if total:
        ordered = sorted(counts.items(), key=lambda pair: -pair[1])
        listed = ", ".join(f"{key}: {value / total:.0%}" for key, value in ordered[:_MOST_TOLD])
        more = ", ..." if len(ordered) > _MOST_TOLD else ""
        share = ordered[0][1] / total
        text = f"{len(ordered)} classes among {total:,} targets ({listed}{more})"
        return text, {"classes": len(ordered), "targets": total, "largest_share": round(share, 4)}
    names = ("mean", "std", "min", "max", "distinct")
    seen: dict[str, Number] = {
        name: value for name in names if (value := first_value(case, f"target/{name}")) is not None
    }
    if "mean" in seen and "std" in seen:
        return f"real targets of mean {short(float(seen['mean']))}, spread {short(float(seen['std']))}", seen
    if "distinct" in seen:
        return f"{seen['distinct']:.0f} distinct targets in the first batch", seen
    return "", seen


def batches_differ(case: Case) -> CheckAnswer:
    samples = case.inside.fact("samples")
    taken, distinct = told(samples, "taken"), told(samples, "distinct")
    if taken and distinct:
        again = told(samples, "twice_in_a_batch") or 0.0
        text = f"{distinct:,.0f} distinct among {taken:,.0f} samples checked"
        if again:
            text += f", {again:,.0f} twice in one batch"
        return passed(f"{text}.", taken=taken, distinct=distinct, twice_in_a_batch=again)
    repeat = case.curve("input/repeat_share")
    if repeat is not None and len(repeat) >= 2:
        share = float(repeat.y[1:].mean())
        if share >= 0.99 and not case.inside.loaders:
            return unknown("every step sees the same batch; without a loader this may be all the data")
        return passed(f"{1 - share:.0%} of the items are new from one sample to the next.", repeated=share)
    return unknown("the batches could not be sampled")
