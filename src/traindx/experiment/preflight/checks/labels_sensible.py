"""The targets that reach the loss are there, vary, and belong to their inputs.

Classes with their counts, or the mean and spread of real targets. Fails when all are ignored or of one
class, when the same input comes with other labels, or when class numbers are fitted as amounts. That a
few hundred samples do not let a simple predictor tell the target is said, and is no failure: images may
hide it.
"""

from __future__ import annotations

from traindx.core.nouns import Number
from traindx.core.number_text import short
from traindx.evidence.case import Case
from traindx.experiment.preflight.check import Answer, Item, passed, unknown
from traindx.experiment.preflight.failure_advice import from_finding
from traindx.experiment.preflight.observations import UNTOUCHED, Flight, first_value, told

ITEM = Item(title="Targets are sensible", group="data", order=3)
_MOST_TOLD = 4


def look(flight: Flight) -> Answer:
    case = flight.untouched
    if case is None:
        return unknown(flight.why_not(UNTOUCHED))
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
            text += f"; simple predictors tell them from the inputs (z = {z:.0f})"
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
