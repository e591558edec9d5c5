"""Experiments as JSON for programs: schema `traindx/confirmation/1`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from traindx import __version__
from traindx.report.diagnosis_json import diagnosis_dict
from traindx.report.suspicions import suspicion_dict

if TYPE_CHECKING:
    from traindx.experiment.confirm.belief import Belief, ExperimentObservation
    from traindx.experiment.confirm.confirm import Confirmed, Tried

SCHEMA = "traindx/confirmation/1"


def confirmation_dict(confirmed: Confirmed, command: str) -> dict[str, Any]:
    """Everything that was tried and shown, and the diagnosis with it among its evidence."""
    first = confirmed.problem.hypotheses[0] if confirmed.problem is not None else None
    return {
        "schema": SCHEMA,
        "traindx": __version__,
        "command": command,
        "cause": None if first is None else first.cause,
        "confidence": None if first is None else round(first.confidence, 4),
        "observed": confirmed.observed,
        "suspicions": [suspicion_dict(one) for one in confirmed.suspicions],
        "experiments": [_tried(one) for one in confirmed.tried],
        "stopped": confirmed.stopped,
        "seconds": round(confirmed.seconds, 2),
        "steps": confirmed.steps,
        "outside": confirmed.outside,
        "diagnosis": diagnosis_dict(confirmed.after),
    }


def _tried(tried: Tried) -> dict[str, Any]:
    choice, reading = tried.choice, tried.reading
    single = len(choice.plans) == 1
    return {
        "experiment": choice.plans[0].experiment.id if single else "check_up",
        "changes": [str(plan.change) for plan in choice.plans],
        "did": reading.did,
        "expected_bits": round(choice.bits, 3),
        "steps": reading.steps,
        "seconds": round(reading.seconds, 2),
        "text": reading.text,
        "showed": [_shown(one, tried.before) for one in reading.shown],
        "before": _shares(tried.before),
        "after": _shares(tried.after),
    }


def _shown(shown: ExperimentObservation, belief: Belief) -> dict[str, Any]:
    return {
        "experiment": shown.experiment.id,
        "outcome": shown.outcome,
        "clarity": round(shown.clarity, 2),
        "text": shown.text,
        "bits": {cause: bits for cause in belief.shares if (bits := shown.bits(cause))},
    }


def _shares(belief: Belief) -> dict[str, float]:
    ranked = sorted(belief.shares.items(), key=lambda item: -item[1])
    return {cause: round(share, 4) for cause, share in ranked if share >= 0.005}
