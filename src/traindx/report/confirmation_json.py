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
        "suspicions": [suspicion_dict(answer) for answer in confirmed.suspicions],
        "experiments": [_experiment(trial) for trial in confirmed.tried],
        "stopped": confirmed.stopped,
        "seconds": round(confirmed.seconds, 2),
        "steps": confirmed.steps,
        "outside": confirmed.outside,
        "diagnosis": diagnosis_dict(confirmed.after),
    }


def _experiment(trial: Tried) -> dict[str, Any]:
    choice, reading = trial.choice, trial.reading
    single = len(choice.plans) == 1
    return {
        "experiment": choice.plans[0].experiment.id if single else "check_up",
        "changes": [str(plan.change) for plan in choice.plans],
        "did": reading.did,
        "expected_bits": round(choice.bits, 3),
        "steps": reading.steps,
        "seconds": round(reading.seconds, 2),
        "text": reading.text,
        "showed": [_result(result, trial.before) for result in reading.shown],
        "before": _shares(trial.before),
        "after": _shares(trial.after),
    }


def _result(result: ExperimentObservation, belief: Belief) -> dict[str, Any]:
    return {
        "experiment": result.experiment.id,
        "outcome": result.outcome,
        "clarity": round(result.clarity, 2),
        "text": result.text,
        "bits": {cause: bits for cause in belief.shares if (bits := result.bits(cause))},
    }


def _shares(belief: Belief) -> dict[str, float]:
    ranked = sorted(belief.shares.items(), key=lambda item: -item[1])
    return {cause: round(share, 4) for cause, share in ranked if share >= 0.005}
